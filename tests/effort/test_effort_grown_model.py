"""The model on log seconds: time-outs, workers' speeds, calibrated quantiles, saving."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import EffortModel, clustered_mean
from hmc_crowd.effort._boosted_trees import BoostedTrees
from hmc_crowd.effort._censored import completed
from hmc_crowd.effort._conformal import conformal_offset, worker_folds
from hmc_crowd.effort._log_time import LogTime
from hmc_crowd.effort._shrink import WorkerEffects, variance_components
from hmc_crowd.errors import InputError, ModelError


def crowd(seed: int, *, workers: int = 40, rows: int = 10, between: float = 0.4, within: float = 0.3, again=False):
    """Times of a crowd: 20 s and 6 s a turn, log-normal speeds of workers and of single tasks."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(workers), rows)
    speed = draw.normal(0, between, workers)
    if again:  # the same people on other work
        draw = np.random.default_rng(seed + 1000)
    turns = draw.integers(2, 11, len(who)).astype(float)
    logs = np.log(20 + 6 * turns) + speed[who] + draw.normal(0, within, len(who))
    return pd.DataFrame({"turns": turns}), np.exp(logs), who


def grown(**params) -> EffortModel:
    return EffortModel("log_time", n_estimators=10, **params)


def mean_only() -> EffortModel:
    return grown(quantiles=())


@pytest.fixture(scope="module")
def known():
    """A model that knows 12 workers with 20 rows each, its rows, and who worked."""
    X, seconds, who = crowd(7, workers=12, rows=20)
    return grown().fit(X, seconds, workers=who), X, seconds, who


# -- time-outs -------------------------------------------------------------------------------------------------------


def test_finished_times_stay_and_cut_ones_lie_beyond_their_bound(rng):
    logs = rng.normal(4, 0.5, 400)
    cut = np.minimum(logs, 4.3)
    done = logs <= 4.3
    filled = completed(cut, done, np.ones(400), lambda t: np.full(400, t.mean()), seed=1)
    assert np.array_equal(filled[done], logs[done])
    assert (filled[~done] >= 4.3).all()


def test_completed_times_have_the_spread_of_the_uncut_ones(rng):
    # A normal cut at its upper quarter: mean 4, standard deviation .5; cut as they are they would be 3.89 and .36.
    logs = rng.normal(4, 0.5, 4000)
    bound = 4 + 0.6745 * 0.5
    filled = completed(
        np.minimum(logs, bound), logs <= bound, np.ones(4000), lambda t: np.full(4000, t.mean()), steps=30, seed=1
    )
    assert filled.mean() == pytest.approx(4, abs=0.04)
    assert filled.std() == pytest.approx(0.5, abs=0.04)


def test_time_outs_bring_p90_back():
    X, seconds, _ = crowd(1, between=0.0, within=0.5)
    limit = float(np.quantile(seconds, 0.8))
    done, cut = seconds <= limit, np.minimum(seconds, limit)
    asked = pd.DataFrame({"turns": np.arange(6.0, 11)})
    # The upper tenth of a normal law begins 1.2816 standard deviations above its middle.
    true = np.log(20 + 6 * asked["turns"].to_numpy()) + 1.2816 * 0.5

    def bias(model: EffortModel) -> float:
        return float((np.log(model.predict_quantile(asked, 0.9)) - true).mean())

    told = bias(grown().fit(X, cut, finished=done))
    taken = bias(grown().fit(X, cut))
    dropped = bias(grown().fit(X[done], seconds[done]))
    assert abs(told) < 0.15
    assert taken < -0.3
    assert dropped < -0.3


def test_without_time_outs_the_flag_changes_nothing():
    X, seconds, who = crowd(2, workers=10)
    plain = mean_only().fit(X, seconds, workers=who).predict(X)
    assert np.array_equal(plain, mean_only().fit(X, seconds, workers=who, finished=np.ones(100)).predict(X))


# -- workers ---------------------------------------------------------------------------------------------------------


def test_variances_by_hand():
    # Residuals (1, 3), (5, 7): within 2; means 2 and 6, squares 2 * (4 + 4) / 1 = 16, n0 = 2: (16 - 2) / 2 = 7.
    assert variance_components(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1])) == (2.0, 7.0)


