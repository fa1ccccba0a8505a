"""How much can the pools do between two moments? People-minutes and answers from shifts, less who opted out of what.

At every moment so many people of a pool are at work as its shifts say, or as its people say for themselves, whichever
is more: who says that he works during a planned shift is one of its people. Never more than the pool has members, where
their number is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hmc_crowd.store import PoolRecord, ShiftRecord

__all__ = ["Capacity", "PoolCapacity", "people_minutes", "pool_capacity", "time_text"]


def time_text(seconds: float) -> str:
    """Return a time in words: minutes below two hours, hours from there on.

    >>> time_text(90), time_text(7200)
    ('1.5 minutes', '2.0 hours')
    """
    return f"{seconds / 60:,.1f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"


@dataclass(frozen=True)
class PoolCapacity:
    """What one pool can do.

    Parameters
    ----------
    people_minutes, answers : float
        Minutes of people at work, and the answers that they give in them.
    members : int
        People that belong to it, as the workplace said last; 0 where nobody asked.
    less : mapping of str to float
        By category of disturbing text: the people-minutes of members who do not see it.
    """

    pool: str
    kind: str
    people_minutes: float
    answers: float
    members: int
    less: Mapping[str, float]

    def minutes_for(self, category: str | None = None) -> float:
        """Return the minutes for texts of a category; without one, for texts of the category that most opted out of."""
        lost = max(self.less.values(), default=0.0) if category is None else self.less.get(category, 0.0)
        return self.people_minutes - lost


@dataclass(frozen=True)
class Capacity:
    """What the pools can do between two moments; prints as one sentence."""

    starts_at: datetime
    ends_at: datetime
    pools: tuple[PoolCapacity, ...]

    @property
    def people_minutes(self) -> float:
        """Minutes of people at work, over all pools."""
        return sum(each.people_minutes for each in self.pools)

    @property
    def answers(self) -> float:
        """Answers that they give in them."""
        return sum(each.answers for each in self.pools)

    def minutes_for(self, category: str | None = None) -> float:
        """Return the minutes for disturbing texts of a category, over all pools; see `PoolCapacity.minutes_for`."""
        return sum(each.minutes_for(category) for each in self.pools)

    def __str__(self) -> str:
        when = f"{self.starts_at:%Y-%m-%d %H:%M} to {self.ends_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"{when}: {time_text(60 * self.people_minutes)} of people and {self.answers:,.0f} answers in "
            f"{len(self.pools)} {'pool' if len(self.pools) == 1 else 'pools'}"
        )


def people_minutes(shifts: Iterable[ShiftRecord], *, starts_at: datetime, ends_at: datetime, members: int = 0) -> float:
    """Return the minutes of people at work in one pool.

    Parameters
    ----------
    shifts : iterable of ShiftRecord
        Of the pool: planned ones without a worker, and those of single workers.
    starts_at, ends_at : datetime
        Aware; what lies outside does not count.
    members : int, default 0
        Most people at any moment; 0: no limit is known.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from hmc_crowd.store import ShiftRecord
    >>> nine = datetime(2026, 1, 5, 9, tzinfo=UTC)
    >>> hour = timedelta(hours=1)
    >>> planned = ShiftRecord("a", "tier1", None, nine, nine + 3 * hour, people=2)
    >>> ann = ShiftRecord("b", "tier1", "ann", nine + 2 * hour, nine + 4 * hour)
    >>> people_minutes([planned, ann], starts_at=nine, ends_at=nine + 24 * hour)
    420.0
    """
    known = [each for each in shifts if each.ends_at > starts_at and each.starts_at < ends_at]
    edges = {starts_at, ends_at}
    edges |= {min(max(at, starts_at), ends_at) for each in known for at in (each.starts_at, each.ends_at)}
    moments = sorted(edges)
    total = 0.0
    for begin, end in pairwise(moments):
        now = [each for each in known if each.starts_at <= begin and each.ends_at >= end]
        planned = sum(each.people for each in now if each.worker is None)
        people = max(planned, len({each.worker for each in now if each.worker is not None}))
        total += (min(people, members) if members else people) * (end - begin).total_seconds() / 60
    return total


def pool_capacity(
    pool: PoolRecord, shifts: Sequence[ShiftRecord], *, starts_at: datetime, ends_at: datetime
) -> PoolCapacity:
    """Return what one pool can do; ``shifts`` may hold those of others."""
    mine = [each for each in shifts if each.pool == pool.name]
    minutes = people_minutes(mine, starts_at=starts_at, ends_at=ends_at, members=pool.members)
    less = {
        name: minutes * min(1.0, count / pool.members) for name, count in sorted(pool.opted_out.items()) if pool.members
    }
    return PoolCapacity(pool.name, pool.kind, minutes, minutes / 60 * pool.capacity_per_hour, pool.members, less)
