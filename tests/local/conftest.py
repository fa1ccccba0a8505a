"""A workplace on each kind of database, and small HITs for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hmc_crowd_local import LocalPlatform, connect

from hmc_crowd.platform import Hit, HitItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock


def make_hit(key: str = "hit", *items: str, redundancy: int = 1, **options: object) -> Hit:
    questions = tuple(
        HitItem(item, "label", "dialogue", position, f"Text of {item}", labels=("yes", "no"))
        for position, item in enumerate(items or (f"{key}-1", f"{key}-2"), start=1)
    )
    return Hit(key, "Judge", "Read and judge.", questions, redundancy, 25, "USD", **options)


@pytest.fixture
def hit() -> Callable[..., Hit]:
    return make_hit


@pytest.fixture
def platform(database_url: str, clock: VirtualClock) -> Iterator[LocalPlatform]:
    """On SQLite and on PostgreSQL."""
    with connect(database_url, clock=clock) as opened:
        yield opened


@pytest.fixture
def local(tmp_path: Path, clock: VirtualClock) -> Iterator[LocalPlatform]:
    """On SQLite alone, for rules that no database decides."""
    with connect(str(tmp_path / "workplace.db"), clock=clock) as opened:
        yield opened


@pytest.fixture
def finish() -> Callable[..., str]:
    """Take a HIT and answer every question; hand it in unless told otherwise."""

    def go(platform: LocalPlatform, hit_id: str, hit: Hit, worker: str, *, submit: bool = True) -> str:
        name = platform.accept(hit_id, worker).submission_id
        for each in hit.items:
            platform.save_answer(name, worker, item=each.item, aspect=each.aspect, label="yes")
        if submit:
            platform.submit(name, worker)
        return name

    return go
