"""Calibration: the maps, the choice between them, what never changes, and the error with its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.confidence import Calibrator, calibration_error
from hmc_crowd.errors import InputError, ModelError, StateError
from hmc_crowd.metrics import confidence_auc

METHODS = ["isotonic", "platt", "temperature"]


def too_sure(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Raw confidences, whether right, and the true probabilities; log-odds three times too large."""
    truth = rng.uniform(0.5, 0.99, n)
    odds = 3 * np.log(truth / (1 - truth))
    return 1 / (1 + np.exp(-odds)), rng.random(n) < truth, truth


def test_temperature_by_hand() -> None:
    # Everything at 0.9 (log-odds ln 9 = 2.197), 3 of 4 right (log-odds ln 3 = 1.099): half the log-odds.
    raw, right = [0.9] * 400, [True, True, True, False] * 100
    fitted = Calibrator("temperature").fit(raw, right)
    assert fitted.map_["slope"] == pytest.approx(0.5, abs=0.01)
    assert fitted.transform([0.9])[0] == pytest.approx(0.75, abs=0.005)


def test_isotonic_by_hand() -> None:
    # 0.6: 1 of 2 right, 0.7: 0 of 2, 0.9: 2 of 2. The first two violate the order: pooled to 1 of 4.
    raw = np.repeat([0.6, 0.7, 0.9], 20)
    right = np.concatenate([np.tile([1, 0], 10), np.zeros(20), np.ones(20)])
    found = Calibrator("isotonic").fit(raw, right).transform([0.6, 0.7, 0.9])
    assert found == pytest.approx([0.25, 0.25, 1.0], abs=2e-3)


def test_isotonic_is_scikit_learns_with_a_thousandth_of_platt(rng: np.random.Generator) -> None:
    from sklearn.isotonic import IsotonicRegression

    raw, right, _ = too_sure(rng, 500)
    new = np.linspace(0, 1, 101)
    steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(raw, right).predict(new)
    platt = Calibrator("platt").fit(raw, right).transform(new)
    found = Calibrator("isotonic").fit(raw, right).transform(new)
    np.testing.assert_allclose(found, 0.999 * steps + 0.001 * platt, rtol=0, atol=1e-12)
    assert 0 < np.abs(found - steps).max() <= 1e-3


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_a_confidence_that_is_too_sure_is_put_right(method: str, rng: np.random.Generator) -> None:
    raw, right, _ = too_sure(rng, 4000)
    new, new_right, _ = too_sure(rng, 4000)
    before = calibration_error(new, new_right)
    after = calibration_error(Calibrator(method).fit(raw, right).transform(new), new_right)
    assert before.low > 0.1
    assert after.high < 0.05


def test_the_choice_falls_on_the_shape_of_the_truth(rng: np.random.Generator) -> None:
    raw, right, _ = too_sure(rng, 3000)
    assert Calibrator().fit(raw, right).method_ == "temperature"
    shifted = rng.random(3000) < np.clip(raw**2 * 0.6, 0, 1)
    assert Calibrator().fit(raw, shifted).method_ in ("platt", "isotonic")
    step = rng.random(3000) < np.where(raw > 0.9, 0.95, 0.5)
    assert Calibrator().fit(raw, step).method_ == "isotonic"


@given(seed=st.integers(0, 2**32 - 1), method=st.sampled_from(METHODS), n=st.integers(20, 200))
@settings(max_examples=40, deadline=None)
def test_the_order_never_changes(seed: int, method: str, n: int) -> None:
    rng = np.random.default_rng(seed)
    raw = np.round(rng.random(n), 2)
    right = rng.random(n) < raw
    right[:2] = [True, False]
    new = np.sort(rng.random(100))
    found = Calibrator(method).fit(raw, right).transform(new)
    assert (np.diff(found) >= 0).all()
    assert ((found > 0) & (found < 1)).all()


def test_steps_do_not_become_ties(rng: np.random.Generator) -> None:
    raw, right, _ = too_sure(rng, 1000)
    found = Calibrator("isotonic").fit(raw, right).transform(raw)
    assert float(confidence_auc(found, right)) == pytest.approx(float(confidence_auc(raw, right)), abs=1e-12)


def test_a_confidence_that_runs_against_the_truth_becomes_a_constant(rng: np.random.Generator) -> None:
    raw = rng.uniform(0.5, 1, 500)
    right = rng.random(500) < 1.4 - raw
    found = Calibrator("platt").fit(raw, right).transform([0.5, 0.99])
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(right.mean(), abs=0.01)


