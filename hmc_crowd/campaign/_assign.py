"""Which expert gets which item? Holders of expert keys, by the tier pool that they belong to, in one best assignment.

An expert's key says what he knows; a skill ``pool:NAME`` says which pool of the campaign he belongs to, and with it his
tier, his speed and his price. Where a pool has shifts, its people have room for the hours that they are at work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._capacity import pool_capacity
from hmc_crowd.campaign._gate_data import choice, known_of
from hmc_crowd.campaign._gating import newest
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import Expert, allocate_experts, tier_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import Allocation
    from hmc_crowd.store import KeyRecord, PoolRecord, Transaction

__all__ = ["Assigned", "assign", "assigned", "experts_of"]

_POOL = "pool:"
_TIERS = {"tier1": 1, "tier2": 2, "tier3": 3}
_PER_HOUR = 20.0


@dataclass(frozen=True)
class Assigned:
    """What experts have to do.

    Parameters
    ----------
    aspect : str
    given, late, queued : int
        Items given out now; how many of them cannot be done in time; items for which nobody has room.
    kept : int
        Items that an expert has from before.
    items : pandas.DataFrame
        ``item, expert, tier, place, score, finish_s, late_s, state`` of the items given out or queued.
    notes : tuple of str
    """

    aspect: str
    given: int
    late: int
    queued: int
    kept: int
    items: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        late = f", {self.late:,} of them too late for their deadline" if self.late else ""
        kept = f"; {self.kept:,} were given out before" if self.kept else ""
        return f"{self.given:,} items given to experts{late}, {self.queued:,} wait{kept}"


def assign(
    context: Context,
    experts: Sequence[Expert] | None,
    *,
    aspect: str | None,
    items: Any,
    hours: float,
    patience_s: float,
    cost_weight: float,
    anew: bool,
) -> Assigned:
    """Give the items that a gate sent to experts to those who have room."""
    record = choice(context, aspect)
    with context.store.begin() as tx:
        sent = newest(context, tx, record.name)
        if sent.empty:
            raise StateError(f"no gate has decided about aspect {record.name!r} yet; first gate()")
        people = experts_of(context, tx, hours=hours) if experts is None else list(experts)
        open_ = sent[sent["decision"] == "expert"]
        held = tx.gates.assigned(context.campaign_id, aspect=record.name)
        kept = _kept(context, tx, record.name, held, {each.expert for each in people}, anew=anew)
        tx.gates.release(context.campaign_id, record.name, held.loc[~held["item"].isin(kept["item"]), "item"])
        waiting = open_[~open_["item"].isin(kept["item"])]
        load = kept["expert"].value_counts()
        people = [_loaded(each, int(load.get(each.expert, 0))) for each in people]
        frame, notes = _frame(context, tx, waiting, items)
        found = allocate_experts(frame, people, hours=hours, patience_s=patience_s, cost_weight=cost_weight)
        _keep(context, tx, record.name, found, frame, kept)
        result = _told(record.name, found, frame, len(kept), notes)
        context.log(tx, "experts assigned", aspect=record.name, given=result.given, queued=result.queued)
    return result


def assigned(context: Context, *, aspect: str | None) -> pd.DataFrame:
    """Return what experts have to do, by expert and place."""
    with context.store.read() as tx:
        return tx.gates.assigned(context.campaign_id, aspect=aspect)


def experts_of(context: Context, tx: Transaction, *, hours: float) -> list[Expert]:
    """Return the holders of expert keys with the tier, speed and price of their pool; who is off work is not there."""
    pools = {each.name.casefold(): each for each in tx.pools.all(context.campaign_id)}
    keys = [each for each in tx.keys.all() if each.role == "expert" and each.revoked_at is None]
    members = {name: sum(_pool_of(each, pools) is pool for each in keys) for name, pool in pools.items()}
    found = []
    for key in keys:
        pool = _pool_of(key, pools)
        share = 1.0 if pool is None else _at_work(context, tx, pool, hours, members[pool.name.casefold()])
        if share > 0:
            found.append(_expert(key, pool, share))
    return found


def _pool_of(key: KeyRecord, pools: dict[str, PoolRecord]) -> PoolRecord | None:
    named = [each.removeprefix(_POOL) for each in key.skills if each.startswith(_POOL)]
    return pools.get(named[0]) if named else None


def _at_work(context: Context, tx: Transaction, pool: PoolRecord, hours: float, members: int) -> float:
    """Return for which part of the next hours one of a pool's experts is at work; all of them without shifts."""
    now = context.clock.now()
    end = now + timedelta(hours=hours)
    shifts = [each for each in tx.pools.shifts(context.campaign_id) if each.pool == pool.name]
    if not shifts:
        return 1.0
    minutes = pool_capacity(pool, shifts, starts_at=now, ends_at=end).people_minutes
    return float(min(1.0, minutes / 60 / hours / max(members, 1)))


