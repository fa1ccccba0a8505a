"""A plan within a budget prices seconds; the machine door decides about single items by that price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._policy import budget_price, live_policy
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    rng = np.random.default_rng(5)
    names = [f"i{n:03d}" for n in range(300)]
    with Campaign.create(tmp_path / "c.db", labels=["a", "b"], seed=1) as made:
        made.add_items(pd.DataFrame({"item": names, "text": "so it goes"}))
        said = pd.DataFrame({"item": names, "label": "a", "confidence": 0.5 + rng.random(300) / 2})
        made.add_predictions(said)
        made.add_effort(pd.DataFrame({"item": names, "seconds": rng.uniform(10, 90, 300)}))
        yield made


def rule_of(campaign: Campaign) -> Any:
    with campaign._context.store.read() as tx:
        return live_policy(campaign._context, tx), tx.plans.read(tx.plans.latest(1).id)


@pytest.mark.parametrize("effort", ["share", "seconds"])
def test_the_price_repeats_the_plan(campaign: Campaign, effort: str) -> None:
    campaign.plan(trade_off=0.0, max_human_s=3000.0, audit=10, effort=effort)
    rule, rows = rule_of(campaign)
    assert rule.price_per_s > 0
    names, seconds = rows["item"].tolist(), rows["effort_s"].tolist()
    given = seconds if rule.unit == "seconds" else [0.0] * len(names)
    found = rule.decide(names, rows["confidence"].tolist(), given, seconds=seconds)
    to_people = [each.destination == "people" for each in found]
    wanted = (rows["destination"].astype(str) == "people").tolist()
    # What the plan filled up after its price is all that may differ: 2 of 100.
    assert sum(one != other for one, other in zip(to_people, wanted, strict=True)) <= 6
    single = rule.decide(names[:1], rows["confidence"].tolist()[:1], given[:1], seconds=seconds[:1])
    assert single[0].destination == found[0].destination


def test_an_item_without_its_seconds_is_refused(campaign: Campaign) -> None:
    campaign.plan(trade_off=0.0, max_human_s=3000.0, audit=10)
    rule, _ = rule_of(campaign)
    with pytest.raises(InputError, match="give the seconds"):
        rule.decide(["new"], [0.5], [0.1])


def test_a_budget_that_does_not_bind_has_the_plan_s_own_rule(campaign: Campaign) -> None:
    campaign.plan(trade_off=0.5, max_human_s=1e7, audit=10)
    rule, _ = rule_of(campaign)
    assert rule.price_per_s == 0


def test_a_budget_and_a_cap_at_once_have_no_rule(campaign: Campaign) -> None:

    # Neither the rate nor anything else separates these: every second item goes to people.
    rng = np.random.default_rng(1)
    assert budget_price(rng.random(100), rng.random(100), np.arange(100) % 2 == 0) is None
