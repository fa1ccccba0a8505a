"""PRMSE by hand, in every form of input, and where it has no value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import FrameError, InputError

# Three responses with 3, 2 and 1 ratings: means 2, 4.5, 5; within 2, .5, 0.
# Error variance (2 + .5) / (2 + 1) = 5/6. All ratings: 1 2 3 4 5 5, mean 20/6.
# Between: 3 (2 - 10/3)^2 + 2 (4.5 - 10/3)^2 + (5 - 10/3)^2 = 16/3 + 49/18 + 25/9 = 195/18.
# True variance (195/18 - 2 * 5/6) / (6 - 14/6) = (165/18) / (11/3) = 2.5.
# Against 2, 4, 6: 3 * 0 + 2 * .25 + 1 = 1.5; MSE (1.5 - 3 * 5/6) / 6 = -1/6; PRMSE 1 + 1/15.
HAND = np.array([[1, 2, 3], [4, 5, np.nan], [np.nan, np.nan, 5]])
SYSTEM = [2, 4, 6]


def test_uneven_ratings_by_hand() -> None:
    found = m.prmse(HAND, SYSTEM)
    assert found.value == pytest.approx(1 + 1 / 15)
    assert found.details["error_variance"] == pytest.approx(5 / 6)
    assert found.details["true_score_variance"] == pytest.approx(2.5)
    assert found.details["mse_true"] == pytest.approx(-1 / 6)
    assert (found.details["n_raters"], found.details["n_single"], found.details["n_multiple"]) == (3, 1, 2)
    assert "above 1" in found.warnings[0]
    assert m.variance_of_errors(HAND).value == pytest.approx(5 / 6)
    assert m.variance_of_errors(HAND).n == 2
    assert m.true_score_variance(HAND).value == pytest.approx(2.5)
    assert "negative" in m.mse_true(HAND, SYSTEM).warnings[0]


def test_the_overall_mean_is_that_of_all_ratings_not_of_the_first_rater() -> None:
    # The page defines it by the first rater; here that would be another number.
    ratings = np.array([[0.0, 2.0], [3.0, np.nan]])
    # All ratings: mean 5/3; between 2 (1 - 5/3)^2 + (3 - 5/3)^2 = 8/3; given error 1: (8/3 - 1) / (3 - 5/3) = 1.25.
    assert m.true_score_variance(ratings, 1.0).value == pytest.approx(1.25)


def test_a_worker_of_the_long_table_may_be_the_system() -> None:
    rows = [(task, f"h{w}", v) for task, row in enumerate(HAND) for w, v in enumerate(row) if v == v]
    long = pd.DataFrame(rows, columns=["task", "worker", "score"])
    own = pd.DataFrame({"task": [0, 1, 2, 3], "worker": "model", "score": [*SYSTEM, 9]})
    by_name = m.prmse(pd.concat([long, own]), "model")
    by_series = m.prmse(long, pd.Series(SYSTEM, index=[0, 1, 2]))
    assert by_name.value == by_series.value == pytest.approx(1 + 1 / 15)


def test_a_task_without_a_system_score_is_dropped_and_counted() -> None:
    long = pd.DataFrame({"task": ["a", "a", "b", "b"], "worker": ["x", "y", "x", "y"], "label": [1, 2, 3, 3]})
    found = m.prmse(long, {"a": 1.0})
    assert dict(found.dropped) == {"system score is missing or no number": 1}
    assert found.value is None
    assert found.reason == "one response has no variance of true scores"


def test_missing_system_scores_are_dropped_before_n_is_counted() -> None:
    # The tool's table path leaves them in N.
    with_gap = m.prmse([[1, 2], [3, 3], [5, 4], [2, 2]], [1, 3, None, 2])
    without = m.prmse([[1, 2], [3, 3], [2, 2]], [1, 3, 2])
    assert (with_gap.value, with_gap.n) == (without.value, 3)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: m.prmse([1, 2, 3], [1, 2, 3]), "no response has two ratings"),
        (lambda: m.variance_of_errors([[1, None], [None, 2]]), "no response has two ratings"),
        (lambda: m.prmse([[2, 3]], [2.5]), "one response"),
        (lambda: m.prmse([[None, None]], [2.5]), "no response has both"),
        (lambda: m.true_score_variance([[None, None]]), "nobody rated"),
        (lambda: m.prmse([[3, 3], [3, 3]], [3, 2]), "not positive"),
        (lambda: m.prmse([[1, 5], [5, 1], [3, 3]], [1, 2, 3]), "not positive"),
    ],
)
def test_undefined_has_a_reason(call, reason: str) -> None:
    found = call()
    assert found.value is None
    assert reason in found.reason


def test_a_negative_true_variance_keeps_the_raw_ratio_in_the_details() -> None:
    # Negative / negative would be a plausible number between 0 and 1.
    found = m.prmse([[1, 5], [5, 1], [3, 3]], [3, 3, 3])
    assert found.details["true_score_variance"] < 0
    assert found.details["raw"] == pytest.approx(1 - found.details["mse_true"] / found.details["true_score_variance"])
    assert "not positive" in m.true_score_variance([[1, 5], [5, 1], [3, 3]]).warnings[0]


def test_a_given_error_variance_of_0_is_a_value() -> None:
    assert m.prmse([1, 2, 3, 5], [1, 2, 3, 4], 0.0).value == pytest.approx(1 - 0.25 / np.var([1, 2, 3, 5], ddof=1))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: m.prmse([[1, 2]], [1, 2]), InputError, "system has 2 scores but human has 1"),
        (lambda: m.prmse([1, 2], [1, 2], -1.0), InputError, "error_variance is -1.0"),
        (lambda: m.prmse([1, 2], None, 1.0), InputError, "system is missing"),
        (lambda: m.prmse(np.zeros((2, 2, 2)), [1, 2]), InputError, r"human has shape \(2, 2, 2\)"),
        (lambda: m.prmse({"a": [1, 2], "b": [1]}, [1, 2]), InputError, "differ in length"),
        (lambda: m.prmse({}, [1, 2]), InputError, "no rater"),
        (lambda: m.prmse([[1, 2], [3]], [1, 2]), InputError, "human is no table of numbers"),
        (lambda: m.prmse({"task": [1], "worker": [1]}, [1]), FrameError, "column score"),
        (lambda: m.prmse({"task": [1], "worker": [1], "score": [1]}, [1]), InputError, "by task"),
        (lambda: m.prmse({"task": [1], "worker": ["a"], "score": [1]}, "m"), InputError, "no row has that worker"),
        (lambda: m.prmse({"task": [1, 1], "worker": ["a", "a"], "score": [1, 2]}, {1: 1}), FrameError, "repeat a task"),
    ],
)
def test_bad_input_is_named(call, error, match: str) -> None:
    with pytest.raises(error, match=match):
        call()


def test_words_among_ratings_are_left_out_with_a_warning() -> None:
    found = m.prmse([["1", "2"], ["x", "3"], ["4", "4"]], [1, 3, 4])
    assert found.warnings[0].startswith("1 ratings left out")
    assert found.value == m.prmse([[1, 2], [None, 3], [4, 4]], [1, 3, 4]).value
