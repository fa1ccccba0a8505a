"""How much of a worker's reviewed work was approved: over his life here, in 30 days and in 7, as batch files say it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Rates"]

_SPANS = {
    "LifetimeApprovalRate": None,
    "Last30DaysApprovalRate": timedelta(days=30),
    "Last7DaysApprovalRate": timedelta(days=7),
}


class Rates:
    """The rates of all workers at a moment, counted once."""

    def __init__(self, connection: sa.Connection, now: datetime) -> None:
        self._counts = {name: self._count(connection, now, span) for name, span in _SPANS.items()}

    @staticmethod
    def _count(connection: sa.Connection, now: datetime, span: timedelta | None) -> Counter[tuple[str, str]]:
        reviewed = sa.func.coalesce(ASSIGNMENT.c.approved_at, ASSIGNMENT.c.rejected_at)
        query = (
            sa.select(ASSIGNMENT.c.worker, ASSIGNMENT.c.state, sa.func.count())
            .where(ASSIGNMENT.c.state.in_(["approved", "rejected"]))
            .group_by(ASSIGNMENT.c.worker, ASSIGNMENT.c.state)
        )
        if span is not None:
            query = query.where(reviewed > now - span)
        return Counter({(row[0], row[1]): row[2] for row in connection.execute(query)})

    def of(self, worker: str) -> dict[str, str]:
        """Return a worker's rates, such as ``57% (12/21)``; a rate of nothing is ``0% (0/0)``."""
        shown = {}
        for name, counts in self._counts.items():
            approved = counts[worker, "approved"]
            total = approved + counts[worker, "rejected"]
            shown[name] = f"{100 * approved // total if total else 0}% ({approved}/{total})"
        return shown
