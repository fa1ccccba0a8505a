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

from browser_house import DESK, is_bad
from pages_house import PagesHouse, Plain, make_house, served

from hmc_crowd._base.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

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


@pytest.fixture
def live(new_house: Callable[..., PagesHouse]) -> Iterator[Callable[..., PagesHouse]]:
    """A house behind a real server, at the machine's own time."""
    with ExitStack() as stack:

        def make(**options: Any) -> PagesHouse:
            house = new_house(at=SystemClock(), **options)
            house.url = stack.enter_context(served(house.app))
            return house

        yield make


@pytest.fixture
def new_page(chromium: Any) -> Iterator[Callable[..., Page]]:
    """A page of a browser of its own: another call is another device."""
    opened = []

    def make(**options: Any) -> Page:
        context = chromium.new_context(**{"viewport": DESK, "locale": "en-US", "reduced_motion": "reduce", **options})
        opened.append(context)
        page: Page = context.new_page()
        page.set_default_timeout(30_000)
        page.said = []  # type: ignore[attr-defined]
        page.on("console", lambda message: page.said.append(message.text) if is_bad(message) else None)  # type: ignore[attr-defined]
        page.on("pageerror", lambda error: page.said.append(str(error)))  # type: ignore[attr-defined]
        return page

    yield make
    for context in opened:
        context.close()
