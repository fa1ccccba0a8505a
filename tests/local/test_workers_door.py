from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import RemoteAnswer, SubmissionState


def test_accept_again_gives_the_same_submission_and_draft(platform, hit) -> None:
    remote = platform.publish(hit())
    first = platform.accept(remote.hit_id, "ann")
    platform.save_answer(first.submission_id, "ann", item="hit-1", aspect="label", label="no")
    assert platform.accept(remote.hit_id, "ann") == first
    assert [each.label for each in platform.saved_answers([first.submission_id])[first.submission_id]] == ["no"]


def test_a_worker_has_a_hit_once(platform, hit, finish) -> None:
    one = hit(redundancy=3)
    remote = platform.publish(one)
    finish(platform, remote.hit_id, one, "ann")
    with pytest.raises(PlatformError, match=r"'ann' had HIT \w+ already \(submitted\)"):
        platform.accept(remote.hit_id, "ann")


def test_a_worker_has_a_question_once_over_all_hits(platform, hit, finish) -> None:
    first, second = hit("a", "gold", "x"), hit("b", "y", "gold")
    finish(platform, platform.publish(first).hit_id, first, "ann")
    remote = platform.publish(second)
    with pytest.raises(PlatformError, match="'ann' had item 'gold', aspect 'label' in another HIT"):
        platform.accept(remote.hit_id, "ann")
    assert platform.accept(remote.hit_id, "bob").state is SubmissionState.ACCEPTED


def test_a_retest_lets_a_worker_have_a_question_again(platform, hit, finish) -> None:
    first, second, third = hit("a", "i"), hit("b", "i"), hit("c", "i")
    finish(platform, platform.publish(first).hit_id, first, "ann")
    retest = platform.publish(second, allow_repeat=True)
    finish(platform, retest.hit_id, second, "ann")
    finish(platform, retest_id := platform.publish(third, allow_repeat=True).hit_id, third, "bob")
    assert [each.worker for each in platform.submissions([retest_id])] == ["bob"]


def test_places_are_not_exceeded(platform, hit) -> None:
    remote = platform.publish(hit(redundancy=2))
    platform.accept(remote.hit_id, "ann")
    platform.accept(remote.hit_id, "bob")
    with pytest.raises(PlatformError, match="all 2 places taken"):
        platform.accept(remote.hit_id, "cyd")


def test_a_return_frees_the_place_but_not_for_the_same_worker(platform, hit) -> None:
    remote = platform.publish(hit())
    name = platform.accept(remote.hit_id, "ann").submission_id
    platform.save_answer(name, "ann", item="hit-1", aspect="label", label="yes")
    assert platform.return_(name, "ann").state is SubmissionState.RETURNED
    with pytest.raises(PlatformError, match="already"):
        platform.accept(remote.hit_id, "ann")
    assert platform.accept(remote.hit_id, "bob").state is SubmissionState.ACCEPTED
    assert len(platform.saved_answers([name])[name]) == 1


def test_a_rejection_does_not_free_the_place(platform, hit, finish) -> None:
    one = hit()
    remote = platform.publish(one)
    platform.reject(finish(platform, remote.hit_id, one, "ann"), "All gold items wrong.")
    with pytest.raises(PlatformError, match="places taken"):
        platform.accept(remote.hit_id, "bob")
    assert not platform.capabilities.rejection_frees_slot


def test_submit_needs_every_answer(platform, hit) -> None:
    remote = platform.publish(hit())
    name = platform.accept(remote.hit_id, "ann").submission_id
    platform.save_answer(name, "ann", item="hit-1", aspect="label", label="yes")
    with pytest.raises(PlatformError, match=r"accepted; submit is not possible before item 'hit-2' .*1 missing"):
        platform.submit(name, "ann")
    assert next(platform.submissions([remote.hit_id])).state is SubmissionState.ACCEPTED


def test_a_later_draft_replaces_the_earlier(platform, hit) -> None:
    remote = platform.publish(hit())
    name = platform.accept(remote.hit_id, "ann").submission_id
    for item, label in [("hit-2", "yes"), ("hit-1", "yes"), ("hit-2", "no")]:
        platform.save_answer(name, "ann", item=item, aspect="label", label=label)
    platform.submit(name, "ann")
    assert [(each.item, each.label) for each in platform.answers([name])[name]] == [("hit-1", "yes"), ("hit-2", "no")]


def test_submit_twice_changes_nothing(platform, hit, finish, clock) -> None:
    one = hit()
    remote = platform.publish(one)
    name = finish(platform, remote.hit_id, one, "ann")
    first = next(platform.submissions([remote.hit_id]))
    clock.advance(60)
    assert platform.submit(name, "ann") == first


