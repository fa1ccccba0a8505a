"""A workplace on each kind of database, and small HITs for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hmc_crowd_local import LocalPlatform, connect
from hmc_crowd_local._tables import METADATA

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


@pytest.fixture(scope="session")
def postgres_workplace(postgres_server: str) -> Iterator[str]:
    """One PostgreSQL database for all tests of the rules; they empty it, which is quicker than a new one each."""
    import psycopg

    name = f"workplace_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield postgres_server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgresql"])
def platform(request: pytest.FixtureRequest, tmp_path: Path, clock: VirtualClock) -> Iterator[LocalPlatform]:
    """An empty workplace on SQLite and on PostgreSQL."""
    is_sqlite = request.param == "sqlite"
    address = str(tmp_path / "workplace.db") if is_sqlite else request.getfixturevalue("postgres_workplace")
    with connect(address, clock=clock) as opened:
        if not is_sqlite:
            with opened._database.write() as connection:
                for table in reversed(METADATA.sorted_tables):
                    connection.execute(table.delete())
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