def test_effects_are_shrunken_by_hand():
    # The same four residuals less their mean 4: means -2 and 2, weight 2 * 7 / (2 * 7 + 2) = 7/8, effects -+1.75;
    # what is left unknown of each is 7 / 8.
    effects = WorkerEffects.fit(["a", "a", "b", "b"], np.array([-3.0, -1.0, 1.0, 3.0]), np.ones(4))
    assert effects.names == ("a", "b")
    assert effects.effect.tolist() == [-1.75, 1.75]
    assert effects.variance.tolist() == [0.875, 0.875]


def test_one_submission_moves_less_than_twenty(rng):
    who = np.array(["one", *["many"] * 20, *np.repeat([f"w{k}" for k in range(30)], 10)])
    residual = np.concatenate([[1.0], np.full(20, 1.0), np.repeat(rng.normal(0, 0.5, 30), 10)])
    residual = residual + rng.normal(0, 0.5, len(residual)) * (np.arange(len(residual)) > 20)
    found = WorkerEffects.fit(who, residual, np.ones(len(who)))
    effects = dict(zip(found.names, found.effect, strict=True))
    assert 0 < effects["one"] < effects["many"] < 1


def test_mean_seconds_of_known_workers_keep_their_sum(known):
    model, X, _, who = known
    assert model.predict(X, workers=who).sum() == pytest.approx(model.predict(X).sum())


def test_knowing_the_worker_helps(known):
    model, _, _, who = known
    later, later_s, _ = crowd(7, workers=12, rows=20, again=True)
    blind = np.abs(model.predict_quantile(later, 0.5) - later_s).mean()
    seeing = np.abs(model.predict_quantile(later, 0.5, workers=who) - later_s).mean()
    assert seeing < 0.85 * blind


def test_a_worker_never_seen_is_anyone(known):
    model, X, _, _ = known
    stranger = ["nobody"] * len(X)
    assert np.array_equal(model.predict(X, workers=stranger), model.predict(X))
    assert np.array_equal(model.predict_quantile(X, 0.9, workers=stranger), model.predict_quantile(X, 0.9))


def test_p90_of_a_known_worker_is_nearer_to_the_median(known):
    model, X, _, who = known
    mine = model.predict_quantile(X, [0.5, 0.9], workers=who)
    anyone = np.exp(model._core.trees.log_quantiles(X.to_numpy()))
    assert (mine[:, 1] / mine[:, 0]).mean() < (anyone[:, 1] / anyone[:, 0]).mean()


# -- calibration -----------------------------------------------------------------------------------------------------


def test_offset_by_hand():
    # Ten rows, q = .9: .9 * 11 / 10 = .99, the tenth of ten scores; with a hundred: .909, the 91st.
    assert conformal_offset(np.arange(10.0), np.ones(10), 0.9) == 9
    assert conformal_offset(np.arange(100.0), np.ones(100), 0.9) == 90


def test_interval_over_workers_is_wider_than_over_rows(rng):
    who = np.repeat(np.arange(20), 50)
    kept = (rng.uniform(size=20)[who] > 0.2).astype(float)
    (low, high), (row_low, row_high) = clustered_mean(kept, who)[1], clustered_mean(kept)[1]
    assert high - low > 5 * (row_high - row_low)


def test_folds_never_share_a_worker_and_are_even(rng):
    who = rng.integers(0, 50, 1000)
    folds = worker_folds(who, 4, 1)
    assert all(len(set(folds[who == worker])) == 1 for worker in range(50))
    assert np.bincount(folds).min() > 0.7 * 250


def test_quantiles_are_in_order_and_times_positive():
    X, seconds, _ = crowd(8, workers=3)
    spread = grown(quantiles=(0.1, 0.5, 0.9)).fit(X, seconds).predict_quantile(X, [0.1, 0.5, 0.9])
    assert (np.diff(spread, axis=1) >= 0).all()
    assert (spread > 0).all()


def test_a_logged_zero_is_half_a_second():
    X, seconds, _ = crowd(9, workers=3)
    seconds = np.where(np.arange(len(seconds)) % 3 == 0, 0.0, seconds)
    assert np.isfinite(grown().fit(X, seconds).predict_quantile(X, 0.5)).all()


