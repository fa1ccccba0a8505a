"""Does the money follow what people did, and is nobody's work overlooked, when things happen between the steps?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from outside_house import SPEND, hits_of, intents_of, money_of, payments_of, submissions_of

from hmc_crowd.campaign import Bonus
from hmc_crowd.errors import PlatformError, PlatformUnavailableError, StateError
from hmc_crowd.platform import Capabilities, SubmissionState
from hmc_crowd.quality import RejectionProposal, RejectionSignal
from hmc_crowd.simulation import SimulatedCrowd, draw_workers
from hmc_crowd.testing import FakePlatform

ALL = {"budget_minor": 20_000, "dry_run": False}
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))


@pytest.fixture
def people(small_batch: Any) -> SimulatedCrowd:
    workers = draw_workers(8, ["good", "bad"], rng=np.random.default_rng(1), accuracy=0.95)
    return SimulatedCrowd(workers, small_batch.truth, rng=np.random.default_rng(2))


def publish(campaign: Any, platform: Any, **changes: Any) -> Any:
    return campaign.publish(platform, dry_run=False, **{**SPEND, **changes})


def work(platform: Any, hit: Any, who: str) -> str:
    """Do one HIT from beginning to end."""
    name = platform.accept(hit.platform_hit_id, who).submission_id
    for each in hit.items:
        platform.save_answer(name, who, item=each.item, aspect=each.aspect, label="good")
    platform.submit(name, who)
    return str(name)


def work_all(campaign: Any, platform: Any) -> list[str]:
    every = hits_of(campaign)
    return [work(platform, hit, f"w{number}") for hit in every for number in range(hit.redundancy)]


def refuse(campaign: Any, platform: Any, name: str) -> Any:
    proposal = RejectionProposal(name, TWO, "x" * 100)
    return campaign.reject(platform, [proposal], signed_off_by="kim", cap=1.0, dry_run=False)


def paid_for(campaign: Any, *states: str) -> int:
    """What the rewards of the submissions in these states come to."""
    pay = {each.key: each.pay_minor for each in hits_of(campaign)}
    some = submissions_of(campaign)
    return sum(pay[key] for key in some[some["state"].isin(states)]["hit_key"])


def test_the_money_of_an_extension_that_waits_is_kept(small: Any, workplace: Any, monkeypatch: Any) -> None:
    """The HIT is full when it is collected, and the platform has not answered yet about more places."""
    campaign = small()
    publish(campaign, workplace)
    work_all(campaign, workplace)
    hit = hits_of(campaign)[0]

    def silent(*_: Any, **__: Any) -> Any:
        raise PlatformUnavailableError("later")

    with monkeypatch.context() as patch:
        patch.setattr(type(workplace), "top_up", silent)
        with pytest.raises(PlatformUnavailableError):
            campaign.extend(workplace, hit.key, 2, **ALL)
        campaign.collect(workplace)
    assert money_of(campaign)[0] >= 2 * hit.pay_minor
    campaign._context.clock.advance(3600)
    campaign.reconcile(workplace)
    for who in ("x1", "x2"):
        work(workplace, hit, who)
    campaign.collect(workplace)
    assert int((submissions_of(campaign)["hit_key"] == hit.key).sum()) == hit.redundancy + 2
    assert money_of(campaign) == (0, paid_for(campaign, "submitted"), 0)


def test_a_hit_that_is_extended_during_a_collection_stays_open(small: Any, workplace: Any) -> None:
    campaign = small()
    publish(campaign, workplace)
    work_all(campaign, workplace)
    hit = hits_of(campaign)[0]
    read, calls = workplace.submissions, list[int]()

    def submissions(ids: Any) -> Any:
        found = list(read(ids))
        if not calls:
            calls.append(1)
            campaign.extend(workplace, hit.key, 2, **ALL)
        return iter(found)

    workplace.submissions = submissions
    campaign.collect(workplace)
    del workplace.submissions
    assert hits_of(campaign)[0].state == "open"
    for who in ("x1", "x2"):
        work(workplace, hit, who)
    campaign.collect(workplace)
    assert int((submissions_of(campaign)["hit_key"] == hit.key).sum()) == hit.redundancy + 2
    assert money_of(campaign) == (0, paid_for(campaign, "submitted"), 0)


def test_places_that_were_refused_are_not_bought_with_the_next(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    publish(campaign, recruiting.platform, pages=recruiting.pages)
    recruiting.fill(campaign, small_batch.truth)
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    hit = hits_of(campaign)[0]
    spend = {"pages": recruiting.pages, **ALL}
    before = sum(each.body.total_available_places for each in recruiting.studies())
    with pytest.raises(StateError, match="reopen=True"):
        campaign.extend(recruiting.platform, hit.key, 3, **spend)
    campaign.extend(recruiting.platform, hit.key, 1, reopen=True, **spend)
    assert sum(each.body.total_available_places for each in recruiting.studies()) == before + 1
    assert campaign.collect(recruiting.platform, pages=recruiting.pages).open_places == 1


def test_two_hits_of_one_order_that_are_extended_at_once_both_get_their_places(small: Any, recruiting: Any) -> None:
    """The other process plans from the same number of places and is quicker."""
    campaign = small()
    publish(campaign, recruiting.platform, pages=recruiting.pages)
    first, second = [hit for hit in hits_of(campaign) if hit.order_key == hits_of(campaign)[0].order_key][:2]
    spend = {"pages": recruiting.pages, **ALL}
    before = sum(each.body.total_available_places for each in recruiting.studies())

    def hook(step: str, _key: str) -> None:
        if step == "before_intent":
            campaign._context.hook = None
            campaign.extend(recruiting.platform, second.key, 1, **spend)

    campaign._context.hook = hook
    campaign.extend(recruiting.platform, first.key, 1, **spend)
    assert sum(each.body.total_available_places for each in recruiting.studies()) == before + 2


def test_places_whose_answer_was_lost_are_known_although_more_were_bought_since(
    small: Any, recruiting: Any, monkeypatch: Any
) -> None:
    campaign = small()
    publish(campaign, recruiting.platform, pages=recruiting.pages)
    first, second = [hit for hit in hits_of(campaign) if hit.order_key == hits_of(campaign)[0].order_key][:2]
    spend = {"pages": recruiting.pages, **ALL}
    before = sum(each.body.total_available_places for each in recruiting.studies())
    real = recruiting.platform.set_places

    def lost(*arguments: Any, **options: Any) -> Any:
        real(*arguments, **options)
        raise PlatformUnavailableError("the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(recruiting.platform, "set_places", lost)
        with pytest.raises(PlatformUnavailableError):
            campaign.extend(recruiting.platform, first.key, 1, **spend)
    campaign.extend(recruiting.platform, second.key, 1, **spend)
    recruiting.clock.advance(3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    assert campaign.questions() == ()
    assert {each.state for each in intents_of(campaign)} == {"done"}
    assert sum(each.body.total_available_places for each in recruiting.studies()) == before + 2


@pytest.mark.parametrize("is_collected_between", [True, False])
def test_what_is_paid_out_of_its_own_money_is_counted_once(small: Any, clock: Any, is_collected_between: bool) -> None:
    """Rejected and approved all the same: its place's money is free, whenever that is noticed."""

    def approve(name: str, *, override: bool = False) -> Any:
        if override:
            platform._desk.submissions[name].state = platform._desk.submissions[name].state.SUBMITTED
        return FakePlatform.approve(platform, name)

    rules = Capabilities(idempotent_create=True, overrides_rejection=True)
    campaign, platform = small(), FakePlatform(clock=clock, capabilities=rules)
    platform.approve = approve  # type: ignore[method-assign]
    publish(campaign, platform)
    name = work_all(campaign, platform)[0]
    campaign.collect(platform)
    assert refuse(campaign, platform, name).rejected == 1
    if is_collected_between:
        campaign.collect(platform)
    assert campaign.approve(platform, [name], override=True, **ALL).approved == 1
    campaign.collect(platform)
    assert money_of(campaign) == (0, paid_for(campaign, "submitted", "approved"), 0)


