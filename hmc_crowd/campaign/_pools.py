"""The campaign's pools: made, planned, kept in step with the workplace, held against what the plan asks of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.money import Money
from hmc_crowd._base.pools import KeepsPools, Terms, Turn
from hmc_crowd.campaign._capacity import Capacity, pool_capacity, time_text
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import PoolRecord, ShiftRecord, Transaction

__all__ = ["add_pool", "add_shift", "capacity", "capacity_notes", "meet", "remove_shift", "terms_of"]


def add_pool(context: Context, pool: PoolRecord) -> PoolRecord:
    """Store a pool."""
    with context.store.begin() as tx:
        is_new = tx.pools.find(context.campaign_id, pool.name) is None
        made = tx.pools.add(context.campaign_id, pool)
        if is_new:
            price = str(Money(pool.price_minor, pool.currency))
            context.log(tx, "pool", pool=pool.name, tier=pool.kind, pay_form=pool.pay_form, price=price)
    return made


def add_shift(
    context: Context,
    pool: str,
    starts_at: datetime,
    ends_at: datetime,
    *,
    people: int,
    worker: str | None,
    platform: Platform | None,
) -> ShiftRecord:
    """Plan a shift of a pool, or agree on one of a worker through the workplace that keeps his name."""
    if worker is None:
        with context.store.begin() as tx:
            made = tx.pools.add_shift(context.campaign_id, pool, starts_at, ends_at, people=people)
        if platform is not None:
            meet(context, platform)
        return made
    if not isinstance(platform, KeepsPools):
        raise InputError("a worker's own shift is kept by the workplace; pass the platform (--workplace) as well")
    with context.store.read() as tx:
        tx.pools.get(context.campaign_id, pool)
    start, end = as_utc(starts_at, name="starts_at"), as_utc(ends_at, name="ends_at")
    platform.add_turn(Turn(pool, start, end, 1, worker))
    meet(context, platform)
    name = pseudonyms(context.worker_key, platform.name, [worker])[worker]
    with context.store.read() as tx:
        known = tx.pools.shifts(context.campaign_id, starts_at=start, ends_at=end)
    for each in known:
        if (each.pool, each.worker, each.starts_at, each.ends_at) == (pool, name, start, end):
            return each
    raise InputError(f"worker {worker!r} has no invitation to pool {pool!r}; invite him to it first")


def remove_shift(context: Context, shift_id: str, *, platform: Platform | None) -> None:
    """Take a planned shift of a pool back."""
    with context.store.begin() as tx:
        tx.pools.remove_shift(context.campaign_id, shift_id)
    if platform is not None:
        meet(context, platform)


def meet(context: Context, platform: Platform) -> int:
    """Tell the workplace what is planned for its people, ask who they are and when they work; return the members."""
    if not isinstance(platform, KeepsPools):
        return 0
    now, cid = context.clock.now(), context.campaign_id
    with context.store.read() as tx:
        pools = tx.pools.all(cid)
        planned = [each for each in tx.pools.shifts(cid, starts_at=now) if each.worker is None]
        scope = str(tx.campaigns.get(context.name).settings.get("uid", ""))
    if not pools:
        return 0
    platform.put_turns(scope, [Turn(each.pool, each.starts_at, each.ends_at, each.people) for each in planned])
    found = {pool.name: platform.workforce(pool.name, starts_at=now) for pool in pools}
    names = pseudonyms(
        context.worker_key, platform.name, {turn.worker for each in found.values() for turn in each.turns}
    )
    with context.store.begin() as tx:
        for pool, force in found.items():
            tx.pools.told(cid, pool, members=force.members, opted_out=force.opted_out)
            mine = [(names[turn.worker], turn.starts_at, turn.ends_at) for turn in force.turns]
            tx.pools.set_workers_shifts(cid, pool, mine)
    return sum(each.members for each in found.values())


def capacity(context: Context, starts_at: datetime, ends_at: datetime, *, pools: Sequence[str] | None) -> Capacity:
    """Return what the pools can do between two moments."""
    start, end = as_utc(starts_at, name="starts_at"), as_utc(ends_at, name="ends_at")
    if end <= start:
        raise InputError(f"ends_at is {end}, not after starts_at {start}; give a time that lies ahead of it")
    with context.store.read() as tx:
        return _capacity(context, tx, start, end, pools)


def _capacity(
    context: Context, tx: Transaction, start: datetime, end: datetime, pools: Sequence[str] | None
) -> Capacity:
    cid = context.campaign_id
    known = tx.pools.all(cid) if pools is None else [tx.pools.get(cid, name) for name in dict.fromkeys(pools)]
    shifts = tx.pools.shifts(cid, starts_at=start, ends_at=end)
    return Capacity(start, end, tuple(pool_capacity(each, shifts, starts_at=start, ends_at=end) for each in known))


def capacity_notes(
    context: Context, tx: Transaction, due_at: datetime | None, *, planned_s: float, sensitive_s: float, answers: int
) -> list[str]:
    """Say where the planned work is more than the pools can do by the deadline.

    Parameters
    ----------
    due_at : datetime or None
        The deadline; without one nothing is said.
    planned_s, sensitive_s : float
        Seconds of people over all answers: of all planned items, and of those with disturbing text.
    answers : int
        Answers that are to be given.
    """
    if due_at is None:
        return []
    now = context.clock.now()
    due = as_utc(due_at, name="due_at")
    if due <= now:
        return [f"the deadline of {due:%Y-%m-%d %H:%M} UTC is past; nobody can finish by then"]
    found = _capacity(context, tx, now, due, None)
    if not found.pools:
        return ["the campaign has no pools, so nothing is known of what people can do by the deadline"]
    by = f"by {due:%Y-%m-%d %H:%M} UTC"
    do = "plan fewer items, add shifts, or move the deadline"
    notes = []
    # Few minutes and slow workers are two limits: the tighter one is said.
    if planned_s / 60 > found.people_minutes:
        notes.append(
            f"people are planned for {time_text(planned_s)}, more than the {time_text(60 * found.people_minutes)} "
            f"that the shifts of the pools have {by}; {do}"
        )
    elif answers > found.answers:
        notes.append(
            f"{answers:,} answers are planned, more than the {found.answers:,.0f} that the pools give {by}; {do}"
        )
    category = str(tx.campaigns.get(context.name).settings.get("category") or "") or None
    left = found.minutes_for(category)
    if left < found.people_minutes and sensitive_s / 60 > left:
        notes.append(
            f"disturbing texts are planned for {time_text(sensitive_s)}, more than the {time_text(60 * left)} of "
            f"people {by} who have not opted out of them; {do}"
        )
    return notes


def terms_of(
    context: Context, tx: Transaction, pool: str | None, skills: Sequence[str], platform: Platform
) -> tuple[Terms, PoolRecord | None]:
    """Return who may take the HITs of a publication, and their pool.

    Raises
    ------
    InputError
        The pool is unknown, or the platform has no pools.
    """
    if pool is None and not skills:
        return Terms(), None
    if not isinstance(platform, KeepsPools):
        raise InputError(f"platform {platform.name!r} knows no pools and no skills; publish on your own workplace")
    if pool is None:
        return Terms(skills=tuple(skills)), None
    found = tx.pools.get(context.campaign_id, pool)
    # What everybody in the pool can do need not stand on each invitation.
    asked = tuple(each for each in skills if each not in found.skills)
    return Terms(found.name, asked, found.pay_form, found.price_minor), found
