"""How little human time keeps a promise? A plan made backwards, from the certificate that is to come out.

"At least 97% of the final labels agree with our people, at 95% confidence": more items for people leave fewer wrong
labels, a larger audit shows it better, and both cost time. The plan weighs them: of all trade-offs, caps and audit
sizes whose certificate comes out with the stated assurance it takes the one of least expected human time.

The certificate itself does not depend on any of this. If the confidences are worse than they say, the promise comes
out less often than planned; it is never given where it does not hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing._certified_search import Costed, Wish, cheapest, prices_to_try
from hmc_crowd.routing._certified_summary import caution_of, first_look, planned
from hmc_crowd.routing._checks import level_of, share
from hmc_crowd.routing._pools import Limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.routing._certified_plan import CertifiedPlan

__all__ = ["plan_certified"]


def plan_certified(
    confidence: ArrayLike,
    seconds: ArrayLike,
    *,
    target_agreement: float,
    level: float = 0.95,
    assurance: float = 0.9,
    max_human_s: float | None = None,
    money_minor: ArrayLike | None = None,
    max_money_minor: int | None = None,
    redundancy: int = 1,
    groups: ArrayLike | None = None,
    labelled: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    calibration_error: float = 0.0,
    caution: float | None = None,
    top_up: bool = False,
) -> CertifiedPlan:
    """Choose trade-off, cap and audit size for the least human time that keeps a promise.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        Calibrated probability that the machine's label is right.
    seconds : array of float, shape (n_items,)
        Expected time of one person for one answer, above 0 for at least one item.
    target_agreement : float
        What is promised: the share of final labels that agree with our people, in (0, 1].
    level : float, default 0.95
        Confidence of the certificate.
    assurance : float, default 0.9
        Probability with which the certificate is to come out.
    max_human_s : float, optional
        Most seconds of people, over all answers, audit included (in expectation over the draw).
    money_minor : float or array of float, optional
        Cost of one item over all its answers, fees included; needed by `max_money_minor`.
    max_money_minor : int, optional
        Most money.
    redundancy : int, default 1
        Answers per item, in the audit too.
    groups : array, shape (n_items,), optional
        The dialogue of each item: to count time the other way too.
    labelled : tuple of three arrays, optional
        Confidence, seconds and correctness (bool) of other items like these whose label is known: they correct how many
        of the kept items the confidences expect to be wrong, the more the more errors they show. Confidences that are
        calibrated over all items need not be so among dear ones, and plans keep the dear ones.
    calibration_error : float, default 0
        Standard error of the mean confidence as an estimate of the machine's accuracy, such as
        ``sqrt(.1 * .9 / 500)`` after 500 labelled items; makes the plan careful.
    caution : float, optional
        How many standard deviations above the expected number of wrong labels the plan reckons with; by default as many
        as `assurance` asks for (1.28 for .9), so that an unlucky batch is no surprise either.
    top_up : bool, default False
        Keep a second, larger audit in reserve. Its size is fixed now and the looks share ``1 - level`` (80% and 20%),
        so that both may be judged.

    Returns
    -------
    CertifiedPlan

    Raises
    ------
    InfeasibleError
        The promise cannot be kept within the budgets; ``nearest`` is the plan with the highest target that can.
    InputError
        Lengths differ, or a value is out of range.

    Notes
    -----
    The cap is searched on a grid that is refined around the best, for nine prices of time; the plan is the best of
    those that were looked at.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plan = plan_certified(rng.beta(8, 1, 5000), np.full(5000, 20.0), target_agreement=0.97)
    >>> print(plan)
    agreement >= 0.97 at 95%: 2,290 of 5,000 items to people, audit 650 of the others; 16.3 hours expected;
    comes out with a chance of 0.901 (at most 35 wrong in the audit)
    """
    sure = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    times = float_vector(seconds, name="seconds", low=0.0)
    require_same_length([("confidence", sure), ("seconds", times)])
    wish = _wish(target_agreement, level, assurance, max_human_s, max_money_minor)
    if isinstance(redundancy, bool) or not isinstance(redundancy, int) or redundancy < 1:
        raise InputError(f"redundancy is {redundancy!r}; give how many people answer an item, 1 or more")
    if max_money_minor is not None and money_minor is None:
        raise InputError(f"max_money_minor is {max_money_minor!r}, but money_minor is missing; give what an item costs")
    if groups is not None:
        require_same_length([("confidence", sure), ("groups", groups)])
    error = share("calibration_error", calibration_error)
    careful = caution_of(caution, wish.assurance)
    money = _money(money_minor, len(sure))
    items = Costed(sure, times * redundancy, money, error, careful, _labelled(labelled, redundancy))
    found = cheapest(items, first_look(wish, top_up), prices_to_try(items))
    if found is None:
        raise _refusal(items, wish, groups, top_up)
    return planned(items, found, wish, groups, top_up)


def _money(money_minor: Any, n: int) -> NDArray[np.float64]:
    """Return the money of each item."""
    if money_minor is None:
        return np.zeros(n)
    money = float_vector(np.atleast_1d(np.asarray(money_minor)), name="money_minor", low=0.0)
    if len(money) not in (1, n):
        raise InputError(f"money_minor has {len(money)} rows for {n} items; give one number for all, or one per item")
    return np.broadcast_to(money, (n,))


def _labelled(labelled: Any, redundancy: int) -> Any:
    """Check the labelled items; their seconds are over all answers, as the others'."""
    if labelled is None:
        return None
    sure = float_vector(labelled[0], name="labelled[0], confidence,", low=0.0, high=1.0)
    times = float_vector(labelled[1], name="labelled[1], seconds,", low=0.0)
    right = np.asarray(labelled[2])
    require_same_length([("labelled[0]", sure), ("labelled[1]", times), ("labelled[2]", right)])
    if right.dtype != np.bool_:
        raise InputError(f"labelled[2] holds {right.dtype}; give True where the machine was right, else False")
    return sure, times * redundancy, right