def test_perfectly_separated_labels_have_a_map(rng: np.random.Generator) -> None:
    raw = np.concatenate([np.full(50, 0.2), np.full(50, 0.9)])
    low, high = Calibrator("platt").fit(raw, raw > 0.5).transform([0.2, 0.9])
    assert low < 0.05
    assert high > 0.95


@pytest.mark.parametrize(
    ("raw", "right", "error", "said"),
    [
        ([0.5] * 30, [True] * 30, ModelError, "30 of 30 calibration labels are right"),
        ([0.5] * 4, [True, False] * 2, ModelError, "at least 20"),
        ([1.5] * 30, [True, False] * 15, InputError, r"row[s]? 0 \(1.5\)"),
        ([0.5] * 30, [2] * 30, InputError, "True and False"),
        ([0.5] * 30, [True, False], InputError, "2 rows"),
    ],
)
def test_what_cannot_be_calibrated_is_said(raw: Any, right: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Calibrator().fit(raw, right)


def test_wrong_parameters_and_order_of_calls() -> None:
    with pytest.raises(InputError, match="'magic'"):
        Calibrator("magic").fit([0.5] * 30, [True, False] * 15)
    with pytest.raises(InputError, match="folds is 1"):
        Calibrator(folds=1).fit([0.5] * 30, [True, False] * 15)
    with pytest.raises(StateError, match="first call fit"):
        Calibrator().transform([0.5])


def test_calibration_error_by_hand() -> None:
    # Bins of 10: confidence .5 with 9 right (gap .4), confidence 1 with 9 right (gap -.1). Mean gap .25.
    right = [True] * 9 + [False]
    found = calibration_error([0.5] * 10 + [1.0] * 10, right + right)
    assert found.mean_gap == pytest.approx(0.25)
    assert found.bias == pytest.approx(-0.15)
    assert found.count.tolist() == [10, 10]
    assert found.correct == pytest.approx([0.9, 0.9])
    # Variance of a share in a bin: .9 x .1 / 9 = .01. Squares: (.16 - .01 + .01 - .01) / 2 = .075.
    assert found.value == pytest.approx(0.075**0.5)


def test_what_chance_alone_gives_stands_beside_the_mean_gap(rng: np.random.Generator) -> None:
    p = rng.uniform(0.5, 1, 3000)
    gaps = [calibration_error(p, rng.random(3000) < p) for _ in range(60)]
    assert np.mean([each.mean_gap for each in gaps]) == pytest.approx(gaps[0].mean_gap_by_chance, rel=0.1)


def covered(rng: np.random.Generator, shift: float, draws: int) -> float:
    """Share of the intervals that hold the root mean square gap of the bins."""
    hits = 0
    for _ in range(draws):
        given_ = rng.uniform(0.6, 0.9, 1500)
        found = calibration_error(given_, rng.random(1500) < given_ + shift)
        hits += found.low <= abs(shift) <= found.high
    return hits / draws


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.08])
def test_the_interval_covers(shift: float, rng: np.random.Generator) -> None:
    # 300 draws: a share of .95 has a standard error of .0126; .92 lies more than two below.
    assert covered(rng, shift, 300) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.03, 0.05, 0.08])
def test_the_interval_covers_more_exactly(shift: float, rng: np.random.Generator) -> None:
    # 4,000 draws: standard error .0034.
    assert covered(rng, shift, 4000) >= 0.945


def test_ten_rounds_of_recalibration_do_not_make_it_worse(rng: np.random.Generator) -> None:
    """Each round adds the labels that its people gave; the error on fresh items stays as it was."""
    raw, right, _ = too_sure(rng, 500)
    errors = []
    for _ in range(10):
        calibrator = Calibrator().fit(raw, right)
        new, new_right, _ = too_sure(rng, 20_000)
        errors.append(calibration_error(calibrator.transform(new), new_right).mean_gap)
        more, more_right, _ = too_sure(rng, 200)
        raw, right = np.append(raw, more), np.append(right, more_right)
    assert errors[-1] <= errors[0] + 0.005
    assert max(errors) < 0.05


@pytest.mark.parametrize(("extra", "said"), [({"bins": 0}, "bins is 0"), ({"level": 1.0}, "level is 1.0")])
def test_wrong_arguments_of_the_error(extra: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        calibration_error([0.5, 0.6], [True, False], **extra)
