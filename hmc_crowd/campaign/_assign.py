"""Which expert gets which item? Holders of expert keys, by the tier pool that they belong to, in one best assignment.

An expert's key says what he knows; a skill ``pool:NAME`` says which pool of the campaign he belongs to, and with it his
tier, his speed and his price. Where a pool has shifts, its people have room for the hours that they are at work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._capacity import pool_capacity
from hmc_crowd.campaign._follow import ask_again
from hmc_crowd.campaign._further_looks import give_looks, in_order
from hmc_crowd.campaign._gate_data import known_of
from hmc_crowd.campaign._gating import newest, waiting_since
from hmc_crowd.campaign._looks import OPEN, current_judgements, looks
from hmc_crowd.campaign._tiers import policy_of, pool_of, skills_of, tier_in_pool, tiers_asked
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import Expert, allocate_experts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord, PoolRecord, Transaction

__all__ = ["Assigned", "assign", "assigned", "experts_of", "items_asked"]

_GIVEN = ["item", "expert", "tier", "place", "score", "finish_s", "late_s", "state"]


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
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        stand = looks(context, tx, record.name)
        again = stand[stand["state"].isin(OPEN)]
        ask_again(context, tx, record.name, again)
        sent = newest(context, tx, record.name)
        if sent.empty:
            raise StateError(f"no gate has decided about aspect {record.name!r} yet; first gate()")
        people = experts_of(context, tx, hours=hours) if experts is None else _each_once(experts)
        if experts is not None:
            tx.reviews.seat(context.campaign_id, {each.expert: each.tier for each in people})
        settled = stand.loc[~stand["state"].isin(["begun", *OPEN]), "item"]
        open_ = sent[(sent["decision"] == "expert") & ~sent["item"].isin(settled)]
        held = tx.gates.assigned(context.campaign_id, aspect=record.name)
        # What has been settled since is nobody's any more, and takes nobody's room.
        asked = held[held["item"].isin(open_["item"])]
        kept = _kept(context, tx, record.name, asked, {each.expert for each in people}, anew=anew)
        tx.gates.release(context.campaign_id, record.name, held.loc[~held["item"].isin(kept["item"]), "item"])
        tx.gates.release_waiting(context.campaign_id, record.name)
        waiting = open_[~open_["item"].isin(kept["item"])]
        load = kept["expert"].value_counts()
        people = [replace(each, load=each.load + int(load.get(each.expert, 0))) for each in people]
        frame, notes = items_asked(context, tx, record.name, waiting["item"].tolist(), items)
        to_tier = again.set_index("item")["to_tier"]
        frame["tier"] = frame["item"].map(to_tier).fillna(frame["tier"]).astype(int)
        judges = dict(zip(again["item"], again["judges"], strict=True))
        given, more = _given(frame, judges, people, hours=hours, patience_s=patience_s, cost_weight=cost_weight)
        _keep(context, tx, record.name, given, kept)
        result = _told(record.name, given, len(kept), [*notes, *more])
        context.log(tx, "experts assigned", aspect=record.name, given=result.given, queued=result.queued)
    return result


def _each_once(experts: Sequence[Expert]) -> list[Expert]:
    """Return the experts, or refuse two of one name, whose room would count twice."""
    names = [each.expert for each in experts]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"experts name {twice[0]!r} twice; give each one once")
    return list(experts)


def _given(
    frame: pd.DataFrame,
    judges: dict[str, tuple[str, ...]],
    people: list[Expert],
    *,
    hours: float,
    patience_s: float,
    cost_weight: float,
) -> tuple[pd.DataFrame, list[str]]:
    """Give out further looks one by one, and first ones as a batch; order each expert's items as one queue."""
    is_again = frame["item"].isin(list(judges))
    chosen, loaded = give_looks(
        frame[is_again], judges, people, hours=hours, patience_s=patience_s, cost_weight=cost_weight
    )
    found = allocate_experts(
        frame[~is_again].reset_index(drop=True), loaded, hours=hours, patience_s=patience_s, cost_weight=cost_weight
    )
    rows = [chosen[["item", "expert", "score", "state"]], found.frame[["item", "expert", "score", "state"]]]
    given = pd.concat([each for each in rows if len(each)] or rows[:1], ignore_index=True)
    alone = int(chosen["reason"].isin(["no_experts", "no_tier"]).sum())
    notes = [found.note] if found.note else []
    if alone:
        notes.append(f"{alone:,} items need another expert of their tier, and there is none who has not judged them")
    return in_order(given, frame, people, patience_s=patience_s), notes


