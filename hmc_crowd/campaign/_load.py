"""How busy are the pools? Open places of each, held against what its shifts give in the next day."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd.campaign._capacity import pool_capacity
from hmc_crowd.campaign._work import open_places

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["PoolLoad", "pool_loads"]

_AHEAD = timedelta(hours=24)


@dataclass(frozen=True)
class PoolLoad:
    """What waits for a pool.

    Parameters
    ----------
    open_places, open_s : int, float
        Places that somebody of the pool may still take, and the time that they are expected to need.
    capacity_s : float
        Seconds of people in the next 24 hours.
    """

    pool: str
    kind: str
    members: int
    open_places: int
    open_s: float
    capacity_s: float

    @property
    def share(self) -> float | None:
        """Expected time of the open places, of the capacity; None where no shift is planned."""
        return self.open_s / self.capacity_s if self.capacity_s else None


def pool_loads(context: Context, tx: Transaction) -> list[PoolLoad]:
    """Return the load of each pool, by name."""
    cid, now = context.campaign_id, context.clock.now()
    pools = tx.pools.all(cid)
    if not pools:
        return []
    places: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for hit, free in open_places(context, tx):
        name = (hit.terms or {}).get("pool", "")
        places[name] += free
        seconds[name] += free * hit.expected_s
    shifts = tx.pools.shifts(cid, starts_at=now, ends_at=now + _AHEAD)
    return [
        PoolLoad(
            each.name,
            each.kind,
            each.members,
            places[each.name],
            seconds[each.name],
            60 * pool_capacity(each, shifts, starts_at=now, ends_at=now + _AHEAD).people_minutes,
        )
        for each in pools
    ]
