"""Which units go to people, and which of the others are audited?

The audit is a simple random sample of what the machine keeps. While a later plan keeps the very same units, the sample
stays and is topped up from the rest. As soon as the kept units differ, the sample is put aside (people labelled those
units, so they count as people's) and a fresh one is drawn: what was learnt meanwhile, from the audited units' working
times for one, may have moved the border, and only a draw made after it is exact for the new batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.campaign._units import Before
from hmc_crowd.campaign.quote import audit_size
from hmc_crowd.errors import InputError
from hmc_crowd.routing import Plan, draw_audit, route, route_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.campaign._units import Units

__all__ = ["Decided", "PlanRequest", "decide"]


@dataclass(frozen=True)
class PlanRequest:
    """What a plan is asked to do; see `Campaign.plan` for the words."""

    trade_off: float
    max_human: int | float | None
    max_human_s: float | None
    max_money_minor: int | None
    audit: int | float | None
    effort: str
    redundancy: int
    pay_per_hour_minor: int | None


@dataclass(frozen=True)
class Decided:
    """The decision over all units; ``plan`` speaks of the ``free`` ones and is None where none is free."""

    plan: Plan | None
    before: NDArray[np.int8]
    free: NDArray[np.bool_]
    to_people: NDArray[np.bool_]
    audited: NDArray[np.bool_]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class _Budgets:
    """What each unit uses of people's time and of money, over all its answers, and the limits."""

    seconds: NDArray[np.float64]
    money_minor: NDArray[np.int64]
    max_s: float | None
    max_minor: int | None

    def overshoot(self, asked: NDArray[np.bool_]) -> tuple[float, int]:
        """Return by how much the asked units exceed the two limits; negative where there is room."""
        over_s = -np.inf if self.max_s is None else float(self.seconds[asked].sum()) - self.max_s
        over_minor = -1 if self.max_minor is None else int(self.money_minor[asked].sum()) - self.max_minor
        return over_s, over_minor


def _budgets(units: Units, request: PlanRequest) -> _Budgets | None:
    if request.max_human_s is None and request.max_money_minor is None:
        return None
    if request.max_money_minor is not None and request.pay_per_hour_minor is None:
        raise InputError("max_money_minor needs pay_per_hour_minor, to know what a minute of people costs")
    seconds = units.seconds * request.redundancy
    money = np.ceil(seconds * ((request.pay_per_hour_minor or 0) / 3600)).astype(np.int64)
    return _Budgets(seconds, money, request.max_human_s, request.max_money_minor)


def decide(units: Units, before: NDArray[np.int8], request: PlanRequest, rng: np.random.Generator) -> Decided:
    """Route the free units and draw the audit; under a budget, repeat until both together fit it."""
    if request.effort not in {"share", "seconds"}:
        raise InputError(f"effort is {request.effort!r}; give 'share' (the paper's) or 'seconds'")
    budgets = _budgets(units, request)
    room = budgets
    while True:
        decided = _decide_once(units, before, request, room, rng)
        if budgets is None or room is None:
            return decided
        over_s, over_minor = budgets.overshoot(decided.to_people | decided.audited)
        if over_s <= 1e-6 and over_minor <= 0:
            return decided
        if decided.plan is None or not decided.plan.human_count:
            raise InputError(
                f"max_human_s={request.max_human_s}, max_money_minor={request.max_money_minor}: too little for the "
                f"audit of {int(decided.audited.sum()):,} items and what people were asked before; raise it, or lower "
                "audit"
            )
        room = replace(
            room,
            max_s=None if room.max_s is None else max(0.0, room.max_s - max(0.0, over_s)),
            max_minor=None if room.max_minor is None else max(0, room.max_minor - max(0, over_minor)),
        )


def _decide_once(
    units: Units, before: NDArray[np.int8], request: PlanRequest, room: _Budgets | None, rng: np.random.Generator
) -> Decided:
    free = (before == Before.FREE) | (before == Before.AUDIT)
    plan = _route(units, before, free, request, room)
    if plan is not None and plan.human_count and (before == Before.AUDIT).any():
        before = np.where(before == Before.AUDIT, np.int8(Before.OLD_AUDIT), before)
        free = before == Before.FREE
        plan = _route(units, before, free, request, room)
    to_people = ~free
    if plan is not None:
        to_people[free] = plan.to_human
    audited, probability = _audit(to_people, before, request, rng)
    return Decided(plan, before, free, to_people, audited, probability)


def _route(
    units: Units, before: NDArray[np.int8], free: NDArray[np.bool_], request: PlanRequest, room: _Budgets | None
) -> Plan | None:
    if not free.any():
        return None
    # A mask that is true everywhere would copy every column of a large first plan for nothing.
    where: NDArray[np.bool_] | slice = slice(None) if free.all() else free
    confidence = units.confidence[where]
    effort = (units.share if request.effort == "share" else units.seconds)[where]
    cap = _cap(request.max_human, len(before), int((before == Before.PEOPLE).sum()))
    if room is None:
        return route(confidence, effort, max_human=cap, trade_off=request.trade_off)
    return route_within(
        confidence,
        effort,
        seconds=room.seconds[where],
        max_human_s=room.max_s,
        money_minor=room.money_minor[where],
        max_money_minor=room.max_minor,
        max_human=cap,
        trade_off=request.trade_off,
    )


def _cap(max_human: int | float | None, units: int, asked: int) -> int | None:
    """Return how many more items people may get: the cap is on the batch, those asked before count."""
    if max_human is None:
        return None
    if isinstance(max_human, bool) or not max_human >= 0 or (isinstance(max_human, float) and max_human > 1):
        raise InputError(f"max_human is {max_human}; give a count of items (int) or a share in [0, 1] (float)")
    cap = int(max_human * units + 1e-9) if isinstance(max_human, float) else min(max_human, units)
    return max(0, cap - asked)


def _audit(
    to_people: NDArray[np.bool_], before: NDArray[np.int8], request: PlanRequest, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Draw machine-kept units for people to look at; a sample that still stands is topped up."""
    kept = ~to_people
    audited = (before == Before.AUDIT) & kept
    wanted = audit_size(request.audit, int(kept.sum()))
    others = np.flatnonzero(kept & ~audited)
    more = max(0, wanted - int(audited.sum()))
    audited[others[draw_audit(range(len(others)), n=more, rng=rng).rows]] = True
    probability = np.ones(len(kept))
    probability[kept] = audited.sum() / max(1, kept.sum())
    return audited, probability
