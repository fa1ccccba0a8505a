"""Which expert gets which of many items? The best assignment of the whole batch, and who has to wait.

Guarantee: among the items that are served the total score is the largest possible (the result carries the bound that
proves it), no expert gets more than fits, and no item goes below its tier. Which items are served when there is too
little room is decided by the queue alone: urgency, raised by waiting, so that every item is served in the end however
badly it matches.

Source: requirement D23 for the score; the load in it is that at the moment an item is given, so that the second item
of an expert scores less than the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._expert_transport import best_transport
from hmc_crowd.quality._experts import (
    SKILL_WEIGHT,
    Expert,
    column_or,
    load_bonus,
    match_table,
    require_experts,
    tiers_of,
    waiting_order,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Allocation", "allocate_experts"]


@dataclass(frozen=True)
class Allocation:
    """Who judges what.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item in the given order: ``item, expert, match, score, urgency, place, finish_s, late_s, state,
        cost_minor``. ``state`` is ``given``, ``late`` (given, but the deadline cannot be met) or ``queued`` (no expert,
        ``expert`` is None). ``place`` is the item's place in its expert's queue, from 1.
    total : float
        Sum of the scores.
    gap : float
        How far the total can be from the best possible one: 0 but for rounding. NaN for the greedy rules.
    rule : str
    note : str
        Why items wait; empty where none does.
    """

    frame: pd.DataFrame
    total: float
    gap: float
    rule: str
    note: str

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.frame.copy()

    def __str__(self) -> str:
        state = self.frame["state"].value_counts()
        given = len(self.frame) - int(state.get("queued", 0))
        late = f", {state['late']:,} of them late" if "late" in state else ""
        note = f"; {self.note}" if self.note else ""
        return f"{given:,} of {len(self.frame):,} items given to experts{late}, total score {self.total:,.3f}{note}"


def allocate_experts(
    items: pd.DataFrame,
    experts: Sequence[Expert],
    *,
    hours: float = 1.0,
    patience_s: float = 3600.0,
    cost_weight: float = 0.0,
    rule: str = "optimal",
) -> Allocation:
    """Give a batch of items to experts.

    Parameters
    ----------
    items : pandas.DataFrame
        Column ``item``; optionally ``area``, ``urgency`` (1 to 5), ``deadline_s`` (from now), ``waited_s``, ``tier``
        (the lowest that may judge it, default 1).
    experts : sequence of Expert
    hours : float, default 1
        An expert has room for the items of so many hours, less the load.
    patience_s : float, default 3600
        Waiting so long counts like one more step of urgency.
    cost_weight : float, default 0
        What a minor unit of an expert's price takes from the score: with 0.001 a price of 1.00 weighs as much as .1 of
        score, so that dear tiers are kept for what only they can judge.
    rule : {"optimal", "greedy", "least_loaded"}, default "optimal"
        "greedy" gives each item in turn to its best expert; "least_loaded" is the source's rule, the least loaded
        expert whatever the match. Both are there for comparison.

    Returns
    -------
    Allocation

    Raises
    ------
    FrameError, InputError
        ``items`` is not as described, or a setting is out of range.

    Examples
    --------
    Both items would like Ann best; together they are served best if the one that Bob can judge goes to Bob:

    >>> ann, bob = Expert("ann", {"law": 0.9, "tax": 0.8}, per_hour=1), Expert("bob", {"law": 0.8}, per_hour=1)
    >>> items = pd.DataFrame({"item": ["a", "b"], "area": ["law", "tax"]})
    >>> found = allocate_experts(items, [ann, bob])
    >>> found.frame["expert"].tolist(), round(found.total, 2)
    (['bob', 'ann'], 1.72)
    >>> print(allocate_experts(items, []))
    0 of 2 items given to experts, total score 0.000; there is no expert: 2 items wait for a person's review
    """
    _check(items, hours, cost_weight, rule)
    people = require_experts(experts)
    order = waiting_order(items, patience_s=patience_s)
    tier = tiers_of(items)
    room = np.array([one.room(hours=hours) for one in people], dtype=np.intp)
    level = np.array([one.tier for one in people], dtype=np.float64)
    served = _served(order, tier, room, level)
    taker = np.full(len(items), -1, dtype=np.intp)
    gap = float("nan")
    if len(served):
        areas = items["area"].where(items["area"].notna(), None).tolist() if "area" in items.columns else None
        match = match_table(areas or [None] * len(items), people)
        price = cost_weight * np.array([one.cost_minor for one in people], dtype=np.float64)
        score = np.where(level[None, :] >= tier[:, None], SKILL_WEIGHT * match - price, -np.inf)[served]
        bonus = [load_bonus(one.load + np.arange(places)) for one, places in zip(people, room, strict=True)]
        if rule == "optimal":
            found = best_transport(score, bonus)
            taker[served], gap = found.taker, found.gap
        else:
            load = np.array([one.load for one in people])
            taker[served] = _in_turn(score, load, room, least_loaded=rule == "least_loaded")
    else:
        match = np.empty((len(items), len(people)))
        gap = 0.0
    return _result(items, people, order, taker, match, gap, rule, cost_weight)


def _check(items: pd.DataFrame, hours: float, cost_weight: float, rule: str) -> None:
    if not isinstance(items, pd.DataFrame) or "item" not in items.columns:
        raise FrameError("items lacks the column item; give one row per item")
    if items["item"].duplicated().any() or items["item"].isna().any():
        raise FrameError("items has an item twice, or a row without one; give one row per item")
    if not 0 < hours < np.inf:
        raise InputError(f"hours is {hours!r}; give a number of hours above 0")
    if not 0 <= cost_weight < np.inf:
        raise InputError(f"cost_weight is {cost_weight!r}; give 0 or more")
    if rule not in ("optimal", "greedy", "least_loaded"):
        raise InputError(f"rule is {rule!r}; give 'optimal', 'greedy' or 'least_loaded'")


def _served(
    order: NDArray[np.intp], tier: NDArray[np.float64], room: NDArray[np.intp], level: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the rows that find a place, first come first served: tiers are nested, so counting from above suffices."""
    steps = np.unique(tier)
    places = np.array([room[level >= step].sum() for step in steps], dtype=np.int64)
    taken = np.zeros(len(steps), dtype=np.int64)
    at = np.searchsorted(steps, tier)
    served = []
    for row in order.tolist():
        # An item of tier t takes a place of every "t or lower" count; all of these must stay within their places.
        if (taken[: at[row] + 1] < places[: at[row] + 1]).all():
            taken[: at[row] + 1] += 1
            served.append(row)
    return np.array(served, dtype=np.intp)


