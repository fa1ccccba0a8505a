"""What comes in late, is asked twice or changes its mind must not move a plan, an audit, a label or money silently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign._decide import PlanRequest, decide
from hmc_crowd.campaign._units import Units
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.testing import FakePlatform

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.campaign import Campaign

    Start = Callable[..., Campaign]


def finish_round(campaign: Campaign, place: Any, crowd: Any, spend: dict[str, Any]) -> None:
    campaign.publish(place, dry_run=False, **spend)
    place.rehearse(crowd)
    campaign.collect(place)
    campaign.aggregate()


def audited(campaign: Campaign) -> set[str]:
    with campaign._context.store.read() as tx:
        rows = tx.plans.read(campaign._context.latest_plan().id, people_only=True)
    return set(rows.loc[rows["destination"] == "audit", "item"])


def test_the_plan_asked_for_last_is_the_one_published(start: Start, workplace: Any, wanted: dict, spend: dict) -> None:
    campaign = start()
    first = campaign.plan(**wanted)
    other = campaign.plan(**{**wanted, "max_human": 0.1})
    again = campaign.plan(**wanted)
    assert other.people < first.people == again.people
    assert again.content_hash == first.content_hash
    assert campaign.status().people == first.people
    campaign.publish(workplace, dry_run=False, **spend)
    asked = {each.item for hit in _hits(campaign) for each in hit.items if not each.is_gold}
    assert len(asked) == first.people + first.audit


def _hits(campaign: Campaign) -> list[Any]:
    with campaign._context.store.read() as tx:
        return list(tx.work.hits(campaign._context.campaign_id))


def test_the_certificate_computed_last_counts(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    finish_round(campaign, workplace, crowd, spend)
    usual = campaign.certify()
    assert campaign.certify(level=0.999).agreement_at_least < usual.agreement_at_least
    campaign.certify()
    assert campaign.status().agreement_at_least == usual.agreement_at_least


def test_an_audit_is_put_aside_when_items_come(
    start: Start, workplace: Any, crowd: Any, batch: Any, spend: dict
) -> None:
    campaign = start()
    wanted = {"trade_off": 0.5, "max_human": 10, "audit": 20}
    campaign.plan(**wanted)
    finish_round(campaign, workplace, crowd, spend)
    old = audited(campaign)
    new = [f"new{number:03d}" for number in range(200)]
    campaign.add_items(pd.DataFrame({"item": new, "text": "so it goes"}))
    campaign.add_predictions(pd.DataFrame({"item": new, "label": "good", "confidence": 0.99}))
    assert not campaign.status().satisfied
    campaign.estimate_effort()
    # The cap is used up, so nothing new goes to people: only the audit can find out about the new items.
    assert campaign.plan(**wanted).people == 10 + len(old)
    fresh = audited(campaign)
    assert len(fresh) == 20
    assert not fresh & old
    assert fresh & set(new)


def test_an_audit_says_nothing_of_labels_that_the_machine_gave_later(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict, batch: Any
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    finish_round(campaign, workplace, crowd, spend)
    campaign.certify()
    campaign.add_predictions(batch.predictions)  # the same once more changes nothing
    assert campaign.status().satisfied
    people = campaign.labels().set_index("item")["label"]
    learnt = batch.predictions.assign(label=people.loc[batch.predictions["item"]].to_numpy())
    campaign.add_predictions(learnt)
    with pytest.raises(StateError, match=r"predictions were replaced after the plan.*plan\(\) again"):
        campaign.certify()
    assert campaign.status().next_step == "plan"
    old = audited(campaign)
    campaign.plan(**wanted)
    assert not audited(campaign) & old


def test_the_audit_under_a_budget_is_a_fair_draw() -> None:
    n, audit = 120, 30
    rng = np.random.default_rng(3)
    seconds = rng.lognormal(3.0, 0.8, n)
    confidence = rng.uniform(0.5, 1.0, n)
    units = Units(pd.DataFrame({"item": np.arange(n).astype(str)}), confidence, seconds * 0, seconds, "test")
    request = PlanRequest(
        trade_off=0.0,
        max_human=None,
        max_human_s=0.6 * seconds.sum(),
        max_money_minor=None,
        audit=audit,
        effort="share",
        redundancy=1,
        pay_per_hour_minor=None,
    )
    scores = []
    for _ in range(400):
        plan = decide(units, np.zeros(n, dtype=np.int8), request, rng)
        assert seconds[plan.to_people | plan.audited].sum() <= 0.6 * seconds.sum() + 1e-6
        kept = seconds[~plan.to_people]
        error = kept.std() * np.sqrt((1 - audit / len(kept)) / audit)
        scores.append((seconds[plan.audited].mean() - kept.mean()) / error)
    # A mean of 400 standard scores has a standard error of .05: drawing until it fits gave about -.5.
    assert abs(float(np.mean(scores))) < 0.2


def test_a_label_goes_when_every_answer_behind_it_is_left_out(
    start: Start, workplace: Any, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    finish_round(campaign, workplace, crowd, {**spend, "redundancy": 1, "target_minutes": 2.0})
    with campaign._context.store.begin() as tx:
        answers = tx.work.answers(campaign._context.campaign_id, include_gold=False)
        worker = answers["worker"].iloc[0]
        lost = set(answers.loc[answers["worker"] == worker, "task"])
        mine = answers.loc[answers["worker"] == worker, "submission_id"].unique()
        tx.work.exclude(campaign._context.campaign_id, mine, "left out by hand")
    campaign.aggregate()
    labels = campaign.labels().set_index("item")
    assert set(labels.loc[list(lost), "source"]) == {"machine"}
    assert campaign.status().work_left == len(lost)


def test_a_batch_that_people_judged_whole_needs_no_audit(start: Start, workplace: Any, crowd: Any, spend: dict) -> None:
    campaign = start()
    assert campaign.plan(0.0, 1.0).audit == 0
    finish_round(campaign, workplace, crowd, spend)
    certificate = campaign.certify()
    assert (certificate.agreement_at_least, certificate.wrong_at_most) == (1.0, 0)


def test_answers_that_come_after_the_word_that_work_is_done_are_collected(
    start: Start, crowd: Any, wanted: dict, spend: dict
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    late = FakePlatform(functions={"answers": lambda ids: dict.fromkeys(ids, ())})
    campaign.publish(late, dry_run=False, **spend)
    late.rehearse(crowd)
    assert campaign.collect(late).answers == 0
    late._functions.clear()
    assert campaign.collect(late).answers > 0


def test_a_place_taken_during_a_collection_keeps_its_money(start: Start, wanted: dict, spend: dict) -> None:
    campaign = start()
    campaign.plan(**wanted)
    place = FakePlatform()
    campaign.publish(place, dry_run=False, **{**spend, "redundancy": 1})
    reserved = campaign.status().reserved_minor
    read = place.submissions
    hits = [hit.platform_hit_id for hit in _hits(campaign)]
    calls: list[int] = []

    def submissions(ids: Any) -> Any:
        found = list(read(ids))
        if not calls:  # everybody takes a place just after the first look
            for number, hit in enumerate(hits):
                place.accept(hit, f"worker{number}")
        calls.append(1)
        return iter(found)

    place.submissions = submissions  # type: ignore[method-assign]
    assert campaign.collect(place).open_places == len(hits)
    status = campaign.status()
    assert (status.reserved_minor, status.settled_minor) == (reserved, 0)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"pay_minor": -1}, "pay_minor is -1"),
        ({"pay_minor": 1.5}, "pay_minor is 1.5"),
        ({"pay_per_hour_minor": float("nan")}, "pay_per_hour_minor is nan"),
        ({"pay_minor": 5, "redundancy": "2"}, "redundancy is '2'"),
        ({"pay_minor": 5, "redundancy": 1.5}, "redundancy is 1.5"),
        ({"pay_minor": 5, "budget_minor": -5}, "budget_minor is -5"),
    ],
)
def test_publishing_names_the_number_that_makes_no_sense(
    start: Start, workplace: Any, wanted: dict, bad: dict, message: str
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    with pytest.raises(InputError, match=message):
        campaign.publish(workplace, **bad)


def test_numbers_of_numpy_are_numbers(start: Start, workplace: Any, wanted: dict) -> None:
    campaign = start()
    assert campaign.plan(0.5, np.float32(0.5), audit=np.float32(0.25)).people == 68
    assert campaign.publish(workplace, pay_minor=np.int64(5), redundancy=np.int64(2)).reward_minor > 0


@pytest.mark.parametrize(("name", "value"), [("max_human", "0.5"), ("audit", "5"), ("audit", True)])
def test_planning_names_the_number_that_makes_no_sense(start: Start, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is"):
        start().plan(**{name: value})