def _expert(key: KeyRecord, pool: PoolRecord | None, share: float) -> Expert:
    skills = {each for each in key.skills if not each.startswith(_POOL)} | set(() if pool is None else pool.skills)
    speed = key.per_hour or (_PER_HOUR if pool is None else pool.capacity_per_hour)
    cost = 0
    if pool is not None and pool.pay_form != "salaried":
        cost = pool.price_minor if pool.pay_form == "per_answer" else round(pool.price_minor / speed)
    return Expert(
        key.id,
        dict.fromkeys(skills, 1.0),
        per_hour=speed * share,
        # Who belongs to no tier may judge everything: nobody has said otherwise.
        tier=3 if pool is None else _TIERS.get(pool.kind, 1),
        cost_minor=cost,
    )


def _kept(
    context: Context, tx: Transaction, aspect: str, held: pd.DataFrame, experts: set[str], *, anew: bool
) -> pd.DataFrame:
    """Return what stays where it is: everything of experts who are there, or, given anew, what they have begun."""
    if not anew:
        return held[held["expert"].isin(experts)]
    said = tx.adjudications.read(context.campaign_id, aspect=aspect)
    begun = set(zip(said["item"], said["expert"], strict=True))
    mask = [(item, expert) in begun for item, expert in zip(held["item"], held["expert"], strict=True)]
    return held[pd.Series(mask, index=held.index, dtype=bool) & held["expert"].isin(experts)]


def _loaded(expert: Expert, load: int) -> Expert:
    return Expert(
        expert.expert, expert.skills, expert.load + load, expert.per_hour, expert.tier, expert.cost_minor
    )  # fmt: skip


def _frame(context: Context, tx: Transaction, waiting: pd.DataFrame, told: Any) -> tuple[pd.DataFrame, list[str]]:
    """Return the items as the allocator takes them: tier, urgency, deadline, how long they have waited, area."""
    now, notes = pd.Timestamp(context.clock.now()), []
    known = known_of(context, tx, waiting["item"].tolist(), told)
    since = waiting.set_index("item")["decided_at"]
    frame = known[["item"]].assign(waited_s=(now - known["item"].map(since)).dt.total_seconds().clip(lower=0))
    for name in ("urgency", "area"):
        if name in known:
            frame[name] = known[name]
    if "tier" in known:
        frame["tier"] = pd.to_numeric(known["tier"], errors="coerce").fillna(3)
    elif {"risk", "complexity"} & set(known.columns):
        risk = known["risk"] if "risk" in known else pd.Series("low", index=known.index)
        hard = known["complexity"] if "complexity" in known else pd.Series(0.0, index=known.index)
        frame["tier"] = tier_of(risk.tolist(), hard.to_numpy(dtype=float))
    else:
        frame["tier"] = 1
        notes.append("no risk and no complexity is known of the items: every tier may judge them")
    if "due_at" in known:
        due = pd.to_datetime(known["due_at"], utc=True, errors="coerce")
        if (due.isna() & known["due_at"].notna()).any():
            raise InputError("due_at holds what is no time; write it like 2026-01-05T12:00Z")
        frame["due_at"] = due
        frame["deadline_s"] = (due - now).dt.total_seconds().clip(lower=0)
    return frame, notes


def _keep(
    context: Context, tx: Transaction, aspect: str, found: Allocation, frame: pd.DataFrame, kept: pd.DataFrame
) -> None:
    rows = found.frame.assign(tier=frame["tier"].to_numpy().astype(int))
    if "due_at" in frame:
        rows["due_at"] = frame["due_at"].to_numpy()
    rows = rows[rows["expert"].notna()].assign(aspect=aspect, assigned_at=pd.Timestamp(context.clock.now()))
    # New items come after what an expert has already.
    behind = rows["expert"].map(kept.groupby("expert")["place"].max() if len(kept) else {}).fillna(0)
    rows["place"] = (rows["place"] + behind).astype(int)
    tx.gates.assign(context.campaign_id, rows)


def _told(aspect: str, found: Allocation, frame: pd.DataFrame, kept: int, notes: list[str]) -> Assigned:
    state = found.frame["state"].value_counts()
    queued, late = int(state.get("queued", 0)), int(state.get("late", 0))
    shown = found.frame.assign(tier=frame["tier"].to_numpy().astype(int))
    columns = ["item", "expert", "tier", "place", "score", "finish_s", "late_s", "state"]
    said = (*notes, *([found.note] if found.note else []))
    return Assigned(aspect, len(found.frame) - queued, late, queued, kept, shown[columns], said)
