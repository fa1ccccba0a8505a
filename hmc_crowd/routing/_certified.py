"""How little human time keeps a promise? A plan made backwards, from the certificate that is to come out.

"At least 97% of the final labels agree with our people, at 95% confidence": more items for people leave fewer wrong
labels, a larger audit shows it better, and both cost time. The plan weighs them: of all trade-offs, caps and audit
sizes whose certificate comes out with the stated assurance it takes the one of least expected human time.

The certificate itself does not depend on any of this. If the confidences are worse than they say, the promise comes
out less often than planned; it is never given where it does not hold.
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing._audit_size import audit_size
from hmc_crowd.routing._certified_plan import CertifiedPlan
from hmc_crowd.routing._certified_search import Candidate, Costed, Wish, cheapest, prices_to_try
from hmc_crowd.routing._checks import level_of, share
from hmc_crowd.routing._pools import Limits
from hmc_crowd.routing._route import route
from hmc_crowd.routing._spending import AlphaSpending

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["plan_certified"]

_ASSUMPTIONS = (
    "confidences are calibrated: the chance of coming out rests on them, the certificate does not",
    "agreement is with our people, who answer every item that they are asked about",
    "the audit is a simple random sample of what the machine keeps, and takes people's labels",
    "times are expectations, and add up over items",
)
_TOP_UP = (0.8, 0.2)
_STEPS = (("target", 0.001), ("assurance", 0.02), ("level", 0.01))


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
        Confidence, seconds and correctness (bool) of other items like these whose label is known: they say how many of
        the kept items will be wrong, and the confidences only set the order. Confidences that are calibrated over all
        items need not be so among dear ones, and plans keep the dear ones.
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
    careful = _caution(caution, wish.assurance)
    money = _money(money_minor, len(sure))
    items = Costed(sure, times * redundancy, money, error, careful, _labelled(labelled, redundancy))
    first = AlphaSpending(wish.level, weights=_TOP_UP).level_of(1) if top_up else wish.level
    look = replace(wish, level=first)
    found = cheapest(items, look, prices_to_try(items))
    if found is None:
        raise _refusal(items, look, wish, groups, top_up)
    return _planned(items, found, look, wish, groups, top_up)


def _money(money_minor: Any, n: int) -> NDArray[np.float64]:
    """Return the money of each item."""
    if money_minor is None:
        return np.zeros(n)
    money = float_vector(np.atleast_1d(np.asarray(money_minor)), name="money_minor", low=0.0)
    if len(money) not in (1, n):
        raise InputError(f"money_minor has {len(money)} rows for {n} items; give one number for all, or one per item")
    return np.broadcast_to(money, (n,))


def _caution(caution: Any, assurance: float) -> float:
    if caution is None:
        return max(0.0, NormalDist().inv_cdf(assurance))
    if isinstance(caution, bool) or not isinstance(caution, Real) or not 0.0 <= float(caution) < math.inf:
        raise InputError(f"caution is {caution!r}; give how many standard deviations to add, 0 or more")
    return float(caution)


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


def _refusal(items: Costed, look: Wish, wish: Wish, groups: Any, top_up: bool) -> InfeasibleError:
    """Say that the promise cannot be kept, what it would take, and which promise could be."""
    prices = prices_to_try(items)
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
    reached = replace(wish, target=nearest[0])
    plan = _planned(items, nearest[1], replace(look, target=nearest[0]), reached, groups, top_up)
    return InfeasibleError(
        f"{asked} and {' and '.join(budgets)} clash{needs}; within the budget {nearest[0]:.4f} can be promised: raise "
        "the budget, or lower target_agreement",
        clashing=("target_agreement", *budgets),
        nearest=plan,
    )


def _planned(items: Costed, found: Candidate, look: Wish, wish: Wish, groups: Any, top_up: bool) -> CertifiedPlan:
    plan = route(items.confidence, items.seconds, max_human=found.human, trade_off=found.trade_off)
    n, audited = len(items.confidence), found.audit.audited
    more = 0
    if top_up and audited:
        second = AlphaSpending(wish.level, weights=_TOP_UP).level_of(2)
        size = audit_size(
            n, found.human, target=wish.target, expected_wrong=found.expected_wrong, level=second,
            assurance=wish.assurance,
        )  # fmt: skip
        more = max(0, min(size.audited, n - found.human) - audited)
    return CertifiedPlan(
        plan=plan,
        trade_off=found.trade_off,
        human=plan.human_count,
        audited=audited,
        allowed_wrong=found.audit.allowed_wrong,
        expected_wrong=found.expected_wrong,
        chance=found.audit.chance,
        target=wish.target,
        level=wish.level,
        assurance=wish.assurance,
        look_level=look.level,
        top_up=more,
        human_s=found.human_s,
        human_s_read_whole=_read_whole(items, plan.to_human, audited, groups),
        money_minor=found.money,
        binding=_binding(found, wish),
        prices=_prices(items, found, look),
        notes=_notes(found, n),
        assumptions=_ASSUMPTIONS,
    )


def _read_whole(items: Costed, people: NDArray[np.bool_], audited: int, groups: Any) -> float:
    """Return the expected seconds if a touched group is read whole; the audit touches each by chance."""
    if groups is None:
        return float("nan")
    _, code = np.unique(np.asarray(groups), return_inverse=True)
    seconds = np.bincount(code, weights=items.seconds)
    touched = np.bincount(code, weights=people) > 0
    kept = np.bincount(code, weights=~people)
    share_drawn = audited / max(1.0, float(kept.sum()))
    chance = np.where(touched, 1.0, 1.0 - (1.0 - share_drawn) ** kept)
    return float((seconds * chance).sum())


def _binding(found: Candidate, wish: Wish) -> tuple[str, ...]:
    near = 0.99
    return (
        "target_agreement",
        *(("max_human_s",) if wish.max_human_s is not None and found.human_s >= near * wish.max_human_s else ()),
        *(
            ("max_money_minor",)
            if wish.max_money_minor is not None and found.money >= near * wish.max_money_minor
            else ()
        ),
    )


def _prices(items: Costed, found: Candidate, look: Wish) -> tuple[tuple[str, float], ...]:
    """Return what a small step of each part of the promise would cost, in seconds, at the same price of time."""
    free = replace(look, max_human_s=None, max_money_minor=None)
    steps = []
    for name, step in _STEPS:
        value = min(getattr(free, name) + step, 0.9999)
        dearer = cheapest(items, replace(free, **{name: value}), [found.trade_off])
        extra = float("inf") if dearer is None else max(0.0, dearer.human_s - found.human_s)
        steps.append((f"{name} +{step:g}", extra))
    return tuple(steps)


def _notes(found: Candidate, n: int) -> tuple[str, ...]:
    if found.human == n:
        return ("people judge every item: the machine is of no help for this promise",)
    if found.audit.audited == n - found.human:
        return ("every item that the machine keeps is audited: people see the whole batch",)
    if found.audit.audited == 0:
        return ("nothing needs an audit: the target holds even if all that the machine keeps is wrong",)
    return ()
