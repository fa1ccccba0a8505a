"""Gold is drawn to look like the work; where it cannot, the cost sheet says with which odds workers can tell it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._gold_looks import tells_of
from hmc_crowd.campaign.bundles import build_hits
from hmc_crowd.platform import Hit, HitItem

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock


def questions(prefix: str, n: int, *, context: Any) -> dict[str, list[Any]]:
    return {
        "item": [f"{prefix}{i:03d}" for i in range(n)],
        "aspect": ["label"] * n,
        "group": [f"{prefix}{i:03d}" for i in range(n)],
        "position": [2] * n,
        "effort_s": [20.0] * n,
        "setup_s": [0.0] * n,
        "has_context": [bool(context(i)) for i in range(n)],
    }


@pytest.mark.parametrize(("share", "low", "high"), [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (0.5, 0.45, 0.55)])
def test_gold_is_drawn_with_context_as_often_as_the_work_has_it(share: float, low: float, high: float) -> None:
    work = questions("w", 400, context=lambda i: i < share * 400)
    gold = questions("g", 120, context=lambda i: i % 2)
    gold["label"] = ["fine" if i < 60 else "rude" for i in range(120)]
    bundles = build_hits(work, campaign="c", round=1, redundancy=3, gold=gold, rng=np.random.default_rng(1))
    drawn = [each for bundle in bundles for each in bundle.items if each.is_gold]
    assert 30 <= len(drawn) <= 60
    assert low <= np.mean([each.has_context for each in drawn]) <= high
    # Labels take turns all the same, and no gold stands in two bundles.
    known = dict(zip(gold["item"], gold["label"], strict=True))
    turns = Counter(known[each.item] for each in drawn)
    assert abs(turns["fine"] - turns["rude"]) <= 1
    assert len({each.item for each in drawn}) == len(drawn)


def test_gold_that_must_come_again_keeps_its_look(small: Any) -> None:
    del small
    work = questions("w", 400, context=lambda _: True)
    gold = questions("g", 20, context=lambda i: i % 2)
    bundles = build_hits(work, campaign="c", round=1, redundancy=3, gold=gold, rng=np.random.default_rng(2))
    drawn = [each for bundle in bundles for each in bundle.items if each.is_gold]
    assert len(drawn) > 20
    assert np.mean([each.has_context for each in drawn]) >= 0.6


def page(item: str, **options: Any) -> HitItem:
    values = {"group": item, "position": 1, "text": "x" * 40, "context": ("Hello.",), **options}
    return HitItem(item, "label", **values)


def told(work: list[HitItem], gold: list[HitItem]) -> list[str]:
    hit = Hit("k", "Judge", "", (*work, *gold), 1, 5, "USD")
    return [str(each) for each in tells_of([(hit, {each.item for each in gold})])]


def test_the_odds_of_pages_without_context_are_said() -> None:
    work = [page(f"t{i}") for i in range(12)] + [page(f"s{i}", context=()) for i in range(3)]
    assert "a page without a dialogue before it is gold with probability 4/7, any other with 0/12" in told(
        work, [page(f"g{i}", context=()) for i in range(4)]
    )


@pytest.mark.parametrize(
    ("look", "says"),
    [
        ({"text": "مرحبا كيف حالك"}, "written in Arabic letters"),
        ({"text": "x"}, "with a text of at most"),
        ({"text": "x" * 400}, "with a text of over"),
        ({"labels": ("a", "b", "c")}, "with 3 answers to choose from"),
        ({"sensitive": True}, "that is blurred"),
        ({"context": ()}, "without a dialogue before it"),
    ],
)
def test_whatever_makes_gold_stand_out_is_said(look: dict[str, Any], says: str) -> None:
    work = [page(f"t{i}", text="y" * (38 + i % 5)) for i in range(30)]
    found = told(work, [page(f"g{i}", **look) for i in range(6)])
    assert any(says in each and "6/6" in each for each in found)


def test_gold_like_the_others_is_not_said_to_stand_out() -> None:
    every = [page(f"t{i}", text="y" * (20 + i), context=("Hi.",) if i % 3 else ()) for i in range(60)]
    gold = every[5::10]
    assert told([each for each in every if each not in gold], gold) == []


def make(tmp_path: Path, clock: VirtualClock, *, gold_has_turns: bool) -> Campaign:
    turns = [(f"d{n:02d}", turn) for n in range(12) for turn in (1, 2, 3)]
    rows = [(f"{group}.{turn}", group, turn) for group, turn in turns]
    rows += [(f"k{n}.{turn}", f"k{n}", turn) for n in range(8) for turn in ((1, 2) if gold_has_turns else (2,))]
    items = pd.DataFrame(rows, columns=["item", "group", "position"]).assign(text="So it goes, and on it goes.")
    campaign = Campaign.create(str(tmp_path / "c.db"), labels=["good", "bad"], seed=7, clock=clock)
    campaign.add_items(items)
    campaign.add_predictions(pd.DataFrame({"item": items["item"], "label": "good", "confidence": 0.6}))
    gold = [f"k{n}.2" for n in range(8)]
    campaign.add_gold(pd.DataFrame({"item": gold, "label": ["good", "bad"] * 4}))
    campaign.estimate_effort()
    campaign.plan(trade_off=0.0)
    return campaign


@pytest.mark.parametrize("gold_has_turns", [True, False])
def test_the_cost_sheet_says_where_gold_has_no_dialogue(
    tmp_path: Path, clock: VirtualClock, workplace: Any, gold_has_turns: bool
) -> None:
    with make(tmp_path, clock, gold_has_turns=gold_has_turns) as campaign:
        sheet = campaign.publish(workplace, redundancy=2, pay_per_hour_minor=1200, budget_minor=90_000)
        said = [each for each in sheet.notes if "workers can tell gold by its looks" in each]
        assert bool(said) is not gold_has_turns
        if said:
            assert "a page without a dialogue before it is gold with probability" in said[0]
            assert sheet.gold.tells[0].gold_else == 0


def test_a_plan_with_nothing_left_to_ask_publishes_nothing(tmp_path: Path, clock: VirtualClock, workplace: Any) -> None:
    from hmc_crowd.simulation import SimulatedCrowd, draw_workers

    with make(tmp_path, clock, gold_has_turns=True) as campaign:
        campaign.publish(
            workplace, redundancy=2, pay_per_hour_minor=1200, budget_minor=90_000, dry_run=False, gold_share=0.2
        )
        items = [f"d{n:02d}.{t}" for n in range(12) for t in (1, 2, 3)] + [
            f"k{n}.{t}" for n in range(8) for t in (1, 2)
        ]
        rng = np.random.default_rng(1)
        people = draw_workers(8, ["good", "bad"], rng=rng, accuracy=0.95, spread=0.01)
        workplace.rehearse(SimulatedCrowd(people, dict.fromkeys(items, "good"), rng=rng))
        campaign.collect(workplace)
        sheet = campaign.publish(workplace, redundancy=2, pay_per_hour_minor=1200, budget_minor=90_000)
        assert (sheet.dry_run, sheet.new_hits) == (True, 0)
