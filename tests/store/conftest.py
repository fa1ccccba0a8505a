"""An open store on each database, and one campaign in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.store import AspectRecord, HitItemRecord, HitRecord, Store, SubmissionRecord, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file, to be copied."""
    file = tmp_path_factory.mktemp("template") / "store.db"
    open_store(file, create=True).close()
    return file


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    """A migrated PostgreSQL database, to be copied."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE store_template")
    open_store(postgres_server.replace("/postgres?", "/store_template?"), create=True).close()
    return "store_template"


@pytest.fixture
def store(database_url: str, clock: VirtualClock, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A new store in the database of `database_url`; frames above 1,000 rows are artefacts."""
    if database_url.startswith("sqlite"):
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "store.db")
    else:
        import psycopg

        template = request.getfixturevalue("postgres_template")
        name = "test" + database_url.partition("/test")[2].partition("?")[0]
        with psycopg.connect(request.getfixturevalue("postgres_server"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name}")
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    with open_store(database_url, clock=clock, artefacts=tmp_path / "artefacts", large=1000) as opened:
        yield opened


@pytest.fixture
def campaign(store: Store, clock: VirtualClock) -> int:
    """A campaign with the aspect "malevolent" and three items a, b, c."""
    with store.begin() as tx:
        made = tx.campaigns.create("demo", {"trade_off": 4.6}, created_at=clock.now())
        tx.campaigns.add_aspect(made.id, AspectRecord("malevolent", "nominal", ("yes", "no")))
        tx.frames.add_items(made.id, items("a", "b", "c"))
    return made.id


def items(*names: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": list(names),
            "group": ["g"] * len(names),
            "position": range(len(names)),
            "text": [f"text of {name}" for name in names],
        }
    )


def hit(key: str, *names: str, **changes: object) -> HitRecord:
    asked = tuple(HitItemRecord(name, "malevolent", at) for at, name in enumerate(names))
    values = {"title": "Judge", "redundancy": 3, "pay_minor": 240, "currency": "USD", "expected_s": 600.0} | changes
    return HitRecord(key=key, items=asked, **values)


def submission(name: str, worker: str = "w1", **changes: object) -> SubmissionRecord:
    values = {"platform": "local", "hit_key": "h1", "state": "submitted"} | changes
    return SubmissionRecord(submission_id=name, worker=worker, **values)


@pytest.fixture
def worked(store: Store, campaign: int) -> int:
    """The campaign with a HIT h1 over a, b, c and two submissions s1 (w1), s2 (w2)."""
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [hit("h1", "a", "b", "c")])
        tx.work.put_submissions(campaign, 1, [submission("s1", "w1"), submission("s2", "w2")])
    return campaign
