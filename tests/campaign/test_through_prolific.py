"""A campaign on Prolific's stand-in with the workplace's pages (acceptance cases B01, B02, B06, B12, B13, B26)."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from outside_house import SPEND, hits_of, intents_of, money_of, orders_of, payments_of, submissions_of

from hmc_crowd.campaign import Bonus
from hmc_crowd.errors import InputError, NeedsHumanError, PlatformUnavailableError
from hmc_crowd.quality import RejectionProposal, RejectionSignal

AFTER = ["reset_after", "status_after", "hang_after", "truncate_after", "html_after"]
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))


def publish(campaign: Any, recruiting: Any, **changes: Any) -> Any:
    platform = changes.pop("platform", recruiting.platform)
    return campaign.publish(platform, pages=recruiting.pages, dry_run=False, **{**SPEND, **changes})


def collect(campaign: Any, recruiting: Any) -> Any:
    return campaign.collect(recruiting.platform, pages=recruiting.pages)


def test_the_way_of_a_round_through_prolific(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    sheet = campaign.publish(recruiting.platform, pages=recruiting.pages, **SPEND)
    assert sheet.dry_run
    assert sheet.orders < sheet.hits
    assert not recruiting.studies()
    assert sheet.per_worker is not None
    assert "for one worker" in str(sheet)
    # Prolific's own figures: 42.8 % fees on the rewards.
    assert sheet.total_minor == pytest.approx(1.428 * sheet.reward_minor, rel=0.15)
    done = publish(campaign, recruiting)
    assert done.new_hits == sheet.hits == len(hits_of(campaign))
    assert len(recruiting.studies()) == sheet.orders
    recruiting.fill(campaign, small_batch.truth)
    collected = collect(campaign, recruiting)
    assert collected.submissions >= sheet.submissions
    assert collected.open_places == 0
    stored = submissions_of(campaign)
    assert Counter(stored["state"])["submitted"] == sheet.submissions
    # Taken 20 s before the page was open, handed in 100 s after: each clock says what it saw.
    worked = stored[stored["state"] == "submitted"]
    assert (worked["platform_elapsed_s"] == 120).all()
    assert (worked["page_elapsed_s"] == 100).all()
    paid = campaign.approve(recruiting.platform, pages=recruiting.pages, dry_run=False, budget_minor=20_000, by="kim")
    assert (paid.approved, paid.disputed, paid.deferred) == (sheet.submissions, 0, 0)
    assert recruiting.world.spent_minor == pytest.approx(sheet.total_minor, rel=0.02)
    assert len(campaign.aggregate().labels) > 0
    assert money_of(campaign)[2] == 0


def test_recruiting_needs_pages(small: Any, recruiting: Any) -> None:
    with pytest.raises(InputError, match="pass pages="):
        small().publish(recruiting.platform, **SPEND)


@pytest.mark.parametrize("fault", AFTER)
def test_b01_a_create_that_broke_after_its_commit_is_adopted_by_the_campaign(
    small: Any, recruiting: Any, fault: str
) -> None:
    campaign = small()
    recruiting.chaos.inject(fault, match=r"POST \S*/studies/$")
    recruiting.chaos.inject("status_before", match=r"GET \S*/projects/\S*/studies/", nth=2, times=99, status=503)
    with pytest.raises(PlatformUnavailableError, match="publishing again goes on"):
        publish(campaign, recruiting, platform=recruiting.connect(broken=True))
    recruiting.clock.advance(60)
    publish(campaign, recruiting)
    assert len(recruiting.world.studies) == len(orders_of(campaign))
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).is_settled


@pytest.mark.parametrize("fault", AFTER)
def test_b02_a_publish_that_broke_after_its_commit_is_not_sent_again(small: Any, recruiting: Any, fault: str) -> None:
    campaign = small()
    recruiting.chaos.inject(fault, match=r"POST \S*/transition/")
    sheet = publish(campaign, recruiting, platform=recruiting.connect(broken=True))
    assert len(recruiting.studies()) == sheet.orders
    assert recruiting.standin.calls("POST", "studies/*/transition/") == sheet.orders


def finished(campaign: Any, recruiting: Any, truth: dict[str, str]) -> list[str]:
    publish(campaign, recruiting)
    done = recruiting.fill(campaign, truth)
    collect(campaign, recruiting)
    return done


def paid_there(recruiting: Any) -> int:
    with recruiting.world.lock:
        return sum(each.times_paid + len(each.pays) for each in recruiting.world.bonuses.values())


@pytest.mark.parametrize("fault", AFTER)
def test_b06_a_pay_that_broke_after_its_commit_is_never_sent_again(
    small: Any, recruiting: Any, small_batch: Any, fault: str
) -> None:
    campaign = small()
    done = finished(campaign, recruiting, small_batch.truth)
    recruiting.chaos.inject(fault, match=r"POST \S*/pay/")
    bonus = [Bonus(done[0], 150, "quality"), Bonus(done[1], 30, "quality")]
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    first = campaign.pay(recruiting.connect(broken=True), bonus, **spend)
    assert first.paid + first.waiting == 2
    again = campaign.pay(recruiting.platform, bonus, **spend)
    assert again.before == 2
    recruiting.clock.advance(3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    assert {each.state for each in payments_of(campaign)} == {"paid"}
    assert recruiting.standin.calls("POST", "bulk-bonus-payments/*/pay/") == 1
    assert paid_there(recruiting) == 1
    # 180 and 42.8 % fees, rounded for each: 150 -> 64, 30 -> 13.
    assert money_of(campaign)[0] == 0
    assert sum(each.amount_minor + each.fee_minor for each in payments_of(campaign)) == 180 + 64 + 13


def test_a_pay_that_never_shows_becomes_a_question_and_is_never_sent_again(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    done = finished(campaign, recruiting, small_batch.truth)
    # The call is lost before the platform got it, which nobody here can know.
    recruiting.chaos.inject("reset_before", match=r"POST \S*/pay/")
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    assert campaign.pay(recruiting.connect(broken=True), [Bonus(done[0], 150, "quality")], **spend).waiting == 1
    recruiting.clock.advance(3600)
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).waiting == 1
    recruiting.clock.advance(24 * 3600)
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).asked == 1
    question = campaign.questions()[0]
    assert question.operation == "pay"
    assert "Were the bonuses 'quality' of 1.50" in question.text
    assert question.choices == ("retry", "done", "cancel")
    assert campaign.status().questions == (question,)
    assert paid_there(recruiting) == 0
    with pytest.raises(InputError, match="takes retry, done, cancel"):
        campaign.answer_question(question.key, "yes", "seen")
    campaign.answer_question(question.key, "retry", "not on the page of payments; kim")
    assert (
        campaign.pay(recruiting.platform, [], **spend).paid + campaign.pay(recruiting.platform, [], **spend).paid <= 1
    )
    recruiting.clock.advance(600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    assert paid_there(recruiting) == 1
    assert campaign.questions() == ()
    assert payments_of(campaign)[0].state == "paid"


def test_a_person_may_say_that_a_payment_was_made_or_shall_not_be(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    done = finished(campaign, recruiting, small_batch.truth)
    reserved = money_of(campaign)[0]
    recruiting.chaos.inject("reset_before", match=r"POST \S*/pay/", times=2)
    broken = recruiting.connect(broken=True)
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    campaign.pay(broken, [Bonus(done[0], 150, "quality")], **spend)
    campaign.pay(broken, [Bonus(done[1], 150, "quality")], **spend)
    recruiting.clock.advance(25 * 3600)
    campaign.reconcile(recruiting.platform, pages=recruiting.pages)
    first, second = campaign.questions()
    settled = money_of(campaign)[1]
    campaign.answer_question(first.key, "done", "it stands on the invoice; kim")
    campaign.answer_question(second.key, "cancel", "sorry; kim")
    assert sorted(each.state for each in payments_of(campaign)) == ["cancelled", "paid"]
    assert money_of(campaign) == (reserved, settled + 150 + 64, 0)


def test_b12_a_rejected_or_returned_place_is_not_bought_again(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    sheet = publish(campaign, recruiting)
    order, study = orders_of(campaign)[0]
    left = recruiting.take(study, "quitter")
    recruiting.pages.order_door("prolific").claim(order, worker="quitter", submission_id=left)
    recruiting.give_back(left)
    collect(campaign, recruiting)  # says to the pages that the place is free
    done = recruiting.fill(campaign, small_batch.truth)
    assert len(done) == sheet.submissions
    collect(campaign, recruiting)
    proposal = RejectionProposal(done[0], TWO, "x" * 100)
    rejected = campaign.reject(
        recruiting.platform, [proposal], signed_off_by="kim", dry_run=False, pages=recruiting.pages
    )
    assert rejected.rejected == 1
    status = campaign.status()
    assert (status.open_places, status.work_left) == (1, 0)
    committed = sum(money_of(campaign)[:2])
    recruiting.fill(campaign, small_batch.truth, prefix="second")
    assert collect(campaign, recruiting).open_places == 0
    assert sum(money_of(campaign)[:2]) == committed
    states = Counter(submissions_of(campaign)["state"])
    assert (states["submitted"], states["rejected"], states["returned"]) == (sheet.submissions, 1, 1)
    assert campaign.status().work_left == 0


def test_b13_approving_twice_pays_once(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    done = finished(campaign, recruiting, small_batch.truth)
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    assert campaign.approve(recruiting.platform, **spend).approved == len(done)
    before = recruiting.world.spent_minor
    assert campaign.approve(recruiting.platform, **spend).submissions == 0
    assert campaign.approve(recruiting.platform, done, **spend).paid_before == len(done)
    assert recruiting.world.spent_minor == before


def test_b26_work_that_came_too_late_is_offered_for_payment(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    publish(campaign, recruiting)
    order, study = orders_of(campaign)[0]
    late = recruiting.take(study, "late1")
    assert recruiting.answer(order, late, "late1", small_batch.truth)
    recruiting.clock.advance(24 * 3600)
    collected = collect(campaign, recruiting)
    assert collected.late == 1
    assert campaign.status().unpaid_late == (("prolific", late),)
    spend = {"pages": recruiting.pages, "dry_run": False}
    assert campaign.approve(recruiting.platform, budget_minor=20_000, **spend).submissions == 0
    sheet = campaign.approve(recruiting.platform, [late], pages=recruiting.pages)
    assert sheet.extra_minor == sheet.total_minor > 0
    assert campaign.approve(recruiting.platform, [late], budget_minor=20_000, **spend).approved == 1
    assert campaign.status().unpaid_late == ()
    collect(campaign, recruiting)
    assert campaign.status().answers > 0
    assert money_of(campaign)[2] == 0


def test_submissions_without_work_here_are_counted_and_hold_their_place(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    sheet = publish(campaign, recruiting)
    _, study = orders_of(campaign)[0]
    stranger = recruiting.take(study, "stranger")
    recruiting.complete(stranger)
    collected = collect(campaign, recruiting)
    assert (collected.submissions, collected.unmatched) == (0, 1)
    assert campaign.status().unmatched == 1
    recruiting.fill(campaign, small_batch.truth)
    assert collect(campaign, recruiting).open_places == 0
    # The study is full, one HIT is not: its money counts as spent, because the stranger may be paid.
    assert money_of(campaign)[1:] == (sheet.total_minor, 0)


def test_the_cap_on_rejections_holds_for_the_campaign_as_a_whole(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    done = finished(campaign, recruiting, small_batch.truth)
    proposals = [RejectionProposal(name, TWO, "x" * 100) for name in done[:2]]
    spend = {"signed_off_by": "kim", "dry_run": False, "pages": recruiting.pages}
    with pytest.raises(NeedsHumanError, match="nothing was rejected"):
        campaign.reject(recruiting.platform, proposals, **spend)
    campaign.reject(recruiting.platform, proposals[:1], **spend)
    with pytest.raises(NeedsHumanError, match="nothing was rejected"):
        campaign.reject(recruiting.platform, proposals[1:], **spend)
    assert recruiting.standin.calls("POST", "submissions/*/transition/") == 1


def test_more_people_for_a_hit_are_asked_for_by_an_absolute_number(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    publish(campaign, recruiting)
    hit = hits_of(campaign)[0]
    before = sum(each.body.total_available_places for each in recruiting.studies())
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    assert campaign.extend(recruiting.platform, hit.key, 2, pages=recruiting.pages).total_minor > 0
    campaign.extend(recruiting.platform, hit.key, 2, **spend)
    assert sum(each.body.total_available_places for each in recruiting.studies()) == before + 2
    recruiting.fill(campaign, small_batch.truth)
    collect(campaign, recruiting)
    extra = next(each for each in hits_of(campaign) if each.salvaged_from == hit.key)
    assert [(item.item, item.aspect) for item in extra.items] == [(item.item, item.aspect) for item in hit.items]
    per_hit = Counter(submissions_of(campaign)["hit_key"])
    assert per_hit[extra.key] == 2
    assert money_of(campaign)[2] == 0


def test_an_extension_that_a_later_one_overtook_is_done_with(small: Any, recruiting: Any) -> None:
    """The first one's answer is lost; the second counts the first one's places, so the study has more than it asks."""
    campaign = small()
    publish(campaign, recruiting)
    first, second = hits_of(campaign)[:2]
    before = sum(each.body.total_available_places for each in recruiting.studies())
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}

    def die(step: str, _key: str) -> None:
        if step == "after_remote":
            raise KeyboardInterrupt

    campaign._context.hook = die
    with pytest.raises(KeyboardInterrupt):
        campaign.extend(recruiting.platform, first.key, 1, **spend)
    campaign._context.hook = None
    campaign.extend(recruiting.platform, second.key, 1, **spend)
    recruiting.clock.advance(3600)
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).is_settled
    assert sum(each.body.total_available_places for each in recruiting.studies()) == before + 2
    assert {each.state for each in intents_of(campaign)} == {"done"}


def test_an_extension_that_came_too_late_does_not_stand_in_the_way(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    """It was written down, the process died, and the study is full by now: without reopen it can never be sent."""
    campaign = small()
    publish(campaign, recruiting)
    hit = hits_of(campaign)[0]
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}

    def die(step: str, _key: str) -> None:
        if step == "after_intent":
            raise KeyboardInterrupt

    campaign._context.hook = die
    with pytest.raises(KeyboardInterrupt):
        campaign.extend(recruiting.platform, hit.key, target=hit.redundancy + 1, **spend)
    campaign._context.hook = None
    recruiting.fill(campaign, small_batch.truth)
    collect(campaign, recruiting)
    committed = sum(money_of(campaign)[:2])
    more = campaign.extend(recruiting.platform, hit.key, target=hit.redundancy + 1, reopen=True, **spend)
    assert sum(money_of(campaign)[:2]) == committed  # the first one's money went to the second
    assert more.total_minor > 0
    assert campaign.status().open_places == 1
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).is_settled


def test_a_full_study_is_opened_again_only_on_demand(small: Any, recruiting: Any, small_batch: Any) -> None:
    from hmc_crowd.errors import StateError

    campaign = small()
    finished(campaign, recruiting, small_batch.truth)
    hit = hits_of(campaign)[0]
    committed = money_of(campaign)
    spend = {"pages": recruiting.pages, "budget_minor": 20_000, "dry_run": False}
    with pytest.raises(StateError, match="reopen=True"):
        campaign.extend(recruiting.platform, hit.key, 1, **spend)
    assert money_of(campaign) == committed
    campaign.extend(recruiting.platform, hit.key, 1, reopen=True, **spend)
    assert campaign.status().open_places == 1


def test_stopping_closes_the_studies(small: Any, recruiting: Any) -> None:
    campaign = small()
    sheet = publish(campaign, recruiting)
    stopped = campaign.stop(recruiting.platform, pages=recruiting.pages)
    assert stopped.closed == sheet.orders
    assert {each.status for each in recruiting.studies()} <= {"PAUSED", "COMPLETED"}
    recruiting.clock.advance(timedelta(days=1).total_seconds())
    collect(campaign, recruiting)
    assert money_of(campaign) == (0, 0, 0)
    assert all(each.state == "done" for each in intents_of(campaign))
