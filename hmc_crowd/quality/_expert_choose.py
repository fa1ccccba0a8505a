"""Which expert gets this one item?

All candidates with room are scored; among those who can meet the deadline the best score wins, then the smaller load,
then the name. Nobody free, or nobody at all, is an answer too: the item waits for a person, and the reason says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError
from hmc_crowd.quality._experts import SKILL_WEIGHT, Expert, load_bonus, require_experts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["ExpertChoice", "choose_expert"]


@dataclass(frozen=True)
class ExpertChoice:
    """Who judges an item.

    Parameters
    ----------
    item : object
    expert : str or None
        None: the item is queued.
    reason : {"best_score", "late", "no_capacity", "no_experts", "no_tier"}
        ``late``: nobody can meet the deadline, this expert is done first.
    match, score : float or None
    urgency : int
    finish_s : float or None
        Seconds until the expert should be done with it.
    late_s : float
        Seconds by which the deadline will be missed, 0 where it is met.
    cost_minor : int or None
    """

    item: Any
    expert: str | None
    reason: str
    match: float | None
    score: float | None
    urgency: int
    finish_s: float | None
    late_s: float
    cost_minor: int | None

    def __str__(self) -> str:
        if self.expert is None:
            return f"{self.item}: queued for a person's review ({self.reason})"
        late = f", {self.late_s:,.0f} s after the deadline" if self.late_s else ""
        return f"{self.item}: {self.expert} (score {self.score:.3f}, match {self.match:.2f}{late})"


def choose_expert(
    item: Any,
    candidates: Sequence[Expert],
    *,
    area: str | None = None,
    urgency: int = 1,
    deadline_s: float | None = None,
    tier: int = 1,
    hours: float = 1.0,
    cost_weight: float = 0.0,
    exclude: Collection[str] = (),
) -> ExpertChoice:
    """Choose the best expert for one item.

    Parameters
    ----------
    item : object
        Its name.
    candidates : sequence of Expert
    area : str, optional
        The expertise that is asked for; None asks for none.
    urgency : int, default 1
        1 to 5; stated in the result, it orders queues.
    deadline_s : float, optional
        Seconds from now.
    tier : int, default 1
        Lowest tier that may judge the item.
    hours : float, default 1
        Experts with more than their items of so many hours have no room.
    cost_weight : float, default 0
        What a minor unit of an expert's price takes from the score.
    exclude : collection of str
        Who may not judge it, such as who judged it before.

    Returns
    -------
    ExpertChoice

    Examples
    --------
    Ann knows more, Bob is free: .7 x .9 + .3 x (1 - 4/10) = .81 against .7 x .6 + .3 = .72.

    >>> ann, bob = Expert("ann", {"law": 0.9}, load=4), Expert("bob", {"law": 0.6})
    >>> print(choose_expert("a", [ann, bob], area="law"))
    a: ann (score 0.810, match 0.90)
    >>> print(choose_expert("a", []))
    a: queued for a person's review (no_experts)
    """
    if urgency not in (1, 2, 3, 4, 5):
        raise InputError(f"urgency is {urgency!r}; give 1 (can wait) to 5 (now)")
    if deadline_s is not None and not deadline_s >= 0:
        raise InputError(f"deadline_s is {deadline_s!r}; give seconds from now")
    if not 0 < hours < float("inf"):
        raise InputError(f"hours is {hours!r}; give a number of hours above 0")
    allowed = [one for one in require_experts(candidates) if one.expert not in exclude]
    fitting = [one for one in allowed if one.tier >= tier]
    free = [one for one in fitting if one.room(hours=hours) > 0]
    if not free:
        reason = "no_experts" if not allowed else "no_tier" if not fitting else "no_capacity"
        return ExpertChoice(item, None, reason, None, None, urgency, None, 0.0, None)
    limit = float("inf") if deadline_s is None else deadline_s
    in_time = [one for one in free if one.wait_s() <= limit]

    def score(one: Expert) -> float:
        return SKILL_WEIGHT * one.match(area) + float(load_bonus(one.load)) - cost_weight * one.cost_minor

    if in_time:
        # Rounded, so that scores equal but for rounding are ties.
        best = min(in_time, key=lambda one: (-round(score(one), 12), one.load, one.expert))
    else:
        best = min(free, key=lambda one: (one.wait_s(), -round(score(one), 12), one.expert))
    return ExpertChoice(
        item=item,
        expert=best.expert,
        reason="best_score" if in_time else "late",
        match=best.match(area),
        score=score(best),
        urgency=urgency,
        finish_s=best.wait_s(),
        late_s=max(0.0, best.wait_s() - limit),
        cost_minor=best.cost_minor,
    )
