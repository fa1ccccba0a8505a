"""EffortModel: scikit-learn manners, shares, quantiles, bad input."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import EffortModel
from hmc_crowd.errors import FrameError, InputError, MissingExtraError, ModelError, StateError

KINDS = ["random_forest", "xgboost"]


def need(kind: str) -> None:
    if kind == "xgboost":
        pytest.importorskip("xgboost")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    need(request.param)
    return request.param


def small(kind: str = "random_forest", **more: object) -> EffortModel:
    return EffortModel(kind, n_estimators=20, **more)


def test_learns_what_the_times_depend_on(kind, timed):
    X, seconds = timed
    model = small(kind).fit(X, seconds)
    assert model.score(X, seconds) > 0.85
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_.argmin() == list(model.feature_names_in_).index("noise")


def test_same_seed_same_model_other_seed_another(kind, timed):
    X, seconds = timed
    one, again = (small(kind, max_features=1).fit(X, seconds).predict(X) for _ in range(2))
    other = small(kind, max_features=1, seed=1).fit(X, seconds).predict(X)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_share_is_seconds_between_the_training_extremes(kind, timed):
    X, seconds = timed
    model = small(kind).fit(X, seconds)
    by_hand = (model.predict(X) - seconds.min()) / (seconds.max() - seconds.min())
    assert model.predict_share(X) == pytest.approx(np.clip(by_hand, 0, 1))
    assert (model.min_s_, model.max_s_) == (seconds.min(), seconds.max())


def test_predictions_are_never_negative(kind):
    X = pd.DataFrame({"turns": np.arange(60.0)})
    seconds = np.where(X["turns"] > 55, 1000.0, 0.0)
    assert (small(kind).fit(X, seconds).predict(pd.DataFrame({"turns": np.linspace(-50, 200, 300)})) >= 0).all()


def test_quantiles_rise_with_q_and_one_q_gives_a_vector(kind, timed):
    X, seconds = timed
    model = small(kind, quantiles=(0.9, 0.1, 0.5)).fit(X, seconds)
    spread = model.predict_quantile(X, [0.1, 0.5, 0.9])
    assert spread.shape == (len(X), 3)
    assert (np.diff(spread, axis=1) >= 0).all()
    assert np.array_equal(model.predict_quantile(X, 0.9), spread[:, 2])


def test_forest_quantiles_hold_on_new_rows():
    # Five times 600 new rows: standard errors .0055 near .9 and .009 near .5; the rest of the margin is for bias.
    covered = []
    for seed in range(5):
        draw = np.random.default_rng(seed)
        turns = draw.uniform(1, 10, 1600)
        seconds = 10 + turns * draw.lognormal(1.5, 0.5, 1600)
        model = EffortModel(n_estimators=20).fit({"turns": turns[:1000]}, seconds[:1000])
        spread = model.predict_quantile({"turns": turns[1000:]}, [0.1, 0.5, 0.9])
        covered.append((seconds[1000:, None] <= spread).mean(axis=0))
    assert np.mean(covered, axis=0) == pytest.approx([0.1, 0.5, 0.9], abs=0.03)


def test_boosted_trees_know_only_the_quantiles_they_were_fitted_for(timed):
    need("xgboost")
    X, seconds = timed
    with pytest.raises(InputError, match=r"q is 0.75, .* fitted for \(0.5, 0.9\)"):
        small("xgboost").fit(X, seconds).predict_quantile(X, 0.75)


def test_without_quantiles_no_spread_is_learnt(kind, timed):
    X, seconds = timed
    model = small(kind, quantiles=()).fit(X, seconds)
    assert np.array_equal(model.predict(X), small(kind).fit(X, seconds).predict(X))
    with pytest.raises(InputError, match="and fit again"):
        model.predict_quantile(X, 0.5)


def test_columns_are_found_by_name_in_any_order(kind, timed):
    X, seconds = timed
    model = small(kind).fit(X, seconds)
    turned = X[["noise", "approval_ranking", "turns"]].assign(extra="text")
    assert np.array_equal(model.predict(turned), model.predict(X))


def test_a_feature_group_picks_its_columns(timed):
    X, seconds = timed
    X = X.assign(worker_test_score=1.0)
    model = small(features="W").fit(X, seconds)
    assert list(model.feature_names_in_) == ["worker_test_score", "approval_ranking"]


def test_arrays_work_without_names(timed):
    X, seconds = timed
    plain = small().fit(X.to_numpy(), seconds)
    assert np.array_equal(plain.predict(X.to_numpy()), small().fit(X, seconds).predict(X))
    assert list(plain.feature_names_in_) == ["x0", "x1", "x2"]


def test_polars_frames_work(timed):
    polars = pytest.importorskip("polars")
    X, seconds = timed
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X})
    assert np.array_equal(small().fit(frame, seconds).predict(frame), small().fit(X, seconds).predict(X))


def test_unknown_feature_values_are_allowed(kind, timed):
    X, seconds = timed
    X = X.assign(turns=X["turns"].where(X.index % 3 > 0))
    model = small(kind).fit(X, seconds)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict_quantile(X, 0.9)).all()


def test_a_row_of_weight_zero_is_as_good_as_absent_for_the_quantiles():
    # 10 s and 99 s in turn on one constant feature; the 99 s rows weigh nothing, so even P99 is 10 s.
    X, seconds = {"same": np.zeros(40)}, np.tile([10.0, 99.0], 20)
    model = small().fit(X, seconds, sample_weight=np.tile([1.0, 0.0], 20))
    assert model.predict_quantile({"same": [0.0]}, 0.99).tolist() == [10.0]
    assert model.predict({"same": [0.0]}) == pytest.approx(10.0)


def test_no_rows_give_no_predictions(kind, timed):
    X, seconds = timed
    model = small(kind).fit(X, seconds)
    assert model.predict(X.iloc[:0]).shape == (0,)
    assert model.predict_quantile(X.iloc[:0], [0.5, 0.9]).shape == (0, 2)


def test_the_callers_table_is_not_written_to(timed):
    X, seconds = timed
    before, times = X.copy(), seconds.copy()
    small().fit(X, seconds).predict(X)
    pd.testing.assert_frame_equal(X, before)
    assert np.array_equal(seconds, times)


def test_scikit_learn_can_clone_search_and_cross_validate(timed):
    from sklearn.base import clone, is_regressor
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, seconds = timed
    model = small(quantiles=(0.5,), features=["turns", "approval_ranking"])
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert twin is not model
    assert is_regressor(model)
    assert cross_val_score(model, X, seconds, cv=3).shape == (3,)
    search = GridSearchCV(small(), {"max_features": [1, 3]}, cv=2).fit(X, seconds)
    assert search.best_params_["max_features"] in {1, 3}
    assert make_pipeline(StandardScaler(), small()).fit(X.to_numpy(), seconds).score(X.to_numpy(), seconds) > 0.8


def test_set_params_waits_for_the_next_fit(timed):
    X, seconds = timed
    model = small().fit(X, seconds)
    before = model.predict(X)
    assert model.set_params(n_estimators=3) is model
    assert np.array_equal(model.predict(X), before)
    with pytest.raises(InputError, match="no parameter 'trees'"):
        model.set_params(trees=3)


def test_a_failed_fit_leaves_the_old_model_whole(timed):
    X, seconds = timed
    model = small().fit(X, seconds)
    before = model.predict(X)
    with pytest.raises(ModelError):
        model.fit(X, np.full(len(X), 5.0))
    assert np.array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"seconds": [1.0] * 11 + [np.nan]}, InputError, r"seconds must be finite .* row 11 \(nan\)"),
        ({"seconds": [1.0] * 10 + [-3.0, 2.0]}, InputError, r"seconds .* row 10 \(-3.0\)"),
        ({"seconds": [1.0, 2.0]}, InputError, "seconds has"),
        ({"seconds": ["long"] * 12}, InputError, "seconds must hold numbers"),
        ({"seconds": [4.0] * 12}, ModelError, "all 12 times are 4 s"),
        ({"X": {"turns": [1.0, np.inf] * 6}}, FrameError, r"X column turns holds infinite .* rows 1 \(inf\)"),
        ({"X": {"turns": ["a"] * 12}}, FrameError, "X column turns must hold numbers"),
        ({"X": np.zeros(12)}, InputError, r"X has shape \(12,\)"),
        ({"X": 5}, FrameError, "X is a int; give a pandas, polars or pyarrow table"),
        ({"weight": [0.0] * 12}, InputError, "sample_weight is 0 everywhere"),
        ({"weight": [1.0]}, InputError, "has 12 rows but sample_weight has 1"),
        ({"kind": "forest"}, InputError, "kind is 'forest'; use 'random_forest' or 'xgboost'"),
        ({"kind": ["forest"]}, InputError, "kind is"),
        ({"n_estimators": 0}, InputError, "n_estimators is 0"),
        ({"max_features": 2.5}, InputError, "max_features is 2.5"),
        ({"seed": -1}, InputError, "seed is -1"),
        ({"n_jobs": 0}, InputError, "n_jobs is 0"),
        ({"quantiles": (0.5, 1.0)}, InputError, "quantiles holds 1; a quantile lies between 0 and 1"),
        ({"features": "D+Z"}, InputError, "'Z' is no group"),
        ({"features": ["turns", "turns"]}, InputError, "names turns more than once"),
        ({"features": ["turns", "length", "age"]}, FrameError, r"X lacks the columns length, age \(it has: turns\)"),
    ],
)
def test_bad_input_is_one_sentence_that_names_it(change, error, words):
    X = change.pop("X", {"turns": np.arange(12.0)})
    seconds = change.pop("seconds", np.arange(12.0))
    weight = change.pop("weight", None)
    with pytest.raises(error, match=words):
        EffortModel(**({"n_estimators": 2} | change)).fit(X, seconds, sample_weight=weight)


def test_too_few_rows_say_how_many_are_needed():
    with pytest.raises(ModelError, match="only 9 timed rows; collect at least 10"):
        EffortModel().fit({"turns": np.arange(9.0)}, np.arange(9.0))


def test_predicting_without_a_column_names_it(timed):
    X, seconds = timed
    with pytest.raises(FrameError, match="X lacks the column noise"):
        small().fit(X, seconds).predict(X[["turns", "approval_ranking"]])


def test_predicting_an_array_of_another_width_is_refused(timed):
    X, seconds = timed
    with pytest.raises(InputError, match="X has 2 columns but the model was fitted on 3"):
        small().fit(X, seconds).predict(X.to_numpy()[:, :2])


@pytest.mark.parametrize("call", ["predict", "predict_share", "predict_quantile", "to_bytes"])
def test_an_unfitted_model_asks_for_fit(call, timed):
    with pytest.raises(StateError, match="first call fit"):
        getattr(EffortModel(), call)(*(() if call == "to_bytes" else (timed[0],)))


def test_without_xgboost_the_pip_line_is_told(monkeypatch, timed):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with warnings.catch_warnings(), pytest.raises((MissingExtraError, ImportError), match="xgboost"):
        small("xgboost").fit(*timed)


def test_the_hash_names_the_training_data(timed):
    X, seconds = timed
    one, again = small().fit(X, seconds).data_hash_, small(seed=1).fit(X.copy(), seconds.copy()).data_hash_
    assert one == again
    changed = seconds.copy()
    changed[0] += 1
    assert small().fit(X, changed).data_hash_ != one
    assert small().fit(X.rename(columns={"turns": "items"}), seconds).data_hash_ != one
