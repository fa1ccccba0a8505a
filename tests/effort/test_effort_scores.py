"""Cross-validation: folds, groups, scales, notes; correlations; ablation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import (
    EffortModel,
    ablation,
    regression_scores,
    select_features,
    time_correlations,
)
from hmc_crowd.errors import FrameError, InputError


def test_scores_by_hand():
    # Errors 0, .5, -.25 -> squares 0, .25, .0625: MSE .3125 / 3; MAE .75 / 3 = .25.
    # Truth 0, 1, .5: mean .5, squares .25, .25, 0 -> .5 / 3; R2 = 1 - .3125 / .5 = .375. In seconds all times 40.
    truth, guess = np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.5, 0.75])
    scores = regression_scores(truth, guess, 10 + 40 * truth, 10 + 40 * guess)
    assert (scores.n, scores.mse, scores.mae, scores.r2) == pytest.approx((3, 0.3125 / 3, 0.25, 0.375))
    assert scores.rmse == pytest.approx((0.3125 / 3) ** 0.5)
    assert (scores.mse_s2, scores.mae_s, scores.r2_s) == pytest.approx((1600 * 0.3125 / 3, 10, 0.375))


def test_r2_of_a_constant_truth_is_undefined():
    assert np.isnan(regression_scores([0.3, 0.3], [0.1, 0.2], [5, 5], [4, 6]).r2)


def test_evaluate_agrees_with_scikit_learn(timed):
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
    from sklearn.model_selection import KFold, cross_val_predict

    X, seconds = timed
    model = EffortModel(n_estimators=10)
    scores = model.evaluate(X, seconds, scaling="all")
    held = cross_val_predict(model, X, seconds, cv=KFold(5, shuffle=True, random_state=397))
    width = np.ptp(seconds)
    assert scores.r2 == pytest.approx(r2_score(seconds, held), abs=1e-9)
    assert scores.mse == pytest.approx(mean_squared_error(seconds, held) / width**2)
    assert scores.rmse == pytest.approx(scores.mse**0.5)
    assert scores.mae == pytest.approx(mean_absolute_error(seconds, held) / width)
    assert scores.pooled.mae_s == pytest.approx(mean_absolute_error(seconds, held))


def test_the_scale_comes_from_the_training_fold_by_default():
    # One time of 1000 s among 10 to 59 s. In the fold that holds it out the training maximum is below 60, so its true
    # share is near 20; on the scale of all rows it is 1.
    X, seconds = {"turns": np.arange(50.0)}, np.arange(10.0, 60.0)
    seconds[30] = 1000.0
    model = EffortModel(n_estimators=5)
    train, literal = (model.evaluate(X, seconds, scaling=scale, coverage=False) for scale in ("train", "all"))
    assert max(fold.mse for fold in train.folds) > 10
    assert max(fold.mse for fold in literal.folds) < 1
    assert train.pooled.rmse_s == pytest.approx(literal.pooled.rmse_s)
    assert train.r2 == pytest.approx(train.pooled.r2_s)


def test_every_row_is_held_out_once(timed):
    X, seconds = timed
    scores = EffortModel(n_estimators=2).evaluate(X, seconds, folds=7, coverage=False)
    assert len(scores.folds) == 7
    assert sum(fold.n for fold in scores.folds) == scores.pooled.n == scores.mean.n == 200
    assert scores.mean.mse == pytest.approx(np.mean([fold.mse for fold in scores.folds]))


def test_groups_are_never_on_both_sides(monkeypatch, timed):
    X, seconds = timed
    worker = X["approval_ranking"].map("worker {}".format).to_numpy()
    seen: list[set[str]] = []
    of_row = dict(zip(seconds, worker, strict=True))
    fit, predict = EffortModel.fit, EffortModel.predict

    def spy_fit(self, rows, times, sample_weight=None):
        seen.append({of_row[t] for t in times})
        return fit(self, rows, times, sample_weight)

    def spy_predict(self, rows):
        assert not seen[-1] & set(rows["approval_ranking"].map("worker {}".format))
        return predict(self, rows)

    monkeypatch.setattr(EffortModel, "fit", spy_fit)
    monkeypatch.setattr(EffortModel, "predict", spy_predict)
    EffortModel(n_estimators=2).evaluate(X, seconds, folds=4, groups=worker, coverage=False)
    assert len(seen) == 4


def test_a_feature_that_names_the_worker_helps_only_while_workers_return():
    # 40 workers of quite different speed, whose number says nothing about it: only known workers can be looked up.
    draw = np.random.default_rng(11)
    worker = np.repeat(np.arange(40), 10)
    speed = draw.permutation(np.linspace(0.5, 3, 40))
    seconds = 30 * speed[worker] * draw.lognormal(0, 0.05, 400)
    model = EffortModel(n_estimators=10)
    known = model.evaluate({"worker": worker}, seconds, coverage=False)
    fresh = model.evaluate({"worker": worker}, seconds, groups=worker, coverage=False)
    assert known.r2 > 0.9
    assert fresh.r2 < 0.3
    assert "never seen before" in fresh.assumptions[0]


def test_groups_give_the_same_folds_in_any_row_order(timed, rng):
    X, seconds = timed
    order = rng.permutation(len(X))
    model = EffortModel("random_forest", n_estimators=1, max_features=3)
    one = model.evaluate(X, seconds, groups=X["approval_ranking"], coverage=False)
    two = model.evaluate(X.iloc[order], seconds[order], groups=X["approval_ranking"].iloc[order], coverage=False)
    assert [fold.n for fold in one.folds] == [fold.n for fold in two.folds]


def test_coverage_is_the_share_of_held_out_times_within_the_quantile(timed):
    X, seconds = timed
    scores = EffortModel(n_estimators=20, quantiles=(0.1, 0.9)).evaluate(X, seconds)
    assert list(scores.coverage) == [0.1, 0.9]
    assert scores.coverage[0.1] < 0.3
    assert scores.coverage[0.9] > 0.7


def test_evaluate_does_not_touch_the_model(timed):
    model = EffortModel(n_estimators=2)
    model.evaluate(*timed, coverage=False)
    assert not hasattr(model, "data_hash_")


@pytest.mark.parametrize(("r2", "word"), [(0.2601, "above"), (0.26, "not above"), (0.1, "not above")])
def test_cohens_mark_is_a_note(timed, r2, word):
    scores = EffortModel(n_estimators=2).evaluate(*timed, coverage=False)
    changed = dataclasses.replace(scores, pooled=dataclasses.replace(scores.pooled, r2=r2))
    assert f" is {word} 0.26" in changed.note
    assert changed.note in str(changed)


def test_scores_become_a_table(timed):
    frame = EffortModel(n_estimators=2).evaluate(*timed, coverage=False).to_frame()
    assert list(frame.index) == ["fold 1", "fold 2", "fold 3", "fold 4", "fold 5", "mean", "pooled"]
    assert list(frame.columns) == ["n", "mse", "rmse", "mae", "r2", "mse_s2", "rmse_s", "mae_s", "r2_s"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"folds": 1}, "folds is 1; give a whole number from 2"),
        ({"folds": 500}, "folds is 500"),
        ({"scaling": "test"}, "scaling is 'test'"),
        ({"groups": ["a"] * 199}, "has 200 rows but groups has 199"),
        ({"groups": ["a"] * 100 + ["b"] * 100}, "groups has 2 different values but folds is 5"),
        ({"groups": [None] * 200}, "groups has missing values"),
    ],
)
def test_bad_arguments_of_evaluate(timed, change, words):
    with pytest.raises(InputError, match=words):
        EffortModel(n_estimators=2).evaluate(*timed, **change)


def test_correlations_by_hand():
    # x = 1, 2, 3, 4, 5; t = 2, 1, 4, 3, 10: deviations -2..2 and -2, -3, 0, -1, 6; products 4 + 3 + 0 - 1 + 12 = 18;
    # squares 10 and 50; r = 18 / sqrt(500) = .80498. Ranks 2, 1, 4, 3, 5: rho = 1 - 6 * (1+1+1+1+0) / (5 * 24) = .8.
    row = time_correlations({"x": [1, 2, 3, 4, 5]}, [2.0, 1.0, 4.0, 3.0, 10.0]).loc["x"]
    assert row["pearson"] == pytest.approx(18 / 500**0.5)
    assert row["spearman"] == pytest.approx(0.8)
    assert row["n"] == 5


@pytest.mark.parametrize(("p", "mark"), [(0.0009, "**"), (0.001, "*"), (0.049, "*"), (0.05, ""), (float("nan"), "")])
def test_stars(p, mark):
    from hmc_crowd.effort._relation import stars

    assert stars(p) == mark


def test_missing_values_are_left_out_of_their_feature_alone():
    table = time_correlations({"a": [1, 2, 3, np.nan], "b": [1, 2, 3, 4]}, [1.0, 2.0, 3.0, 100.0])
    assert table["n"].tolist() == [3, 4]
    assert table.loc["a", "pearson"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("feature", "seconds", "reason"),
    [
        ([3, 3, 3], [1, 2, 3], "the feature does not vary"),
        ([1, 2, 3], [5, 5, 5], "the time does not vary"),
        ([1, np.nan, np.nan], [1, 2, 3], "fewer than 3 rows"),
    ],
)
def test_an_undefined_correlation_has_a_reason(feature, seconds, reason):
    row = time_correlations({"x": feature}, seconds).loc["x"]
    assert np.isnan(row["pearson"])
    assert np.isnan(row["spearman"])
    assert row["reason"] == reason


def test_selection_keeps_the_strongest_related_features(rng):
    seconds = rng.uniform(10, 100, 300)
    X = {
        "weak": seconds + rng.normal(0, 60, 300),
        "strong": seconds + rng.normal(0, 5, 300),
        "none": rng.normal(size=300),
    }
    assert select_features(X, seconds, level=0.001) == ("strong", "weak")
    assert select_features(X, seconds, limit=1) == ("strong",)


def test_ablation_uses_the_same_folds_and_reports_the_change(timed):
    X, seconds = timed
    model = EffortModel(n_estimators=5)
    got = ablation(model, X, seconds, sets={"D": ["turns"], "D+W": ["turns", "approval_ranking"]})
    alone = EffortModel(n_estimators=5, features=["turns"]).evaluate(X, seconds)
    assert got.scores["D"].r2 == alone.r2
    frame = got.to_frame()
    assert frame.loc["D", "mse_change_pct"] == 0
    assert frame.loc["D+W", "mse_change_pct"] == pytest.approx(100 * (got.scores["D+W"].mse / got.scores["D"].mse - 1))
    assert got.scores["D+W"].r2 > got.scores["D"].r2


def test_ablation_names_missing_columns(timed):
    with pytest.raises(FrameError, match="X lacks the columns"):
        ablation(EffortModel(n_estimators=2), *timed)


def test_ablation_needs_a_set(timed):
    with pytest.raises(InputError, match="sets is empty"):
        ablation(EffortModel(n_estimators=2), *timed, sets={})


def test_correlation_table_keeps_the_callers_frame(timed):
    X, seconds = timed
    before = X.copy()
    time_correlations(X, seconds)
    pd.testing.assert_frame_equal(X, before)
