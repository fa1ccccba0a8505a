"""One time per item out of several submissions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.effort import one_time_per_item
from hmc_crowd.errors import FrameError, InputError

ROWS = pd.DataFrame(
    {
        "task": ["x", "x", "x", "y", "y", "z"],
        "worker": ["a", "b", "c", "a", "b", "c"],
        "label": ["1", "1", "0", "0", "0", "1"],
        "seconds": [30.0, 40.0, 5.0, 60.0, 70.0, 9.0],
        "worker_test_score": [0.8, 0.9, 1.0, 0.8, 0.8, 1.0],
    }
)
AGREED = {"x": "1", "y": "0", "z": "0"}


def test_the_rule_by_hand(rng):
    # x: c disagrees though it has the best score; b beats a. y: equal scores, drawn. z: nobody agrees, no time.
    got = one_time_per_item(ROWS, AGREED, rng=rng)
    assert got.frame["task"].tolist() == ["x", "y"]
    assert got.frame["seconds"].iloc[0] == 40.0
    assert got.frame["seconds"].iloc[1] in {60.0, 70.0}
    assert (got.n_disagreed, got.n_drawn, got.without) == (2, 1, ("z",))


def test_equal_scores_are_drawn_evenly(rng):
    # 400 draws with p = 1/2: standard deviation 10; 200 +- 50 is five of them.
    pairs = pd.DataFrame(
        {"task": np.repeat(np.arange(400), 2), "worker": ["a", "b"] * 400, "label": "1", "seconds": 9.0}
    )
    got = one_time_per_item(pairs, dict.fromkeys(range(400), "1"), rng=rng, scores={"a": 0.9, "b": 0.9})
    assert got.n_drawn == 400
    assert 150 < (got.frame["worker"] == "a").sum() < 250


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 5))
def test_the_same_generator_gives_the_same_rows_in_any_order(order, seed):
    one = one_time_per_item(ROWS, AGREED, rng=np.random.default_rng(seed)).frame
    two = one_time_per_item(ROWS.iloc[order], AGREED, rng=np.random.default_rng(seed)).frame
    pd.testing.assert_frame_equal(one, two)


def test_an_unknown_score_ranks_below_a_known_one(rng):
    got = one_time_per_item(ROWS, AGREED, rng=rng, scores={"a": 0.0})
    assert got.frame["worker"].tolist() == ["a", "a"]
    assert got.n_drawn == 0


def test_an_item_without_agreed_label_has_no_time(rng):
    got = one_time_per_item(ROWS, pd.DataFrame({"item": ["x"], "label": ["1"]}), rng=rng)
    assert got.frame["task"].tolist() == ["x"]
    assert got.without == ("y", "z")
    assert got.n_disagreed == 1


def test_nothing_is_written_to(rng):
    before = ROWS.copy()
    one_time_per_item(ROWS, AGREED, rng=rng)
    pd.testing.assert_frame_equal(ROWS, before)


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (ROWS.drop(columns="seconds"), FrameError, "submissions lacks the column seconds"),
        (ROWS.drop(columns="worker_test_score"), FrameError, "submissions lacks the column worker_test_score"),
        (ROWS.assign(seconds=[1, 2, np.nan, 4, 5, -6]), InputError, r"seconds .* rows 2 \(nan\), 5 \(-6.0\)"),
        (ROWS.assign(worker="a"), FrameError, r"submissions \(task, worker\) repeats: rows 1"),
        (ROWS.assign(label=[None] * 6), FrameError, "submissions column label is empty"),
    ],
)
def test_bad_input_is_named(rows, error, words, rng):
    with pytest.raises(error, match=words):
        one_time_per_item(rows, AGREED, rng=rng)
