"""A campaign on the workplace's MTurk front door (acceptance cases A01, A02, A03, A05, A09, A10, A11, A22)."""

from __future__ import annotations

from typing import Any

import pytest
from outside_house import SPEND, hits_of, money_of, payments_of, submissions_of

from hmc_crowd.campaign import Bonus
from hmc_crowd.errors import InputError, PlatformUnavailableError
from hmc_crowd.quality import RejectionProposal, RejectionSignal

ALL = {"budget_minor": 20_000, "dry_run": False}
TWO = (RejectionSignal("gold", "4 of 4 known items wrong", 4), RejectionSignal("same_label", "all answers are bad"))


def publish(campaign: Any, platform: Any, **changes: Any) -> Any:
    return campaign.publish(platform, dry_run=False, **{**SPEND, **changes})


class KilledError(BaseException):
    """What a test does in place of kill -9."""


def kill_at(campaign: Any, step: str) -> None:
    def hook(here: str, key: str) -> None:
        if here == step:
            raise KilledError(key)

    campaign._context.hook = hook


def test_the_way_of_a_round_through_the_front_door(small: Any, turk: Any, small_batch: Any) -> None:
    campaign = small()
    sheet = publish(campaign, turk.platform)
    assert len(turk.hits()) == sheet.hits == sheet.orders
    done = turk.fill(campaign, small_batch.truth)
    collected = campaign.collect(turk.platform)
    assert (collected.submissions, collected.open_places, collected.unusable) == (len(done), 0, 0)
    assert (submissions_of(campaign)["platform_elapsed_s"] == 60).all()
    approved = campaign.approve(turk.platform, by="kim", **ALL)
    assert (approved.approved, approved.disputed) == (len(done), 0)
    reserved, settled, gap = money_of(campaign)
    assert (reserved, settled, gap) == (0, sheet.total_minor, 0)
    assert {(each.state, each.by) for each in payments_of(campaign)} == {("paid", "kim")}
    assert campaign.reconcile(turk.platform).is_settled


def test_a01_a_reset_after_create_leaves_one_hit(small: Any, turk: Any, cut_line: Any) -> None:
    campaign = small()
    cut_line.inject("reset_after", match="CreateHITWithHITType")
    with pytest.raises(PlatformUnavailableError, match="goes on where it stopped"):
        publish(campaign, turk.connect(cut_line.url))
    turk.clock.advance(60)
    sheet = publish(campaign, turk.platform)
    assert len(turk.hits()) == turk.creates() == sheet.hits
    assert all(hit.platform_hit_id for hit in hits_of(campaign))


def test_a02_a_hit_that_was_made_before_the_crash_is_adopted(small: Any, turk: Any) -> None:
    campaign = small()
    kill_at(campaign, "after_remote")
    with pytest.raises(KilledError):
        publish(campaign, turk.platform)
    assert turk.creates() == 1
    campaign._context.hook = None
    sheet = publish(campaign, turk.platform)
    assert len(turk.hits()) == turk.creates() == sheet.hits


def test_a03_an_old_token_is_not_trusted_and_all_hits_are_searched_first(small: Any, turk: Any) -> None:
    campaign = small()
    kill_at(campaign, "after_remote")
    with pytest.raises(KilledError):
        publish(campaign, turk.platform)
    campaign._context.hook = None
    turk.clock.advance(30 * 3600)
    turk.calls.clear()
    sheet = publish(campaign, turk.platform)
    creates = [name.startswith("CreateHITWith") for name in turk.calls]
    assert "ListHITs" in turk.calls[: creates.index(True)]
    assert len(turk.hits()) == sheet.hits
    assert turk.creates() == sheet.hits - 1


def test_a05_the_rule_of_ten_makes_another_hit_without_the_first_ones_workers(
    small: Any, turk: Any, small_batch: Any
) -> None:
    campaign = small()
    publish(campaign, turk.platform, redundancy=9, target_minutes=30.0)
    hit = hits_of(campaign)[0]
    for number in range(9):
        turk.work(hit, f"A{number}WORKER", small_batch.truth)
    campaign.collect(turk.platform)
    turk.calls.clear()
    extended = campaign.extend(turk.platform, hit.key, 1, **ALL)
    assert "CreateAdditionalAssignmentsForHIT" not in turk.calls
    rest = next(each for each in hits_of(campaign) if each.salvaged_from == hit.key)
    assert (rest.key, rest.redundancy) == (extended.new_key, 1)
    with pytest.raises(Exception, match=r"(?i)qualif|not eligible|may not"):
        turk.work(rest, "A0WORKER", small_batch.truth)
    turk.work(rest, "A77WORKER", small_batch.truth)
    collected = campaign.collect(turk.platform)
    assert (collected.submissions, collected.open_places) == (1, 0)
    with pytest.raises(InputError, match="extend that one"):
        campaign.extend(turk.platform, hit.key, 1, **ALL)
    assert money_of(campaign)[0::2] == (0, 0)
    assert campaign.reconcile(turk.platform).is_settled


def test_a_hit_is_extended_in_place_where_the_rules_allow_it(small: Any, turk: Any, small_batch: Any) -> None:
    campaign = small()
    publish(campaign, turk.platform)
    hit = hits_of(campaign)[0]
    campaign.extend(turk.platform, hit.key, 1, **ALL)
    assert campaign.extend(turk.platform, hit.key, 1).dry_run
    assert next(each for each in hits_of(campaign) if each.key == hit.key).redundancy == hit.redundancy + 1
    turk.fill(campaign, small_batch.truth)
    assert campaign.collect(turk.platform).open_places == 0
    assert money_of(campaign)[0::2] == (0, 0)