@pytest.mark.parametrize(
    ("item", "aspect", "label", "message"),
    [
        ("hit-1", "label", "maybe", "is 'maybe'; allowed are yes, no"),
        ("other", "label", "yes", "item 'other', aspect 'label' is not in HIT"),
        ("hit-1", "tone", "yes", "aspect 'tone' is not in HIT"),
        ("hit-1", "label", "\x00", "NUL"),
    ],
)
def test_a_wrong_answer_is_refused_and_not_saved(local, hit, item, aspect, label, message) -> None:
    name = local.accept(local.publish(hit()).hit_id, "ann").submission_id
    with pytest.raises(InputError, match=message):
        local.save_answer(name, "ann", item=item, aspect=aspect, label=label)
    assert local.saved_answers([name]) == {}


def test_nobody_acts_for_another_worker(local, hit) -> None:
    name = local.accept(local.publish(hit()).hit_id, "ann").submission_id
    for step in (local.submit, local.return_, local.open_page):
        with pytest.raises(PlatformError, match="is not that of worker 'bob'"):
            step(name, "bob")


def test_a_time_without_a_zone_is_refused(local, hit) -> None:
    name = local.accept(local.publish(hit()).hit_id, "ann").submission_id
    with pytest.raises(InputError, match=r"shown_at is .* without a time zone"):
        local.save_answer(name, "ann", item="hit-1", aspect="label", label="yes", shown_at=datetime(2026, 1, 5))


def test_an_empty_worker_is_refused(local, hit) -> None:
    with pytest.raises(InputError, match="worker is empty"):
        local.accept(local.publish(hit()).hit_id, "")


@pytest.mark.parametrize("call", ["approve", "submit", "return_", "open_page", "answers", "saved_answers", "reject"])
def test_unknown_submissions_are_refused(platform, call) -> None:
    arguments = {"approve": ("x",), "reject": ("x", "why"), "answers": (["x"],), "saved_answers": (["x"],)}
    with pytest.raises(PlatformError, match="submission 'x' is unknown here"):
        getattr(platform, call)(*arguments.get(call, ("x", "ann")))


@pytest.mark.parametrize("call", ["expire", "accept", "submissions", "late_work"])
def test_unknown_hits_are_refused(platform, call) -> None:
    arguments = {"accept": ("x", "ann"), "submissions": (["x"],)}
    with pytest.raises(PlatformError, match="HIT 'x' is unknown here"):
        getattr(platform, call)(*arguments.get(call, ("x",)))


# Deadlines


def test_work_lapses_when_its_deadline_has_passed(platform, hit, clock) -> None:
    remote = platform.publish(hit(time_limit_s=100))
    name = platform.accept(remote.hit_id, "ann").submission_id
    clock.advance(100)
    assert next(platform.submissions([remote.hit_id])).state is SubmissionState.ACCEPTED
    clock.advance(1)
    assert next(platform.submissions([remote.hit_id])).state is SubmissionState.EXPIRED
    assert platform.accept(remote.hit_id, "bob").state is SubmissionState.ACCEPTED
    assert platform.find("hit").is_open is False
    assert name


def test_a_submit_on_the_deadline_counts(platform, hit, finish, clock) -> None:
    one = hit(time_limit_s=100)
    remote = platform.publish(one)
    name = finish(platform, remote.hit_id, one, "ann", submit=False)
    clock.advance(100)
    assert platform.submit(name, "ann").state is SubmissionState.SUBMITTED


def test_late_work_is_kept_flagged_and_not_counted(platform, hit, finish, clock) -> None:
    one = hit(time_limit_s=100)
    remote = platform.publish(one)
    name = finish(platform, remote.hit_id, one, "ann", submit=False)
    clock.advance(150)
    platform.save_answer(name, "ann", item="hit-2", aspect="label", label="no")
    late = platform.submit(name, "ann")
    assert (late.state, late.platform_elapsed_s) == (SubmissionState.EXPIRED, 150.0)
    assert platform.answers([name]) == {}
    assert [each.label for each in platform.saved_answers([name])[name]] == ["yes", "no"]
    assert [each.submission_id for each in platform.late_work(remote.hit_id)] == [name]
    with pytest.raises(PlatformError, match="is expired; approve is not possible"):
        platform.approve(name)
    assert platform.accept(remote.hit_id, "bob").state is SubmissionState.ACCEPTED


def test_work_under_way_is_finished_after_the_hit_expired(platform, hit, finish) -> None:
    one = hit()
    remote = platform.publish(one)
    name = finish(platform, remote.hit_id, one, "ann", submit=False)
    platform.expire(remote.hit_id)
    assert platform.submit(name, "ann").state is SubmissionState.SUBMITTED


# Review


