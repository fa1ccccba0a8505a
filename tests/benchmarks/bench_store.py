"""How many answers a second does the store take, and what share is that of the driver's own bulk insert?

The same rows go into the same table with the same indexes, constraints and durability: once through
``tx.work.add_answers`` (checks, submissions looked up, commit), once as ready-made tuples through plain ``executemany``
(sqlite3) or COPY (psycopg, ``write_row`` per tuple; and one buffer of ready-made text, which times the server alone).
Each is run several times in alternation on a fresh database; the best run of each counts.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.store import AspectRecord, HitItemRecord, HitRecord, Store, SubmissionRecord, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

AT = datetime(2026, 1, 5, tzinfo=UTC)
COLUMNS = [
    "submission", "item", "aspect", "campaign_id", "round", "worker", "label", "started", "submitted", "mode", "retest",
]  # fmt: skip
PER_SUBMISSION = 100


def answers(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    submission = np.arange(rows) // PER_SUBMISSION
    started = pd.Timestamp(AT) + pd.to_timedelta(np.arange(rows) * 17, unit="s")
    return pd.DataFrame(
        {
            "submission_id": [f"submission-{number:08d}" for number in submission],
            "platform": "local",
            "item": [f"dialogue-{number:07d}-turn-{number % 10}" for number in rng.permutation(rows)],
            "aspect": "malevolent",
            "worker": [f"worker-{number % 500:05d}" for number in submission],
            "label": np.where(rng.random(rows) < 0.3, "malevolent", "non-malevolent"),
            "started": started,
            "submitted": started + pd.to_timedelta(rng.integers(1_000_000, 60_000_000, rows), unit="us"),
            "mode": "blind",
            "retest": 0,
        }
    )


def prepare(store: Store, rows: int) -> int:
    with store.begin() as tx:
        campaign = tx.campaigns.create("bench", {}, created_at=AT).id
        tx.campaigns.add_aspect(campaign, AspectRecord("malevolent", "nominal", ("malevolent", "non-malevolent")))
        item = HitItemRecord("x", "malevolent", 0)
        tx.work.add_hits(campaign, 1, [HitRecord("h", "bench", 3, 100, "USD", 60.0, (item,))])
        each = [
            SubmissionRecord(f"submission-{n:08d}", "local", "h", f"worker-{n % 500:05d}", "submitted")
            for n in range((rows + PER_SUBMISSION - 1) // PER_SUBMISSION)
        ]
        tx.work.put_submissions(campaign, 1, each)
    return campaign


def through_store(url: str, folder: Path, frame: pd.DataFrame) -> tuple[float, float]:
    """Return rows a second for new answers, and for the same answers collected again."""
    with open_store(url, create=True, artefacts=folder) as store:
        campaign = prepare(store, len(frame))
        rates = []
        for expected in (len(frame), 0):
            begin = time.perf_counter()
            with store.begin() as tx:
                inserted = tx.work.add_answers(campaign, 1, frame)
            rates.append(len(frame) / (time.perf_counter() - begin))
            if inserted != expected:
                raise RuntimeError(f"{inserted} rows were inserted, {expected} expected")
    return rates[0], rates[1]


def tuples(frame: pd.DataFrame, *, text_times: bool) -> list[tuple[Any, ...]]:
    form = "%Y-%m-%d %H:%M:%S.%f"
    times = [
        frame[name].dt.strftime(form).tolist() if text_times else list(frame[name].dt.to_pydatetime())
        for name in ("started", "submitted")
    ]
    submission = (np.arange(len(frame)) // PER_SUBMISSION + 1).tolist()
    one, zero = [1] * len(frame), [0] * len(frame)
    texts = {name: frame[name].tolist() for name in ("item", "aspect", "worker", "label", "mode")}
    first = (submission, texts["item"], texts["aspect"], one, one, texts["worker"], texts["label"])
    return list(zip(*first, *times, texts["mode"], zero, strict=True))


def plain_sqlite(url: str, folder: Path, frame: pd.DataFrame) -> float:
    with open_store(url, create=True, artefacts=folder) as store:
        prepare(store, len(frame))
    rows = tuples(frame, text_times=True)
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -65536")
    begin = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    marks = ", ".join("?" * len(COLUMNS))
    connection.executemany(f"INSERT INTO answer ({', '.join(COLUMNS)}) VALUES ({marks})", rows)
    connection.execute("COMMIT")
    rate = len(rows) / (time.perf_counter() - begin)
    connection.close()
    return rate


def plain_copy(url: str, folder: Path, frame: pd.DataFrame, *, ready: bool) -> float:
    import psycopg

    with open_store(url, create=True, artefacts=folder) as store:
        prepare(store, len(frame))
    rows = tuples(frame, text_times=ready)
    text = "\n".join("\t".join(map(str, row)) for row in rows) + "\n" if ready else ""
    with psycopg.connect(url, options="-c timezone=UTC") as connection, connection.cursor() as cursor:
        begin = time.perf_counter()
        with cursor.copy(f"COPY answer ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            if ready:
                copy.write(text)
            else:
                for row in rows:
                    copy.write_row(row)
        connection.commit()
        return len(rows) / (time.perf_counter() - begin)


@contextmanager
def databases(kind: str) -> Iterator[Any]:
    """Yield a function that gives the URL of a fresh database."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(10_000))
        if kind == "sqlite":
            yield lambda: f"sqlite:///{folder}/{next(numbers)}.db"
            return
        import psycopg

        from tests.conftest import running_postgres

        with running_postgres() as server:

            def fresh() -> str:
                name = f"bench_{next(numbers)}"
                with psycopg.connect(server, autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name}")
                return server.replace("/postgres?", f"/{name}?")

            yield fresh


def measure(kind: str, frame: pd.DataFrame, repeats: int) -> list[tuple[str, str]]:
    ours, again, plain, server = [], [], [], []
    with databases(kind) as fresh, tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            first, second = through_store(fresh(), Path(folder), frame)
            ours.append(first)
            again.append(second)
            if kind == "sqlite":
                plain.append(plain_sqlite(fresh(), Path(folder), frame))
            else:
                plain.append(plain_copy(fresh(), Path(folder), frame, ready=False))
                server.append(plain_copy(fresh(), Path(folder), frame, ready=True))
    name = "executemany" if kind == "sqlite" else "COPY write_row"
    target = 10_000 if kind == "sqlite" else 5_000
    rows = [
        (f"{kind}: add_answers", f"{max(ours):,.0f} answers/s ({max(ours) / target:.1f} x the target of {target:,})"),
        (f"{kind}: plain {name}", f"{max(plain):,.0f} answers/s"),
        (f"{kind}: add_answers / {name}", f"{max(ours) / max(plain):.2f} (target 0.50)"),
    ]
    if server:
        rows.append(
            (f"{kind}: add_answers / COPY of ready text", f"{max(ours) / max(server):.2f} ({max(server):,.0f}/s)")
        )
    rows.append((f"{kind}: the same answers again (all skipped)", f"{max(again):,.0f} answers/s"))
    return rows


def main(rows: int = 200_000, repeats: int = 3) -> list[tuple[str, str]]:
    frame = answers(rows)
    return [("answers", f"{rows:,}"), *measure("sqlite", frame, repeats), *measure("postgresql", frame, repeats)]


if __name__ == "__main__":
    for what, value in main(*(int(each) for each in sys.argv[1:])):
        print(what, value)
