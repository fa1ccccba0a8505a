"""A campaign planned from a promise: the plan, the audit, the second look, and what cannot be promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign._decide import PlanRequest
from hmc_crowd.campaign._promise import decide_promised
from hmc_crowd.campaign._units import Before, Units
from hmc_crowd.errors import InfeasibleError, InputError, StateError
from hmc_crowd.routing import certify_batch

if TYPE_CHECKING:
    from collections.abc import Callable


def request(**changes: Any) -> PlanRequest:
    settings: dict[str, Any] = {
        "trade_off": 4.6, "max_human": 0.5, "max_human_s": None, "max_money_minor": None, "audit": None,
        "effort": "share", "redundancy": 3, "pay_per_hour_minor": None, "target_agreement": 0.95,
    }  # fmt: skip
    return PlanRequest(**{**settings, **changes})


def units(n: int = 800) -> Units:
    rng = np.random.default_rng(0)
    seconds = rng.gamma(2.0, 15.0, n)
    frame = pd.DataFrame({"item": np.arange(n).astype(str)})
    return Units(frame, rng.beta(8, 1, n), seconds / seconds.max(), seconds, "test")


def generator() -> Callable[[], np.random.Generator]:
    return lambda: np.random.default_rng(7)


def free(batch: Units) -> np.ndarray:
    return np.zeros(len(batch.seconds), dtype=np.int8)


def test_the_promise_decides_trade_off_cap_and_audit() -> None:
    batch = units()
    decided, resolved, promise = decide_promised(batch, free(batch), request(), None, generator())
    assert promise is not None
    assert (resolved.effort, resolved.max_human, resolved.audit) == ("seconds", promise["human"], promise["audited"])
    assert int(decided.to_people.sum()) == promise["human"]
    assert int(decided.audited.sum()) == promise["audited"]
    bound = certify_batch(
        800, promise["human"], promise["audited"], promise["allowed_wrong"], level=promise["look_level"]
    )
    assert bound.agreement_at_least >= 0.95


def test_a_second_look_tops_the_same_audit_up_to_a_size_fixed_before() -> None:
    batch = units()
    first, _, promise = decide_promised(batch, free(batch), request(), None, generator())
    before = np.where(first.to_people, Before.PEOPLE, np.where(first.audited, Before.AUDIT, Before.FREE)).astype(
        np.int8
    )
    second, _, again = decide_promised(batch, before, request(), promise, generator())
    assert promise is not None
    assert again is not None
    assert (second.to_people == first.to_people).all()
    assert second.audited[first.audited].all()
    assert int(second.audited.sum()) == promise["audited"] + promise["top_up"] > promise["audited"]
    # What the looks may err together is what was promised: .8 and .2 of .05.
    assert (1 - promise["look_level"]) + (1 - again["look_level"]) == pytest.approx(0.05)
    with pytest.raises(StateError, match="both audits of this promise are used up"):
        decide_promised(batch, before, request(), again, generator())


def test_a_promise_within_a_budget_keeps_it() -> None:
    batch = units()
    first, _, _ = decide_promised(batch, free(batch), request(), None, generator())
    needed = 3 * float(batch.seconds[first.to_people | first.audited].sum())
    limit = 1.15 * needed
    kept, _, promise = decide_promised(batch, free(batch), request(max_human_s=limit), None, generator())
    assert promise is not None
    assert 3 * float(batch.seconds[kept.to_people | kept.audited].sum()) <= limit
    with pytest.raises(InfeasibleError, match="can be promised"):
        decide_promised(batch, free(batch), request(max_human_s=needed / 3), None, generator())


def test_without_a_promise_nothing_changes() -> None:
    batch = units()
    decided, resolved, promise = decide_promised(batch, free(batch), request(target_agreement=None), None, generator())
    assert promise is None
    assert resolved.effort == "share"
    assert decided.audited.any()


def test_a_promise_about_half_a_batch_is_refused() -> None:
    batch = units()
    before = free(batch)
    before[:10] = Before.PEOPLE
    with pytest.raises(StateError, match="a promise covers the whole batch"):
        decide_promised(batch, before, request(), None, generator())


def test_money_needs_a_pay() -> None:
    batch = units()
    with pytest.raises(InputError, match="max_money_minor needs pay_per_hour_minor"):
        decide_promised(batch, free(batch), request(max_money_minor=10**6), None, generator())


def test_a_campaign_promises_certifies_and_tops_up(tmp_path: Any) -> None:
    """From the stored campaign: gold says how good the machine is, and planning again changes nothing."""
    from hmc_crowd import Campaign

    rng = np.random.default_rng(2)
    n, gold = 500, 120
    truth = rng.choice(["good", "bad"], n)
    sure = rng.beta(9, 1, n)
    label = np.where(rng.random(n) < sure, truth, np.where(truth == "good", "bad", "good"))
    names = [f"i{number}" for number in range(n)]
    items = pd.DataFrame({"item": names, "text": ["word " * int(k) for k in rng.integers(5, 40, n)]})
    with Campaign.create(f"{tmp_path}/c.db", labels=["good", "bad"]) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(pd.DataFrame({"item": names, "label": label, "confidence": sure}))
        campaign.add_gold(pd.DataFrame({"item": names[:gold], "label": truth[:gold]}))
        campaign.estimate_effort()
        plan = campaign.plan(target_agreement=0.93)
        assert plan.promise is not None
        assert plan.promise["known"] == gold
        assert plan.audit == plan.promise["audited"]
        assert any("comes out with a chance of" in note for note in plan.notes)
        assert campaign.plan(target_agreement=0.93).content_hash == plan.content_hash
        assert not campaign.plan_differs({"target_agreement": 0.93, "trade_off": 4.6, "max_human": 0.5})
        assert campaign.plan_differs({"target_agreement": 0.94})
