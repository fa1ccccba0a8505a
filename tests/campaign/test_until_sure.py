"""As many answers as an item needs: asked again only while its label is not sure, never more than ``most`` times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.campaign._sure_sheet import SureSheet, sure_sheet
from hmc_crowd.campaign._until_sure import UntilSure, setting_of, until_sure
from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

LABELS = ["good", "bad"]
WANTED = {"trade_off": 0.5, "max_human": 0.4, "audit": 20}
ASKED = {
    "redundancy": 2,
    "most": 5,
    "error": 0.1,
    "gold_share": 0.4,
    "pay_per_hour_minor": 1200,
    "budget_minor": 100_000,
}


def people(truth: dict[str, str], accuracy: float = 0.85, seed: int = 1) -> SimulatedCrowd:
    workers = draw_workers(20, LABELS, rng=np.random.default_rng(seed), accuracy=accuracy, spread=0.05)
    return SimulatedCrowd(workers, truth, rng=np.random.default_rng(seed + 1))


def sure_now(campaign: Any) -> set[str]:
    """What is sure of the first question, from what is stored."""
    context = campaign._context
    with context.store.read() as tx:
        until = until_sure(context, tx, setting_of(context.settings()), 2)
    return set() if until is None else {item for item, _ in until.sure}


def asked_in(campaign: Any, round_: int) -> set[str]:
    with campaign._context.store.read() as tx:
        hits = tx.work.hits(campaign._context.campaign_id, round=round_)
    return {each.item for hit in hits for each in hit.items if not each.is_gold}


def destinations(campaign: Any) -> pd.Series:
    with campaign._context.store.read() as tx:
        plan = tx.plans.read(campaign._context.latest_plan().id, people_only=True)
    return plan.set_index("item")["destination"].astype(str)


def answers_of(campaign: Any) -> pd.Series:
    with campaign._context.store.read() as tx:
        answers = tx.work.answers(campaign._context.campaign_id, include_gold=False)
    return answers.groupby("task").size()


def play(campaign: Any, workplace: Any, crowd: Any, asked: dict, plan: dict | None = None) -> Any:
    """Play a round; return its cost sheet."""
    campaign.plan(**(plan or WANTED))
    sheet = campaign.publish(workplace, dry_run=False, **asked)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.aggregate()
    return sheet


def test_asked_again_only_while_not_sure_and_never_more_than_most(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    crowd = people(batch.truth, accuracy=0.8)  # so often wrong that some item needs every answer
    sure: set[str] = set()
    for number in range(1, 6):
        sheet = play(campaign, workplace, crowd, ASKED)
        assert not asked_in(campaign, number) & sure
        if number > 1 and sheet.hits:
            assert all(hit.redundancy == 1 for hit in hits_of(campaign, number))  # one answer more a round
        sure = sure_now(campaign)
        if campaign.status().satisfied:
            break
    to, given = destinations(campaign), answers_of(campaign)
    routed = given[to.index[to == "people"]]
    assert campaign.status().satisfied
    assert (routed.min(), routed.max()) == (2, 5)
    assert routed.mean() < 4
    # nothing is given up: who did not get all answers is sure
    assert set(routed.index[routed < 5]) <= sure
    # the audit's number of answers is fixed before anybody answers
    assert set(given[to.index[to == "audit"]]) == {5}


def hits_of(campaign: Any, round_: int) -> list[Any]:
    with campaign._context.store.read() as tx:
        return list(tx.work.hits(campaign._context.campaign_id, round=round_))


def test_publishing_again_asks_nobody_twice(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    crowd = people(batch.truth)
    for _ in range(2):
        campaign.plan(**WANTED)
        first = campaign.publish(workplace, dry_run=False, **ASKED)
        again = campaign.publish(workplace, dry_run=False, **ASKED)
        assert first.new_hits > 0
        assert again.new_hits == 0
        assert again.total_minor == first.total_minor
        assert again.notes == first.notes
        workplace.rehearse(crowd)
        campaign.collect(workplace)
        assert campaign.publish(workplace, dry_run=False, **ASKED).new_hits == 0
        campaign.aggregate()


def test_with_too_little_gold_everything_is_asked_most_times_and_it_is_said(
    small: Any, workplace: Any, small_batch: Any
) -> None:
    campaign = small()
    crowd = people(small_batch.truth, 0.95)
    asked = {**ASKED, "redundancy": 1, "most": 2}
    sheet = campaign.publish(workplace, **asked)
    assert any("4 gold items are known, and 20 must have answers" in note for note in sheet.notes)
    for _ in range(2):
        play(campaign, workplace, crowd, asked, plan={"trade_off": 0.5, "max_human": 8, "audit": 4})
    given = answers_of(campaign)
    assert set(given) == {2}
    status = campaign.status()
    assert (status.sure.sure, status.sure.exhausted, status.sure.asked) == (0, 8, 0)
    assert "20 are needed" in status.sure.why_none[0]


def test_run_asks_on_until_sure(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    result = campaign.run(workplace, crowd=people(batch.truth), plan=WANTED, publish={**ASKED, "most": 3})
    assert result.state == "satisfied"
    status = campaign.status()
    assert status.sure.asked == 0
    assert status.sure.sure + status.sure.exhausted == status.sure.questions == status.people
    assert status.agreement_at_least is not None
    bound = campaign.certify_stopping()
    assert bound.audit.items == status.audited
    assert bound.audit.stopped > 0
    assert bound.audit.wrong / bound.audit.stopped <= bound.audit_differs_at_most < 1
    assert bound.gold.wrong / bound.gold.stopped <= bound.gold_wrong_at_most < 1
    assert 2 <= bound.mean_answers < bound.full_answers == 3


def test_the_report_says_what_stopping_did(start: Any, workplace: Any, batch: Any, tmp_path: Any) -> None:
    campaign = start()
    play(campaign, workplace, people(batch.truth), ASKED)
    page = campaign.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "asked until sure" in page
    assert "answers an item in place of 5" in page


def test_the_sheet_foretells_what_later_rounds_may_cost(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    campaign.plan(**WANTED)
    first = campaign.publish(workplace, **ASKED)
    people_items = first.sure.questions
    # 54 items are asked twice now and up to three times more; nobody knows yet how often that is
    assert (people_items, first.sure.asked, first.sure.answers_at_most) == (54, 54, 3 * 54)
    assert first.sure.answers_likely is None
    each = first.total_minor / first.answers
    assert first.sure.cost_at_most_minor == round(first.total_minor + 3 * 54 * each)
    play(campaign, workplace, people(batch.truth), ASKED)
    campaign.plan(**WANTED)
    second = campaign.publish(workplace, **ASKED)
    assert second.committed_minor == first.total_minor
    assert 0 <= second.sure.answers_likely <= second.sure.answers_at_most == 2 * second.sure.asked
    assert second.sure.cost_likely_minor <= second.sure.cost_at_most_minor < first.sure.cost_at_most_minor
    assert str(second.sure).startswith(f"{54 - second.sure.asked} of 54 questions are sure")


def test_the_budget_holds_in_every_round(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    first = play(campaign, workplace, people(batch.truth), ASKED)
    campaign.plan(**WANTED)
    tight = {**ASKED, "budget_minor": first.total_minor}
    assert campaign.publish(workplace, **ASKED).hits > 0
    with pytest.raises(BudgetError, match="are committed"):
        campaign.publish(workplace, dry_run=False, **tight)
    assert campaign.status().reserved_minor + campaign.status().settled_minor == first.total_minor


def test_without_most_all_is_as_ever(start: Any, workplace: Any, batch: Any, spend: dict) -> None:
    campaign = start()
    sheet = play(campaign, workplace, people(batch.truth), spend)
    assert sheet.sure is None
    assert campaign.status().sure is None
    given = answers_of(campaign)
    assert set(given) == {3}
    with pytest.raises(StateError, match="same number of answers"):
        campaign.certify_stopping()


@pytest.mark.parametrize(
    "bad", [{"most": 1}, {"most": 0}, {"most": 2.5}, {"error": 0.5}, {"error": 0}, {"error": True}]
)
def test_what_makes_no_sense_is_refused(small: Any, workplace: Any, bad: dict) -> None:
    campaign = small()
    with pytest.raises(InputError):
        campaign.publish(workplace, dry_run=False, **{**ASKED, **bad})
    assert campaign.status().hits == 0


def test_who_needs_how_many_by_hand() -> None:
    index = pd.MultiIndex.from_tuples([("a", "label"), ("f", "label")])
    until = UntilSure(5, 0.05, ("label",), index, {}, ())
    units = pd.DataFrame(
        [
            ("a", "label", "people"),  # sure
            ("b", "label", "people"),  # not sure, two answers: one more
            ("c", "label", "people"),  # not sure, one more is under way: wait
            ("d", "label", "people"),  # one answer: the second of the first round
            ("e", "label", "people"),  # not sure after all five: an expert's
            ("f", "label", "audit"),  # called sure, and asked in full all the same
            ("g", "grade", "people"),  # no labels
        ],
        columns=["item", "aspect", "destination"],
    )
    given = np.array([2, 2, 2, 1, 5, 2, 2])
    coming = np.array([0, 0, 1, 0, 0, 1, 0])
    # of f two answers and one place are there: two more; g is not limited from here
    assert until.needed(units, given, coming, 2).tolist()[:6] == [0, 1, 0, 1, 0, 2]
    assert until.is_limited(units).tolist() == [True] * 6 + [False]


@given(
    given=st.integers(0, 9),
    coming=st.integers(0, 9),
    redundancy=st.integers(1, 5),
    more=st.integers(0, 5),
    destination=st.sampled_from(["people", "audit"]),
    sure=st.booleans(),
)
def test_never_more_than_most_and_never_after_sure(
    given: int, coming: int, redundancy: int, more: int, destination: str, sure: bool
) -> None:
    most = redundancy + more
    index = pd.MultiIndex.from_tuples([("a" if sure else "b", "label")])
    units = pd.DataFrame({"item": ["a"], "aspect": ["label"], "destination": [destination]})
    until = UntilSure(most, 0.05, ("label",), index, {}, ())
    needed = int(until.needed(units, np.array([given]), np.array([coming]), redundancy)[0])
    assert needed >= 0
    assert needed == 0 or given + coming + needed <= most
    if destination == "audit":
        assert given + coming + needed >= most  # whatever is sure
    elif sure:
        assert needed == max(0, redundancy - given - coming)
    elif not coming and redundancy <= given < most:
        assert needed == 1


def test_what_the_others_may_still_take_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.campaign import _sure_sheet

    index = pd.MultiIndex.from_tuples([(name, "label") for name in ("a", "b")])
    until = UntilSure(4, 0.05, ("label",), index, {}, ("why",))
    # two were looked at once and are sure; two were looked at once and are not: a look finds half of them sure
    units = pd.DataFrame({"item": list("abcd"), "aspect": "label", "destination": "people", "given": 2, "coming": 0})
    units["needed"] = [0, 0, 1, 1]
    monkeypatch.setattr(_sure_sheet, "asked_units", lambda *_: units)
    said = sure_sheet(SimpleNamespace(), SimpleNamespace(), 1, 2, until, per_answer_minor=10.0, committed_minor=500)  # type: ignore[arg-type]
    # c and d have three answers after this round, one more at most: 2 answers, and each with a chance of one half
    assert said == SureSheet(4, 2, 0, 2, 4, 0.05, 2, 1, 520, 510, ("why",))
    assert said.cost_text("USD") == "likely 5.10 USD in all, 5.20 USD if nothing more becomes sure (2 answers more)"


def test_a_label_that_another_method_made_is_not_sure(start: Any, workplace: Any, batch: Any) -> None:
    campaign = start()
    play(campaign, workplace, people(batch.truth), ASKED)
    sure = sorted(sure_now(campaign) & asked_in(campaign, 1))
    context = campaign._context
    with context.store.begin() as tx:
        labels = tx.labels.read(context.campaign_id, items=sure[:1])
        other = labels.assign(label=[{"good": "bad", "bad": "good"}[each] for each in labels["label"]])
        tx.labels.save(context.campaign_id, 1, other)
    assert sorted(sure_now(campaign) & asked_in(campaign, 1)) == sure[1:]
