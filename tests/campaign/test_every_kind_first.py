"""The whole loop where the first question is of each kind: it goes through, or is refused before money is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.errors import InputError
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWERS = {
    "nominal": ("a", "b", "c"),
    "ordinal": ("1", "2", "3"),
    "numeric": ("10", "20", "55.5"),
    "multi_label": ("[]", '["x"]', '["x", "y"]'),
    "pair": ("a", "b", "tie"),
    "text": ("well", "so", "said"),
}
LABELS = {"nominal": ("a", "b", "c"), "ordinal": ("1", "2", "3"), "numeric": ("0", "100"), "multi_label": ("x", "y")}
ITEMS = [f"i{n:02d}" for n in range(24)]
GOLD = ITEMS[:8]
PLAN = {"trade_off": 0.0, "max_human": 6, "audit": 4}
SPEND = {"redundancy": 3, "pay_minor": 100, "budget_minor": 100_000}


@pytest.fixture
def start(tmp_path: Path, clock: Any) -> Iterator[Any]:
    made: list[Campaign] = []

    def make(first: str, second: str | None = None, *, gold: bool = True) -> Any:
        rng = np.random.default_rng(1)
        kinds = {"first": first} | ({"second": second} if second else {})
        aspects = [Aspect(name, LABELS.get(kind, ()), kind=kind) for name, kind in kinds.items()]
        campaign = Campaign.create(tmp_path / "c.db", aspects=aspects, seed=1, clock=clock)
        made.append(campaign)
        sides = {"response_a": "left", "response_b": "right"} if "pair" in kinds.values() else {}
        campaign.add_items(pd.DataFrame({"item": ITEMS, "text": "so it goes"}).assign(**sides))
        truth = {(item, name): str(rng.choice(ANSWERS[kind])) for name, kind in kinds.items() for item in ITEMS}
        said = [truth[item, "first"] for item in ITEMS]
        sure = rng.uniform(0.5, 1, len(ITEMS))
        campaign.add_predictions(pd.DataFrame({"item": ITEMS, "label": said, "confidence": sure}), aspect="first")
        if gold:
            rows = [(item, truth[item, "first"]) for item in GOLD]
            campaign.add_gold(pd.DataFrame(rows, columns=["item", "label"]), aspect="first")
        return campaign, truth

    yield make
    for campaign in made:
        campaign.close()


def crowd_of(truth: dict[Any, str]) -> SimulatedCrowd:
    rng = np.random.default_rng(3)
    return SimulatedCrowd(draw_workers(9, sorted(set(truth.values())), rng=rng, accuracy=0.9), truth, rng=rng)


@pytest.mark.parametrize("gold", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("first", ["nominal", "ordinal", "numeric", "multi_label", "pair"])
def test_the_loop_goes_through_and_reports(start: Any, workplace: Any, tmp_path: Path, first: str, gold: bool) -> None:
    campaign, truth = start(first, gold=gold)
    done = campaign.run(workplace, crowd=crowd_of(truth), plan=PLAN, publish=SPEND)
    assert done.state == "satisfied"
    assert (done.agreement_at_least is None) == (first == "numeric")
    status = campaign.status()
    assert status.next_step == "report"
    # Gold was answered, and the report holds labels against it.
    with campaign._context.store.read() as tx:
        assert tx.work.answers(1)["is_gold"].any() == gold
    assert campaign.report(tmp_path / "r.html").exists()
    assert len(campaign.labels()) == len(ITEMS)


@pytest.mark.parametrize("second", ["ordinal", "numeric", "multi_label", "pair", "text"])
def test_the_loop_goes_through_with_a_second_question(start: Any, workplace: Any, tmp_path: Path, second: str) -> None:
    campaign, truth = start("nominal", second)
    done = campaign.run(workplace, crowd=crowd_of(truth), plan=PLAN, publish=SPEND)
    assert done.state == "satisfied"
    assert campaign.report(tmp_path / "r.html").exists()
    assert campaign.labels(aspect="second").empty == (second == "text")


@pytest.mark.parametrize(
    ("kind", "asked", "ran"),
    [
        ("nominal", "glad", "glad"),
        ("ordinal", "glad", "numeric"),
        pytest.param("ordinal", "choose", "numeric", marks=pytest.mark.slow),
        pytest.param("numeric", "mace", "numeric", marks=pytest.mark.slow),
        pytest.param("multi_label", "glad", "glad", marks=pytest.mark.slow),
        ("multi_label", "choose", "dawid_skene"),
        pytest.param("pair", "majority", "majority", marks=pytest.mark.slow),
    ],
)
def test_what_is_named_is_the_method_that_ran(start: Any, workplace: Any, kind: str, asked: str, ran: str) -> None:
    campaign, truth = start(kind)
    campaign.run(workplace, crowd=crowd_of(truth), plan=PLAN, publish=SPEND)
    result = campaign.aggregate(method=asked)
    assert result.method == ran
    assert f"by {ran}" in str(result)
    assert any(repr(ran) in note for note in result.notes) == (ran != asked)


def test_what_would_be_refused_after_the_money_is_refused_before(start: Any, workplace: Any) -> None:
    campaign, truth = start("nominal", "ordinal", gold=False)
    told = {item: truth[item, "first"] for item in ITEMS}
    for wrong, says in (
        ({"method": "choose", "crowd": crowd_of(truth)}, "'choose', which compares methods on gold"),
        ({"method": "gladd", "crowd": crowd_of(truth)}, "gladd"),
        ({"crowd": crowd_of(told)}, "which its question does not allow"),
    ):
        with pytest.raises(InputError, match=says):
            campaign.run(workplace, plan=PLAN, publish=SPEND, **wrong)
        assert (campaign.status().hits, campaign.status().reserved_minor) == (0, 0)


def test_no_agreement_is_promised_of_numbers_and_their_audit_says_so(start: Any) -> None:
    campaign, _ = start("numeric")
    campaign.estimate_effort()
    with pytest.raises(InputError, match="no agreement can be promised"):
        campaign.plan(target_agreement=0.9)
    assert any("certifies nothing" in note for note in campaign.plan(**PLAN).notes)
    assert not any("certifies nothing" in note for note in campaign.plan(**{**PLAN, "audit": 0}).notes)


def test_texts_come_second_and_alone_are_no_labels(start: Any, tmp_path: Path, clock: Any) -> None:
    with pytest.raises(InputError, match="comes first"):
        Campaign.create(tmp_path / "t.db", aspects=[Aspect("why", kind="text")], clock=clock)
