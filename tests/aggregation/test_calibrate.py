"""Calibration on gold: what it repairs, what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, calibrate, with_witness
from hmc_crowd.aggregation._calibrate_core import calibration_error, sampling_band
from hmc_crowd.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path


def overconfident(n: int, k: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Posteriors whose log odds are three times too large."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.2, (n, k))
    honest = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = (rng.random(n)[:, None] > honest.cumsum(axis=1)).sum(axis=1)
    said = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    return pd.DataFrame(said, columns=range(k)), pd.Series(np.minimum(truth, k - 1))


def error_of(posterior: pd.DataFrame, truth: pd.Series) -> float:
    values = posterior.loc[truth.index].to_numpy()
    return calibration_error(values.max(axis=1), values.argmax(axis=1) == truth.to_numpy())


def test_calibration_error_by_hand() -> None:
    # bins: .95, .95 (one right): |1.9 - 1| = .9; .55 (right): |.55 - 1| = .45; together 1.35 / 3
    found = calibration_error(np.array([0.95, 0.95, 0.55]), np.array([True, False, True]))
    assert found == pytest.approx(0.45)


@pytest.mark.parametrize("k", [2, 4])
def test_overconfidence_is_repaired(k: int) -> None:
    said, truth = overconfident(4000, k)
    found = calibrate(said, truth[:2000])
    rest = truth[2000:]
    assert found.slope < 0.5
    assert error_of(found.apply(said).probabilities, rest) < 0.03 < 0.1 < error_of(said, rest)


def test_probabilities_add_up_and_never_claim_more_than_gold_can_show() -> None:
    said = pd.DataFrame({0: [1.0] * 60, 1: [0.0] * 60})
    found = calibrate(said, pd.Series(0, index=range(30))).apply(said)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert found.confidence.max() < 1 - 1 / 100


def test_label_names_and_row_order_do_not_matter() -> None:
    said, truth = overconfident(300, 3)
    names = {0: "b", 1: "c", 2: "a"}
    one = calibrate(said, truth[:150]).apply(said).probabilities
    other = said.rename(columns=names)[["a", "b", "c"]].sample(frac=1, random_state=1)
    two = calibrate(other, truth[:150].map(names).sample(frac=1, random_state=2)).apply(other).probabilities
    np.testing.assert_allclose(one.to_numpy(), two.loc[one.index, list(names.values())].to_numpy(), atol=1e-6)


def test_weights_count_gold_as_often_as_they_say() -> None:
    said, truth = overconfident(200, 2)
    weight = np.where(np.arange(100) < 50, 3.0, 1.0)
    one = calibrate(said, truth[:100], weights=weight)
    assert one.slope != pytest.approx(calibrate(said, truth[:100]).slope, rel=1e-6)
    with pytest.raises(ValueError, match="one per item"):
        calibrate(said, truth[:100], weights=[1.0])


def test_too_little_gold_is_no_calibration() -> None:
    said, truth = overconfident(100, 2)
    with pytest.raises(ModelError, match="fewer than 20"):
        calibrate(said, truth[:19])


def test_gold_that_taught_the_fit_is_refused() -> None:
    answers = pd.DataFrame([(t, w, t % 2) for t in range(60) for w in "uv"], columns=["task", "worker", "label"])
    gold = {t: t % 2 for t in range(30)}
    with pytest.raises(ValueError, match="was given to fit"):
        calibrate(DawidSkene().fit(answers, gold), gold)


def test_labels_made_with_a_model_are_refused() -> None:
    answers = pd.DataFrame([(t, w, t % 2) for t in range(60) for w in "uv"], columns=["task", "worker", "label"])
    predictions = pd.DataFrame({"item": range(60), "p_0": 0.4, "p_1": 0.6})
    with pytest.raises(ValueError, match="with_model"):
        calibrate(with_witness(answers, predictions), {t: t % 2 for t in range(60)})


def test_a_calibration_is_for_its_labels_only() -> None:
    said, truth = overconfident(100, 2)
    with pytest.raises(ValueError, match="same labels"):
        calibrate(said, truth).apply(said.rename(columns={0: 5}))


def mean_error(folder: Path, splits: int) -> tuple[float, float]:
    answers = pd.read_csv(folder / "answers.csv")
    model = DawidSkene(repeats="all").fit(answers)
    truth = pd.read_csv(folder / "truth.csv").set_index("task")["label"]
    truth = truth[truth.index.isin(model.labels_.index) & truth.isin(model.probabilities_.columns)]
    errors, bands = [], []
    rng = np.random.default_rng(0)
    for _ in range(splits):
        order = rng.permutation(len(truth))
        gold, rest = truth.iloc[order[: len(truth) // 2]], truth.iloc[order[len(truth) // 2 :]]
        found = calibrate(model, gold).apply(model)
        errors.append(
            error_of(found.probabilities.set_axis(range(found.probabilities.shape[1]), axis=1), _codes(rest, model))
        )
        bands.append(sampling_band(found.confidence[rest.index].to_numpy()))
    return float(np.mean(errors)), float(np.mean(bands))


def _codes(truth: pd.Series, model: DawidSkene) -> pd.Series:
    return pd.Series(model.probabilities_.columns.get_indexer(truth), index=truth.index)


@pytest.mark.parametrize(("name", "most"), [("d_product", 0.03), ("zencrowd_in", 0.04)])
def test_open_data_are_calibrated(crowd_dir: Path, name: str, most: float) -> None:
    assert mean_error(crowd_dir / name, 3)[0] <= most


@pytest.mark.slow
def test_all_open_data_are_calibrated_to_their_sampling_band(crowd_dir: Path) -> None:
    limits = {"d_product": 0.03, "sp": 0.03, "zencrowd_in": 0.04}
    found = {folder.name: mean_error(folder, 20) for folder in sorted(crowd_dir.iterdir()) if folder.is_dir()}
    for name, (error, band) in found.items():
        assert error <= limits.get(name, band), (name, error, band)
