"""Winsorising logged times."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.effort import clean_times, winsorise_seconds
from hmc_crowd.errors import FrameError, InputError


def test_many_values_by_hand():
    # 21 values e^0 .. e^20: on logs the 5th percentile is the 2nd value, 1, and the 95th the 20th, 19.
    clean, changed, rule = winsorise_seconds(np.exp(np.arange(21.0)))
    assert np.log(clean) == pytest.approx([1, *range(1, 20), 19])
    assert changed.tolist() == [True] + [False] * 19 + [True]
    assert rule == "P5-P95"


def test_few_values_by_hand():
    # Logs 0, 1, 2, 3, 30: median 2, deviations 2, 1, 0, 1, 28 with median 1; bounds 2 +- 4.4478; only 30 is beyond.
    clean, changed, _ = winsorise_seconds(np.exp([0.0, 1, 2, 3, 30]))
    assert changed.tolist() == [False, False, False, False, True]
    assert np.log(clean[-1]) == pytest.approx(2 + 3 * 1.4826)


def test_where_most_values_are_equal_nothing_is_changed():
    clean, changed, rule = winsorise_seconds([10, 10, 10, 10, 900])
    assert clean.tolist() == [10, 10, 10, 10, 900]
    assert not changed.any()
    assert rule == "none: MAD is 0"


def test_a_single_time_stays_as_it_is():
    assert winsorise_seconds([7.0])[0].tolist() == [7.0]


def test_zero_seconds_are_lifted_not_lost():
    clean, changed, _ = winsorise_seconds([0.0, *([20.0] * 3), *([22.0] * 3), *([25.0] * 3)])
    assert changed[0]
    assert 0 < clean[0] < 20


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_unchanged_values_are_the_very_same_and_order_is_kept(times):
    raw = np.array(times)
    clean, changed, _ = winsorise_seconds(raw)
    assert np.array_equal(clean[~changed], raw[~changed])
    order = np.argsort(raw, kind="stable")
    assert (np.diff(clean[order]) >= -1e-9 * clean.max()).all()


def test_each_kind_of_work_has_its_own_bounds():
    slow, quick = np.full(30, 600.0), np.full(30, 6.0)
    slow[:15], quick[:15] = 500.0, 5.0
    times = pd.DataFrame({"kind": ["read"] * 30 + ["click"] * 30, "seconds": [*slow, *quick]})
    assert clean_times(times, by=["kind"]).n_winsorised == 0
    summary = clean_times(times, by=["kind"]).summary.set_index("kind")
    assert summary["n"].tolist() == [30, 30]
    assert summary.loc["read", "median_s"] == 550
    assert list(summary.columns[-4:]) == ["median_s", "trimmed_mean_s", "p25_s", "p75_s"]


def test_raw_times_are_kept_beside_the_clean_ones():
    times = pd.DataFrame({"seconds": [10.0, 11, 9, 10, 12, 5000]}, index=[5, 5, 6, 7, 8, 9])
    before = times.copy()
    cleaned = clean_times(times)
    pd.testing.assert_frame_equal(times, before)
    assert cleaned.frame["seconds"].tolist() == before["seconds"].tolist()
    assert cleaned.frame["seconds_clean"].iloc[-1] < 100
    assert cleaned.n_winsorised == cleaned.frame["winsorised"].sum() == 1
    assert "1 of 6 times winsorised" in str(cleaned)


@pytest.mark.parametrize(
    ("times", "more", "error", "words"),
    [
        ({"seconds": [1.0, np.nan]}, {}, InputError, r"times column seconds .* row 1 \(nan\)"),
        ({"seconds": [1.0, -2.0]}, {}, InputError, r"row 1 \(-2.0\)"),
        ({"time": [1.0]}, {}, FrameError, "times lacks the column seconds"),
        ({"seconds": [1.0]}, {"by": ["kind"]}, FrameError, "times lacks the column kind"),
        ({"seconds": []}, {}, InputError, "is empty"),
        ({"seconds": [1.0]}, {"low": 0.9, "high": 0.1}, InputError, "low is 0.9 and high is 0.1"),
        (
            {"seconds": [1.0, 2.0], "kind": ["a", None]},
            {"by": "kind"},
            FrameError,
            "times column kind is empty in row 1",
        ),
    ],
)
def test_bad_input_is_named(times, more, error, words):
    with pytest.raises(error, match=words):
        clean_times(times, **more)
