"""An item known in one aspect and judged in another is asked once, all of it, and what is known counts as gold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from outside_house import hits_of

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.campaign.bundles import build_hits

if TYPE_CHECKING:
    from pathlib import Path

ITEMS = [f"i{n:02d}" for n in range(12)]


def test_an_item_that_is_judged_in_one_aspect_is_gold_in_another(tmp_path: Path, workplace: Any, clock: Any) -> None:
    aspects = [Aspect("rude", ("yes", "no")), Aspect("warmth", ("1", "2", "3"), kind="ordinal")]
    with Campaign.create(tmp_path / "c.db", aspects=aspects, seed=1, clock=clock) as campaign:
        campaign.add_items(pd.DataFrame({"item": ITEMS, "text": "So it goes."}))
        campaign.add_predictions(pd.DataFrame({"item": ITEMS, "label": "no", "confidence": 0.6}), aspect="rude")
        campaign.add_gold(pd.DataFrame({"item": ITEMS[:4], "label": ["1", "2", "3", "1"]}), aspect="warmth")
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=12, audit=0)
        sheet = campaign.publish(
            workplace, redundancy=2, pay_minor=50, budget_minor=100_000, target_minutes=0.5, dry_run=False
        )
        asked = Counter((each.item, each.aspect) for hit in hits_of(campaign) for each in hit.items)
        # Nobody meets an item twice, every item is asked both, and what is known of it counts as gold.
        assert asked == {(item, aspect): 1 for item in ITEMS for aspect in ("rude", "warmth")}
        gold = {(each.item, each.aspect) for hit in hits_of(campaign) for each in hit.items if each.is_gold}
        assert gold == {(item, "warmth") for item in ITEMS[:4]}
        # 4 of 24 questions, to two people each.
        assert (sheet.answers, sheet.gold.load.answers) == (48, 8)


def test_gold_of_an_item_of_the_work_is_not_mixed_in_again() -> None:
    work = {"item": ["a", "b"], "aspect": ["q", "q"], "group": ["a", "b"], "position": [1, 1]}
    cost = {"effort_s": [20.0, 20.0], "setup_s": [0.0, 0.0]}
    gold = {**work, **cost, "aspect": ["r", "r"], "item": ["a", "g"], "group": ["a", "g"]}
    hits = build_hits(
        {**work, **cost}, campaign="c", round=1, rng=np.random.default_rng(1), redundancy=2, target_minutes=1, gold=gold
    )
    assert {each.item for hit in hits for each in hit.items if each.is_gold} == {"g"}