def _wish(target: Any, level: Any, assurance: Any, max_human_s: Any, max_money_minor: Any) -> Wish:
    Limits(max_human_s=max_human_s, max_money_minor=max_money_minor)
    wanted = share("target_agreement", target)
    if wanted <= 0.0:
        raise InputError("target_agreement is 0; give what is promised, such as 0.97")
    often = share("assurance", assurance)
    if not 0.0 < often < 1.0:
        raise InputError(f"assurance is {assurance!r}; give a probability strictly between 0 and 1, such as 0.9")
    return Wish(wanted, level_of(level), often, max_human_s, max_money_minor)


def _refusal(items: Costed, wish: Wish, groups: Any, top_up: bool) -> InfeasibleError:
    """Say that the promise cannot be kept, what it would take, and which promise could be."""
    prices, look = prices_to_try(items), first_look(wish, top_up)
    free = cheapest(items, replace(look, max_human_s=None, max_money_minor=None), prices)
    budgets = [name for name in ("max_human_s", "max_money_minor") if getattr(wish, name) is not None]
    asked = f"target_agreement {wish.target:g} at level {wish.level:g} with assurance {wish.assurance:g}"
    # The search for another promise needs no fine prices.
    nearest, low, high = None, 0.0, wish.target
    for _ in range(12):
        middle = (low + high) / 2
        found = cheapest(items, replace(look, target=middle), prices[::3])
        low, high = (middle, high) if found is not None else (low, middle)
        nearest = (middle, found) if found is not None else nearest
    needs = "" if free is None else (
        f"; it needs about {free.human_s / 3600:,.1f} hours"
        + (f" and {free.money:,.0f} minor units of money" if wish.max_money_minor is not None else "")
    )  # fmt: skip
    if nearest is None or nearest[1] is None:
        return InfeasibleError(f"{asked} and {' and '.join(budgets)} clash{needs}; no promise can be kept within that")
    plan = planned(items, nearest[1], replace(wish, target=nearest[0]), groups, top_up)
    return InfeasibleError(
        f"{asked} and {' and '.join(budgets)} clash{needs}; within the budget {nearest[0]:.4f} can be promised: raise "
        "the budget, or lower target_agreement",
        clashing=("target_agreement", *budgets),
        nearest=plan,
    )
