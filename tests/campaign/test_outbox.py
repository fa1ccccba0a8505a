"""Written down first, done, written down: what the outbox does when things break (cases C01, C02, C03, C11)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from outside_house import SPEND, hits_of, intents_of, money_of, payments_of, submissions_of

from hmc_crowd.campaign import Bonus, Campaign
from hmc_crowd.campaign._owner import is_gone, new_owner
from hmc_crowd.errors import BudgetError, InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd.platform import Capabilities, FeeSchedule
from hmc_crowd.quality import RejectionProposal, RejectionSignal
from hmc_crowd.testing import FakePlatform

ALL = {"budget_minor": 20_000, "dry_run": False}
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))
WRITES = {"publish", "approve", "reject", "expire"}
ONCE_ONLY = Capabilities(idempotent_create=False)


class KilledError(BaseException):
    """What a test does in place of kill -9."""


def publish(campaign: Any, platform: Any, **changes: Any) -> Any:
    return campaign.publish(platform, dry_run=False, **{**SPEND, **changes})


def kill_at(campaign: Any, step: str, *, after: int = 1) -> None:
    left = [after]

    def hook(here: str, key: str) -> None:
        left[0] -= here == step
        if here == step and left[0] == 0:
            raise KilledError(key)

    campaign._context.hook = hook


def done_by(campaign: Any, platform: Any, crowd: Any) -> list[str]:
    publish(campaign, platform)
    platform.rehearse(crowd)
    campaign.collect(platform)
    return list(submissions_of(campaign)["submission_id"])


@pytest.fixture
def people(small_batch: Any) -> Any:
    import numpy as np

    from hmc_crowd.simulation import SimulatedCrowd, draw_workers

    workers = draw_workers(8, ["good", "bad"], rng=np.random.default_rng(1), accuracy=0.95)
    return SimulatedCrowd(workers, small_batch.truth, rng=np.random.default_rng(2))


# C01: the budget.


def test_c01_of_two_that_publish_at_once_within_one_budget_one_is_refused(small: Any, clock: Any) -> None:
    """Two campaigns' worth of intents of 9.99 and 0.02 against one budget of 10.00, in two threads."""
    context = small()._context
    outcomes: list[str] = []
    barrier = threading.Barrier(2)

    def reserve(key: str, amount: int) -> None:
        barrier.wait()
        try:
            with context.store.begin() as tx:
                tx.budget.reserve(context.campaign_id, key, amount, "USD", 1_000)
        except BudgetError:
            outcomes.append("refused")
        else:
            outcomes.append("reserved")

    threads = [threading.Thread(target=reserve, args=each) for each in (("a", 999), ("b", 2))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(outcomes) == ["refused", "reserved"]


def test_c01_publishing_refuses_what_is_more_than_the_budget_leaves(small: Any, workplace: Any) -> None:
    campaign = small()
    needed = campaign.publish(workplace, **SPEND).total_minor
    with campaign._context.store.begin() as tx:
        tx.budget.reserve(campaign._context.campaign_id, "something else", 100, "USD", 20_000)
    with pytest.raises(BudgetError, match=r"1\.00 USD are committed"):
        publish(campaign, workplace, budget_minor=needed + 99)
    assert money_of(campaign) == (100, 0, 0)
    assert "over the budget" in campaign.publish(workplace, **{**SPEND, "budget_minor": needed + 99}).notes[0]
    assert publish(campaign, workplace, budget_minor=needed + 100).committed_minor == 100


# C02: a crash at every step. The whole matrix is run elsewhere with real processes; here with what it needs.

STEPS = ["before_intent", "after_intent", "sent", "after_remote", "after_local"]


@pytest.mark.parametrize("step", STEPS)
def test_c02_publishing_after_a_crash_publishes_once(small: Any, step: str, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock, capabilities=ONCE_ONLY)
    kill_at(campaign, step)
    with pytest.raises(KilledError):
        publish(campaign, platform)
    campaign._context.hook = None
    publish(campaign, platform)
    assert all(len(platform.hit_ids(hit.key)) == 1 for hit in hits_of(campaign))
    assert {each.state for each in intents_of(campaign)} == {"done"}
    assert money_of(campaign)[2] == 0


@pytest.mark.parametrize("step", STEPS)
def test_c02_approving_after_a_crash_approves_each_once(small: Any, people: Any, step: str, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    names = done_by(campaign, platform, people)
    kill_at(campaign, step)
    with pytest.raises(KilledError):
        campaign.approve(platform, **ALL)
    campaign._context.hook = None
    campaign.approve(platform, **ALL)
    assert Counter(call.arguments[0] for call in platform.calls if call.method == "approve") == Counter(names)
    assert set(submissions_of(campaign)["review"]) == {"approved"}
    assert {each.state for each in payments_of(campaign)} == {"paid"}


@pytest.mark.parametrize("step", STEPS)
def test_c02_rejecting_after_a_crash_rejects_once(small: Any, people: Any, step: str, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    name = done_by(campaign, platform, people)[0]
    spend = {"signed_off_by": "kim", "dry_run": False}
    kill_at(campaign, step)
    with pytest.raises(KilledError):
        campaign.reject(platform, [RejectionProposal(name, TWO, "x" * 100)], **spend)
    campaign._context.hook = None
    campaign.reconcile(platform)
    again = campaign.reject(platform, [RejectionProposal(name, TWO, "x" * 100)], **spend)
    assert again.rejected + again.rejected_before == 1
    assert sum(call.method == "reject" for call in platform.calls) == 1
    assert Counter(submissions_of(campaign)["state"])["rejected"] == 1


@pytest.mark.parametrize("step", [*STEPS, "after_pay"])
def test_c02_paying_after_a_crash_pays_once(small: Any, workplace: Any, people: Any, step: str) -> None:
    campaign = small()
    name = done_by(campaign, workplace, people)[0]
    kill_at(campaign, step)
    with pytest.raises(KilledError):
        campaign.pay(workplace, [Bonus(name, 25, "quality")], **ALL)
    campaign._context.hook = None
    campaign.pay(workplace, [Bonus(name, 25, "quality")], **ALL)
    order = campaign._context
    with order.store.read() as tx:
        raw = {pseudonym: name for name, pseudonym in tx.workers.known("local").items()}
        worker = tx.work.submissions(order.campaign_id).set_index("submission_id").loc[name, "worker"]
    assert len(workplace.bonuses(raw[worker])) == 1
    assert [each.state for each in payments_of(campaign)] == ["paid"]


@pytest.mark.parametrize("step", STEPS)
def test_c02_extending_after_a_crash_extends_once(small: Any, workplace: Any, step: str) -> None:
    campaign = small()
    publish(campaign, workplace)
    hit = hits_of(campaign)[0]
    places = sum(each.redundancy for each in workplace.find_all().values())
    kill_at(campaign, step)
    with pytest.raises(KilledError):
        campaign.extend(workplace, hit.key, 1, **ALL)
    campaign._context.hook = None
    if step != "after_local":
        campaign.extend(workplace, hit.key, 1, **ALL)
    campaign.extend(workplace, hit.key, target=hit.redundancy + 1, **ALL)
    campaign.reconcile(workplace)
    assert sum(each.redundancy for each in workplace.find_all().values()) == places + 1
    assert money_of(campaign)[2] == 0


def test_an_extension_that_a_larger_one_overtook_takes_no_place_back(small: Any, workplace: Any) -> None:
    campaign = small()
    publish(campaign, workplace)
    hit = hits_of(campaign)[0]
    kill_at(campaign, "after_remote")
    with pytest.raises(KilledError):
        campaign.extend(workplace, hit.key, 1, **ALL)
    campaign._context.hook = None
    campaign.extend(workplace, hit.key, 2, **ALL)
    campaign.reconcile(workplace)
    there = {each.hit_id: each.redundancy for each in workplace.find_all().values()}
    assert hits_of(campaign)[0].redundancy == there[hit.platform_hit_id] == hit.redundancy + 2
    assert {each.state for each in intents_of(campaign)} == {"done"}


def test_a_process_that_was_killed_holds_nobody_up(small: Any, workplace: Any, tmp_path: Any, clock: Any) -> None:
    """A real process takes the lane and a lease, and dies by kill -9; another goes on at once."""
    campaign = small()
    kill_at(campaign, "after_intent")
    with pytest.raises(KilledError):
        publish(campaign, workplace)
    campaign._context.hook = None
    account = workplace.account()
    lane = f"{account.platform}|{account.endpoint}|{account.account}"
    code = f"""
import os, signal
from datetime import datetime, timedelta
from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign._owner import new_owner
from hmc_crowd.store import open_store
clock = VirtualClock(datetime.fromisoformat({clock.now().isoformat()!r}))
owner, until = new_owner(), clock.now() + timedelta(hours=1)
with open_store({str(tmp_path / "small0.db")!r}, clock=clock) as store, store.begin() as tx:
    tx.work.claim_intents(1, owner=owner, until=until)
    tx.work.take_lane({lane!r}, owner=owner, until=until)
print(owner, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert killed.returncode < 0, killed.stderr
    assert is_gone(killed.stdout.strip())
    assert not is_gone(new_owner())
    assert not is_gone("elsewhere:1:x")
    assert publish(campaign, workplace).new_hits == len(hits_of(campaign))


def test_while_another_process_is_at_work_on_the_account_one_is_told_so(
    small: Any, workplace: Any, monkeypatch: Any
) -> None:
    from hmc_crowd.campaign import _outbox

    campaign = small()
    account = workplace.account()
    context = campaign._context
    other = new_owner()
    with context.store.begin() as tx:
        tx.work.take_lane(
            f"{account.platform}|{account.endpoint}|{account.account}",
            owner=other,
            until=context.clock.now() + timedelta(minutes=5),
        )
    monkeypatch.setattr(_outbox.time, "monotonic", iter(range(0, 1_000, 100)).__next__)
    sheet = publish(campaign, workplace)
    assert sheet.new_hits == 0
    assert f"another process ({other}) is at work" in sheet.notes[0]
    monkeypatch.undo()
    with context.store.begin() as tx:
        tx.work.free_lane(f"{account.platform}|{account.endpoint}|{account.account}", other)
    assert publish(campaign, workplace).new_hits > 0


@pytest.mark.parametrize("url", ["sqlite", "postgresql"])
def test_two_that_publish_one_round_at_once_publish_it_once(
    small: Any, url: str, tmp_path: Any, clock: Any, request: Any
) -> None:
    where = f"sqlite:///{tmp_path / 'race.db'}" if url == "sqlite" else request.getfixturevalue("postgres_url")
    campaign = small(where)
    platform = FakePlatform(clock=clock, capabilities=ONCE_ONLY)
    barrier, failures = threading.Barrier(2), []

    def go() -> None:
        try:
            with Campaign.open(where, clock=clock) as mine:
                barrier.wait()
                publish(mine, platform)
        except Exception as error:  # noqa: BLE001 because whatever it is, the test must say it
            failures.append(error)

    threads = [threading.Thread(target=go) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
    hits = hits_of(campaign)
    assert hits
    assert all(len(platform.hit_ids(hit.key)) == 1 for hit in hits)
    assert money_of(campaign)[2] == 0


# What the platform says, and what follows.


def test_silence_is_asked_about_later_and_each_time_longer_after(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock, capabilities=ONCE_ONLY)
    for number in range(1, 40):
        platform.fail("publish", at=number, when="after")
    with pytest.raises(PlatformUnavailableError, match="goes on where it stopped"):
        publish(campaign, platform)
    tried = [each for each in intents_of(campaign) if each.attempts]
    assert 1 <= len(tried) <= 3  # three silences in a row, and nobody asks on
    waits = [(each.not_before - clock.now()).total_seconds() for each in tried]
    assert all(0.5 <= wait <= 1.0 for wait in waits)
    platform._faults.clear()
    clock.advance(60)
    publish(campaign, platform)
    assert all(len(platform.hit_ids(hit.key)) == 1 for hit in hits_of(campaign))


def test_a_refusal_reaches_whoever_asked_and_nothing_is_lost(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    platform.fail("publish", error=PlatformError("the account is closed"))
    with pytest.raises(PlatformError, match="account is closed"):
        publish(campaign, platform)
    assert {each.state for each in intents_of(campaign)} == {"planned"}
    assert publish(campaign, platform).new_hits == len(hits_of(campaign))


def test_what_only_a_person_can_know_becomes_a_question_with_its_answers(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    platform.fail("publish", error=NeedsHumanError("two HITs are there under one key; close one"))
    with pytest.raises(NeedsHumanError, match="two HITs"):
        publish(campaign, platform)
    question = campaign.status().questions[0]
    assert (question.operation, question.choices) == ("publish", ("retry", "cancel"))
    assert "two HITs are there" in campaign.status().needs_human[0]
    reserved = money_of(campaign)[0]
    campaign.answer_question(question.key, "cancel", "closed both; kim")
    assert money_of(campaign)[0] < reserved
    assert campaign.questions() == ()
    campaign.publish(platform, **ALL, redundancy=2, pay_per_hour_minor=1200)


def test_an_approval_that_is_refused_is_asked_about_and_the_others_go_on(small: Any, people: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    names = done_by(campaign, platform, people)
    platform.fail("approve", at=2, error=PlatformError("not this one"))
    approved = campaign.approve(platform, **ALL)
    assert (approved.approved, approved.disputed) == (len(names) - 1, 1)
    assert "not this one" in campaign.questions()[0].text
    campaign.answer_question(campaign.questions()[0].key, "done", "paid by bank; kim")
    assert {each.state for each in payments_of(campaign)} == {"paid"}


# C03 and C11.


def test_c03_a_dry_run_of_every_step_writes_nothing(small: Any, people: Any, clock: Any) -> None:
    from decimal import Decimal

    campaign = small()
    fees = FeeSchedule(rate=Decimal("0.2"), minimum_minor=1)
    platform = FakePlatform(clock=clock, fees=fees)
    sheet = campaign.publish(platform, **SPEND)
    assert (sheet.account.endpoint, sheet.account.mode, sheet.total_minor) == (
        "memory",
        "fake",
        sheet.reward_minor + sheet.fee_minor,
    )
    assert sheet.fee_minor > 0
    assert not [call for call in platform.calls if call.method in WRITES]
    names = done_by(campaign, platform, people)
    hit = hits_of(campaign)[0]
    before = campaign.status()
    platform.calls.clear()
    approve = campaign.approve(platform)
    assert approve.submissions == len(names)
    # One hit pays all its workers the same: rewards with 20 % fees.
    assert approve.total_minor == campaign.publish(platform, **SPEND).total_minor
    reject = campaign.reject(platform, [RejectionProposal(names[0], TWO, "x" * 100)])
    assert reject.unpaid_minor == hit.pay_minor
    with pytest.raises(InputError, match="pays no bonuses"):
        campaign.pay(platform, [Bonus(names[0], 10)])
    assert not [call for call in platform.calls if call.method in WRITES]
    assert campaign.status() == before
    for line in (str(sheet), str(approve)):
        assert "memory" in line
        assert "fake" in line


def test_c03_paying_says_what_it_would_cost(small: Any, workplace: Any, people: Any) -> None:
    campaign = small()
    names = done_by(campaign, workplace, people)
    sheet = campaign.pay(workplace, [Bonus(name, 25, "quality") for name in names])
    assert (sheet.bonuses, sheet.amount_minor, sheet.dry_run) == (len(names), 25 * len(names), True)
    assert payments_of(campaign) == []
    with pytest.raises(InputError, match="budget_minor is missing"):
        campaign.pay(workplace, [Bonus(names[0], 25, "quality")], dry_run=False)
    with pytest.raises(BudgetError, match="nothing was sent"):
        campaign.pay(workplace, [Bonus(names[0], 25, "quality")], dry_run=False, budget_minor=money_of(campaign)[1])
    assert payments_of(campaign) == []


def test_c11_the_same_run_again_makes_nothing_new(small: Any, workplace: Any, people: Any) -> None:
    campaign = small()

    def run() -> tuple[Any, ...]:
        publish(campaign, workplace)
        workplace.rehearse(people)
        campaign.collect(workplace)
        campaign.approve(workplace, **ALL)
        names = sorted(submissions_of(campaign)["submission_id"])
        campaign.pay(workplace, [Bonus(names[0], 25, "quality")], **ALL)
        return (
            len(workplace.find_all()),
            names,
            money_of(campaign),
            len(intents_of(campaign)),
            len(payments_of(campaign)),
        )

    assert run() == run()


# Bonuses and reviews: what is refused.


def test_a_submission_is_paid_once_for_each_reason(small: Any, workplace: Any, people: Any) -> None:
    campaign = small()
    name = done_by(campaign, workplace, people)[0]
    assert campaign.pay(workplace, [Bonus(name, 25, "quality")], **ALL).paid == 1
    assert campaign.pay(workplace, [Bonus(name, 25, "quality")], **ALL).before == 1
    with pytest.raises(InputError, match="another reason_code"):
        campaign.pay(workplace, [Bonus(name, 30, "quality")], **ALL)
    with pytest.raises(InputError, match="two bonuses"):
        campaign.pay(workplace, [Bonus(name, 30, "late"), Bonus(name, 30, "late")], **ALL)
    with pytest.raises(InputError, match="unknown on local"):
        campaign.pay(workplace, [Bonus("nobody", 30)], **ALL)
    assert campaign.pay(workplace, [Bonus(name, 30, "late")], **ALL).paid == 1


@pytest.mark.parametrize(("amount", "code"), [(0, "x"), (True, "x"), (1.5, "x"), (5, " "), (5, "reward")])
def test_a_bonus_that_makes_no_sense_is_refused(amount: Any, code: str) -> None:
    with pytest.raises(InputError):
        Bonus("s", amount, code)


def test_workers_whose_answers_are_left_out_are_paid(small: Any, workplace: Any, people: Any) -> None:
    campaign = small()
    names = done_by(campaign, workplace, people)
    with campaign._context.store.begin() as tx:
        tx.work.exclude(campaign._context.campaign_id, names[:2], "gold")
    assert campaign.approve(workplace, **ALL).approved == len(names)


def test_what_is_incomplete_is_left_alone_unless_it_is_named(small: Any, people: Any, clock: Any) -> None:
    campaign = small()
    platform = FakePlatform(clock=clock)
    publish(campaign, platform)
    platform.rehearse(people)
    platform._functions["answers"] = lambda ids: dict.fromkeys(ids, ())
    campaign.collect(platform)
    names = list(submissions_of(campaign)["submission_id"])
    sheet = campaign.approve(platform, **ALL)
    assert (sheet.approved, sorted(sheet.incomplete)) == (0, sorted(names))
    assert campaign.approve(platform, names[:1], **ALL).approved == 1


def test_stopping_drops_what_was_not_sent_and_closes_what_is_out(small: Any, clock: Any) -> None:
    campaign, platform = small(), FakePlatform(clock=clock)
    kill_at(campaign, "after_local")
    with pytest.raises(KilledError):
        publish(campaign, platform)
    campaign._context.hook = None
    stopped = campaign.stop(platform)
    hits = len(hits_of(campaign))
    assert (stopped.closed, stopped.cancelled, stopped.failed) == (1, hits - 1, 0)
    campaign.collect(platform)
    assert money_of(campaign) == (0, 0, 0)


def test_items_for_the_house_go_nowhere_else_and_sensitive_ones_need_a_warning(
    tmp_path: Any, clock: Any, workplace: Any, small_batch: Any
) -> None:
    items = small_batch.items.assign(audience="in_house", sensitive=True)
    with Campaign.create(tmp_path / "house.db", labels=["good", "bad"], seed=1, clock=clock) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(small_batch.predictions)
        campaign.estimate_effort()
        campaign.plan(trade_off=0.5, max_human=8, audit=4)
        with pytest.raises(InputError, match=r"items may not be shown on fake: .*in_house"):
            campaign.publish(FakePlatform(clock=clock), **SPEND)
        with pytest.raises(InputError, match="content_warning="):
            campaign.publish(workplace, **SPEND)
        warned = {**SPEND, "content_warning": "Some texts are rude."}
        campaign.publish(workplace, **{**warned, "dry_run": False})
        remote = next(iter(workplace.find_all().values()))
        assert workplace.hit(remote.hit_id).description.startswith("Some texts are rude.")


def test_two_machines_never_take_each_others_processes_for_dead() -> None:
    owner = new_owner()
    machine, pid, _ = owner.split(":")
    assert pid == str(os.getpid())
    assert is_gone(f"{machine}:999999999:x")
    assert not is_gone("0123456789ab:999999999:x")
