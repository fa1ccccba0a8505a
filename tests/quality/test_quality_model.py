"""Features from the past alone, a split that leaks nothing, a model that says when it beats nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.quality import (
    FEATURES,
    WorkerQualityModel,
    load_quality_model,
    quality_features,
    save_quality_model,
    split_by_worker_and_time,
)

if TYPE_CHECKING:
    from pathlib import Path

TIMES = pd.date_range("2026-01-05", periods=40, freq="6h", tz="UTC")


def checks(worker: str, right: list[bool]) -> pd.DataFrame:
    return pd.DataFrame({"worker": worker, "right": right, "at": TIMES[: len(right)]})


def test_features_by_hand() -> None:
    # before the fifth check: right 3 of 4; agreement 1 of 2; both together, by time: halves of 6 checks
    gold, agreement = checks("ann", [True, False, True, True, False]), checks("ann", [True, False])
    work = pd.DataFrame({"worker": "ann", "at": TIMES[[0, 1, 4]], "seconds": [10.0, 40.0, 1.0]})
    row = quality_features(["ann"], [TIMES[4]], gold=gold, agreement=agreement, work=work).iloc[0]
    assert row["accuracy"] == 0.75
    assert (row["n_gold"], row["agreement"], row["n_agreement"]) == (4, 0.5, 2)
    # the mean of ln 10 and ln 40 is ln 20; both within one day of the last seven
    assert np.exp(row["response_log_s"]) == pytest.approx(20)
    assert row["availability"] == pytest.approx(1 / 7)
    # in order of time: T T | F F | T T: halves 2/3 and 2/3
    assert row["consistency"] == pytest.approx(1.0)


def test_nothing_from_the_instant_on_changes_a_feature() -> None:
    short, long = checks("ann", [True, False]), checks("ann", [True, False, True, True, True])
    one, two = (quality_features(["ann"], [TIMES[2]], gold=each)[list(FEATURES)] for each in (short, long))
    pd.testing.assert_frame_equal(one, two)


def test_an_unknown_worker_has_no_bad_features() -> None:
    row = quality_features(["new"], [TIMES[3]], gold=checks("ann", [True])).iloc[0]
    assert np.isnan(row["accuracy"])
    assert row["n_gold"] == 0


def test_wrong_features_are_named() -> None:
    gold = checks("ann", [True])
    with pytest.raises(InputError, match="as_of has 2 rows but workers has 1"):
        quality_features(["ann"], TIMES[:2], gold=gold)
    work = pd.DataFrame({"worker": ["ann"], "at": TIMES[:1], "seconds": [0.0]})
    with pytest.raises(FrameError, match="drop this row"):
        quality_features(["ann"], TIMES[:1], gold=gold, work=work)


def test_the_split_shares_no_worker_and_no_time() -> None:
    workers = np.tile(np.arange(10), 4)
    split = split_by_worker_and_time(workers, TIMES, rng=np.random.default_rng(0))
    assert not set(workers[split.fit]) & set(workers[split.check])
    assert TIMES[split.fit].max() < split.moment <= TIMES[split.check].min()
    assert split.left_out == 40 - split.fit.sum() - split.check.sum()


def test_one_worker_cannot_be_split() -> None:
    with pytest.raises(InputError, match="at least two"):
        split_by_worker_and_time(["ann"] * 4, TIMES[:4], rng=np.random.default_rng(0))


def crowd(workers: int, each: int, seed: int, *, telling: bool = True) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Features that tell the true rate with noise, outcomes, and the true rates of the rows."""
    rng = np.random.default_rng(seed)
    true = rng.beta(6.0, 2.0, workers)
    past = rng.binomial(20, true) / 20
    rows = np.repeat(np.arange(workers), each)
    features = pd.DataFrame(np.nan, index=range(len(rows)), columns=list(FEATURES))
    features["accuracy"] = past[rows] if telling else rng.random(len(rows))
    features.insert(0, "worker", rows)
    return features, rng.random(len(rows)) < true[rows], true[rows]


def fitted(workers: int, seed: int, **settings: object) -> tuple[WorkerQualityModel, pd.DataFrame]:
    features, right, _ = crowd(workers, 20, seed)
    times = np.tile(pd.date_range("2026-01-05", periods=20, freq="D", tz="UTC"), workers)
    model = WorkerQualityModel(n_estimators=30, **settings)  # type: ignore[arg-type]
    return model.fit(features, right, features["worker"].tolist(), times), features


