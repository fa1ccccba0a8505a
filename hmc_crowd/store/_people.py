"""Who can work when? Pools with what their workplace said of them, shifts; and the minutes in which the server was up.

A pool's planned shifts belong to the campaign; the shifts of single people belong to the workplace, and what stands
here of them, under pseudonyms, is replaced whenever it is asked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.ids import natural_key
from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Heartbeat, Pool, Shift
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import PoolRecord, ShiftRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["KINDS", "PAY_FORMS", "PoolRepository", "UptimeRepository"]

KINDS = ("crowd", "tier1", "tier2", "tier3", "auditor")
PAY_FORMS = ("per_answer", "per_hour", "salaried")
_KEPT_MINUTES = 30 * 24 * 60


class PoolRepository(Repository):
    """The pools of a campaign and their shifts."""

    def add(self, campaign: int, pool: PoolRecord) -> PoolRecord:
        """Store a pool; the same one again changes nothing.

        Raises
        ------
        InputError
            A kind or pay form that is none, a negative price, or no capacity.
        DuplicateError
            There is a pool of that name with other terms.
        """
        _check(pool)
        held = self.find(campaign, pool.name)
        if held is not None:
            if _terms(held) != _terms(pool):
                raise DuplicateError(f"pool {pool.name!r} is there with other terms; give the new one another name")
            return held
        row = {name: getattr(pool, name) for name in _TERMS} | {"skills": list(pool.skills), "campaign_id": campaign}
        now = {"members": 0, "opted_out": {}, "created_at": self._session.now()}
        self._session.run(sa.insert(Pool.table()), row | now)
        return pool

    def all(self, campaign: int) -> list[PoolRecord]:
        """Return the pools, by name."""
        query = sa.select(*Pool.table().c).where(Pool.campaign_id == campaign).order_by(Pool.name)
        return [_pool(row) for row in self._session.rows(query)]

    def find(self, campaign: int, name: str) -> PoolRecord | None:
        """Return a pool; None where there is none of that name."""
        query = sa.select(*Pool.table().c).where(Pool.campaign_id == campaign, Pool.name == name)
        row = self._session.one(query)
        return None if row is None else _pool(row)

    def get(self, campaign: int, name: str) -> PoolRecord:
        """Return a pool.

        Raises
        ------
        InputError
            There is none of that name.
        """
        found = self.find(campaign, name)
        if found is None:
            names = ", ".join(each.name for each in self.all(campaign)) or "none"
            raise InputError(f"pool is {name!r}; there are {names}: add it, or name one of them")
        return found

    def told(self, campaign: int, name: str, *, members: int, opted_out: Mapping[str, int]) -> None:
        """Keep what the workplace says of a pool's people."""
        values = {"members": members, "opted_out": dict(opted_out), "asked_at": self._session.now()}
        which = (Pool.campaign_id == campaign, Pool.name == name)
        self._session.run(sa.update(Pool.table()).where(*which).values(values))

    def add_shift(
        self, campaign: int, pool: str, starts_at: datetime, ends_at: datetime, *, people: int = 1
    ) -> ShiftRecord:
        """Plan a shift of a pool; the same one again changes nothing.

        Raises
        ------
        InputError
            There is no such pool, a time has no zone, the end is not after the start, or nobody works.
        """
        self.get(campaign, pool)
        start, end = as_utc(starts_at, name="starts_at"), as_utc(ends_at, name="ends_at")
        if end <= start or people < 1:
            raise InputError(f"the shift from {start} to {end} of {people} people has no time; end it after its start")
        made = ShiftRecord(
            natural_key("shift", pool, start.isoformat(), end.isoformat()), pool, None, start, end, people
        )
        self._session.run(sa.delete(Shift.table()).where(Shift.campaign_id == campaign, Shift.id == made.id))
        self._put(campaign, [made])
        return made

    def set_workers_shifts(self, campaign: int, pool: str, shifts: Iterable[tuple[str, datetime, datetime]]) -> None:
        """Replace what is known of single people's shifts to come: ``(pseudonym, starts_at, ends_at)``."""
        mine = (Shift.campaign_id == campaign, Shift.pool == pool, Shift.worker.is_not(None))
        self._session.run(sa.delete(Shift.table()).where(*mine, Shift.ends_at > self._session.now()))
        found = {
            (name := natural_key("shift", pool, worker, start.isoformat(), end.isoformat())): ShiftRecord(
                name, pool, worker, start, end
            )
            for worker, start, end in shifts
        }
        self._put(campaign, found.values())

    def _put(self, campaign: int, shifts: Iterable[ShiftRecord]) -> None:
        rows = [{"campaign_id": campaign, **{name: getattr(each, name) for name in _SHIFT}} for each in shifts]
        if rows:
            self._session.run(sa.insert(Shift.table()), rows)

    def remove_shift(self, campaign: int, shift_id: str) -> None:
        """Take a planned shift back.

        Raises
        ------
        InputError
            There is no such shift of a pool.
        """
        mine = (Shift.campaign_id == campaign, Shift.id == shift_id, Shift.worker.is_(None))
        if not self._session.run(sa.delete(Shift.table()).where(*mine)):
            raise InputError(f"shift {shift_id!r} is no planned shift of a pool; list the shifts to see their ids")

    def shifts(
        self, campaign: int, *, starts_at: datetime | None = None, ends_at: datetime | None = None
    ) -> list[ShiftRecord]:
        """Return the shifts, earliest first; with times, those that lie at least partly between them."""
        query = sa.select(*Shift.table().c).where(Shift.campaign_id == campaign)
        if starts_at is not None:
            query = query.where(Shift.ends_at > starts_at)
        if ends_at is not None:
            query = query.where(Shift.starts_at < ends_at)
        rows = self._session.rows(query.order_by(Shift.starts_at, Shift.id))
        return [ShiftRecord(*(getattr(row, name) for name in _SHIFT)) for row in rows]


