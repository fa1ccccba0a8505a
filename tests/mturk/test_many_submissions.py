"""The short twin of ``bench_platforms``: the same steps at a small size, everything counted, nothing timed."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

import pytest
from hmc_crowd_local import connect as open_workplace

from hmc_crowd.platform import SubmissionState


@pytest.fixture(scope="module")
def bench():
    path = Path(__file__).parents[1] / "benchmarks" / "bench_platforms.py"
    spec = importlib.util.spec_from_file_location("bench_platforms", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_submission_is_read_once_with_its_answers(bench, make_house, connect_to) -> None:
    house = make_house()
    hits = bench.fill(house.door, 300)
    platform = connect_to(key=house.key, url=house.url)
    house.calls.clear()
    found = list(platform.submissions(hits))
    answers = platform.answers([each.submission_id for each in found])
    assert len({each.submission_id for each in found}) == len(found) == 300
    assert sum(len(each) for each in answers.values()) == 300 * bench.ITEMS
    # One listing of all HITs tells their counts; after it a call for each HIT, and none for an answer.
    assert {name: house.calls.count(name) for name in set(house.calls)} == {
        "ListHITs": 1,
        "ListAssignmentsForHIT": len(hits),
    }


def test_hits_without_anything_handed_in_are_not_asked_for(make_house, connect_to) -> None:
    house = make_house()
    hits = [house.hit() for _ in range(6)]
    name = house.work(hits[2], "A1ANN")
    platform = connect_to(key=house.key, url=house.url)
    house.calls.clear()
    assert [each.submission_id for each in platform.submissions(hits)] == [name]
    assert house.calls.count("ListAssignmentsForHIT") == 1


def test_answers_of_many_hands_are_all_kept(bench, postgres_url) -> None:
    with open_workplace(postgres_url) as platform:
        platform.show(bench.bundle("twin", n) for n in range(12))
        ids = {n: platform.find(f"twin-{n}").hit_id for n in range(12)}
    took, _, _, _ = bench.hand(postgres_url, "twin", ids, time.time(), 600, None)
    assert len(took) == 12
    with open_workplace(postgres_url) as platform:
        found = list(platform.submissions(ids.values()))
        assert [each.state for each in found] == [SubmissionState.SUBMITTED] * 12
        answers = platform.answers([each.submission_id for each in found])
    assert sum(len(each) for each in answers.values()) == 12 * bench.IN_HAND
