"""Prediction-powered mean: hand-worked values, what it must not depend on, coverage under a bad judge, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import ppi_mean

VALUES = st.lists(st.integers(0, 8).map(lambda x: x / 8), min_size=3, max_size=20)


def test_plain_ppi_by_hand() -> None:
    # Machine .6 on the rest; labels .6, machine .4 on them: .6 + .2.
    found = ppi_mean([1, 0, 1, 0, 1], [1, 0, 0, 0, 1], [1, 1, 1, 0, 0], power_tuning=False)
    assert found.value == pytest.approx(0.8)
    # Errors 0 0 1 0 0: variance .16 / 5; machine .24 / 5.
    assert found.details["se"] == pytest.approx(np.sqrt((0.16 + 0.24) / 5))


@given(VALUES, st.data())
def test_shifting_everything_shifts_the_estimate(labels: list[float], data: st.DataObject) -> None:
    n = len(labels)
    machine = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=n, max_size=n))
    rest = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=20))
    one = ppi_mean(labels, machine, rest)
    two = ppi_mean(np.array(labels) + 4, np.array(machine) + 4, np.array(rest) + 4)
    assert two.value == pytest.approx(one.value + 4)
    assert two.details["se"] == pytest.approx(one.details["se"], abs=1e-9)
    assert 0.0 <= one.details["lambda"] <= 1.0


@given(VALUES)
def test_a_constant_machine_adds_nothing(labels: list[float]) -> None:
    found = ppi_mean(labels, [0.5] * len(labels), [0.5] * 30)
    assert found.value == pytest.approx(np.mean(labels))
    assert found.details["lambda"] == 0.0


def test_no_unlabelled_prediction_leaves_the_plain_mean() -> None:
    found = ppi_mean([1, 0, 1], [1, 1, 1], [])
    assert found.value == pytest.approx(2 / 3)
    assert any("plain mean" in warning for warning in found.warnings)


@pytest.mark.parametrize("right", [0.9, 0.5, 0.1])
def test_however_bad_the_judge_the_interval_holds_and_is_never_much_wider(right: float) -> None:
    rng = np.random.default_rng(3)
    hits, narrower = 0, []
    for _ in range(400):
        truth = rng.random(1200) < 0.6
        machine = np.where(rng.random(1200) < right, truth, ~truth).astype(float)
        found = ppi_mean(truth[:200].astype(float), machine[:200], machine[200:])
        hits += found.low <= 0.6 <= found.high
        narrower.append((found.high - found.low) / (found.details["classical_high"] - found.details["classical_low"]))
    # Three Monte Carlo errors of 400 runs are .033.
    assert 0.93 - 0.033 <= hits / 400 <= 0.97 + 0.033
    assert np.mean(narrower) < (0.85 if right == 0.9 else 1.001)


def test_small_samples_are_told_and_widened() -> None:
    labels, machine, rest = [1, 0, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1], [1, 0] * 40
    plain, wide = ppi_mean(labels, machine, rest), ppi_mean(labels, machine, rest, small_sample=True)
    assert any("only 6 labels" in warning for warning in plain.warnings)
    assert wide.high - wide.low > plain.high - plain.low
    assert not any("only 6" in warning for warning in wide.warnings)


def test_equal_scores_that_are_no_yes_no_have_no_interval() -> None:
    found = ppi_mean([3.5, 3.5, 3.5], [3, 4, 3], [3, 4])
    assert found.value == 3.5
    assert found.low is None
    assert "no interval" in found.method


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"predictions": [1, 0]}, "predictions has 2 values"),
        ({"level": 95}, "level is 95"),
        ({"power_tuning": "yes"}, "power_tuning is 'yes'"),
        ({"power_tuning": np.nan}, "power_tuning is nan"),
        ({"alternative": "less"}, "alternative is 'less'"),
        ({"weights": [1, 2]}, "weights has 2 values"),
        ({"weights": [-1, 1, 1]}, "weights must be finite"),
        ({"weights_unlabelled": [0, 0]}, "not all 0"),
        ({"labels": ["a", "b", "c"]}, "labels holds text"),
        ({"labels": [[1, 0, 1]]}, "labels has shape"),
        ({"ids": [1, 2, 3], "ids_unlabelled": [3, 4]}, "labelled and unlabelled at once"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], why: str) -> None:
    good: dict[str, Any] = {"labels": [1, 0, 1], "predictions": [1, 0, 0], "predictions_unlabelled": [1, 0]}
    with pytest.raises(InputError, match=why):
        ppi_mean(**{**good, **change})


def test_nothing_labelled_has_no_value() -> None:
    for labels in ([], [None, np.nan]):
        found = ppi_mean(labels, [1.0] * len(labels), [1, 0])
        assert found.value is None
        assert found.reason == "no item has both a label and a prediction"


def test_one_word_tells_the_evidence_of_all_labels() -> None:
    assert ppi_mean([1, 0, 1], [1, 0, 0], [1, 0], evidence="people_blind").n == 3
    with pytest.raises(InputError, match="evidence says people_suggested in row 0"):
        ppi_mean([1, 0, 1], [1, 0, 0], [1, 0], evidence="people_suggested")
