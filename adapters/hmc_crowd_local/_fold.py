"""How many page events are kept of one person? Enough for every active second, and no more than a script can send.

Signs of life that follow each other within ten seconds say no more than the first and the last of them: from a tenth of
the limit of a submission on they are folded, which changes no active time. Beyond the limits, those of the submission
and those of the person in a day, events are dropped; nobody's work is refused for it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

__all__ = ["DAY", "MOST_EVENTS", "MOST_EVENTS_A_DAY", "fold", "kept_of", "today_of"]

MOST_EVENTS, MOST_EVENTS_A_DAY = 20_000, 50_000
DAY = timedelta(days=1)
_FOLDED = frozenset({"input", "heartbeat"})
_NEAR = timedelta(seconds=10)


class _Event(Protocol):
    @property
    def kind(self) -> str: ...

    @property
    def at(self) -> datetime: ...


E = TypeVar("E", bound=_Event)


def fold(events: Iterable[E]) -> list[E]:
    """Leave out signs of life between others of their kind that are less than ten seconds away on both sides.

    >>> from datetime import UTC, datetime
    >>> from hmc_crowd_local import PageEvent
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> seen = [PageEvent("input", start + timedelta(seconds=each)) for each in range(30)]
    >>> [(each.at - start).seconds for each in fold(seen)]
    [0, 10, 20, 29]
    """
    given = list(events)
    kept: list[E] = []
    for place, each in enumerate(given):
        after = given[place + 1] if place + 1 < len(given) else None
        is_between = (
            bool(kept)
            and after is not None
            and each.kind in _FOLDED
            and kept[-1].kind == each.kind == after.kind
            and each.at - kept[-1].at < _NEAR
            and after.at - each.at < _NEAR
        )
        if not is_between:
            kept.append(each)
    return kept


def kept_of(events: Sequence[E], *, stored: int, today: int, most: int, most_a_day: int) -> list[E]:
    """Return the events of a batch that are stored, where so many are of the submission, and of the person today."""
    some = fold(events) if stored + len(events) > most // 10 else list(events)
    return some[: max(0, min(most - stored, most_a_day - today))]


def today_of(
    connection: sa.Connection, work: sa.Table, event: sa.Table, key: str, worker: str, *, since: datetime
) -> int:
    """Return how many events are stored of the work that a person accepted since a moment."""
    same = [event.c[key] == work.c[key]] + ([event.c.worker == work.c.worker] if "worker" in event.c else [])
    counted = sa.select(sa.func.count()).select_from(event).where(*same).scalar_subquery()
    query = sa.select(sa.func.coalesce(sa.func.sum(counted), 0))
    return int(connection.execute(query.where(work.c.worker == worker, work.c.accepted_at > since)).scalar_one())
