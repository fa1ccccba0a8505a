"""Numeric predictions: the probability of being close enough, by hand and in the long run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hmc_crowd.confidence import ProbabilityWithin, calibration_error
from hmc_crowd.errors import InputError, ModelError, StateError
from hmc_crowd.metrics import confidence_auc


def scores(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any, Any]:
    """Features, truth, prediction, and the true spread, which depends on the first feature."""
    X = rng.normal(size=(n, 3))
    spread = 0.5 * np.exp(0.7 * X[:, 0])
    predicted = 3 + X[:, 1]
    return X, predicted + spread * rng.normal(size=n), predicted, spread


def test_by_hand_with_one_spread_for_all() -> None:
    # Absolute errors 0, 1, ..., 19; within 4.5 are 5 of 20, over 20 + 1.
    close = ProbabilityWithin(4.5).fit(None, np.arange(20.0), predicted=np.zeros(20))
    assert close.confidence(None, [7.0]) == pytest.approx([5 / 21])


def test_an_error_of_exactly_the_tolerance_counts() -> None:
    close = ProbabilityWithin(0.3).fit(None, np.full(20, 0.3), predicted=np.zeros(20))
    assert close.confidence(None, [0.0]) == pytest.approx([20 / 21])
    assert ProbabilityWithin(0.1).fit(None, np.full(20, 0.3), predicted=np.full(20, 0.2)).confidence(None, [1.0]) > 0.9


@pytest.mark.parametrize("tolerance", [0.2, 0.5, 1.5])
def test_a_given_spread_is_calibrated_per_item(tolerance: float, rng: np.random.Generator) -> None:
    _, truth, predicted, spread = scores(rng, 3000)
    close = ProbabilityWithin(tolerance, spread="given").fit(spread * 7, truth, predicted=predicted)  # any unit
    _, truth, predicted, spread = scores(rng, 5000)
    found = close.confidence(spread * 7, predicted)
    assert calibration_error(found, np.abs(truth - predicted) <= tolerance).high < 0.04


def test_a_learnt_spread_finds_who_is_hard(rng: np.random.Generator) -> None:
    X, truth, predicted, _ = scores(rng, 2000)
    close = ProbabilityWithin(0.5, spread="learnt").fit(X, truth, predicted=predicted)
    X, truth, predicted, spread = scores(rng, 5000)
    right = np.abs(truth - predicted) <= 0.5
    found = close.confidence(X, predicted)
    ideal = float(confidence_auc(-spread, right))
    assert float(confidence_auc(found, right)) > ideal - 0.01
    assert calibration_error(found, right).value < 0.04


def test_on_average_as_many_are_within_as_is_said(rng: np.random.Generator) -> None:
    said, seen = [], []
    for _ in range(2000):
        error = rng.standard_t(3, 31)
        close = ProbabilityWithin(1.0).fit(None, error[:30], predicted=np.zeros(30))
        said.append(close.confidence(None, [0.0])[0])
        seen.append(abs(error[30]) <= 1.0)
    # Standard error of a share near .6 from 2,000 draws: .011; the promise allows 1 / 31 = .032 more than is said.
    assert -0.033 <= np.mean(seen) - np.mean(said) - 1 / 31 + 0.011 <= 0.044
    assert np.mean(seen) >= np.mean(said) - 0.02


@pytest.mark.parametrize(
    ("parameters", "said"),
    [({"tolerance": -1.0}, "tolerance is -1.0"), ({"spread": "wide"}, "'wide'"), ({"ridge": 0.0}, "ridge is 0.0")],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ProbabilityWithin(**parameters).fit(None, np.zeros(20), predicted=np.zeros(20))


def test_says_what_is_missing() -> None:
    with pytest.raises(StateError, match="first call fit"):
        ProbabilityWithin().confidence(None, [1.0])
    with pytest.raises(ModelError, match="there are 3 items"):
        ProbabilityWithin().fit(None, np.zeros(3), predicted=np.zeros(3))
    with pytest.raises(InputError, match="needs features"):
        ProbabilityWithin(spread="learnt").fit(None, np.zeros(20), predicted=np.zeros(20))
    with pytest.raises(InputError, match=r"spreads above 0: row 1 \(0.0\)"):
        ProbabilityWithin(spread="given").fit([1.0, 0.0] + [1.0] * 18, np.zeros(20), predicted=np.zeros(20))