def check_cover(workers: int, n_new: int) -> None:
    model, _ = fitted(workers, 1)
    new, _, true = crowd(n_new, 1, 2)
    found = model.predict(new)
    covered = ((found["low"] <= true) & (true <= found["high"])).mean()
    assert 0.88 <= covered <= 0.995
    # Calibrated: the mean prediction of each third is the mean truth, to three hundredths and the noise.
    for part in np.array_split(np.argsort(found["quality"].to_numpy(), kind="stable"), 3):
        assert found["quality"].iloc[part].mean() == pytest.approx(true[part].mean(), abs=0.05)


def test_quality_is_calibrated_and_its_interval_covers_new_workers() -> None:
    check_cover(300, 400)


@pytest.mark.slow
def test_quality_is_calibrated_on_many_workers() -> None:
    check_cover(2000, 4000)


def test_the_model_says_whether_the_features_tell_anything() -> None:
    assert fitted(150, 3)[0].report_.better_than_pool
    features, right, _ = crowd(150, 20, 3, telling=False)
    times = np.tile(pd.date_range("2026-01-05", periods=20, freq="D", tz="UTC"), 150)
    report = WorkerQualityModel(n_estimators=20).fit(features, right, features["worker"].tolist(), times).report_
    assert not report.better_than_pool
    assert "NO better than" in str(report)


def test_the_sources_settings_are_the_defaults() -> None:
    model = WorkerQualityModel()
    assert (model.kind, model.n_estimators, model.max_depth, model.seed) == ("random_forest", 100, 10, 42)


def test_boosted_trees_have_the_same_manners() -> None:
    pytest.importorskip("xgboost")
    model, features = fitted(150, 5, kind="xgboost")
    found = model.predict(features.iloc[:3])
    assert found.columns.tolist() == ["worker", "quality", "low", "high"]
    assert ((found["low"] < found["quality"]) & (found["quality"] < found["high"])).all()


def test_the_same_data_give_the_same_model() -> None:
    one, two = fitted(60, 7)[0], fitted(60, 7)[0]
    features, _, _ = crowd(20, 1, 8)
    pd.testing.assert_frame_equal(one.predict(features), two.predict(features))


@pytest.mark.parametrize("kind", ["random_forest", "xgboost"])
def test_it_comes_back_from_disk(kind: str, tmp_path: Path) -> None:
    if kind == "xgboost":
        pytest.importorskip("xgboost")
    model, features = fitted(60, 9, kind=kind)
    save_quality_model(model, tmp_path / "quality.skops")
    again = load_quality_model(tmp_path / "quality.skops")
    pd.testing.assert_frame_equal(again.predict(features), model.predict(features))
    assert again.report_ == model.report_
    assert [file.name for file in tmp_path.iterdir()] == ["quality.skops"]


def test_a_strange_file_is_refused(tmp_path: Path) -> None:
    import skops.io

    file = tmp_path / "quality.skops"
    with pytest.raises(ModelError, match="cannot be read"):
        load_quality_model(file)
    file.write_bytes(b"no file of ours")
    with pytest.raises(ModelError, match="no worker quality that can be read"):
        load_quality_model(file)
    file.write_bytes(skops.io.dumps({"format": "another"}))
    with pytest.raises(ModelError, match="fit it again"):
        load_quality_model(file)
    file.write_bytes(skops.io.dumps({"format": print}))
    with pytest.raises(ModelError, match=r"never write|no model that can be read"):
        load_quality_model(file)


def test_one_class_teaches_nothing_and_says_what_to_use() -> None:
    features, right, _ = crowd(30, 20, 1)
    times = np.tile(pd.date_range("2026-01-05", periods=20, freq="D", tz="UTC"), 30)
    with pytest.raises(ModelError, match=r"are right: .* use worker_quality"):
        WorkerQualityModel().fit(features, np.ones(len(right), dtype=bool), features["worker"].tolist(), times)


def test_misuse_is_one_sentence() -> None:
    features, right, _ = crowd(30, 20, 1)
    with pytest.raises(StateError, match="first call fit"):
        WorkerQualityModel().predict(features)
    with pytest.raises(StateError, match="first call fit"):
        save_quality_model(WorkerQualityModel(), "never-written")
    with pytest.raises(InputError, match="kind is 'forest'"):
        WorkerQualityModel("forest")  # type: ignore[arg-type]
    with pytest.raises(FrameError, match="lacks the column accuracy"):
        WorkerQualityModel().fit(features.drop(columns="accuracy"), right, [], [])
    with pytest.raises(InputError, match="3 rows for 600"):
        WorkerQualityModel().fit(features, right[:3], [], [])


@pytest.mark.parametrize("setting", ["n_estimators", "max_depth", "min_samples_leaf"])
def test_settings_out_of_range_are_refused_before_any_work(setting: str) -> None:
    with pytest.raises(InputError, match=f"{setting} is 0"):
        WorkerQualityModel(**{setting: 0})  # type: ignore[arg-type]
