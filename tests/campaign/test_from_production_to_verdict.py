"""The whole flow on one clock: production, crowd, gold, gate, consensus, experts, and a verdict within a day."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign import Campaign
from hmc_crowd.quality import Expert
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = {f"i{n:02d}": "rude" if n % 3 == 0 else "fine" for n in range(44)}
GOLD = list(TRUTH)[28:]


def test_every_item_has_a_verdict_within_a_day_and_says_whose(tmp_path: Path, workplace: Any, clock: Any) -> None:
    begun = clock.now()
    with Campaign.create(tmp_path / "flow.db", labels=["fine", "rude"], seed=1, clock=clock) as campaign:
        # Production: what the machine said of the items, and the golden set.
        items = pd.DataFrame({"item": list(TRUTH), "text": ["So it goes."] * len(TRUTH)})
        campaign.add_items(items)
        campaign.add_predictions(items[["item"]].assign(label="fine", confidence=0.6))
        campaign.add_gold(pd.DataFrame({"item": GOLD, "label": [TRUTH[name] for name in GOLD]}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=28, audit=0)
        # The crowd, whose gold is checked as it comes in.
        campaign.publish(
            workplace,
            redundancy=3,
            pay_minor=60,
            budget_minor=90_000,
            target_minutes=0.7,
            gold_share=0.3,
            dry_run=False,
        )
        people = draw_workers(9, ["fine", "rude"], rng=np.random.default_rng(3), accuracy=0.85)
        workplace.rehearse(SimulatedCrowd(people, TRUTH, rng=np.random.default_rng(4)))
        clock.advance(3600)
        assert campaign.collect(workplace).gold > 0
        # Consensus, by the confidence that the gold in each submission gives.
        campaign.aggregate()
        gated = campaign.gate("consensus")
        assert 0 < gated.experts < gated.items == 28
        # Experts, who get what the gate sent on.
        given = campaign.assign_experts([Expert("eva", per_hour=60, tier=3)])
        assert given.given == gated.experts
        for item in campaign.cases("eva")["item"]:
            clock.advance(60)
            campaign.judge(item, TRUTH[item], expert="eva")
            campaign.decide(item, TRUTH[item], expert="eva")
        verdicts = campaign.decisions(newest=True)
    assert set(verdicts["item"]) == set(TRUTH) - set(GOLD)
    assert set(verdicts["decision"]) == {"accept", "decided"}
    assert (verdicts["decision"] == "decided").sum() == gated.experts
    assert set(verdicts.loc[verdicts["decision"] == "decided", "decided_by"]) == {"eva"}
    assert verdicts["label"].notna().all()
    assert (verdicts["decided_at"] - pd.Timestamp(begun)).max() <= timedelta(hours=24)
    accepted = verdicts[verdicts["decision"] == "accept"]
    assert (accepted["label"] == accepted["item"].map(TRUTH)).mean() >= 0.85
