"""Task pages over a workplace of their own; the real server and the real browser where a test asks for them."""

from __future__ import annotations

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local import connect

# Tests are imported without their folder; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from pages_house import PagesHouse, Plain, make_house

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd._base.clock import VirtualClock


@pytest.fixture(scope="session")
def empty_pages_workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty workplace, migrated once; a copy is quicker than a migration."""
    path = tmp_path_factory.mktemp("pages") / "empty.db"
    connect(str(path)).close()
    return path


@pytest.fixture
def new_house(empty_pages_workplace: Path, tmp_path: Path, clock: VirtualClock) -> Iterator[Callable[..., PagesHouse]]:
    with ExitStack() as stack:
        count = 0

        def make(*, at: Any = None, **options: Any) -> PagesHouse:
            nonlocal count
            count += 1
            path = Path(shutil.copy(empty_pages_workplace, tmp_path / f"pages{count}.db"))
            made = make_house(path, at or clock, **options)
            stack.callback(made.local.close)
            return made

        yield make


@pytest.fixture
def house(new_house: Callable[..., PagesHouse]) -> PagesHouse:
    """Pages without a study: workers begin at once."""
    return new_house()


@pytest.fixture
def plain(house: PagesHouse) -> Plain:
    """A browser without script."""
    return Plain(house.client())
