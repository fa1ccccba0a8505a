"""A simulated crowd goes through the same door, at simulated times."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hmc_crowd_local import connect

from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState
from hmc_crowd.simulation import SimulatedAnswer, SimulatedCrowd, SimulatedWork, draw_workers


class Script:
    """A crowd that does what it is told, in order."""

    def __init__(self, *works: SimulatedWork) -> None:
        self.works = list(works)

    def work(self, hit_key, items, already):
        free = (each for each in self.works if each.worker not in already)
        chosen = next(free, None)
        if chosen is not None:
            self.works.remove(chosen)
        return chosen


def crowd_for(hits, *, seed=1, n=20, **habits):
    rng = np.random.default_rng(seed)
    truth = {each.item: "yes" for hit in hits for each in hit.items}
    return SimulatedCrowd(draw_workers(n, ["yes", "no"], rng=rng, **habits), truth, rng=rng)


def test_every_place_is_filled(platform, hit) -> None:
    hits = [hit(f"h{i}", redundancy=3) for i in range(10)]
    ids = [platform.publish(each).hit_id for each in hits]
    assert platform.rehearse(crowd_for(hits)) == 30
    submissions = list(platform.submissions(ids))
    assert Counter(each.hit_id for each in submissions) == dict.fromkeys(ids, 3)
    assert {each.state for each in submissions} == {SubmissionState.SUBMITTED}
    answers = platform.answers([each.submission_id for each in submissions])
    assert [len(each) for each in answers.values()] == [2] * 30
    assert platform.rehearse(crowd_for(hits)) == 0


def test_returned_and_expired_places_are_taken_by_others(platform, hit, clock) -> None:
    hits = [hit(f"h{i}", redundancy=2) for i in range(10)]
    ids = [platform.publish(each).hit_id for each in hits]
    crowd = crowd_for(hits, return_probability=0.3, expire_probability=0.2)
    assert platform.rehearse(crowd) == 20
    states = Counter(each.state for each in platform.submissions(ids))
    assert states[SubmissionState.SUBMITTED] == 20
    assert states[SubmissionState.RETURNED] > 0
    assert states[SubmissionState.EXPIRED] > 0


def test_the_clocks_of_a_simulated_submission(platform, hit, clock) -> None:
    one = platform.publish(hit("h", "a", "b"))
    work = SimulatedWork(
        "ann",
        5.0,
        "submit",
        (
            SimulatedAnswer("a", "label", "yes", setup_s=100.0, seconds=20.0),
            SimulatedAnswer("b", "label", "no", seconds=7.0, idle_s=400.0),
        ),
    )
    platform.rehearse(Script(work))
    (done,) = platform.submissions([one.hit_id])
    assert done.accepted_at == clock.now() + timedelta(seconds=5)
    # 100 + 20 + 7 s of work, none of it cut although the first question took two minutes; 400 s away.
    assert (done.platform_elapsed_s, done.page_elapsed_s, done.active_s) == (527.0, 527.0, 127.0)
    assert done.time_quality == "ok"
    first, second = platform.answers([done.submission_id])[done.submission_id]
    assert (first.started_at, first.submitted_at) == (done.accepted_at, done.accepted_at + timedelta(seconds=120))
    assert (second.started_at, second.submitted_at) == (first.submitted_at, done.submitted_at)


def test_too_slow_work_is_late_and_its_place_is_free_from_the_deadline(platform, hit, clock) -> None:
    remote = platform.publish(hit("h", "a", time_limit_s=60))
    slow = SimulatedWork("ann", 0.0, "submit", (SimulatedAnswer("a", "label", "yes", seconds=100.0),))
    quick = SimulatedWork("bob", 3.0, "submit", (SimulatedAnswer("a", "label", "no", seconds=10.0),))
    assert platform.rehearse(Script(slow, quick)) == 1
    by_worker = {each.worker: each for each in platform.submissions([remote.hit_id])}
    assert by_worker["ann"].state is SubmissionState.EXPIRED
    assert [each.worker for each in platform.late_work(remote.hit_id)] == ["ann"]
    assert by_worker["bob"].accepted_at == clock.now() + timedelta(seconds=63)


def test_a_worker_does_one_hit_after_another(platform, hit) -> None:
    hits = [hit(f"h{i}", redundancy=2) for i in range(12)]
    ids = [platform.publish(each).hit_id for each in hits]
    half = platform.rehearse(crowd_for(hits, n=4), max_submissions=11)
    rest = platform.rehearse(crowd_for(hits, n=4, seed=2))
    assert (half, rest) == (11, 13)
    lines = {}
    for each in platform.submissions(ids):
        lines.setdefault(each.worker, []).append((each.accepted_at, each.submitted_at))
    for line in lines.values():
        for (_, ended), (began, _) in pairwise(sorted(line)):
            assert ended <= began


def test_nobody_comes_after_the_lifetime(platform, hit) -> None:
    remote = platform.publish(hit("h", "a", redundancy=2, lifetime_s=100))
    answer = (SimulatedAnswer("a", "label", "yes", seconds=1.0),)
    late, soon = SimulatedWork("ann", 100.0, "submit", answer), SimulatedWork("bob", 99.0, "submit", answer)
    assert platform.rehearse(Script(late, soon)) == 1
    assert [each.worker for each in platform.submissions([remote.hit_id])] == ["bob"]


def test_gold_shared_by_hits_goes_to_a_worker_once(platform, hit) -> None:
    hits = [hit(f"h{i}", "gold", f"x{i}") for i in range(5)]
    ids = [platform.publish(each).hit_id for each in hits]
    assert platform.rehearse(crowd_for(hits, n=3)) == 3
    assert len({each.worker for each in platform.submissions(ids)}) == 3


def test_it_repeats_exactly_from_the_seed(tmp_path, hit, clock) -> None:
    def run(name):
        with connect(str(tmp_path / name), clock=clock) as platform:
            hits = [hit(f"h{i}", redundancy=3) for i in range(5)]
            ids = [platform.publish(each).hit_id for each in hits]
            platform.rehearse(crowd_for(hits, return_probability=0.2, idle_probability=0.2))
            subs = list(platform.submissions(ids))
            answers = platform.answers([each.submission_id for each in subs])
            return sorted(
                (each.worker, each.accepted_at, each.active_s, answers.get(each.submission_id, ())) for each in subs
            )

    assert run("a.db") == run("b.db")


def test_a_crowd_that_fails_leaves_nothing_behind(platform, hit) -> None:
    ids = [platform.publish(hit(f"h{i}")).hit_id for i in range(3)]
    rng = np.random.default_rng(0)
    crowd = SimulatedCrowd(draw_workers(5, ["yes", "no"], rng=rng), {"h0-1": "yes", "h0-2": "no"}, rng=rng)
    with pytest.raises(InputError, match="truth has no label for item 'h1-1'"):
        platform.rehearse(crowd)
    assert list(platform.submissions(ids)) == []


def test_last_moment_is_where_a_clock_goes_on(platform, hit, clock) -> None:
    assert platform.last_moment() is None
    hits = [hit("h")]
    remote = platform.publish(hits[0])
    platform.rehearse(crowd_for(hits))
    (done,) = platform.submissions([remote.hit_id])
    assert platform.last_moment() == done.submitted_at
