"""Worker features as of an instant: nothing later can change them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.effort import first_submissions, parse_approval_rate, worker_features
from hmc_crowd.errors import FrameError, InputError


def day(number: float) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


GOLD = pd.DataFrame(
    {"worker": ["a", "a", "b", "a"], "right": [True, False, True, True], "at": [day(1), day(2), day(3), day(9)]}
)
REVIEWS = pd.DataFrame(
    {
        "worker": ["a", "b", "b", "c", "d"],
        "approved": [True, True, False, False, True],
        "at": [day(1), day(1), day(2), day(3), day(8)],
    }
)


def test_test_score_is_the_share_right_so_far():
    # Before day 5: a 1 of 2, b 1 of 1, c none.
    got = worker_features(["a", "b", "c"], as_of=day(5), gold_checks=GOLD)
    assert got["worker_test_score"].tolist()[:2] == [0.5, 1.0]
    assert np.isnan(got["worker_test_score"].iloc[2])
    assert got["n_gold"].tolist() == [2, 1, 0]


def test_each_row_may_have_its_own_instant():
    # a: before day 1.5 1/1; before day 2.5 1/2; before day 10 2/3.
    got = worker_features(["a", "a", "a"], as_of=[day(10), day(1.5), day(2.5)], gold_checks=GOLD)
    assert got["worker_test_score"].tolist() == pytest.approx([2 / 3, 1, 0.5])


def test_an_event_at_the_very_instant_does_not_count():
    assert np.isnan(worker_features(["a"], as_of=day(1), gold_checks=GOLD)["worker_test_score"].item())
    assert worker_features(["a"], as_of=day(1) + timedelta(microseconds=1), gold_checks=GOLD)["n_gold"].item() == 1


def test_past_ranking_by_hand():
    # Before day 5: a 1/1, b 1/2, c 0/1; d unknown. Ascending c, b, a of three known: 1/3, 2/3, 3/3.
    got = worker_features(["a", "b", "c", "d"], as_of=day(5), reviews=REVIEWS)
    assert got["approval_ranking"].tolist()[:3] == pytest.approx([1, 2 / 3, 1 / 3])
    assert np.isnan(got["approval_ranking"].iloc[3])


def test_equal_rates_share_their_mean_place():
    # Before day 9: c 0, b .5, a 1 and d 1: places 1, 2, (3 + 4) / 2 = 3.5 of 4.
    got = worker_features(["a", "d", "b"], as_of=day(9), reviews=REVIEWS)
    assert got["approval_ranking"].tolist() == pytest.approx([3.5 / 4, 3.5 / 4, 2 / 4])


def test_the_sources_ranking_is_an_index_over_everything():
    # All reviews: c 0, b .5, a 1, d 1; equal rates in order of id: 1, 2, 3, 4, whatever the instant.
    got = worker_features(["a", "b", "c", "d", "e"], as_of=day(0), reviews=REVIEWS, ranking="lifetime")
    assert got["approval_ranking"].tolist()[:4] == [3, 2, 1, 4]
    assert np.isnan(got["approval_ranking"].iloc[4])


def test_unknown_is_nan_and_not_bad():
    got = worker_features(["new"], as_of=day(5), gold_checks=GOLD, reviews=REVIEWS).iloc[0]
    assert np.isnan(got["worker_test_score"])
    assert np.isnan(got["approval_ranking"])
    assert (got["n_gold"], got["n_reviewed"]) == (0, 0)


def test_submissions_not_reviewed_yet_do_not_count():
    reviews = pd.DataFrame({"worker": ["a", "a"], "approved": [True, None], "at": [day(1), day(2)]})
    assert worker_features(["a"], as_of=day(5), reviews=reviews)["n_reviewed"].item() == 1


def test_the_instant_travels_with_the_value():
    got = worker_features(["a"], as_of=day(5).astimezone(timezone(timedelta(hours=9))), gold_checks=GOLD)
    assert got["as_of"].item() == pd.Timestamp(day(5))


events = st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 20)), max_size=25)


def as_frame(rows: list[tuple[str, bool, int]], flag: str) -> pd.DataFrame:
    return pd.DataFrame({"worker": [r[0] for r in rows], flag: [r[1] for r in rows], "at": [day(r[2]) for r in rows]})


@settings(max_examples=30, deadline=None)
@given(events, events, st.integers(0, 20), st.data())
def test_nothing_from_the_instant_on_changes_any_value(gold, reviews, cut, data):
    later = st.lists(st.tuples(st.sampled_from("abcdz"), st.booleans(), st.integers(cut, 40)), max_size=10)
    ask = list("abcdz")
    one = worker_features(
        ask, as_of=day(cut), gold_checks=as_frame(gold, "right"), reviews=as_frame(reviews, "approved")
    )
    two = worker_features(
        ask,
        as_of=day(cut),
        gold_checks=as_frame(data.draw(later) + [row for row in gold if row[2] < cut], "right"),
        reviews=as_frame(data.draw(later) + [row for row in reviews if row[2] < cut], "approved"),
    )
    pd.testing.assert_frame_equal(one, two)


@settings(max_examples=30, deadline=None)
@given(events, st.lists(st.integers(0, 25), min_size=1, max_size=6))
def test_many_instants_at_once_equal_one_at_a_time(rows, moments):
    reviews = as_frame(rows, "approved")
    workers = ["abcd"[k % 4] for k in range(len(moments))]
    together = worker_features(workers, as_of=[day(m) for m in moments], reviews=reviews)
    alone = pd.concat(
        [worker_features([w], as_of=day(m), reviews=reviews) for w, m in zip(workers, moments, strict=True)]
    )
    pd.testing.assert_frame_equal(together, alone.reset_index(drop=True))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"as_of": datetime(2026, 1, 5)}, InputError, "as_of is 2026-01-05T00:00:00 without a time zone"),
        ({"as_of": [day(1), day(2)]}, InputError, "as_of has 2 rows but workers has 1"),
        ({"ranking": "best"}, InputError, "ranking is 'best'"),
        ({"workers": "abc"}, InputError, "workers is the string 'abc'"),
        ({"gold_checks": GOLD.drop(columns="right")}, FrameError, "gold_checks lacks the column right"),
        (
            {"gold_checks": GOLD.assign(right=[1, 0, 2, 1])},
            InputError,
            "gold_checks column right must be true or false; got 2",
        ),
        ({"gold_checks": GOLD.assign(at=pd.Timestamp("2026-01-01"))}, InputError, "without a time zone"),
        (
            {"reviews": REVIEWS.assign(worker=[None, "b", "b", "c", "d"])},
            FrameError,
            "reviews column worker is empty in row 0",
        ),
    ],
)
def test_bad_input_is_named(change, error, words):
    call = {"workers": ["a"], "as_of": day(5), "gold_checks": GOLD, "reviews": REVIEWS} | change
    with pytest.raises(error, match=words):
        worker_features(call.pop("workers"), **call)


def test_no_workers_give_no_rows():
    assert len(worker_features([], as_of=day(1), reviews=REVIEWS)) == 0


@pytest.mark.parametrize(
    ("text", "rate"), [("95% (19/20)", 0.95), ("100%", 1.0), (" 0% (0/3) ", 0.0), ("33.3", 0.333), ("67% (2/3)", 2 / 3)]
)
def test_approval_rates(text, rate):
    assert parse_approval_rate(text) == pytest.approx(rate)


def test_nothing_over_nothing_is_unknown():
    assert np.isnan(parse_approval_rate("0% (0/0)"))


@pytest.mark.parametrize("text", ["", "good", "120%", "50% (3/2)", "-5%"])
def test_no_rate_is_refused(text):
    with pytest.raises(InputError, match="approval rate is"):
        parse_approval_rate(text)


def test_first_submission_is_the_earliest_of_each_worker():
    got = first_submissions(["a", "b", "a", "a"], [day(3), day(1), day(2), day(2)])
    assert got.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("text", [None, 95])
def test_an_approval_rate_that_is_no_such_text_is_refused(text: Any) -> None:
    with pytest.raises(InputError, match="approval rate is"):
        parse_approval_rate(text)