def test_a_rejection_in_a_hit_that_ended_unfilled_frees_its_money(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    publish(campaign, platform)
    names = [work(platform, hit, "w1") for hit in hits_of(campaign)]
    campaign.stop(platform)
    campaign.collect(platform)
    assert money_of(campaign) == (0, paid_for(campaign, "submitted"), 0)
    refuse(campaign, platform, names[0])
    campaign.collect(platform)
    assert money_of(campaign) == (0, paid_for(campaign, "submitted"), 0)


def test_whoever_takes_a_place_that_was_freed_by_hand_is_not_overlooked(small: Any, clock: Any) -> None:
    """Rejected on the platform's own page after the HIT was full: the platform offers the place again."""
    rules = Capabilities(idempotent_create=True, rejection_frees_slot=True)
    campaign, platform = small(), FakePlatform(clock=clock, capabilities=rules)
    publish(campaign, platform)
    names = work_all(campaign, platform)
    campaign.collect(platform)
    hit = hits_of(campaign)[0]
    campaign.approve(platform, names[1:], **ALL)
    platform.reject(names[0], "by hand")
    assert campaign.reconcile(platform).collected.open_places == 1
    late = work(platform, hit, "second")
    campaign.collect(platform)
    assert late in set(submissions_of(campaign)["submission_id"])
    assert money_of(campaign) == (0, paid_for(campaign, "submitted", "approved"), 0)


def test_whoever_has_the_place_of_a_late_one_is_not_overlooked(small: Any, clock: Any) -> None:
    """The late work is paid by hand, out of its own money; the place is another's, who is at work."""
    campaign, platform = small(), FakePlatform(clock=clock)
    publish(campaign, platform)
    first = hits_of(campaign)[0]
    late = platform.accept(first.platform_hit_id, "late").submission_id
    clock.advance(24 * 3600)
    platform._desk.submissions[late].submitted_at = clock.now()
    for hit in hits_of(campaign):
        for number in range(hit.redundancy - (hit.key == first.key)):
            work(platform, hit, f"w{number}")
    under_way = platform.accept(first.platform_hit_id, "x1").submission_id
    campaign.collect(platform)
    platform._desk.submissions[late].state = SubmissionState.SUBMITTED
    assert campaign.approve(platform, [late], **ALL).approved == 1
    assert campaign.collect(platform).open_places == 1
    for each in first.items:
        platform.save_answer(under_way, "x1", item=each.item, aspect=each.aspect, label="good")
    platform.submit(under_way, "x1")
    assert campaign.collect(platform).submissions == 1
    assert money_of(campaign) == (0, paid_for(campaign, "submitted", "approved"), 0)


def test_a_dispute_that_stays_one_is_asked_about_again(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    publish(campaign, platform)
    name = work_all(campaign, platform)[0]
    campaign.collect(platform)
    for at in (1, 2):
        platform.fail("approve", at=at, error=PlatformError("not this one"))
    campaign.approve(platform, [name], **ALL)
    for _ in range(2):
        assert len(campaign.questions()) == 1
        key = campaign.questions()[0].key
        campaign.answer_question(key, "retry", "try once more; kim")
        campaign.reconcile(platform)
    assert campaign.questions() == ()
    assert [each.state for each in payments_of(campaign)] == ["paid"]


@pytest.mark.parametrize(("decision", "extra"), [("retry", 1), ("done", 1), ("cancel", 0)])
def test_the_money_of_a_disputed_late_work_follows_the_answer(
    small: Any, clock: Any, decision: str, extra: int
) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    publish(campaign, platform)
    first = hits_of(campaign)[0]
    late = platform.accept(first.platform_hit_id, "late").submission_id
    clock.advance(24 * 3600)
    work_all(campaign, platform)
    campaign.collect(platform)
    settled = money_of(campaign)[1]
    platform.fail("approve", error=PlatformError("not this one"))
    campaign.approve(platform, [late], **ALL)
    assert money_of(campaign) == (first.pay_minor, settled, 0)
    platform._desk.submissions[late].state = SubmissionState.SUBMITTED
    campaign.answer_question(campaign.questions()[0].key, decision, "seen there; kim")
    campaign.reconcile(platform)
    assert money_of(campaign) == (0, settled + extra * first.pay_minor, 0)
    assert campaign.questions() == ()


def test_a_bonus_that_the_workplace_refuses_names_no_worker(small: Any, workplace: Any, monkeypatch: Any) -> None:
    campaign = small()
    publish(campaign, workplace)
    hit = hits_of(campaign)[0]
    name = work(workplace, hit, "jane.doe")
    campaign.collect(workplace)
    from hmc_crowd_local import _bonuses

    monkeypatch.setattr(_bonuses, "_workers", lambda *_: {})
    campaign.pay(workplace, [Bonus(name, 25, "quality")], **ALL)
    assert "jane" not in repr(intents_of(campaign))
    assert "jane" not in campaign.questions()[0].text


def test_what_was_refused_is_dropped_when_one_stops(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    platform.fail("publish", error=PlatformError("the account is closed"))
    with pytest.raises(PlatformError):
        publish(campaign, platform)
    campaign.stop(platform)
    assert money_of(campaign) == (0, 0, 0)


def test_a_bonus_waits_while_a_person_is_asked_about_another_of_the_same_submission(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    """Two payments of one amount could not be told apart."""
    campaign = small()
    publish(campaign, recruiting.platform, pages=recruiting.pages)
    name = recruiting.fill(campaign, small_batch.truth)[0]
    spend = {"pages": recruiting.pages, **ALL}
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    recruiting.chaos.inject("reset_before", match=r"POST \S*/pay/")
    campaign.pay(recruiting.connect(broken=True), [Bonus(name, 150, "quality")], **spend)
    recruiting.clock.advance(25 * 3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    paid = campaign.pay(recruiting.platform, [Bonus(name, 150, "speed")], **spend)
    assert (paid.paid, paid.deferred) == (0, 1)
    campaign.answer_question(campaign.questions()[0].key, "cancel", "never arrived; kim")
    recruiting.clock.advance(3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    campaign.pay(recruiting.platform, [], **spend)
    recruiting.clock.advance(3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    assert {each.reason_code: each.state for each in payments_of(campaign)} == {"quality": "cancelled", "speed": "paid"}
    assert campaign.questions() == ()


def test_a_bonus_that_costs_more_than_is_set_aside_is_not_paid(small: Any, recruiting: Any, small_batch: Any) -> None:
    """The platform adds a tax that the settings leave out."""
    from hmc_crowd.platform import FeeSchedule

    campaign = small()
    publish(campaign, recruiting.platform, pages=recruiting.pages)
    name = recruiting.fill(campaign, small_batch.truth)[0]
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    reserved = money_of(campaign)[0]
    free = recruiting.connect(fees=FeeSchedule())
    spend = {"pages": recruiting.pages, **ALL}
    assert campaign.pay(free, [Bonus(name, 150, "quality")], **spend).asked == 1
    question = campaign.questions()[0]
    assert "asks 2.14" in question.text
    campaign.answer_question(question.key, "cancel", "the fees were not set; kim")
    assert money_of(campaign)[0] == reserved
    assert campaign.pay(recruiting.platform, [Bonus(name, 150, "quality-2")], **spend).asked == 0
    assert recruiting.standin.calls("POST", "bulk-bonus-payments/*/pay/") == 1
