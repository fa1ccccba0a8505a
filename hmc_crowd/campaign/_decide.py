"""Which units go to people, and which of the others are audited?

The audit is a simple random sample of what the machine keeps. While a later plan keeps the very same units, the sample
stays and is topped up from the rest. As soon as the kept units differ, the sample is put aside (people labelled those
units, so they count as people's) and a fresh one is drawn: what was learnt meanwhile, from the audited units' working
times for one, may have moved the border, and only a draw made after it is exact for the new batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.campaign._units import Before
from hmc_crowd.campaign.quote import audit_size
from hmc_crowd.errors import InputError
from hmc_crowd.routing import Plan, cap_count, draw_audit, route, route_within

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
    confidence: str = "calibrated"
    target_agreement: float | None = None
    level: float = 0.95
    assurance: float = 0.9
    platform: str | None = None
    tax_rate: float = 0.0
    # Fee and tax on it, as a share of the reward; worked out of the two above when the plan is made.
    fee_share: float = 0.0

    @property
    def minor_per_s(self) -> float:
        """Money for one second of one person, with fee and tax."""
        return (self.pay_per_hour_minor or 0) / 3600 * (1 + self.fee_share)


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

    def used(self, asked: NDArray[np.bool_]) -> tuple[float, int]:
        """Return seconds and money of these units."""
        return float(self.seconds[asked].sum()), int(self.money_minor[asked].sum())

    def overshoot(self, seconds: float, money_minor: int) -> tuple[float, int]:
        """Return by how much the two limits are exceeded; 0 where there is room."""
        over_s = 0.0 if self.max_s is None or seconds <= self.max_s + 1e-6 else seconds - self.max_s
        over_minor = 0 if self.max_minor is None else max(0, money_minor - self.max_minor)
        return over_s, over_minor

    def less(self, used: tuple[float, int], over: tuple[float, int]) -> _Budgets:
        """Return the budgets of a plan that is to use that much less than it did."""
        max_s = max(0.0, min(self.max_s or 0.0, used[0]) - over[0]) if over[0] else self.max_s
        max_minor = max(0, min(self.max_minor or 0, used[1]) - over[1]) if over[1] else self.max_minor
        return replace(self, max_s=max_s, max_minor=max_minor)


@dataclass(frozen=True)
class _Routed:
    """A plan before its audit is drawn; ``standing`` is the audit that stays from the round before."""

    plan: Plan | None
    before: NDArray[np.int8]
    free: NDArray[np.bool_]
    to_people: NDArray[np.bool_]
    standing: NDArray[np.bool_]
    to_draw: int

    @property
    def drawable(self) -> NDArray[np.bool_]:
        """What the machine keeps and no audit has drawn yet."""
        return ~self.to_people & ~self.standing


def _budgets(units: Units, request: PlanRequest) -> _Budgets | None:
    if request.max_human_s is None and request.max_money_minor is None:
        return None
    if isinstance(request.redundancy, bool) or not isinstance(request.redundancy, int) or request.redundancy < 1:
        raise InputError(f"redundancy is {request.redundancy!r}; give how many people answer an item, 1 or more")
    if request.max_money_minor is not None and request.pay_per_hour_minor is None:
        raise InputError("max_money_minor needs pay_per_hour_minor, to know what a minute of people costs")
    seconds = units.seconds * request.redundancy
    money = np.ceil(seconds * request.minor_per_s).astype(np.int64)
    return _Budgets(seconds, money, request.max_human_s, request.max_money_minor)


def decide(units: Units, before: NDArray[np.int8], request: PlanRequest, rng: np.random.Generator) -> Decided:
    """Route the free units and draw the audit; under a budget, what the audit may cost is set aside before the draw.

    Drawing until a sample is cheap enough would favour cheap items, and the certificate would no longer hold.
    """
    if request.effort not in {"share", "seconds"}:
        raise InputError(f"effort is {request.effort!r}; give 'share' (the paper's) or 'seconds'")
    budgets = room = _budgets(units, request)
    while True:
        routed = _route_all(units, before, request, room)
        if budgets is None or room is None:
            return _with_audit(routed, rng)
        used = budgets.used(routed.to_people | routed.standing)
        likely_s = _likely_sum(budgets.seconds[routed.drawable], routed.to_draw)
        likely_minor = math.ceil(_likely_sum(budgets.money_minor[routed.drawable], routed.to_draw))
        over = budgets.overshoot(used[0] + likely_s, used[1] + likely_minor)
        nobody = routed.plan is None or not routed.plan.human_count
        if nobody or over == (0.0, 0):
            decided = _with_audit(routed, rng)
            over = budgets.overshoot(*budgets.used(decided.to_people | decided.audited))
            if over == (0.0, 0):
                return decided
        if nobody:
            raise InputError(
                f"max_human_s={request.max_human_s}, max_money_minor={request.max_money_minor}: too little for the "
                f"audit of {int(routed.standing.sum()) + routed.to_draw:,} items and what people were asked before; "
                "raise it, or lower audit"
            )
        chosen = np.zeros_like(routed.to_people)
        chosen[routed.free] = routed.to_people[routed.free]
        room = room.less(budgets.used(chosen), over)


def _likely_sum(costs: NDArray[Any], n: int) -> float:
    """Return what a simple random sample of ``n`` items costs at most, but for one draw in a thousand.

    Such a draw is repeated, which is all that is left of favouring cheap samples.
    """
    if n == 0:
        return 0.0
    most = float(np.partition(costs, len(costs) - n)[len(costs) - n :].sum())
    spread = float(costs.std()) * math.sqrt(n * (1 - n / len(costs)))
    return min(most, float(costs.mean()) * n + 3 * spread)


def _route_all(units: Units, before: NDArray[np.int8], request: PlanRequest, room: _Budgets | None) -> _Routed:
    free = (before == Before.FREE) | (before == Before.AUDIT)
    plan = _route(units, before, free, request, room)
    if plan is not None and plan.human_count and (before == Before.AUDIT).any():
        before = np.where(before == Before.AUDIT, np.int8(Before.OLD_AUDIT), before)
        free = before == Before.FREE
        plan = _route(units, before, free, request, room)
    to_people = ~free
    if plan is not None:
        to_people[free] = plan.to_human
    standing = (before == Before.AUDIT) & ~to_people
    wanted = audit_size(request.audit, int((~to_people).sum()))
    return _Routed(plan, before, free, to_people, standing, max(0, wanted - int(standing.sum())))


def _with_audit(routed: _Routed, rng: np.random.Generator) -> Decided:
    """Draw machine-kept units for people to look at; a sample that still stands is topped up."""
    audited = routed.standing.copy()
    others = np.flatnonzero(routed.drawable)
    audited[others[draw_audit(range(len(others)), n=routed.to_draw, rng=rng).rows]] = True
    kept = ~routed.to_people
    probability = np.ones(len(kept))
    probability[kept] = audited.sum() / max(1, kept.sum())
    return Decided(routed.plan, routed.before, routed.free, routed.to_people, audited, probability)


def _route(
    units: Units, before: NDArray[np.int8], free: NDArray[np.bool_], request: PlanRequest, room: _Budgets | None
) -> Plan | None:
    if not free.any():
        return None
    # A mask that is true everywhere would copy every column of a large first plan for nothing.
    where: NDArray[np.bool_] | slice = slice(None) if free.all() else free
    confidence = units.confidence[where]
    effort = (units.share if request.effort == "share" else units.seconds)[where]
    cap = _cap(request.max_human, len(before), int((before == Before.PEOPLE).sum()), int(free.sum()))
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


def _cap(max_human: int | float | None, units: int, asked: int, free: int) -> int | None:
    """Return how many of the free items people may get: the cap is on the batch, those asked before count."""
    if max_human is None:
        return None
    # A count may exceed the batch here: rounds grow and shrink it.
    is_count = isinstance(max_human, Integral) and not isinstance(max_human, bool)
    left = cap_count(min(int(max_human), units) if is_count else max_human, units) - asked
    return min(free, max(0, left))
