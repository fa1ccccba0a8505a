"""A plan that is to end in a certificate: the promise, the plan that keeps it, and the second audit held in reserve.

`Campaign.plan(target_agreement=...)` asks `hmc_crowd.routing.plan_certified` for trade-off, cap and audit size. The
first audit is judged at a level a little above the promised one; if it fails, planning again tops the same sample up to
a size that was fixed at the start, judged at the rest of the allowed error (alpha spending). There is no third look:
then the batch is delivered as not certified, or a new promise is planned with more people.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.campaign._confidence import calibrated
from hmc_crowd.campaign._decide import decide
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import AlphaSpending, plan_certified

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._decide import Decided, PlanRequest
    from hmc_crowd.campaign._units import Units
    from hmc_crowd.store import Transaction

    Known = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]

__all__ = ["PROMISE", "asked_for", "decide_promised", "known_items", "promise_before", "promised"]

PROMISE = ("target_agreement", "level", "assurance")

_ENOUGH_GOLD = 100
_WEIGHTS = (0.8, 0.2)
_TRIES = 6
_TIGHTER = 0.97


def promise_before(context: Context, tx: Transaction, round_: int, batch: dict[str, int]) -> dict[str, Any] | None:
    """Return the promise of the round before, if it was about this very batch."""
    earlier = tx.plans.latest(context.campaign_id, round=round_ - 1) if round_ > 1 else None
    if earlier is None or earlier.header["made_from"].get("batch") != batch:
        return None
    return earlier.header.get("promise")


def known_items(context: Context, tx: Transaction, request: PlanRequest) -> Known | None:
    """Return confidence, seconds and correctness of the gold items, where a promise is asked for and there are enough.

    They say how often the machine is wrong among what a plan would keep; confidences that are right on the whole need
    not be so there. Gold tends to be easier than the rest: that makes the promise come out less often, never untrue.
    """
    if request.target_agreement is None:
        return None
    aspect = tx.campaigns.aspects(context.campaign_id)[0].name
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item", "label"])
    if len(gold) < _ENOUGH_GOLD:
        return None
    predictions = tx.frames.read(
        context.campaign_id, "predictions", aspect=aspect, columns=["item", "label", "confidence"]
    )
    efforts = tx.frames.read(context.campaign_id, "efforts", columns=["item", "seconds"])
    joined = gold.merge(predictions, on="item", suffixes=("_gold", "")).merge(efforts, on="item")
    if len(joined) < _ENOUGH_GOLD:
        return None
    confidence = calibrated(context, tx, aspect, joined["confidence"].to_numpy(), which=request.confidence)
    right = (joined["label"].astype(str) == joined["label_gold"].astype(str)).to_numpy(dtype=bool)
    return confidence, joined["seconds"].to_numpy(dtype=np.float64), right


def decide_promised(
    units: Units,
    before: NDArray[np.int8],
    request: PlanRequest,
    earlier: dict[str, Any] | None,
    rng: Callable[[], np.random.Generator],
    known: Known | None = None,
) -> tuple[Decided, PlanRequest, dict[str, Any] | None]:
    """Decide, under a promise where one is asked for; return also the request as it was resolved, and the promise."""
    if request.target_agreement is None:
        return decide(units, before, request, rng()), request, None
    asked = {"target": request.target_agreement, "level": request.level, "assurance": request.assurance}
    if earlier is not None and {name: earlier[name] for name in asked} == asked:
        return _second_look(units, before, request, earlier, rng)
    return _first_look(units, before, request, rng, known)


def _first_look(
    units: Units,
    before: NDArray[np.int8],
    request: PlanRequest,
    rng: Callable[[], np.random.Generator],
    known: Known | None,
) -> tuple[Decided, PlanRequest, dict[str, Any]]:
    if before.any():
        raise StateError(
            "a promise covers the whole batch, and people were asked about some of it under another plan; plan "
            "target_agreement before anything is published, or in a campaign of its own"
        )
    seconds_limit, money_limit = request.max_human_s, request.max_money_minor
    for _ in range(_TRIES):
        planned = plan_certified(
            units.confidence,
            units.seconds,
            target_agreement=request.target_agreement or 0.0,
            level=request.level,
            assurance=request.assurance,
            redundancy=request.redundancy,
            max_human_s=seconds_limit,
            money_minor=None if money_limit is None else _money(units, request),
            max_money_minor=money_limit,
            labelled=known,
            top_up=True,
        )
        resolved = replace(
            request,
            trade_off=planned.trade_off,
            max_human=planned.human,
            audit=planned.audited,
            effort="seconds",
        )
        decided = decide(units, before, resolved, rng())
        if int(decided.to_people.sum()) == planned.human and int(decided.audited.sum()) == planned.audited:
            break
        # What the audit may cost at most is set aside before the draw: that left too little for people.
        seconds_limit = None if seconds_limit is None else seconds_limit * _TIGHTER
        money_limit = None if money_limit is None else int(money_limit * _TIGHTER)
    else:
        raise InputError(
            "max_human_s and max_money_minor leave no room for what the audit may cost; raise them, or lower "
            "target_agreement"
        )
    promise = {
        "target": planned.target,
        "level": planned.level,
        "assurance": planned.assurance,
        "look": 1,
        "look_level": planned.look_level,
        "audited": planned.audited,
        "top_up": planned.top_up,
        "allowed_wrong": planned.allowed_wrong,
        "chance": planned.chance,
        "trade_off": planned.trade_off,
        "human": planned.human,
        "known": 0 if known is None else len(known[2]),
        "binding": list(planned.binding),
        "prices": [list(each) for each in planned.prices],
    }
    return decided, resolved, promise


def _money(units: Units, request: PlanRequest) -> NDArray[np.float64]:
    if request.pay_per_hour_minor is None:
        raise InputError("max_money_minor needs pay_per_hour_minor, to know what a minute of people costs")
    # Rounded up item by item, as the budget itself counts.
    return np.ceil(units.seconds * request.redundancy * request.minor_per_s)


def _second_look(
    units: Units,
    before: NDArray[np.int8],
    request: PlanRequest,
    earlier: dict[str, Any],
    rng: Callable[[], np.random.Generator],
) -> tuple[Decided, PlanRequest, dict[str, Any]]:
    if earlier["look"] >= len(_WEIGHTS):
        raise StateError(
            "both audits of this promise are used up; deliver the batch as not certified, or plan a lower "
            "target_agreement in a new campaign"
        )
    audit = earlier["audited"] + earlier["top_up"]
    resolved = replace(
        request, trade_off=earlier["trade_off"], max_human=earlier["human"], audit=audit, effort="seconds"
    )
    spending = AlphaSpending(earlier["level"], weights=_WEIGHTS)
    promise = {**earlier, "look": 2, "look_level": spending.level_of(2), "audited": audit, "top_up": 0}
    return decide(units, before, resolved, rng()), resolved, promise


def asked_for(request: PlanRequest) -> dict[str, Any]:
    """Return what a promise was asked with: planning the same again is no change."""
    return {name: getattr(request, name) for name in (*PROMISE, "trade_off", "max_human", "audit", "effort")}


def promised(promise: dict[str, Any]) -> list[str]:
    """Say what is promised, how likely it comes out, and what it would cost to promise a little more."""
    again = f"; {promise['top_up']:,} more are audited if it does not" if promise["top_up"] else ""
    said = [
        f"agreement of {promise['target']:.2%} at {promise['level']:.0%} comes out with a chance of "
        f"{promise['chance']:.0%}, if at most {promise['allowed_wrong']:,} of the {promise['audited']:,} audited items "
        f"are wrong{again}"
    ]
    if promise["look"] > 1:
        return ["the audit of the promise is topped up to the size fixed for the second look, which is the last"]
    if promise["known"]:
        said.append(f"{promise['known']:,} gold items say how often the machine is wrong among what it keeps")
    steps = [f"{name}: {seconds / 60:,.0f} min" for name, seconds in promise["prices"] if math.isfinite(seconds)]
    return [*said, *([f"a little more would cost people's time: {', '.join(steps)}"] if steps else [])]
