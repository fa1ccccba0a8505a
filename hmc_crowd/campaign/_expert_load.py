"""Where is the bottleneck among experts, what would one more change, and does anything wait for ever?

Arrivals are what gates and further looks have sent to experts in the last hours; experts, paces and prices are those of
their keys and pools. What asks for a tier without anybody in it is the next higher tier's work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._assign import experts_of, items_asked
from hmc_crowd.campaign._gating import waiting_since
from hmc_crowd.campaign._looks import OPEN, looks
from hmc_crowd.errors import InputError
from hmc_crowd.quality import CapacityPlan, Expert, Tier, expert_workload, what_if

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["ExpertLoad", "expert_load"]


@dataclass(frozen=True)
class ExpertLoad:
    """What experts have to do, and whether they keep up.

    Parameters
    ----------
    aspect : str
    experts : pandas.DataFrame
        As `hmc_crowd.quality.expert_workload`: ``expert, tier, load, per_hour, utilisation, clear_s``.
    waiting : pandas.DataFrame
        ``tier, waiting, given, nobody, oldest_s, overtaken``: items that no expert has settled, how many of them an
        expert has, how many nobody may judge, the longest wait, and how many later items of the tier were settled
        before the one that was overtaken most.
    plan : CapacityPlan
        Load, wait and cost by tier as things are.
    then : CapacityPlan or None
        The same with the people that were asked about.
    hours : float
        The arrivals are those of so many hours.
    notes : tuple of str
    """

    aspect: str
    experts: pd.DataFrame
    waiting: pd.DataFrame
    plan: CapacityPlan
    then: CapacityPlan | None
    hours: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        wait = int(self.waiting["waiting"].sum())
        given = int(self.waiting["given"].sum())
        said = (
            f"{wait:,} items wait for experts, {given:,} of them given out; {len(self.experts):,} experts: {self.plan}"
        )
        return said if self.then is None else f"{said}; with more people: {self.then}"


def expert_load(
    context: Context,
    experts: Sequence[Expert] | None,
    *,
    add: Mapping[int, int] | None,
    aspect: str | None,
    items: Any,
    over_hours: float,
    patience_s: float,
) -> ExpertLoad:
    """Say who is how busy, which tier falls behind, and what waits too long."""
    record = choice_of(context, aspect)
    for name, value in (("over_hours", over_hours), ("patience_s", patience_s)):
        if not 0 < value < float("inf"):
            raise InputError(f"{name} is {value!r}; give a number above 0")
    _check_added(add)
    with context.store.read() as tx:
        people = experts_of(context, tx, hours=1.0) if experts is None else list(experts)
        decided = tx.gates.decisions(context.campaign_id, aspect=record.name)
        sent = decided[decided["decision"] == "expert"]
        stand = looks(context, tx, record.name)
        given = tx.gates.assigned(context.campaign_id, aspect=record.name)
        tier = _tiers_of_items(context, tx, record.name, sent, stand, items)
    hours, rate = _arrivals(sent, tier, now=pd.Timestamp(context.clock.now()), over_hours=over_hours)
    plan, then = _plans(rate, people, add)
    closed = stand.loc[~stand["state"].isin(["begun", *OPEN]), "item"]
    last = decided.drop_duplicates("item", keep="last")
    open_ = last.loc[(last["decision"] == "expert") & ~last["item"].isin(closed), "item"].tolist()
    waiting = _waiting(open_, waiting_since(decided), tier, stand, given, people, pd.Timestamp(context.clock.now()))
    notes = (*_notes(waiting, people, stand, patience_s), *_of_absent(given, people))
    if not (decided["decider"].eq("gate") & decided["policy"].ne("tiers")).any():
        notes = (*notes, "no gate has decided yet: only further looks are counted")
    return ExpertLoad(
        record.name,
        expert_workload(people, given),
        waiting,
        plan,
        then,
        hours,
        notes,
    )


def _check_added(add: Mapping[int, int] | None) -> None:
    for level, more in (add or {}).items():
        if level not in (1, 2, 3) or isinstance(more, bool) or not isinstance(more, int) or more < 0:
            raise InputError(f"add is {dict(add or {})!r}; give how many more people, by tier 1, 2 or 3")


def _tiers_of_items(
    context: Context, tx: Transaction, aspect: str, sent: pd.DataFrame, stand: pd.DataFrame, items: Any
) -> pd.Series[int]:
    """Return the tier that each item asks for, by item."""
    if sent.empty:
        return pd.Series(dtype=np.int64)
    frame, _ = items_asked(context, tx, aspect, sent["item"].drop_duplicates().tolist(), items)
    asked = frame.set_index("item")["tier"]
    again = stand[stand["to_tier"] > 0].set_index("item")["to_tier"]
    return again.reindex(asked.index).fillna(asked).astype(np.int64)


def _arrivals(
    sent: pd.DataFrame, tier: pd.Series[int], *, now: pd.Timestamp, over_hours: float
) -> tuple[float, dict[int, float]]:
    """Return over how many hours was counted, and how many items an hour come to each tier."""
    if sent.empty:
        return over_hours, {}
    age_s = (now - sent["decided_at"].min()).total_seconds()
    hours = min(over_hours, max(1.0, age_s / 3600))
    late = sent[sent["decided_at"] > now - pd.Timedelta(hours=hours + 1e-9)]
    # A gate that decides anew sends nothing new; a further look does.
    look = late["reason_code"].where(late["policy"] == "tiers", "")
    once = late.assign(look=look).drop_duplicates(["item", "look"])
    levels, counts = np.unique(once["item"].map(tier).to_numpy(dtype=np.int64), return_counts=True)
    return hours, dict(zip(levels.tolist(), (counts / hours).tolist(), strict=True))


def _plans(
    rate: dict[int, float], people: list[Expert], add: Mapping[int, int] | None
) -> tuple[CapacityPlan, CapacityPlan | None]:
    more = dict(add or {})
    levels = sorted({*(each.tier for each in people), *rate, *more}) or [1]
    tiers = [_tier(level, [each for each in people if each.tier == level]) for level in levels]
    now = {each.tier: each.people for each in tiers}
    plan = what_if(_moved_up(rate, now), tiers)
    if not more:
        return plan, None
    then = {level: count + more.get(level, 0) for level, count in now.items()}
    return plan, what_if(_moved_up(rate, then), tiers, people=then)


def _tier(level: int, people: list[Expert]) -> Tier:
    if not people:
        return Tier(level, 0, Expert.per_hour, 0)
    pace = float(np.mean([each.per_hour for each in people]))
    return Tier(level, len(people), pace, round(float(np.mean([each.cost_minor * each.per_hour for each in people]))))


def _moved_up(rate: dict[int, float], people: Mapping[int, int]) -> dict[int, float]:
    """Return the arrivals with those of empty tiers at the next higher one that has people, if there is one."""
    found: dict[int, float] = {}
    for level, count in rate.items():
        to = next((each for each in sorted(people) if each >= level and people[each]), level)
        found[to] = found.get(to, 0.0) + count
    return found


def _waiting(
    open_: list[str],
    since: pd.Series[pd.Timestamp],
    tier: pd.Series[int],
    stand: pd.DataFrame,
    given: pd.DataFrame,
    people: list[Expert],
    now: pd.Timestamp,
) -> pd.DataFrame:
    """Return what waits, by tier."""
    judges = dict(zip(stand["item"], stand["judges"], strict=True))
    settled = since.index.difference(pd.Index(open_, dtype=object))
    done = pd.DataFrame({"tier": tier.reindex(settled), "at": since.reindex(settled)})
    frame = pd.DataFrame({"item": open_, "tier": tier.reindex(open_).to_numpy(), "at": since.reindex(open_).to_numpy()})
    highest = max((each.tier for each in people), default=0)
    nobody = [
        level > highest
        or (item in judges and not any(each.tier >= level and each.expert not in judges[item] for each in people))
        for item, level in zip(frame["item"], frame["tier"], strict=True)
    ]
    frame = frame.assign(
        nobody=nobody, wait_s=(now - pd.to_datetime(frame["at"], utc=True)).dt.total_seconds(), after=0
    )
    for level, rows in frame.groupby("tier"):
        came = np.sort(done.loc[done["tier"] == level, "at"].to_numpy(dtype="datetime64[ns]"))
        at = rows["at"].to_numpy(dtype="datetime64[ns]")
        frame.loc[rows.index, "after"] = len(came) - np.searchsorted(came, at, side="right")
    frame = frame.assign(given=frame["item"].isin(given["item"]))
    found = frame.groupby("tier").agg(
        waiting=("item", "size"),
        given=("given", "sum"),
        nobody=("nobody", "sum"),
        oldest_s=("wait_s", "max"),
        overtaken=("after", "max"),
    )
    return found.reset_index().astype({"given": int, "nobody": int, "overtaken": int})


def _of_absent(given: pd.DataFrame, people: list[Expert]) -> tuple[str, ...]:
    """Say how many items are with experts who have left, or are off work."""
    away = int((~given["expert"].isin([each.expert for each in people])).sum())
    if not away or not people:
        return ()
    return (f"{away:,} items are with experts who are not there; assign_experts() gives them to others",)


def _notes(waiting: pd.DataFrame, people: list[Expert], stand: pd.DataFrame, patience_s: float) -> tuple[str, ...]:
    said = []
    if not people:
        said.append("there is no expert: what waits, waits for a person's review, and nothing is accepted meanwhile")
    elif (alone := int(waiting["nobody"].sum())) > 0:
        said.append(f"{alone:,} items ask for an expert who is not there: of their tier, and none who judged them")
    for row in waiting.to_dict("records"):
        if row["oldest_s"] > patience_s and row["overtaken"]:
            said.append(
                f"tier {row['tier']}: an item waits for {row['oldest_s'] / 3600:,.1f} h while {row['overtaken']:,} "
                "that came later are settled; give it out"
            )
    if (stuck := int((stand["state"] == "review").sum())) > 0:
        said.append(f"{stuck:,} appeals wait for a person, since three experts said three things")
    return tuple(said)
