"""Active time that was counted, as rows: what is loaded before a clock stops, and what is stored when it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd_local._tables import WORK_SPAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hmc_crowd_local._timing import Span

__all__ = ["MTURK", "PAGES", "counted_spans", "keep_spans"]

PAGES, MTURK = "pages", "mturk"


def counted_spans(
    connection: sa.Connection, door: str, worker: str, *, since: datetime
) -> dict[str, list[tuple[datetime, datetime]]]:
    """Return by submission what was counted for a worker after a moment.

    Two of his HITs that are handed in at once wait for each other until the transaction ends (PostgreSQL; SQLite lets
    one writer in at a time).
    """
    if connection.dialect.name == "postgresql":
        lock = sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(f"hmc_crowd {door} {worker}", 0))
        connection.execute(sa.select(lock))
    mine = (WORK_SPAN.c.door == door, WORK_SPAN.c.worker == worker, WORK_SPAN.c.ends_at > since)
    found: dict[str, list[Span]] = {}
    for row in connection.execute(sa.select(WORK_SPAN).where(*mine).order_by(WORK_SPAN.c.begins_at)):
        found.setdefault(row.submission_id, []).append((row.begins_at, row.ends_at))
    return found


def keep_spans(
    connection: sa.Connection, door: str, spans: Mapping[tuple[str, str], Iterable[Span]], *, are_new: bool = False
) -> None:
    """Store what was counted, by submission and worker, in the place of what was; ``are_new``: there was nothing."""
    for name, worker in () if are_new else spans:
        mine = (WORK_SPAN.c.door == door, WORK_SPAN.c.submission_id == name, WORK_SPAN.c.worker == worker)
        connection.execute(sa.delete(WORK_SPAN).where(*mine))
    rows = [
        {"door": door, "submission_id": name, "worker": worker, "begins_at": begin, "ends_at": end}
        for (name, worker), some in spans.items()
        for begin, end in some
    ]
    if rows:
        connection.execute(sa.insert(WORK_SPAN), rows)
