"""Which items should people judge? The exact optimum of the paper's equations 3 and 4 for one batch.

With one cap on the number of items, the best plan is simply the items with the largest gains: exchanging a chosen
item for one of larger gain can only help. So a selection finds in linear time what the paper asks a branch-and-cut
solver for, and it is the proven optimum, not the first feasible plan.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing._gain import Cap, Costs, as_cap, cap_count, costs, gains, trade_off_value
from hmc_crowd.routing._plan import Border, Plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Baseline", "baseline_plan", "build_plan", "route", "select"]

Baseline: TypeAlias = Literal["machine_only", "people_only", "random", "least_confident", "cheapest"]

_PEOPLE_RIGHT = (
    "human_confidence is what it says: by default people are always right, so reliability is agreement with them"
)
_ADDITIVE = (
    "effort adds up over items; reading a dialogue once for several of its items is not counted (see touched_groups)"
)
_CALIBRATED = (
    "confidence is a calibrated probability; with raw scores a trade_off means something else for every method"
)


def route(
    confidence: ArrayLike,
    effort: ArrayLike,
    *,
    max_human: int | float | None = None,
    trade_off: float = 0.0,
    cap: Cap = "at_most",
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
) -> Plan:
    """Choose the items that people should judge.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        Calibrated probability, in [0, 1], that the machine's label is right.
    effort : array of float, shape (n_items,)
        Expected human effort per item, >= 0, in any one unit (seconds, or a share in [0, 1]).
    max_human : int or float, optional
        Most items people may get: an int counts items (1 is one item), a float is a share of them, rounded down (1.0 is
        all), None sets no cap.
    trade_off : float, default 0
        Price of one unit of effort in units of confidence, >= 0 (lambda in the source). 0 takes the least confident
        first; inf, with ``cap="exactly"`` only, takes the cheapest first.
    cap : {"at_most", "exactly"}, default "at_most"
        Whether people may get fewer than `max_human` where more would not pay, or get just that many. The source
        prints the former and has used the latter in one of its tables.
    human_confidence : float or array of float, shape (n_items,), default 1
        Probability, in [0, 1], that people's label is right.
    machine_effort : float or array of float, shape (n_items,), default 0
        Effort of letting the machine judge, >= 0, in the unit of `effort`.

    Returns
    -------
    Plan
        Frozen; ``to_human`` is bool, shape (n_items,). An item of gain 0 stays with the machine under "at_most". Equal
        gains at the border keep item order and are listed in ``ties``.

    Raises
    ------
    InputError
        Lengths differ, a value is missing or out of range, ``max_human`` is not between 0 and n_items, or ``cap`` and
        ``trade_off`` do not go together.

    Notes
    -----
    An item is worth ``(human_confidence - confidence) - trade_off * (effort - machine_effort)``; the best positive
    ones are taken ("exactly": the best ones). O(n), exact in double precision: gains that are equal on paper may
    differ in the last bit, and only gains that are equal as stored count as ties.

    References
    ----------
    Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues",
    eq. 3-4.

    Examples
    --------
    >>> plan = route([0.95, 0.6, 0.5], [0.2, 0.1, 0.9], max_human=2, trade_off=0.5)
    >>> plan.to_human.tolist()
    [False, True, True]
    >>> print(plan)
    Plan: 2 of 3 items to people (66.7%), effort share 0.8333, objective 2.450000 (trade_off 0.5, at most 2)
    """
    mode = as_cap(cap)
    price = trade_off_value(trade_off, mode, max_human)
    given = costs(confidence, effort, human_confidence=human_confidence, machine_effort=machine_effort)
    count = cap_count(max_human, given.size)
    gain = gains(given, price)
    to_human, ties, border = select(gain, count, mode)
    return build_plan(
        given,
        gain,
        to_human,
        ties=ties,
        border=border,
        trade_off=price,
        cap=mode,
        max_human=max_human,
        count=count,
        method="exact selection",
    )


def select(gain: NDArray[np.float64], count: int, cap: Cap) -> tuple[NDArray[np.bool_], NDArray[np.intp], Border]:
    """Mark the `count` largest gains (under "at_most": positive ones only), equal gains in item order."""
    none = np.empty(0, dtype=np.intp)
    if cap == "at_most":
        positive = gain > 0.0
        if int(np.count_nonzero(positive)) <= count:
            return positive, none, Border(0.0)
    elif count == len(gain):
        return np.ones(len(gain), dtype=bool), none, Border(-math.inf)
    if count == 0:
        return np.zeros(len(gain), dtype=bool), none, Border(math.inf)
    cut = len(gain) - count
    border = float(np.partition(gain, cut)[cut])
    chosen = gain > border
    tied = np.flatnonzero(gain == border)
    missing = count - int(np.count_nonzero(chosen))
    chosen[tied[:missing]] = True
    return chosen, (tied if missing < len(tied) else none), Border(border, missing, len(tied))


def build_plan(
    given: Costs,
    gain: NDArray[np.float64],
    to_human: NDArray[np.bool_],
    *,
    ties: NDArray[np.intp],
    border: Border,
    trade_off: float,
    cap: Cap,
    max_human: int | float | None,
    count: int,
    method: str,
) -> Plan:
    """Add up what a selection means."""
    totals = plan_totals(given, to_human, trade_off)
    n_human = int(np.count_nonzero(to_human))
    plan_max: int | float | None = max_human
    if plan_max is not None:
        plan_max = float(plan_max) if isinstance(plan_max, (float, np.floating)) else int(plan_max)
    return Plan(
        to_human=to_human,
        gain=gain,
        ties=ties,
        **totals,
        human_count=n_human,
        human_share=n_human / given.size,
        trade_off=trade_off,
        cap=cap,
        max_human=plan_max,
        cap_count=count,
        border=border,
        human_confidence=_scalar(given.human_confidence),
        machine_effort=_scalar(given.machine_effort),
        method=method,
        assumptions=(_CALIBRATED, _PEOPLE_RIGHT, _ADDITIVE),
    )


def plan_totals(given: Costs, to_human: NDArray[np.bool_], trade_off: float) -> dict[str, float]:
    """Return both parts of the objective, the objective and the share of the effort; numpy's sums are pairwise."""
    confidence = float(np.where(to_human, given.human_confidence, given.confidence).sum())
    human_effort = np.where(to_human, given.effort, 0.0).sum()
    if isinstance(given.machine_effort, float) and given.machine_effort == 0.0:
        effort = float(human_effort)
    else:
        effort = float(np.where(to_human, given.effort, given.machine_effort).sum())
    all_effort = float(given.effort.sum())
    return {
        "confidence_total": confidence,
        "effort_total": effort,
        "objective": -effort if math.isinf(trade_off) else confidence - trade_off * effort,
        "effort_share": float(human_effort) / all_effort if all_effort > 0.0 else math.nan,
    }


