"""Paying once (acceptance cases B06 to B08 and B13 to B15)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hmc_crowd_prolific import Bonus, BonusPayer, BonusRecord, BonusState, plan_batches
from hmc_crowd_prolific._units import bonus_csv

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformError, PlatformUnavailableError

PAY = r"POST \S*/pay/"
UNKNOWN = ["reset_after", "status_after", "hang_after", "html_after", "truncate_after"]


class Journal:
    """What a database would hold: the record as it was last saved."""

    def __init__(self, record: BonusRecord) -> None:
        self.record = record
        self.states = [record.state]

    def save(self, record: BonusRecord) -> None:
        self.record = record
        self.states.append(record.state)


@pytest.fixture
def study(lab) -> str:
    return lab.connect().recruit(lab.order()).hit_id


def payments(lab) -> int:
    return sum(each.times_paid + len(each.pays) for each in lab.world.bonuses.values())


def settle(lab, journal: Journal, *, broken: bool = True, steps: int = 12) -> BonusRecord:
    """Processes that start, take a step, and may die of a fault, until nothing more happens."""
    for _ in range(steps):
        payer = BonusPayer(lab.connect(broken=broken).client, journal.save, clock=lab.clock)
        try:
            payer.advance(journal.record)
        except PlatformUnavailableError:
            continue
        if journal.record.state.is_final:
            break
        lab.clock.advance(120)
    return journal.record


@pytest.mark.parametrize("fault", [*UNKNOWN, "reset_before", "hang_before"])
def test_b06_a_pay_whose_answer_was_lost_is_never_sent_again(lab, study, fault) -> None:
    name = lab.submit(study, "ann")
    journal = Journal(BonusRecord(study, (Bonus(name, 150),)))
    lab.chaos.inject(fault, match=PAY)
    done = settle(lab, journal)
    was_done = not fault.endswith("_before")
    assert sum("/pay/" in call.target for call in lab.chaos.calls) == 1
    assert payments(lab) == was_done
    assert lab.world.submission(name).bonuses == [150] * was_done
    assert done.state is (BonusState.CONFIRMED if was_done else BonusState.PAY_SENT)


def test_b06_a_process_that_dies_before_its_call_leaves_a_question_for_a_person(lab, study) -> None:
    name = lab.submit(study, "ann")
    journal = Journal(BonusRecord(study, (Bonus(name, 150),)))

    class Killed(BaseException):
        pass

    def save_and_die(record: BonusRecord) -> None:
        journal.save(record)
        if record.state is BonusState.PAY_SENT:
            raise Killed

    settle(lab, journal, steps=1)
    with pytest.raises(Killed):
        BonusPayer(lab.connect().client, save_and_die, clock=lab.clock).advance(journal.record)
    settle(lab, journal)
    assert journal.record.state is BonusState.PAY_SENT
    lab.clock.advance(timedelta(hours=24).total_seconds())
    done = settle(lab, journal)
    assert done.state is BonusState.NEEDS_HUMAN
    assert "1 of 1 submissions do not show it" in done.question
    assert payments(lab) == 0


def test_b06_pay_sent_is_saved_before_the_call(lab, study) -> None:
    journal = Journal(BonusRecord(study, (Bonus(lab.submit(study, "ann"), 150),)))
    settle(lab, journal)
    assert journal.states == ["planned", "created", "pay_sent", "confirmed"]


def test_a_pay_that_never_left_the_machine_is_sent_when_the_line_is_back(lab, study) -> None:
    journal = Journal(BonusRecord(study, (Bonus(lab.submit(study, "ann"), 150),)))
    settle(lab, journal, steps=1)
    unreachable = lab.connect()
    unreachable.client.http._client.base_url = "http://127.0.0.1:1/api/v1/"
    read = unreachable.client.submissions
    read.get = lab.connect().client.submissions.get
    with pytest.raises(PlatformUnavailableError, match="nothing was done"):
        BonusPayer(unreachable.client, journal.save, clock=lab.clock).advance(journal.record)
    assert journal.record.state is BonusState.CREATED
    assert settle(lab, journal).state is BonusState.CONFIRMED
    assert payments(lab) == 1


def test_a_pay_that_was_told_to_come_back_later_is_not_sent_again(lab, study) -> None:
    journal = Journal(BonusRecord(study, (Bonus(lab.submit(study, "ann"), 150),)))
    lab.chaos.inject("status_after", match=PAY, status=429)
    assert settle(lab, journal).state is BonusState.CONFIRMED
    assert payments(lab) == 1


def test_a_refused_payment_is_for_a_person(lab, study) -> None:
    journal = Journal(BonusRecord(study, (Bonus(lab.submit(study, "ann"), 150),)))
    lab.chaos.inject("status_before", match=PAY, status=403)
    done = settle(lab, journal)
    assert (done.state, payments(lab)) == (BonusState.NEEDS_HUMAN, 0)
    assert "refused: Prolific answered 403" in done.question


def test_an_earlier_bonus_of_the_same_amount_confirms_nothing(lab, study) -> None:
    name = lab.submit(study, "ann")
    first = settle(lab, Journal(BonusRecord(study, (Bonus(name, 150),))), broken=False)
    journal = Journal(BonusRecord(study, (Bonus(name, 150),), reason_code="second"))
    lab.chaos.inject("reset_before", match=PAY)
    second = settle(lab, journal)
    assert (first.state, second.state) == (BonusState.CONFIRMED, BonusState.PAY_SENT)
    assert first.key != second.key


@pytest.mark.parametrize("fault", ["reset_after", "reset_before"])
@pytest.mark.parametrize("nth", range(1, 6))
def test_f9_a_fault_at_any_call_pays_at_most_once(open_lab, nth, fault) -> None:
    # Calls: set-up, read, pay, read, and one more where a step is repeated.
    lab = open_lab()
    study = lab.connect().recruit(lab.order()).hit_id
    name = lab.submit(study, "ann")
    journal = Journal(BonusRecord(study, (Bonus(name, 150),)))
    lab.chaos.inject(fault, nth=nth)
    done = settle(lab, journal)
    lost = fault == "reset_before" and nth == 3
    assert done.state is (BonusState.PAY_SENT if lost else BonusState.CONFIRMED)
    assert lab.world.submission(name).bonuses == ([] if lost else [150])


def test_b07_the_csv_of_bonuses_is_in_major_units() -> None:
    assert bonus_csv([("s1", 150), ("s2", 30), ("s3", 100_000), ("s4", 5)]) == (
        "s1,1.50\ns2,0.30\ns3,1000.00\ns4,0.05\n"
    )


def test_b07_what_the_platform_pays_is_what_was_meant(lab, study) -> None:
    name = lab.submit(study, "ann")
    setup = lab.connect().client.bonuses.set_up(study, [Bonus(name, 30)])
    # 0.30 USD and 42.8% fee: 12.84, so 13 cents.
    assert (setup.amount_minor, setup.fees_minor, setup.total_minor) == (30, 13, 43)


@pytest.mark.parametrize("amount", [0, -5, 1.5, True, "30"])
def test_b07_a_bonus_that_is_no_whole_number_of_cents_is_refused(amount) -> None:
    with pytest.raises(InputError, match="give a whole number of cents or pence above 0"):
        Bonus("s1", amount)


def test_b08_450_bonuses_go_in_batches_of_200_and_a_foreign_id_spoils_its_own_alone(lab) -> None:
    platform = lab.connect()
    study = platform.recruit(lab.order(places=450)).hit_id
    names = lab.fill(study, 450)
    names[210] = "nobody"
    batches = plan_batches([Bonus(name, 10) for name in names])
    assert [len(batch) for batch in batches] == [200, 200, 50]
    outcomes = []
    for batch in batches:
        try:
            outcomes.append(platform.client.bonuses.set_up(study, batch).amount_minor)
        except PlatformError as error:
            outcomes.append("nobody did not take part" in str(error))
    assert outcomes == [2000, True, 500]


def test_two_bonuses_for_one_submission_in_a_plan_are_refused() -> None:
    with pytest.raises(InputError, match="'s1' has more than one bonus; give their sum"):
        plan_batches([Bonus("s1", 10), Bonus("s1", 20)])


def test_b13_approving_twice_pays_once(lab, study) -> None:
    platform = lab.connect()
    name = lab.submit(study, "ann")
    assert [platform.approve(name).state, platform.approve(name).state] == ["approved", "approved"]
    platform.client.submissions.approve(name)
    # 2.00 USD and 42.8% fee.
    assert (lab.world.submission(name).paid_minor, lab.world.spent_minor) == (200, 286)


@pytest.mark.parametrize("fault", UNKNOWN)
def test_b13_an_approval_whose_answer_was_lost_is_repeated_and_pays_once(lab, study, fault) -> None:
    name = lab.submit(study, "ann")
    lab.chaos.inject(fault, match=r"POST \S*/transition/")
    assert lab.connect(broken=True).approve(name).state == "approved"
    assert (lab.world.submission(name).paid_minor, lab.world.spent_minor) == (200, 286)


def test_b14_2500_approvals_go_in_three_bulk_calls_and_are_polled_until_done(open_lab) -> None:
    lab = open_lab(bulk_s=40)
    platform = lab.connect()
    study = platform.recruit(lab.order(places=2500)).hit_id
    names = lab.fill(study, 2500)
    done = platform.approve_many(names, hit_ids=[study])
    assert lab.standin.calls("POST", "submissions/bulk-approve/") == 3
    assert {each.state for each in done} == {"approved"}
    assert [each.submission_id for each in done] == names
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


def test_b14_bulk_approvals_that_take_too_long_end_in_time_and_can_be_taken_up_again(open_lab) -> None:
    lab = open_lab(bulk_s=300)
    platform = lab.connect()
    study = platform.recruit(lab.order(places=5)).hit_id
    names = lab.fill(study, 5)
    with pytest.raises(PlatformUnavailableError, match="has not approved all of 5 submissions yet"):
        platform.approve_many(names, hit_ids=[study])
    lab.clock.advance(300)
    assert {each.state for each in platform.approve_many(names, hit_ids=[study])} == {"approved"}
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


def test_b15_a_busy_wallet_is_waited_for_and_all_are_approved_once(lab) -> None:
    platform = lab.connect(broken=True)
    study = platform.recruit(lab.order(places=5)).hit_id
    names = lab.fill(study, 5)
    lab.chaos.inject("status_before", match=r"POST \S*/transition/", status=429, times=4)
    before = lab.clock.now()
    assert [platform.approve(name).state for name in names] == ["approved"] * 5
    # Four pauses with ceilings of 0.5, 1, 2 and 4 seconds, each at least half of that.
    assert lab.clock.now() - before >= timedelta(seconds=3.75)
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


def test_b15_threads_of_one_process_take_turns_at_the_wallet(open_lab) -> None:
    lab = open_lab(wallet_hold_s=0.01)
    platform = lab.connect()
    study = platform.recruit(lab.order(places=12)).hit_id
    names = lab.fill(study, 12)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(platform.approve, names))
    assert not [call for call in lab.world.calls if call["status"] == 429]
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


def test_b15_two_processes_that_meet_at_the_wallet_both_get_through(open_lab) -> None:
    lab = open_lab(wallet_hold_s=0.01)
    study = lab.connect().recruit(lab.order(places=12)).hit_id
    names = lab.fill(study, 12)
    platforms = [lab.connect(), lab.connect()]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda at: [platforms[at].approve(name) for name in names[at::2]], (0, 1)))
    assert {each.paid_minor for each in lab.world.submissions.values()} == {200}


def test_messages_are_never_sent_twice(lab, study) -> None:
    lab.submit(study, "ann")
    client = lab.connect(broken=True).client
    lab.chaos.inject("reset_after", match=r"POST \S*/messages/")
    with pytest.raises(NeedsHumanError, match="nobody can know whether POST messages/ took effect"):
        client.messages.send(["ann"], "Thank you.", study_id=study)
    assert [each["body"] for each in lab.world.messages] == ["Thank you."]
    client.messages.send(["ann", "bob"], "Once more.", study_id=study)
    assert [each.body for each in client.messages.since(lab.clock.now() - timedelta(days=1))] == [
        "Thank you.",
        "Once more.",
        "Once more.",
    ]
