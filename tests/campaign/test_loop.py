"""The loop as a whole, on both databases: what comes out, and that doing a step again does nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import BudgetError, DuplicateError, InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.simulation import SimulatedCrowd

Start = Any


def play_round(campaign: Campaign, workplace: Any, crowd: SimulatedCrowd, wanted: dict, spend: dict) -> None:
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.check_gold()
    campaign.aggregate()


def test_the_whole_loop_on_each_database(
    database_url: str, start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict, batch: Any
) -> None:
    campaign = start(database_url)
    play_round(campaign, workplace, crowd, wanted, spend)
    certificate = campaign.certify()
    learned = campaign.learn()
    status = campaign.status()
    # 136 items are no gold; 40 % of them are 54; with redundancy 3 they and 20 audited items get 222 answers.
    assert (status.people, status.audited) == (54, 20)
    answers_to_plan = 3 * (54 + 20)
    assert status.answers >= answers_to_plan  # the gold comes on top
    assert status.satisfied
    assert learned.version == 1
    labels = campaign.labels().set_index("item")["label"]
    truth = pd.Series(batch.truth)
    agreement = (labels == truth.loc[labels.index]).mean()
    machine = (batch.predictions.set_index("item")["label"] == truth).mean()
    assert agreement > machine
    assert 0 < certificate.agreement_at_least < agreement


def test_every_step_again_changes_nothing(start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, wanted, spend)
    before = (campaign.status(), campaign.labels())
    assert campaign.publish(workplace, dry_run=False, **spend).new_hits == 0
    assert workplace.rehearse(crowd) == 0
    again = campaign.collect(workplace)
    assert (again.submissions, again.answers) == (0, 0)
    campaign.check_gold()
    campaign.aggregate()
    assert campaign.status() == before[0]
    pd.testing.assert_frame_equal(campaign.labels(), before[1])


def test_planning_again_before_publishing_returns_the_same_plan(start: Start, wanted: dict) -> None:
    campaign = start()
    assert campaign.plan(**wanted) == campaign.plan(**wanted)


def test_another_process_goes_on_where_the_first_stopped(
    start: Start, tmp_path: Any, workplace: Any, crowd: Any, wanted: dict, spend: dict, clock: VirtualClock
) -> None:
    start().plan(**wanted)
    with Campaign.open(tmp_path / "campaign.db", clock=clock) as second:
        second.publish(workplace, dry_run=False, **spend)
        workplace.rehearse(crowd)
    with Campaign.open(tmp_path / "campaign.db", clock=clock) as third:
        assert third.collect(workplace).answers > 0


def test_run_plays_until_every_item_is_answered(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    result = campaign.run(workplace, crowd=crowd, plan=wanted, publish=spend)
    assert result.state == "satisfied"
    assert result.agreement_at_least is not None
    status = campaign.status()
    assert (status.work_left, status.tied) == (0, 0)


def test_run_without_a_crowd_waits_for_people_and_goes_on_later(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    assert campaign.run(workplace, plan=wanted, publish=spend).state == "waiting"
    workplace.rehearse(crowd)
    assert campaign.run(workplace, plan=wanted, publish=spend).state == "satisfied"


def test_the_same_seed_gives_the_same_labels(
    tmp_path: Any, start: Start, batch: Any, crowd: Any, wanted: dict, spend: dict, clock: VirtualClock
) -> None:
    from hmc_crowd.platform import find_platform

    results = []
    for number in (1, 2):
        place = find_platform("local", str(tmp_path / f"place{number}.db"), clock=clock)
        campaign = start(str(tmp_path / f"campaign{number}.db"))
        play_round(campaign, place, crowd, wanted, spend)
        results.append(campaign.labels())
        place.close()
    pd.testing.assert_frame_equal(*results)


def test_gold_is_never_planned_and_keeps_its_label(start: Start, wanted: dict, batch: Any) -> None:
    campaign = start()
    assert campaign.plan(**wanted).items == len(batch.items) - len(batch.gold)
    labels = campaign.labels().set_index("item").loc[batch.gold["item"]]
    assert labels["label"].tolist() == batch.gold["label"].tolist()
    # Known beforehand: the word of no expert, and no part of what people did.
    assert set(zip(labels["source"], labels["evidence"], strict=True)) == {("gold", "gold")}


def test_a_later_round_keeps_what_people_were_asked_and_tops_up_the_audit(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, wanted, spend)
    with campaign._context.store.read() as tx:
        first = tx.plans.read(campaign._context.latest_plan().id, people_only=True)
    plan = campaign.plan(trade_off=0.5, max_human=0.6, audit=30)
    with campaign._context.store.read() as tx:
        second = tx.plans.read(plan.plan_id, people_only=True)
    people = set(first.loc[first["destination"] == "people", "item"])
    audited = set(first.loc[first["destination"] == "audit", "item"])
    assert plan.round == 2
    assert people <= set(second.loc[second["destination"] == "people", "item"])
    assert audited <= set(second["item"])
    assert plan.audit == 30


def test_answers_of_workers_who_fail_gold_do_not_count_and_are_kept(
    start: Start, workplace: Any, batch: Any, wanted: dict, spend: dict
) -> None:
    from hmc_crowd.simulation import SimulatedCrowd, WorkerProfile

    right = {label: {label: 1.0} for label in ("good", "bad")}
    wrong = {"good": {"bad": 1.0}, "bad": {"good": 1.0}}
    workers = [WorkerProfile(f"w{index}", right) for index in range(4)] + [WorkerProfile("liar", wrong)]
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, target_minutes=2.0, gold_share=0.4, **spend)
    workplace.rehearse(SimulatedCrowd(workers, batch.truth, rng=np.random.default_rng(3)))
    campaign.collect(workplace)
    checked = campaign.check_gold()
    assert len(checked.excluded) == 1
    assert campaign.status().work_left > 0  # what the liar answered has to be asked again
    campaign.aggregate()
    labels = campaign.labels().query("source == 'crowd'").set_index("item")["label"]
    assert (labels == pd.Series(batch.truth).loc[labels.index]).all()


def test_dry_run_writes_nothing_anywhere(start: Start, workplace: Any, wanted: dict) -> None:
    campaign = start()
    campaign.plan(**wanted)
    before = campaign.status()
    sheet = campaign.publish(workplace, redundancy=3, pay_per_hour_minor=1200)
    assert sheet.dry_run
    assert sheet.total_minor > 0
    assert campaign.status() == before
    assert workplace.rehearse(_nobody()) == 0


def _nobody() -> Any:
    class Nobody:
        def work(self, hit_key: str, items: Any, already: Any) -> None:
            raise AssertionError("a HIT was published")

    return Nobody()


def test_publishing_above_the_budget_sends_nothing(start: Start, workplace: Any, wanted: dict) -> None:
    campaign = start()
    campaign.plan(**wanted)
    with pytest.raises(BudgetError, match="nothing was sent"):
        campaign.publish(workplace, redundancy=3, pay_per_hour_minor=1200, budget_minor=1, dry_run=False)
    status = campaign.status()
    assert (status.hits, status.reserved_minor) == (0, 0)


def test_publishing_for_real_needs_a_budget(start: Start, workplace: Any, wanted: dict) -> None:
    campaign = start()
    campaign.plan(**wanted)
    with pytest.raises(InputError, match="budget_minor is missing"):
        campaign.publish(workplace, redundancy=3, pay_per_hour_minor=1200, dry_run=False)


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (lambda campaign: campaign.certify(), "no plan yet"),
        (lambda campaign: campaign.aggregate(), "no answers"),
        (lambda campaign: campaign.publish("local", pay_minor=5), "no plan yet"),
    ],
)
def test_a_step_too_early_says_what_comes_first(
    start: Start, step: Any, sentence: str, monkeypatch: Any, tmp_path: Any
) -> None:
    monkeypatch.setenv("HMC_CROWD_WORKPLACE_URL", str(tmp_path / "workplace.db"))
    with pytest.raises(StateError, match=sentence):
        step(start())


def test_certifying_without_an_audit_is_refused(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, {**wanted, "audit": 0}, spend)
    with pytest.raises(StateError, match="nothing was audited"):
        campaign.certify()


def test_unanswered_audit_items_count_as_wrong(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, target_minutes=1.0, **spend)
    workplace.rehearse(crowd, max_submissions=25)
    campaign.collect(workplace)
    campaign.aggregate()
    early = campaign.certify()
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.aggregate()
    late = campaign.certify()
    assert early.audit_pending > 0
    assert late.audit_pending == 0
    assert early.agreement_at_least < late.agreement_at_least


def test_items_twice_are_refused_and_nothing_is_written(start: Start, batch: Any) -> None:
    campaign = start()
    more = pd.concat([pd.DataFrame({"item": ["new"]}), batch.items[["item"]].head(1)])
    with pytest.raises(DuplicateError, match="i0000"):
        campaign.add_items(more)
    assert campaign.status().items == len(batch.items)


def test_unknown_labels_are_named(start: Start) -> None:
    with pytest.raises(InputError, match="ugly"):
        start().add_predictions([{"item": "i0001", "label": "ugly", "confidence": 0.9}])


def test_two_aspects_are_asked_together_and_labelled_apart(
    tmp_path: Any, clock: VirtualClock, workplace: Any, batch: Any, spend: dict
) -> None:
    from hmc_crowd.campaign import Aspect
    from hmc_crowd.simulation import SimulatedCrowd, draw_workers

    aspects = (Aspect("tone", ("good", "bad")), Aspect("sense", ("yes", "no")))
    truth = {(item, "tone"): label for item, label in batch.truth.items()}
    truth |= {(item, "sense"): "yes" for item in batch.truth}
    with Campaign.create(tmp_path / "two.db", aspects=aspects, seed=1, clock=clock) as campaign:
        campaign.add_items(batch.items)
        campaign.add_predictions(batch.predictions, aspect="tone")
        campaign.add_predictions(batch.predictions.assign(label="yes", confidence=0.7), aspect="sense")
        campaign.estimate_effort()
        plan = campaign.plan(trade_off=0.1, max_human=0.3, audit=10)
        campaign.publish(workplace, dry_run=False, **spend)
        labels = ["good", "bad", "yes", "no"]
        workers = draw_workers(8, labels, rng=np.random.default_rng(0), accuracy=0.95)
        workplace.rehearse(SimulatedCrowd(workers, truth, rng=np.random.default_rng(1)))
        campaign.collect(workplace)
        campaign.aggregate()
        assert plan.items == len(batch.items)  # the first aspect routes
        assert set(campaign.labels(aspect="tone")["label"]) == {"good", "bad"}
        sense = campaign.labels(aspect="sense")["label"]
        assert set(sense) <= {"yes", "no"}
        assert (sense == "yes").mean() > 0.9  # two of three careless answers may say no
        with pytest.raises(InputError, match="tone, sense"):
            campaign.labels()


def test_explain_tells_the_way_of_a_routed_and_of_a_kept_item(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, wanted, spend)
    labels = campaign.labels()
    asked = campaign.explain(labels.query("source == 'crowd'")["item"].iloc[0])
    kept = campaign.explain(labels.query("source == 'machine'")["item"].iloc[0])
    assert asked.destination in {"people", "audit"}
    assert len(asked.answers) == 3
    assert kept.destination == "machine"
    assert kept.answers.empty
    with pytest.raises(InputError, match="no such item"):
        campaign.explain("nowhere")


def test_raw_worker_ids_stand_in_one_table_alone(
    tmp_path: Any, start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    import sqlite3

    play_round(start(), workplace, crowd, wanted, spend)
    with sqlite3.connect(tmp_path / "campaign.db") as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        holding = [
            table
            for table in tables
            if any("worker-" in str(cell) for row in connection.execute(f'SELECT * FROM "{table}"') for cell in row)
        ]
    assert holding == ["worker_identity"]


def test_the_audit_chain_holds(start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, wanted, spend)
    context = campaign._context
    with context.store.read() as tx:
        tx.events.verify(context.campaign_id)
        kinds = [event.kind for event in tx.events.read(context.campaign_id)]
    assert kinds[0] == "created"
    assert {"planned", "publishing", "collected", "gold checked", "aggregated"} <= set(kinds)


def test_labels_come_back_as_the_kind_the_items_were(tmp_path: Any, clock: VirtualClock, batch: Any) -> None:
    polars = pytest.importorskip("polars")
    with Campaign.create(tmp_path / "kind.db", seed=1, clock=clock) as campaign:
        campaign.add_items(polars.from_pandas(batch.items))
        campaign.add_predictions(batch.predictions)
        assert isinstance(campaign.labels(), polars.DataFrame)
        path = campaign.labels(tmp_path / "labels.csv")
        assert len(pd.read_csv(path)) == len(batch.items)


def test_a_plan_keeps_within_hours_and_money(start: Start) -> None:
    campaign = start()
    free = campaign.plan(trade_off=0.1, max_human=None, audit=10)
    limit = 0.5 * free.human_s * 3
    tight = campaign.plan(trade_off=0.1, max_human=None, audit=10, max_human_s=limit, redundancy=3)
    assert tight.human_s * 3 <= limit
    assert tight.people < free.people
    assert "limited by" in " ".join(tight.notes)
    with pytest.raises(InputError, match="too little"):
        campaign.plan(trade_off=0.1, audit=10, max_human_s=1.0)
    with pytest.raises(InputError, match="pay_per_hour_minor"):
        campaign.plan(max_money_minor=100)


def test_the_money_of_a_plan_holds_the_fee_and_its_tax(start: Start) -> None:
    campaign = start()
    pays = {"trade_off": 0.1, "max_human": None, "audit": 10, "pay_per_hour_minor": 1200, "max_money_minor": 1500}
    plain = campaign.plan(**pays)
    dear = campaign.plan(**pays, platform="prolific", tax_rate=0.2)
    # A HIT of 12 minutes earns 2.40; the fee is 1.03, its tax .21: 1.517 of the reward, three answers an item.
    assert dear.human_s * 3 / 3600 * 1200 * 1.516 <= 1500
    assert dear.people < plain.people
    assert "fee of prolific: 51.7% of the reward, with 20.0% tax" in " ".join(dear.notes)
    assert "local takes no fee" in " ".join(plain.notes)
    with pytest.raises(InputError, match="fees are known for local, mturk"):
        campaign.plan(**pays, platform="nowhere")
    with pytest.raises(InputError, match="tax_rate is 20"):
        campaign.plan(**pays, platform="prolific", tax_rate=20)


def test_an_audit_that_is_cut_says_so(start: Start) -> None:
    campaign = start()
    kept = 12
    whole = campaign.plan(trade_off=0.0, max_human=10, audit=10)
    assert not any("cut" in note for note in whole.notes)
    plan = campaign.plan(trade_off=0.0, max_human=whole.items - kept, audit=60)
    assert plan.audit == kept
    assert f"the audit is cut from 60 to {kept} items: the machine keeps no more than {kept}" in plan.notes


def test_published_hits_keep_their_pay_and_the_sheet_says_so(
    start: Start, workplace: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    first = campaign.publish(workplace, redundancy=3, pay_minor=200, budget_minor=100_000, dry_run=False)
    again = campaign.publish(workplace, redundancy=3, pay_minor=300, budget_minor=100_000, dry_run=False)
    assert again.total_minor == first.total_minor
    assert "keep it" in again.notes[0]
    assert first.notes == ()


def test_run_goes_on_when_more_is_asked_than_before(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.run(workplace, crowd=crowd, plan=wanted, publish=spend)
    same = campaign.run(workplace, crowd=crowd, plan=wanted, publish=spend)
    more = campaign.run(workplace, crowd=crowd, plan={**wanted, "max_human": 0.7}, publish=spend)
    assert same.rounds == 1
    assert (more.state, more.rounds) == ("satisfied", 2)
    assert more.human_share > same.human_share


@pytest.mark.parametrize("redundancy", [0, True, "3", 1.5])
def test_a_budget_with_a_redundancy_that_cannot_be_is_refused(start: Start, redundancy: Any) -> None:
    with pytest.raises(InputError, match="redundancy is"):
        start().plan(max_human_s=1000.0, redundancy=redundancy)


def test_gold_that_people_have_answered_is_still_known_and_not_theirs(
    start: Start, wanted: dict, spend: dict, workplace: Any, crowd: Any, batch: Any
) -> None:
    campaign = start()
    play_round(campaign, workplace, crowd, wanted, spend)
    answers = campaign._context
    with answers.store.read() as tx:
        met = set(tx.work.answers(answers.campaign_id).query("is_gold")["task"])
    assert met
    labels = campaign.labels().set_index("item")
    assert set(labels.loc[sorted(met), "source"]) == {"gold"}
    assert (labels["source"] == "gold").sum() == len(batch.gold)
    told = campaign.status()
    assert told.human_share == (told.people + told.audited) / (len(batch.items) - len(batch.gold))
    assert campaign.explain(sorted(met)[0]).why_final == "it is gold"