def _in_turn(
    score: NDArray[np.float64], load: NDArray[np.intp], room: NDArray[np.intp], *, least_loaded: bool
) -> NDArray[np.intp]:
    """Give each item in turn to the best expert, or to the least loaded one; -1 where none with room is left."""
    load, left = load.astype(np.float64), room.copy()
    taker = np.full(len(score), -1, dtype=np.intp)
    for row in range(len(score)):
        open_ = (left > 0) & np.isfinite(score[row])
        if not open_.any():
            continue
        value = -load if least_loaded else score[row] + load_bonus(load)
        value = np.where(open_, value, -np.inf)
        best = np.flatnonzero(value >= value.max() - 1e-12)
        chosen = int(best[load[best].argmin()])
        taker[row] = chosen
        load[chosen] += 1
        left[chosen] -= 1
    return taker


def _result(
    items: pd.DataFrame,
    people: list[Expert],
    order: NDArray[np.intp],
    taker: NDArray[np.intp],
    match: NDArray[np.float64],
    gap: float,
    rule: str,
    cost_weight: float,
) -> Allocation:
    n = len(items)
    given = order[taker[order] >= 0]
    place = np.zeros(n, dtype=np.intp)
    # Each expert works in the order of the queue.
    place[given] = pd.Series(taker[given]).groupby(taker[given]).cumcount().to_numpy() + 1
    has = taker >= 0
    load, pace, cost = (
        np.array([getattr(one, name) for one in people] or [0.0], dtype=np.float64)
        for name in ("load", "per_hour", "cost_minor")
    )
    finish = np.where(has, (load[taker] + place) * 3600 / pace[taker] if people else np.nan, np.nan)
    matched = np.where(has, match[np.arange(n), taker] if people else np.nan, np.nan)
    score = SKILL_WEIGHT * matched + load_bonus(np.where(has, load[taker] + place - 1, np.nan))
    score = score - cost_weight * np.where(has, cost[taker], 0.0)
    late = np.maximum(finish - column_or(items, "deadline_s", np.inf), 0.0)
    names = np.array([one.expert for one in people] + [None], dtype=object)
    frame = pd.DataFrame(
        {
            "item": items["item"].to_numpy(),
            "expert": pd.Series(names[np.where(has, taker, len(people))], dtype=object),
            "match": matched,
            "score": score,
            "urgency": column_or(items, "urgency", 1.0).astype(np.intp),
            "place": place,
            "finish_s": finish,
            "late_s": np.where(has, late, 0.0),
            "state": np.where(~has, "queued", np.where(late > 0, "late", "given")),
            "cost_minor": np.where(has, cost[taker], 0.0).astype(np.int64),
        }
    )
    total = float(np.nansum(score))
    return Allocation(frame, total, gap, rule, _note(n - int(has.sum()), people))


def _note(queued: int, people: list[Expert]) -> str:
    if not queued:
        return ""
    wait = f"{queued:,} item{'s' if queued > 1 else ''} wait{'' if queued > 1 else 's'} for a person's review"
    return f"there is no expert: {wait}" if not people else f"the experts of the tiers asked for are full: {wait}"