def assigned(context: Context, *, aspect: str | None) -> pd.DataFrame:
    """Return what experts have to do, by expert and place."""
    with context.store.read() as tx:
        return tx.gates.assigned(context.campaign_id, aspect=aspect)


def experts_of(context: Context, tx: Transaction, *, hours: float) -> list[Expert]:
    """Return the holders of expert keys with the tier, speed and price of their pool; who is off work is not there."""
    pools = {each.name.casefold(): each for each in tx.pools.all(context.campaign_id)}
    keys = [each for each in tx.keys.all() if each.role == "expert" and each.revoked_at is None]
    members = {name: sum(pool_of(each, pools) is pool for each in keys) for name, pool in pools.items()}
    found = []
    for key in keys:
        pool = pool_of(key, pools)
        share = 1.0 if pool is None else _at_work(context, tx, pool, hours, members[pool.name.casefold()])
        if share > 0:
            found.append(_expert(key, pool, share))
    return found


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
    skills = skills_of(key) | set(() if pool is None else pool.skills)
    speed = key.per_hour or (Expert.per_hour if pool is None else pool.capacity_per_hour)
    cost = 0
    if pool is not None and pool.pay_form != "salaried":
        cost = pool.price_minor if pool.pay_form == "per_answer" else round(pool.price_minor / speed)
    return Expert(
        key.id,
        dict.fromkeys(skills, 1.0),
        per_hour=speed * share,
        tier=tier_in_pool(pool),
        cost_minor=cost,
    )


def _kept(
    context: Context, tx: Transaction, aspect: str, held: pd.DataFrame, experts: set[str], *, anew: bool
) -> pd.DataFrame:
    """Return what stays where it is: everything of experts who are there, or, given anew, what they have begun."""
    if not anew:
        return held[held["expert"].isin(experts)]
    said = current_judgements(context, tx, aspect)
    begun = set(zip(said["item"], said["expert"], strict=True))
    mask = [(item, expert) in begun for item, expert in zip(held["item"], held["expert"], strict=True)]
    return held[pd.Series(mask, index=held.index, dtype=bool) & held["expert"].isin(experts)]


def items_asked(
    context: Context, tx: Transaction, aspect: str, names: list[str], told: Any
) -> tuple[pd.DataFrame, list[str]]:
    """Return the items as the allocator takes them: tier, urgency, deadline, how long they have waited, area."""
    now, notes = pd.Timestamp(context.clock.now()), []
    known = known_of(context, tx, names, told)
    since = waiting_since(tx.gates.decisions(context.campaign_id, aspect=aspect))
    frame = known[["item"]].assign(waited_s=(now - known["item"].map(since)).dt.total_seconds().clip(lower=0))
    for name in ("urgency", "area"):
        if name in known:
            frame[name] = known[name]
    tier = tiers_asked(known, top=policy_of(context.settings_in(tx)).top)
    frame["tier"] = 1 if tier is None else tier
    if tier is None:
        notes.append("no risk and no complexity is known of the items: every tier may judge them")
    if "due_at" in known:
        due = pd.to_datetime(known["due_at"], utc=True, errors="coerce")
        if (due.isna() & known["due_at"].notna()).any():
            raise InputError("due_at holds what is no time; write it like 2026-01-05T12:00Z")
        frame["due_at"] = due
        frame["deadline_s"] = (due - now).dt.total_seconds().clip(lower=0)
    return frame, notes


def _keep(context: Context, tx: Transaction, aspect: str, given: pd.DataFrame, kept: pd.DataFrame) -> None:
    rows = given.assign(aspect=aspect, assigned_at=pd.Timestamp(context.clock.now()))
    # New items come after what an expert has already.
    behind = rows["expert"].map(kept.groupby("expert")["place"].max() if len(kept) else {}).fillna(0)
    rows["place"] = (rows["place"] + behind).astype(int)
    tx.gates.assign(context.campaign_id, rows)


def _told(aspect: str, given: pd.DataFrame, kept: int, notes: list[str]) -> Assigned:
    state = given["state"].value_counts()
    queued, late = int(state.get("queued", 0)), int(state.get("late", 0))
    return Assigned(aspect, len(given) - queued, late, queued, kept, given[_GIVEN], tuple(notes))