def _scalar(value: Any) -> float | None:
    return value if isinstance(value, float) else None


def baseline_plan(
    kind: Baseline,
    confidence: ArrayLike,
    effort: ArrayLike,
    *,
    max_human: int | float | None = None,
    rng: np.random.Generator | None = None,
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
) -> Plan:
    """Make the plan of a simple rule, to compare `route` with it through the same report.

    Parameters
    ----------
    kind : {"machine_only", "people_only", "random", "least_confident", "cheapest"}
        "least_confident" is `route` at trade-off 0 (confidence only), "cheapest" at infinity (effort only).
    confidence, effort, max_human, human_confidence, machine_effort
        As in `route`. `max_human` is needed by "random", "least_confident" and "cheapest", which take just that
        many items, and refused by the other two.
    rng : numpy.random.Generator, optional
        Draws the items of "random", which needs it.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        As `route`, or the kind is unknown, or `max_human` or `rng` is missing where needed.

    Examples
    --------
    >>> baseline_plan("cheapest", [0.95, 0.6, 0.5], [0.2, 0.1, 0.9], max_human=1).to_human.tolist()
    [False, True, False]
    """
    extras: dict[str, Any] = {"human_confidence": human_confidence, "machine_effort": machine_effort}
    if kind in {"machine_only", "people_only"}:
        if max_human is not None:
            raise InputError(
                f"max_human is {max_human!r} with kind={kind!r}, which sets the number itself; leave it out"
            )
        return route(confidence, effort, max_human=0.0 if kind == "machine_only" else 1.0, cap="exactly", **extras)
    if kind not in {"random", "least_confident", "cheapest"}:
        known = "machine_only, people_only, random, least_confident, cheapest"
        raise InputError(f"kind is {kind!r}; use one of {known}")
    if max_human is None:
        raise InputError(f"kind={kind!r} needs max_human; say how many items people get, as an int or a share")
    if kind != "random":
        price = 0.0 if kind == "least_confident" else math.inf
        return route(confidence, effort, max_human=max_human, trade_off=price, cap="exactly", **extras)
    if rng is None:
        raise InputError("kind='random' needs rng; pass numpy.random.default_rng(seed)")
    given = costs(confidence, effort, **extras)
    count = cap_count(max_human, given.size)
    to_human = np.zeros(given.size, dtype=bool)
    to_human[rng.choice(given.size, size=count, replace=False, shuffle=False)] = True
    return build_plan(
        given,
        gains(given, 0.0),
        to_human,
        ties=np.empty(0, dtype=np.intp),
        border=Border(math.nan),
        trade_off=0.0,
        cap="exactly",
        max_human=max_human,
        count=count,
        method="random draw",
    )