def test_review_takes_submitted_work_once(platform, hit, finish) -> None:
    one = hit(redundancy=2)
    remote = platform.publish(one)
    good, bad = finish(platform, remote.hit_id, one, "ann"), finish(platform, remote.hit_id, one, "bob")
    assert platform.approve(good).state is platform.approve(good).state is SubmissionState.APPROVED
    assert platform.reject(bad, "No.").state is platform.reject(bad, "No.").state is SubmissionState.REJECTED
    with pytest.raises(PlatformError, match=f"{good} is approved; reject is not possible then, only approve"):
        platform.reject(good, "No.")
    with pytest.raises(PlatformError, match=f"{bad} is rejected; approve is not possible then, only reject"):
        platform.approve(bad)


def test_a_rejection_needs_a_reason(local, hit, finish) -> None:
    one = hit()
    name = finish(local, local.publish(one).hit_id, one, "ann")
    with pytest.raises(InputError, match="reason is empty"):
        local.reject(name, " ")


# Clocks


def test_the_three_clocks_stay_apart(platform, hit, clock) -> None:
    remote = platform.publish(hit())
    name = platform.accept(remote.hit_id, "ann").submission_id
    clock.advance(10)
    start = clock.now()
    platform.open_page(name, "ann")
    clock.advance(30)
    platform.open_page(name, "ann")  # shown again: the first time counts
    for i, item in enumerate(("hit-1", "hit-2")):
        shown = start + timedelta(seconds=20 * i)
        answered = shown + timedelta(seconds=20 if i == 0 else 12)
        platform.save_answer(name, "ann", item=item, aspect="label", label="yes", shown_at=shown, answered_at=answered)
    clock.advance(70)
    done = platform.submit(name, "ann")
    # accept to submit 10 + 30 + 70; render to submit 30 + 70; questions in view 20 + 12.
    assert (done.platform_elapsed_s, done.page_elapsed_s, done.active_s) == (110.0, 100.0, 32.0)
    assert done.time_quality == "ok"


def test_events_of_the_page_take_absence_out_of_active_time(platform, hit, clock) -> None:
    from hmc_crowd_local import PageEvent

    remote = platform.publish(hit("hit", "only"))
    name = platform.accept(remote.hit_id, "ann").submission_id
    platform.open_page(name, "ann")
    start = clock.now()
    clock.advance(300)
    platform.record_events(name, "ann", [PageEvent("hidden", start + timedelta(seconds=8))])
    platform.record_events(name, "ann", [PageEvent("visible", start + timedelta(seconds=290))])
    platform.save_answer(name, "ann", item="only", aspect="label", label="no", shown_at=start, answered_at=clock.now())
    # 8 s before the worker left, 10 s after he came back.
    assert platform.submit(name, "ann").active_s == 18.0


def test_without_page_times_the_active_clock_is_unknown(platform, hit, finish) -> None:
    one = hit()
    remote = platform.publish(one)
    finish(platform, remote.hit_id, one, "ann")
    done = next(platform.submissions([remote.hit_id]))
    assert (done.active_s, done.page_elapsed_s, done.time_quality) == (None, None, "no_heartbeat")


# Reading


def test_submissions_come_page_by_page_and_none_twice(platform, hit, finish, monkeypatch) -> None:
    monkeypatch.setattr("hmc_crowd_local._queries._PAGE", 2)
    hits = [hit(f"h{i}", redundancy=3) for i in range(3)]
    remotes = [platform.publish(each) for each in hits]
    names = {
        finish(platform, remote.hit_id, each, worker)
        for each, remote in zip(hits, remotes, strict=True)
        for worker in ("ann", "bob", "cyd")
    }
    listed = [each.submission_id for each in platform.submissions([r.hit_id for r in remotes] * 2)]
    assert len(listed) == 9
    assert set(listed) == names


def test_submissions_of_nothing_are_none(platform) -> None:
    assert list(platform.submissions([])) == []
    assert platform.answers([]) == {}


def test_answers_handed_in_together_are_one_step(platform, hit, clock) -> None:
    remote = platform.publish(hit("k", "i", "j"))
    name = platform.accept(remote.hit_id, "ann").submission_id
    given = [RemoteAnswer("i", "label", "yes", clock.now(), clock.now()), RemoteAnswer("j", "label", "no")]
    first = platform.hand_in(name, "ann", given)
    assert first.state is SubmissionState.SUBMITTED
    assert platform.hand_in(name, "ann", [replace(given[0], label="no"), given[1]]) == first
    assert [each.label for each in platform.answers([name])[name]] == ["yes", "no"]


def test_answers_handed_in_together_are_all_saved_or_none(platform, hit) -> None:
    remote = platform.publish(hit("k", "i", "j"))
    name = platform.accept(remote.hit_id, "ann").submission_id
    for bad in (
        [RemoteAnswer("i", "label", "yes")],
        [RemoteAnswer("i", "label", "yes"), RemoteAnswer("j", "label", "?")],
    ):
        with pytest.raises((PlatformError, InputError)):
            platform.hand_in(name, "ann", bad)
        assert platform.saved_answers([name]) == {}
