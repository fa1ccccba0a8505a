"""Fair review (acceptance cases B09 to B12 and B26 to B28)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hmc_crowd_prolific import (
    RejectionProposal,
    ReviewAction,
    ReviewCase,
    Signal,
    Submission,
    SubmissionStatus,
    checked_rejections,
    review,
    review_deadlines,
)

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DONE = Submission("s1", "study", "p1", SubmissionStatus.AWAITING_REVIEW, NOW, NOW, "CODE", None, ())
SIGNALS = (Signal("gold", "2 of 3 gold items wrong"), Signal("speed", "40 s for 12 minutes"))
REASON = "Both gold items are wrong. " + "x" * 100


def proposals(count: int) -> list[RejectionProposal]:
    return [RejectionProposal(f"s{number}", SIGNALS, REASON, "LOW_EFFORT") for number in range(count)]


@pytest.fixture
def study(lab) -> str:
    return lab.connect().recruit(lab.order()).hit_id


def test_b09_a_rejection_of_99_characters_is_refused_here(lab, study) -> None:
    platform = lab.connect()
    name = lab.submit(study, "ann")
    with pytest.raises(InputError, match="has 99 characters; Prolific wants at least 100"):
        platform.client.submissions.reject(name, message="x" * 99, category="OTHER")
    assert lab.standin.calls("POST", "submissions/*/transition/") == 0
    done = platform.client.submissions.reject(name, message="x" * 100, category="OTHER")
    assert done.status == "REJECTED"


def test_b09_an_unknown_category_is_refused_here(lab) -> None:
    with pytest.raises(InputError, match="category is 'RUDE'; Prolific knows TOO_QUICKLY"):
        lab.connect().client.submissions.reject("s1", message="x" * 100, category="RUDE")


def test_b09_a_rejection_through_the_port_says_where_to_object(lab, study) -> None:
    name = lab.submit(study, "ann")
    assert lab.connect().reject(name, "Both gold items are wrong.").state == "rejected"
    message = lab.world.submission(name).message
    assert message.startswith("Both gold items are wrong. If you disagree")
    assert len(message) >= 100


def test_b09_a_short_reason_without_the_note_is_refused(lab, study) -> None:
    name = lab.submit(study, "ann")
    with pytest.raises(InputError, match="has 10 characters"):
        lab.connect(rejection_note="").reject(name, "Bad work!!")


@pytest.mark.parametrize(
    ("count", "reviewed", "is_done"), [(5, 100, False), (3, 100, False), (2, 100, True), (1, 3, True)]
)
def test_b10_more_rejections_than_the_cap_reject_nothing_and_ask_a_person(count, reviewed, is_done) -> None:
    if is_done:
        assert len(checked_rejections(proposals(count), reviewed=reviewed, signed_off_by="Eve")) == count
        return
    with pytest.raises(NeedsHumanError, match=rf"{count} of {reviewed} .* more than 2\.0%; nothing was rejected"):
        checked_rejections(proposals(count), reviewed=reviewed, signed_off_by="Eve")


def test_b10_over_the_cap_nothing_reaches_the_platform(lab, study) -> None:
    with pytest.raises(NeedsHumanError):
        lab.connect().reject_many(proposals(5), reviewed=100, signed_off_by="Eve")
    assert lab.standin.calls("POST", "submissions/*/transition/") == 0


def test_b10_within_the_cap_all_are_rejected(lab, study) -> None:
    name = lab.submit(study, "ann")
    proposal = replace(proposals(1)[0], submission_id=name)
    (done,) = lab.connect().reject_many([proposal], reviewed=1, signed_off_by="Eve")
    assert done.state == "rejected"


def test_a_rejection_needs_a_sign_off() -> None:
    with pytest.raises(NeedsHumanError, match="1 rejections wait for a person's sign-off"):
        checked_rejections(proposals(1), reviewed=100, signed_off_by=" ")


def test_a_rejection_needs_two_independent_signals() -> None:
    same = (Signal("gold", "item 1 wrong"), Signal("gold", "item 2 wrong"))
    with pytest.raises(InputError, match="it needs two independent ones: accept the work and leave it out"):
        RejectionProposal("s1", same, REASON, "LOW_EFFORT")


@pytest.mark.parametrize("minutes", [3, 12])
@pytest.mark.parametrize("signals", [(), (Signal("gold", "item 1 wrong"),)])
def test_b11_one_failed_gold_item_never_leads_to_a_rejection(minutes, signals) -> None:
    case = ReviewCase(DONE, is_complete=True, failed_gold=1, signals=signals, minutes=minutes)
    assert review(case)[0] is ReviewAction.APPROVE


# In a study of 5 minutes or more at least two checks must have failed, in a shorter one at least one.
@pytest.mark.parametrize(
    ("minutes", "failed", "action"),
    [
        (12, 1, "approve"),
        (12, 2, "propose_rejection"),
        (5, 1, "approve"),
        (4.9, 1, "propose_rejection"),
        (4, 0, "approve"),
    ],
)
def test_a_rejection_is_proposed_only_with_enough_failed_checks_and_another_signal(minutes, failed, action) -> None:
    speed = (Signal("speed", "40 s"),)
    assert review(ReviewCase(DONE, True, failed, speed, minutes))[0] == action


@pytest.mark.parametrize("end", ["reject", "return"])
def test_b12_rejected_and_returned_places_are_free_again_without_buying_one(lab, end) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order(places=1)).hit_id
    if end == "reject":
        platform.reject(lab.submit(study, "ann"), "Both gold items are wrong.")
    else:
        lab.give_back(lab.take(study, "ann"))
    found = platform.find("round-1")
    assert (found.is_open, found.redundancy) == (True, 1)
    assert lab.submit(study, "bob")
    assert platform.capabilities.rejection_frees_slot


def test_b26_work_that_timed_out_complete_is_offered_for_payment(lab, study) -> None:
    name = lab.take(study, "ann")
    lab.clock.advance(2 * 3600)
    platform = lab.connect()
    held = platform.client.submissions.get(name)
    assert held.status == "TIMED-OUT"
    assert review(ReviewCase(held, is_complete=True))[0] is ReviewAction.OFFER_PAYMENT
    assert review(ReviewCase(held, is_complete=False))[0] is ReviewAction.NOTHING
    assert platform.approve(name).state == "approved"


@pytest.mark.parametrize("code", [None, "NOCODE", "WRONG1"])
def test_b27_a_missing_or_wrong_code_with_a_complete_record_is_approved(lab, study, code) -> None:
    name = lab.submit(study, "ann", code=code)
    held = lab.connect().client.submissions.get(name)
    assert review(ReviewCase(held, is_complete=True))[0] is ReviewAction.APPROVE


def test_work_that_we_do_not_hold_is_asked_to_be_returned_before_anything_else(lab, study) -> None:
    platform = lab.connect()
    name = lab.submit(study, "ann")
    assert review(ReviewCase(platform.client.submissions.get(name), False))[0] is ReviewAction.ASK_RETURN
    platform.client.submissions.request_return(name, ["We have received no answers from you."])
    assert review(ReviewCase(platform.client.submissions.get(name), False))[0] is ReviewAction.ASK_PERSON


@pytest.mark.parametrize(("days", "alarms"), [(19.9, 0), (20, 1), (20.9, 1)])
def test_b28_an_alarm_comes_20_days_after_completion(lab, study, days, alarms) -> None:
    name = lab.submit(study, "ann")
    lab.clock.advance(days * 86_400)
    found = review_deadlines(lab.connect().client.submissions.of_study(study), now=lab.clock.now())
    assert [each.submission_id for each in found] == [name] * alarms
    assert all(each.approves_itself_at - lab.clock.now() <= timedelta(days=1) for each in found)


def test_b28_after_21_days_the_platform_has_approved_it_and_so_says_the_list(lab, study) -> None:
    platform = lab.connect()
    name = lab.submit(study, "ann")
    lab.clock.advance(21 * 86_400)
    assert platform.approve(name).state == "approved"
    assert lab.world.submission(name).decided_by == "time"
    assert lab.world.submission(name).paid_minor == 200
    assert review_deadlines(platform.client.submissions.of_study(study), now=lab.clock.now()) == []


@pytest.mark.parametrize("status", ["PROCESSING", "MARVELLOUS"])
def test_b18_no_money_moves_for_a_state_that_nobody_knows(lab, study, status) -> None:
    name = lab.submit(study, "ann")
    lab.control(f"submissions/{name}/put?status={status}")
    platform = lab.connect()
    for act in (lambda: platform.approve(name), lambda: platform.reject(name, "Both gold items are wrong.")):
        with pytest.raises(NeedsHumanError, match="in a state that nobody knows"):
            act()
    assert review(ReviewCase(platform.client.submissions.get(name), True))[0] is ReviewAction.ASK_PERSON
    assert lab.standin.calls("POST", "submissions/*/transition/") == 0


def test_approving_in_bulk_what_is_not_in_the_studies_is_refused(lab, study) -> None:
    with pytest.raises(PlatformError, match="submission 'nobody' and 0 more are not in these studies"):
        lab.connect().approve_many(["nobody"], hit_ids=[study])