class UptimeRepository(Repository):
    """Minutes in which a server over this database was up."""

    def beat(self, *, calls: int = 0, seconds: float = 0.0) -> None:
        """Note that a server is up in this minute, and what calls it has answered since the last time, in how long.

        Minutes of more than 30 days ago are dropped.
        """
        minute = int(self._session.now().timestamp() // 60)
        note = self._session.insert(Heartbeat).values(minute=minute, calls=calls, seconds=seconds)
        more = {"calls": Heartbeat.calls + note.excluded.calls, "seconds": Heartbeat.seconds + note.excluded.seconds}
        self._session.run(note.on_conflict_do_update(index_elements=["minute"], set_=more))
        self._session.run(sa.delete(Heartbeat.table()).where(Heartbeat.minute < minute - _KEPT_MINUTES))

    def share(self, *, minutes: int = 24 * 60) -> float | None:
        """Return the share of the last minutes in which it was up, since it was first; None where it never was.

        The present minute counts once it was noted: until then it says nothing.
        """
        now = int(self._session.now().timestamp() // 60)
        which = sa.and_(Heartbeat.minute > now - minutes, Heartbeat.minute <= now)
        figures = (sa.func.count(), sa.func.min(Heartbeat.minute), sa.func.max(Heartbeat.minute))
        row = self._session.one(sa.select(*figures).where(which))
        if row is None or not row[0]:
            return None
        last = max(int(row[2]), now - 1)
        return float(min(1.0, row[0] / (last - int(row[1]) + 1)))

    def response_s(self, *, minutes: int = 15) -> float | None:
        """Return how long a call of the last minutes took on average; None where there was none."""
        now = int(self._session.now().timestamp() // 60)
        sums = (sa.func.sum(Heartbeat.calls), sa.func.sum(Heartbeat.seconds))
        row = self._session.one(sa.select(*sums).where(Heartbeat.minute > now - minutes, Heartbeat.minute <= now))
        return None if row is None or not row[0] else float(row[1]) / int(row[0])


_TERMS = ("name", "kind", "pay_form", "price_minor", "currency", "capacity_per_hour")
_SHIFT = ("id", "pool", "worker", "starts_at", "ends_at", "people")


def _terms(pool: PoolRecord) -> tuple[Any, ...]:
    return (*(getattr(pool, name) for name in _TERMS), tuple(pool.skills))


def _pool(row: Any) -> PoolRecord:
    values = {name: getattr(row, name) for name in _TERMS}
    return PoolRecord(
        **values, skills=tuple(row.skills), members=row.members, opted_out=row.opted_out, asked_at=row.asked_at
    )


def _check(pool: PoolRecord) -> None:
    for name in ("name", "currency", *(["skills"] if pool.skills else [])):
        for text in [getattr(pool, name)] if name != "skills" else pool.skills:
            if not check_text(text, name=name).strip():
                raise InputError(f"{name} of the pool is {text!r}; write a word")
    for name, known in (("kind", KINDS), ("pay_form", PAY_FORMS)):
        if getattr(pool, name) not in known:
            raise InputError(f"{name} is {getattr(pool, name)!r}; choose {', '.join(known)}")
    if pool.price_minor < 0 or (pool.pay_form != "salaried" and pool.price_minor == 0):
        raise InputError(f"price_minor of pool {pool.name!r} is {pool.price_minor}; people are paid, give more than 0")
    if not 0 < pool.capacity_per_hour < 1e6:
        raise InputError(f"capacity_per_hour is {pool.capacity_per_hour}; give the answers of one person in an hour")
