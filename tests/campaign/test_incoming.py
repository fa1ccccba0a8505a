"""What the gold in each submission says as it comes in, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from recorded import DAY_0, campaign_of, record

from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = {f"i{n:02d}": "kind" if n % 2 else "rude" for n in range(24)}
GOLD = {name: TRUTH[name] for name in list(TRUTH)[:12]}
NO = {"kind": "rude", "rude": "kind"}


def said(worker: str, day: int, *answers: tuple[str, bool]) -> pd.DataFrame:
    """One submission: items and whether the worker is right on them."""
    rows = [(item, worker, TRUTH[item] if right else NO[TRUTH[item]], n) for n, (item, right) in enumerate(answers)]
    table = pd.DataFrame(rows, columns=["task", "worker", "label", "minute"])
    return table.assign(submitted=DAY_0 + pd.to_timedelta(day * 1440 + table["minute"], "min")).drop(columns="minute")


@pytest.fixture
def three_days(tmp_path: Path, clock: Any) -> Campaign:
    with campaign_of(tmp_path, TRUTH, GOLD, clock=clock) as made:
        for part in (
            said("ann", 0, ("i00", True), ("i01", True), ("i20", True)),
            said("ann", 1, ("i02", True), ("i03", False), ("i21", True)),
            said("ann", 2, ("i22", True)),
            said("bob", 2, ("i22", True)),
        ):
            record(made, part)
        yield made


def test_confidence_of_each_submission_by_hand(three_days: Campaign) -> None:
    found = three_days.incoming()
    assert found["worker"].tolist() == ["ann", "ann", "ann", "bob"]
    assert found["gold"].tolist() == [2, 2, 0, 0]
    assert found["right"].tolist() == [2, 1, 0, 0]
    assert found["n"].tolist() == [0, 2, 4, 0]
    # Both right and no record: 1. Half right after two right ones: .7 * .5 + .3 * 1. No gold: the record, 3 of 4; of
    # bob nothing is known: one half.
    assert found["confidence"].round(6).tolist() == [1.0, 0.65, 0.75, 0.5]


def test_what_comes_later_changes_no_row(three_days: Campaign) -> None:
    noon = (DAY_0 + pd.Timedelta(days=1, hours=12)).to_pydatetime()
    before = three_days.incoming(as_of=noon)
    assert len(before) == 2
    pd.testing.assert_frame_equal(before, three_days.incoming().head(2))
    record(three_days, said("ann", 3, ("i04", False), ("i05", False)))
    pd.testing.assert_frame_equal(before, three_days.incoming(as_of=noon))
    with pytest.raises(InputError, match="no time zone"):
        three_days.incoming(as_of=noon.replace(tzinfo=None))


def test_gold_met_again_is_not_marked_again(three_days: Campaign) -> None:
    record(three_days, said("ann", 4, ("i00", False), ("i06", True)), round=2)
    last = three_days.incoming().iloc[-1]
    assert (last["gold"], last["right"]) == (1, 1)


def test_a_campaign_without_gold_or_answers_knows_nothing(tmp_path: Path, clock: Any) -> None:
    with campaign_of(tmp_path, TRUTH, {}, clock=clock) as made:
        assert made.incoming().empty
        record(made, said("ann", 0, ("i00", True)))
        assert made.incoming()["confidence"].tolist() == [0.5]


def test_consensus_stands_on_the_confidence_of_the_submissions(tmp_path: Path, clock: Any) -> None:
    def decided(*gold_right: bool) -> str:
        folder = tmp_path / "".join(str(int(each)) for each in gold_right)
        folder.mkdir()
        with campaign_of(folder, TRUTH, GOLD, clock=clock) as made:
            for worker, right in zip(("ann", "bob", "cy"), gold_right, strict=True):
                record(made, said(worker, 0, ("i00", right), ("i20", True)))
            made.gate("consensus")
            return str(made.decisions()["reason_code"].iloc[0])

    # All three say the same of i20. Mean confidence 1, 2/3 and 1/3: only the first is above .7.
    assert decided(True, True, True) == "accepted"
    assert decided(True, True, False) == "low_confidence"
    assert decided(True, False, False) == "low_confidence"


def test_texts_are_marked_by_their_meaning_where_an_encoder_is_given(tmp_path: Path, clock: Any) -> None:
    from hmc_crowd.campaign import Aspect

    vectors = {"blue": [1.0, 0.0], "azure": [0.8, 0.6], "red": [0.0, 1.0]}
    asked = [Aspect("label", labels=("kind", "rude")), Aspect("word", kind="text")]
    with Campaign.create(tmp_path / "t.db", aspects=asked, seed=1, clock=clock) as made:
        made.add_items(pd.DataFrame({"item": ["a"], "text": ["The sky is"]}))
        made.add_gold(pd.DataFrame({"item": ["a"], "label": ["blue"]}), aspect="word")
        answer = pd.DataFrame([("a", "ann", "azure", DAY_0)], columns=["task", "worker", "label", "submitted"])
        record(made, answer, aspect="word")
        assert made.incoming()["gold"].tolist() == [0]
        found = made.incoming(encoder=lambda texts: [vectors[text] for text in texts])
    # (cos + 1) / 2 with cos = .8
    assert found["mark"].round(6).tolist() == [0.9]


def test_collecting_says_at_once_how_the_new_answers_did_on_gold(start: Any, workplace: Any, crowd: Any) -> None:
    campaign = start()
    campaign.plan(trade_off=0.0, max_human=30, audit=0)
    campaign.publish(
        workplace, redundancy=2, pay_minor=60, budget_minor=90_000, target_minutes=2, gold_share=0.3, dry_run=False
    )
    workplace.rehearse(crowd)
    found = campaign.collect(workplace)
    marks = campaign.incoming()
    assert found.gold > 0
    assert (found.gold, found.gold_right) == (marks["gold"].sum(), marks["right"].sum())
    assert f"{found.gold_right:,} of {found.gold:,} right on gold" in str(found)
    again = campaign.collect(workplace)
    assert (again.gold, again.gold_right) == (0, 0)
