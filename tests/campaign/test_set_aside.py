"""One worker's unreadable submission is set aside, counted and taken up again; honest work comes in all the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from outside_house import SPEND, hits_of, submissions_of

from hmc_crowd.campaign._set_aside import within_span
from hmc_crowd.platform import RemoteAnswer
from hmc_crowd.testing import FakePlatform

START = datetime(2026, 1, 1, tzinfo=UTC)
#: What a worker can write into the field of his times.
TIMES = ("\u00b2,\u00b2", "9" * 5_000 + "," + "9" * 5_000, "1,\u0663", "-5,10", "1e9,2e9", "nan,inf", "10,1", ",", "x")


def published(small: Any, platform: Any) -> Any:
    campaign = small()
    campaign.publish(platform, dry_run=False, **SPEND)
    return campaign


def work(platform: Any, campaign: Any, truth: dict[str, str]) -> list[str]:
    """Everybody does every HIT; return the submissions."""
    done = []
    for hit in hits_of(campaign):
        for number in range(hit.redundancy):
            taken = platform.accept(hit.platform_hit_id, f"worker{number}")
            platform.clock.advance(60)
            for each in hit.items:
                platform.save_answer(
                    taken.submission_id,
                    f"worker{number}",
                    item=each.item,
                    aspect=each.aspect,
                    label=truth[each.item],
                    shown_at=platform.clock.now() - timedelta(seconds=20),
                    answered_at=platform.clock.now() - timedelta(seconds=10),
                )
            platform.submit(taken.submission_id, f"worker{number}")
            done.append(taken.submission_id)
    return done


def test_strange_times_of_one_worker_stop_no_collection(small: Any, turk: Any, small_batch: Any) -> None:
    from hmc_crowd_mturk._questions import answer_name

    campaign = published(small, turk.platform)
    hits = hits_of(campaign)
    done = turk.fill(campaign, small_batch.truth)
    before = campaign.collect(turk.platform)
    assert before.submissions == len(done)
    other = small(name="again")
    other.publish(turk.platform, dry_run=False, **SPEND)
    hit = hits_of(other)[0]
    assert hit.key not in {each.key for each in hits}
    taken = turk.workers.accept(hit.platform_hit_id, "AODDWORKER")
    names = [answer_name(number) for number, _ in enumerate(hit.items, start=1)]
    fields = [(name, small_batch.truth[each.item]) for name, each in zip(names, hit.items, strict=True)]
    fields += [
        (name.replace("answer:", "times:"), TIMES[number % len(TIMES)])
        for number, name in enumerate(names * len(TIMES))
    ]
    turk.clock.advance(60)
    turk.workers.submit(taken.assignment_id, fields)
    collected = other.collect(turk.platform)
    assert (collected.submissions, collected.answers, collected.set_aside) == (1, len(hit.items), ())


@pytest.mark.parametrize("times", TIMES)
def test_times_that_are_none_leave_the_answer(times: str) -> None:
    from hmc_crowd_mturk._answers import _times

    assert _times(times) == (None, None)


@pytest.mark.parametrize("fault", [ValueError("x"), OverflowError("x"), KeyError("x"), RecursionError("x")])
def test_a_submission_whose_answers_cannot_be_read_is_set_aside_and_comes_in_later(
    small: Any, small_batch: Any, fault: Exception
) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    done = work(platform, campaign, small_batch.truth)
    honest = platform.answers

    def broken(names: Any) -> Any:
        if done[0] in names:
            raise fault
        return honest(names)

    platform.answers = broken  # type: ignore[method-assign]
    collected = campaign.collect(platform)
    assert [each.submission_id for each in collected.set_aside] == [done[0]]
    assert "1 submissions set aside" in str(collected)
    assert len(submissions_of(campaign)) == len(done)
    assert campaign.status().set_aside == 1
    answers = len(campaign.collect(platform).set_aside)
    assert answers == 1
    platform.answers = honest  # type: ignore[method-assign]
    again = campaign.collect(platform)
    assert (again.set_aside, campaign.status().set_aside) == ((), 0)
    assert again.answers > 0


def test_a_row_that_cannot_be_read_is_set_aside_and_comes_in_later(small: Any, small_batch: Any) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    done = work(platform, campaign, small_batch.truth)
    honest = platform.submissions

    def broken(names: Any) -> Any:
        for each in honest(names):
            is_bad = each.submission_id == done[0]
            yield replace(each, state=type(each.state).UNKNOWN, problem="its time is no time") if is_bad else each

    platform.submissions = broken  # type: ignore[method-assign]
    collected = campaign.collect(platform)
    assert [(each.submission_id, each.reason) for each in collected.set_aside] == [(done[0], "its time is no time")]
    assert campaign.status().set_aside == 1
    platform.submissions = honest  # type: ignore[method-assign]
    assert campaign.collect(platform).answers > 0
    assert campaign.status().set_aside == 0


def test_a_list_that_fails_is_read_hit_by_hit(small: Any, small_batch: Any) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    work(platform, campaign, small_batch.truth)
    bad = hits_of(campaign)[0].platform_hit_id
    honest = platform.submissions

    def broken(names: Any) -> Any:
        if bad in names:
            raise ValueError(names)
        return honest(names)

    platform.submissions = broken  # type: ignore[method-assign]
    collected = campaign.collect(platform)
    assert [each.submission_id for each in collected.set_aside] == [f"HIT {bad}"]
    assert collected.submissions == sum(each.redundancy for each in hits_of(campaign)[1:])


@pytest.mark.parametrize(
    "changed",
    [
        {"worker": "an\x00n"},
        {"worker": "\ud800"},
        {"worker": ""},
        {"worker": "w" * 2_000},
        {"submission_id": "s\x00"},
    ],
)
def test_what_no_database_holds_is_set_aside(small: Any, small_batch: Any, changed: dict[str, Any]) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    done = work(platform, campaign, small_batch.truth)
    honest = platform.submissions
    platform.submissions = lambda names: (  # type: ignore[method-assign]
        replace(each, **changed) if each.submission_id == done[0] else each for each in honest(names)
    )
    collected = campaign.collect(platform)
    assert (len(collected.set_aside), collected.submissions) == (1, len(done) - 1)


@pytest.mark.parametrize(
    "clocks",
    [
        {"active_s": float("nan")},
        {"page_elapsed_s": float("inf")},
        {"platform_elapsed_s": -1.0},
        {"active_s": 10**400},
        {"accepted_at": datetime(1, 1, 1, tzinfo=UTC)},
        {"submitted_at": datetime(2026, 1, 1)},
    ],
)
def test_a_clock_that_says_what_no_clock_can_is_left_out_and_the_work_stays(
    small: Any, small_batch: Any, clocks: dict[str, Any]
) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    done = work(platform, campaign, small_batch.truth)
    honest = platform.submissions
    platform.submissions = lambda names: (  # type: ignore[method-assign]
        replace(each, **clocks) if each.submission_id == done[0] else each for each in honest(names)
    )
    assert campaign.collect(platform).set_aside == ()
    stored = submissions_of(campaign).set_index("submission_id").loc[done[0]]
    assert stored["time_quality"] == "clock_suspect"
    assert stored[next(iter(clocks))] is None or stored[next(iter(clocks))] != stored[next(iter(clocks))]


def answer(item: str, first: float, last: float) -> RemoteAnswer:
    return RemoteAnswer(item, "label", "good", START + timedelta(seconds=first), START + timedelta(seconds=last))


def seconds(answers: Any) -> list[float]:
    return [(each.submitted_at - each.started_at).total_seconds() for each in answers]


def test_a_device_that_is_an_hour_late_loses_no_second() -> None:
    found, is_cut = within_span(
        [answer("a", -3600, -3580), answer("b", -3580, -3550)], START, START + timedelta(seconds=60)
    )
    assert (seconds(found), is_cut) == ([20.0, 30.0], False)
    assert found[0].started_at == START


def test_a_claim_of_25_hours_in_a_minute_is_cut_to_the_minute_and_marked() -> None:
    found, is_cut = within_span([answer("a", -90_000, 0), answer("b", 0, 60)], START, START + timedelta(seconds=60))
    assert is_cut
    assert max(seconds(found)) <= 60
    assert all(START <= each.started_at <= each.submitted_at <= START + timedelta(seconds=60) for each in found)


def test_claims_are_cut_when_they_come_in(small: Any, small_batch: Any) -> None:
    platform = FakePlatform()
    campaign = published(small, platform)
    done = work(platform, campaign, small_batch.truth)
    honest = platform.answers

    def claimed(names: Any) -> Any:
        return {
            name: tuple(replace(each, started_at=each.started_at - timedelta(hours=25)) for each in answers)
            if name == done[0]
            else answers
            for name, answers in honest(names).items()
        }

    platform.answers = claimed  # type: ignore[method-assign]
    campaign.collect(platform)
    context = campaign._context
    with context.store.read() as tx:
        answers = tx.work.answers(context.campaign_id)
    mine = answers[answers["submission_id"] == done[0]]
    assert (mine["seconds"] <= 60).all()
    stored = submissions_of(campaign).set_index("submission_id")["time_quality"]
    assert (stored[done[0]], set(stored.drop(done[0]))) == ("clock_suspect", {"ok"})