def test_a09_what_the_platform_approved_by_itself_is_noted_and_settled_once(
    small: Any, turk: Any, small_batch: Any
) -> None:
    campaign = small()
    sheet = publish(campaign, turk.platform)
    done = turk.fill(campaign, small_batch.truth)
    campaign.collect(turk.platform)
    turk.clock.advance(31 * 24 * 3600)
    turk.calls.clear()
    approved = campaign.approve(turk.platform, **ALL)
    assert (approved.approved, approved.auto_approved, approved.disputed) == (0, len(done), 0)
    assert "ApproveAssignment" not in turk.calls
    assert set(submissions_of(campaign)["review"]) == {"auto_approved"}
    assert money_of(campaign) == (0, sheet.total_minor, 0)
    assert campaign.approve(turk.platform, **ALL).submissions == 0


def test_a10_what_the_platform_shows_as_rejected_is_a_question_until_somebody_overrides(
    small: Any, turk: Any, small_batch: Any
) -> None:
    campaign = small()
    publish(campaign, turk.platform)
    done = turk.fill(campaign, small_batch.truth)
    campaign.collect(turk.platform)
    turk.platform.reject(done[0], "Somebody rejected it on the platform's own page.")
    approved = campaign.approve(turk.platform, **ALL)
    assert (approved.approved, approved.disputed) == (len(done) - 1, 1)
    question = campaign.questions()[0]
    assert "shows it as rejected" in question.text
    assert turk.platform.approve(done[1]).state == "approved"
    campaign.answer_question(question.key, "retry", "the work is good; kim")
    campaign.approve(turk.platform, **ALL)
    assert campaign.questions() == ()
    shown = {each.submission_id: each.state for hit in turk.hits() for each in turk.platform.submissions([hit.hit_id])}
    assert set(shown.values()) == {"approved"}
    assert {each.state for each in payments_of(campaign)} == {"paid"}


def test_a10_a_rejection_of_ours_is_overridden_by_name(small: Any, turk: Any, small_batch: Any) -> None:
    campaign = small()
    sheet = publish(campaign, turk.platform)
    done = turk.fill(campaign, small_batch.truth)
    campaign.collect(turk.platform)
    campaign.reject(turk.platform, [RejectionProposal(done[0], TWO, "x" * 100)], signed_off_by="kim", dry_run=False)
    campaign.collect(turk.platform)
    # The place stays taken, and nobody is paid for it.
    each = sheet.total_minor // sheet.submissions
    assert money_of(campaign)[0::2] == (0, 0)
    assert money_of(campaign)[1] == pytest.approx(sheet.total_minor - each, abs=3)
    with pytest.raises(InputError, match="override=True"):
        campaign.approve(turk.platform, [done[0]], **ALL)
    assert campaign.approve(turk.platform, [done[0]], override=True, **ALL).approved == 1
    assert money_of(campaign) == (0, sheet.total_minor, 0)


def test_a11_what_is_not_shown_yet_is_put_off_with_growing_pauses(small: Any, turk: Any, small_batch: Any) -> None:
    campaign = small()
    publish(campaign, turk.platform)
    done = turk.fill(campaign, small_batch.truth)
    campaign.collect(turk.platform)
    hidden = turk.platform.submissions
    turk.platform.submissions = lambda ids: (each for each in hidden(ids) if each.submission_id != done[0])
    first = campaign.approve(turk.platform, **ALL)
    assert (first.approved, first.deferred) == (len(done) - 1, 1)
    turk.platform.submissions = hidden
    turk.calls.clear()
    assert campaign.approve(turk.platform, **ALL).deferred == 1  # too early: nobody is asked
    assert "ApproveAssignment" not in turk.calls
    turk.clock.advance(120)
    campaign.reconcile(turk.platform)
    assert turk.calls.count("ApproveAssignment") == 1
    assert {each.state for each in payments_of(campaign)} == {"paid"}


def test_a22_a_bonus_that_broke_after_its_commit_is_paid_once(
    small: Any, turk: Any, cut_line: Any, small_batch: Any
) -> None:
    campaign = small()
    publish(campaign, turk.platform)
    done = turk.fill(campaign, small_batch.truth)
    campaign.collect(turk.platform)
    cut_line.inject("reset_after", match="SendBonus", times=9)
    bonus = [Bonus(name, 25, "quality") for name in done[:2]]
    campaign.pay(turk.connect(cut_line.url), bonus, **ALL)
    turk.clock.advance(600)
    campaign.pay(turk.platform, bonus, **ALL)
    assert [len(turk.platform.bonuses(name)) for name in done[:3]] == [1, 1, 0]
    # 20 % of 25 cents are 5.
    assert sum(each.amount_minor + each.fee_minor for each in payments_of(campaign)) == 60
    assert money_of(campaign)[0::2] == (0, 0)


def test_what_the_platform_holds_and_nobody_here_knows_is_asked_about(
    small: Any, turk: Any, tmp_path: Any, clock: Any
) -> None:
    import shutil
    import sqlite3

    from hmc_crowd.campaign import Campaign

    campaign = small()
    with sqlite3.connect(tmp_path / "small0.db") as now, sqlite3.connect(tmp_path / "backup.db") as copy:
        now.backup(copy)
    publish(campaign, turk.platform)
    count = len(turk.hits())
    campaign.close()
    shutil.copy(tmp_path / "small0.db.key", tmp_path / "backup.db.key")
    with Campaign.open(tmp_path / "backup.db", clock=clock) as restored:
        found = restored.reconcile(turk.platform)
        assert (len(found.orphans), found.asked) == (count, count)
        assert restored.reconcile(turk.platform).asked == count
        question = restored.questions()[0]
        restored.answer_question(question.key, "retry", "restored from a backup; kim")
        restored.reconcile(turk.platform)
        assert sum(not each.is_open for each in turk.hits()) == 1