def test_weights_count(rng):
    turns = pd.DataFrame({"turns": rng.integers(1, 3, 300).astype(float)})
    quick = rng.uniform(size=300) < 0.5
    seconds = np.where(quick, 10.0, 100.0) * rng.lognormal(0, 0.05, 300)
    weight = np.where(quick, 1.0, 9.0)
    model = grown().fit(turns, seconds, weight)
    # Nine of ten parts of the weight took 100 s: a mean of .1 * 10 + .9 * 100 = 91, and a slow median.
    assert model.predict(turns).mean() == pytest.approx(91, rel=0.05)
    assert model.predict_quantile(turns, 0.5).mean() == pytest.approx(100, rel=0.1)


# -- errors and saving -----------------------------------------------------------------------------------------------


def test_boosted_trees_walk_as_scikit_learn_does(rng):
    from sklearn.ensemble import HistGradientBoostingRegressor

    X = rng.normal(size=(300, 3))
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(0, 0.1, 300)
    own = BoostedTrees.fit(X, y, np.ones(300), quantile=0.9, min_samples_leaf=5, seed=1)
    bare = HistGradientBoostingRegressor(
        loss="quantile",
        quantile=0.9,
        max_iter=100,
        learning_rate=0.1,
        max_depth=3,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=1,
    ).fit(X, y, sample_weight=np.ones(300))
    fresh = np.vstack([X, rng.normal(size=(200, 3)) * 3])
    assert own.predict(fresh) == pytest.approx(bare.predict(fresh), abs=1e-12)


def test_saved_and_loaded_it_says_the_same(known):
    model, X, _, who = known
    again = EffortModel.from_bytes(model.to_bytes())
    assert again.kind == "log_time"
    assert np.array_equal(model.predict(X, workers=who), again.predict(X, workers=who))
    assert np.array_equal(model.predict_quantile(X, [0.5, 0.9]), again.predict_quantile(X, [0.5, 0.9]))


@pytest.mark.parametrize(
    ("part", "damage", "said"),
    [
        ("left", lambda a: a + 10_000, "left is out of range"),
        ("feature", lambda a: a + 7, "feature is out of range"),
        ("roots", lambda a: a - 1, "roots is out of range"),
        ("value", lambda a: a * np.nan, "value is not finite"),
    ],
)
def test_a_damaged_tree_is_refused(known, part, damage, said):
    state = known[0]._core.state()
    state["boosted"] = [dict(each) for each in state["boosted"]]
    state["boosted"][0][part] = damage(state["boosted"][0][part])
    assert said in LogTime.from_state(state).problems(1)


def test_workers_say_nothing_to_the_papers_forest():
    X, seconds, who = crowd(12, workers=6)
    with pytest.raises(InputError, match="workers says nothing to kind 'random_forest'"):
        EffortModel().fit(X, seconds, workers=who)


def test_asking_about_people_it_was_not_told_of():
    X, seconds, who = crowd(13, workers=6)
    with pytest.raises(InputError, match="workers were not named"):
        mean_only().fit(X, seconds).predict(X, workers=who)


def test_a_quantile_it_was_not_fitted_for(known):
    with pytest.raises(InputError, match=r"0\.75.*fitted for"):
        known[0].predict_quantile(known[1], 0.75)


@pytest.mark.parametrize("finished", [np.full(60, 2.0), np.zeros(60)])
def test_finished_must_be_true_or_false_and_true_for_some(finished):
    X, seconds, _ = crowd(15, workers=6)
    with pytest.raises(InputError, match="finished must be"):
        grown().fit(X, seconds, finished=finished)


def test_too_few_rows():
    with pytest.raises(ModelError, match="only 5 timed rows"):
        grown().fit({"turns": [1.0] * 5}, [1.0, 2.0, 3.0, 4.0, 5.0])


def test_the_smallest_crowd_works():
    X, seconds, who = crowd(16, workers=2, rows=5)
    assert (grown().fit(X, seconds, workers=who).predict_quantile(X, [0.5, 0.9]) > 0).all()
