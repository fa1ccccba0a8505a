"""An open store on each database, and one campaign in it."""

from __future__ import annotations

import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.store import AspectRecord, HitItemRecord, HitRecord, Store, SubmissionRecord, open_store
from hmc_crowd.store._tables import Base

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
def migrated_postgres(postgres_server: str) -> str:
    """A migrated PostgreSQL database, to be emptied by whoever uses it."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE migrated")
    url = postgres_server.replace("/postgres?", "/migrated?")
    open_store(url, create=True).close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def made_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated, empty database of each kind: a copy, or one that is emptied, both quicker than migrating."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), tmp_path / "store.db")
        return f"sqlite:///{tmp_path / 'store.db'}"
    import psycopg
    from psycopg import sql

    url: str = request.getfixturevalue("migrated_postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # past foreign keys and the guard of the events
        for name in Base.metadata.tables:
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
    return url


@pytest.fixture
def store(made_url: str, clock: VirtualClock, tmp_path: Path) -> Iterator[Store]:
    """An empty store; frames above 1,000 rows are artefacts."""
    with open_store(made_url, clock=clock, artefacts=tmp_path / "artefacts", large=1000) as opened:
        yield opened


@pytest.fixture
def campaign(store: Store, clock: VirtualClock) -> int:
    """A campaign with the aspect "malevolent" and three items a, b, c."""
    with store.begin() as tx:
        made = tx.campaigns.create("demo", {"trade_off": 4.6}, created_at=clock.now())
        tx.campaigns.add_aspect(made.id, AspectRecord("malevolent", "nominal", ("yes", "no")))
        tx.frames.add_items(made.id, build_items("a", "b", "c"))
    return made.id


def build_items(*names: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": list(names),
            "group": ["g"] * len(names),
            "position": range(len(names)),
            "text": [f"text of {name}" for name in names],
        }
    )


def build_hit(key: str, *names: str, **changes: object) -> HitRecord:
    asked = tuple(HitItemRecord(name, "malevolent", at) for at, name in enumerate(names))
    values = {"title": "Judge", "redundancy": 3, "pay_minor": 240, "currency": "USD", "expected_s": 600.0} | changes
    return HitRecord(key=key, items=asked, **values)


def build_submission(name: str, worker: str = "w1", **changes: object) -> SubmissionRecord:
    values = {"platform": "local", "hit_key": "h1", "state": "submitted"} | changes
    return SubmissionRecord(submission_id=name, worker=worker, **values)


def build_answers(*rows: tuple[str, str, str, str], **columns: object) -> pd.DataFrame:
    """Rows of (submission, item, worker, label)."""
    frame = pd.DataFrame(rows, columns=["submission_id", "item", "worker", "label"])
    return frame.assign(**({"platform": "local", "aspect": "malevolent"} | columns))


@pytest.fixture
def build() -> SimpleNamespace:
    """Makers of small rows: ``build.items, hit, submission, answers``."""
    return SimpleNamespace(items=build_items, hit=build_hit, submission=build_submission, answers=build_answers)


@pytest.fixture
def worked(store: Store, campaign: int) -> int:
    """The campaign with a HIT h1 over a, b, c and two submissions s1 (w1), s2 (w2)."""
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build_hit("h1", "a", "b", "c")])
        tx.work.put_submissions(campaign, 1, [build_submission("s1", "w1"), build_submission("s2", "w2")])
    return campaign
