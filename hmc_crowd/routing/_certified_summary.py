"""What a certified plan says of itself: its audits, what binds, and what a little more of the promise would cost."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing._audit_size import audit_size
from hmc_crowd.routing._certified_plan import CertifiedPlan
from hmc_crowd.routing._certified_search import Candidate, Costed, Wish, cheapest
from hmc_crowd.routing._route import route
from hmc_crowd.routing._spending import AlphaSpending

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["caution_of", "first_look", "planned"]

_ASSUMPTIONS = (
    "confidences are calibrated: the chance of coming out rests on them, the certificate does not",
    "agreement is with our people, who answer every item that they are asked about",
    "the audit is a simple random sample of what the machine keeps, and takes people's labels",
    "times are expectations, and add up over items",
)
_TOP_UP = (0.8, 0.2)
# Part of the promise, a step of it, and how much of what is left to 1 the step may take.
_STEPS = (("target", 0.001, 1.0), ("assurance", 0.02, 0.5), ("level", 0.01, 0.5))


def first_look(wish: Wish, top_up: bool) -> Wish:
    """Return what the first audit must show: at a higher level where a second may follow."""
    return replace(wish, level=AlphaSpending(wish.level, weights=_TOP_UP).level_of(1)) if top_up else wish


def caution_of(caution: Any, assurance: float) -> float:
    """Return how many standard deviations to add to the expected number of wrong labels."""
    if caution is None:
        return max(0.0, NormalDist().inv_cdf(assurance))
    if isinstance(caution, bool) or not isinstance(caution, Real) or not 0.0 <= float(caution) < math.inf:
        raise InputError(f"caution is {caution!r}; give how many standard deviations to add, 0 or more")
    return float(caution)


def planned(items: Costed, found: Candidate, wish: Wish, groups: Any, top_up: bool) -> CertifiedPlan:
    """Say what was found, with its top-up, what binds, and what a little more would cost."""
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
        look_level=first_look(wish, top_up).level,
        top_up=more,
        human_s=found.human_s,
        human_s_read_whole=_read_whole(items, plan.to_human, audited, groups),
        money_minor=found.money,
        binding=_binding(found, wish),
        prices=_prices(items, found, wish, top_up),
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


def _prices(items: Costed, found: Candidate, wish: Wish, top_up: bool) -> tuple[tuple[str, float], ...]:
    """Return what a small step of each part of the promise would cost, in seconds, at the same price of time."""
    steps = []
    for name, step, share_of_room in _STEPS:
        value = getattr(wish, name)
        # A target may become 1; level and assurance stay below, so that near 1 their steps become smaller.
        more = min(step, share_of_room * (1.0 - value))
        if more <= 0.0:
            continue
        dearer = replace(wish, max_human_s=None, max_money_minor=None, **{name: value + more})
        # Whoever wants to be surer reckons with a worse batch too, unless the caution was stated.
        by_default = items.caution == caution_of(None, wish.assurance)
        careful = replace(items, caution=caution_of(None, dearer.assurance)) if by_default else items
        plan = cheapest(careful, first_look(dearer, top_up), [found.trade_off])
        extra = float("inf") if plan is None else max(0.0, plan.human_s - found.human_s)
        steps.append((f"{name} +{more:.3g}", extra))
    return tuple(steps)


def _notes(found: Candidate, n: int) -> tuple[str, ...]:
    if found.human == n:
        return ("people judge every item: the machine is of no help for this promise",)
    if found.audit.audited == n - found.human:
        return ("every item that the machine keeps is audited: people see the whole batch",)
    if found.audit.audited == 0:
        return ("nothing needs an audit: the target holds even if all that the machine keeps is wrong",)
    return ()
