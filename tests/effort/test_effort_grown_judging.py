"""Champion and challenger, drift, back-test, which times train, and how much each counts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import (
    EffortModel,
    backtest_total,
    compare_losses,
    compare_models,
    drift_report,
    held_out_quantiles,
    inclusion_weights,
    pinball_loss,
    predict_over_pool,
    training_times,
)
from hmc_crowd.effort._drift import stability_index
from hmc_crowd.errors import InputError


class Fixed:
    """Says the same of every row; enough of a model for the drift report."""

    feature_names_in_ = np.array(["turns"], dtype=object)

    def predict_quantile(self, X, q):
        return np.tile([10.0, 20.0], (len(X), 1))


def noisy(rng, n=200):
    turns = rng.uniform(1, 10, n)
    return pd.DataFrame({"turns": turns, "noise": rng.normal(size=n)}), (20 + 8 * turns) * rng.lognormal(0, 0.15, n)


def forest(**params) -> EffortModel:
    return EffortModel(n_estimators=5, **params)


# -- champion and challenger -----------------------------------------------------------------------------------------


def test_pinball_by_hand():
    # q .9: 4 s too short costs .9 * 4, 5 s too long .1 * 5.
    assert pinball_loss([14.0, 5.0], [10.0, 10.0], 0.9) == pytest.approx([3.6, 0.5])


def test_paired_change_by_hand():
    # Champion P50 = P90 = 10 for times 10, 20: losses 0 and 5 + 9 = 14; the challenger is right: 0 and 0.
    found = compare_losses([10.0, 20.0], [[10.0, 10.0], [10.0, 10.0]], [[10.0, 10.0], [20.0, 20.0]])
    assert (found.champion_loss, found.challenger_loss, found.change) == pytest.approx((7, 0, -7))
    assert (found.champion_mae_s, found.challenger_mae_s) == (5, 0)


def test_the_same_rows_of_one_worker_are_one_piece_of_evidence(rng):
    seconds = rng.uniform(10, 20, 40)
    better, worse = np.column_stack([seconds, seconds]), np.column_stack([seconds + 3, seconds + 3])
    mixed = np.where((np.arange(40) < 28)[:, None], better, worse + 3)
    champion = np.where((np.arange(40) < 28)[:, None], worse, better)
    assert not compare_losses(seconds, champion, mixed, workers=np.arange(40) // 14).better
    assert compare_losses(seconds, worse, better, workers=np.arange(40) // 4).better


def test_one_worker_decides_nothing():
    found = compare_losses([10.0, 20.0], np.full((2, 2), 50.0), [[10.0, 10.0], [20.0, 20.0]], workers=["a", "a"])
    assert not found.better
    assert np.isnan(found.interval[1])


def test_an_equal_challenger_seldom_wins():
    wins = 0
    for seed in range(400):
        draw = np.random.default_rng(seed)
        seconds, who = draw.lognormal(3, 0.5, 120), np.arange(120) // 4
        pair = [np.column_stack([20 * draw.lognormal(0, 0.3, 30)[who], np.full(120, 40.0)]) for _ in range(2)]
        wins += compare_losses(seconds, *pair, workers=who).better
    # One-sided 5 % of 400 is 20; three standard deviations of 4.4 above it is 33.
    assert wins <= 33


def test_held_out_rows_are_predicted_without_their_worker(rng):
    who = np.arange(240) % 6
    X = pd.DataFrame({"worker": who.astype(float)})
    seconds = 10.0 + 50 * (who == 5) + rng.uniform(0, 1, 240)
    with_worker = held_out_quantiles(forest(), X, seconds)
    assert with_worker[who == 5, 0].min() > 50
    assert held_out_quantiles(forest(), X, seconds, groups=who)[who == 5, 0].max() < 20


def test_only_the_rows_asked_for_come_back(rng):
    X, seconds = noisy(rng, 60)
    later = np.arange(60) >= 40
    assert held_out_quantiles(forest(), X, seconds, rows=later).shape == (20, 2)


def test_compared_in_the_same_folds(rng):
    X, seconds = noisy(rng)
    same = compare_models(forest(), forest(), X, seconds)
    assert (same.change, same.better) == (0, False)
    assert compare_models(forest(features=["noise"]), forest(), X, seconds, workers=np.arange(200) // 10).better


def test_it_says_which_is_better():
    found = compare_losses([10.0] * 9, np.full((9, 2), 30.0), np.column_stack([np.arange(9) + 8.0] * 2))
    assert str(found).startswith("the challenger is better: loss")
    assert found.to_frame().loc["champion", "mae_s"] == 20


def test_shapes_are_checked():
    with pytest.raises(InputError, match="challenger has shape"):
        compare_losses([1.0, 2.0], np.ones((2, 2)), np.ones((2, 1)))


# -- drift -----------------------------------------------------------------------------------------------------------


def test_speed_and_tail_by_hand():
    # Predicted 10 and 20 s. Times 20, 20, 5, 5: logs of 2, 2, 1/2, 1/2 cancel, all within P90.
    report = drift_report(Fixed(), pd.DataFrame({"turns": [1.0] * 4}), [20.0, 20.0, 5.0, 5.0])
    row = report.periods.iloc[0]
    assert (row["speed"], row["p90"], row["n"]) == (pytest.approx(1), 1, 4)
    assert not report.drifted


def test_slower_people_are_seen_in_the_period_where_they_come(rng):
    seconds = np.concatenate([10 * rng.lognormal(0, 0.3, 200), 14 * rng.lognormal(0, 0.3, 200)])
    report = drift_report(
        Fixed(),
        pd.DataFrame({"turns": np.ones(400)}),
        seconds,
        periods=np.repeat([1, 2], 200),
        workers=np.arange(400) // 10,
    )
    assert report.periods["drifted"].tolist() == [False, True]
    assert report.periods.loc[2, "speed"] == pytest.approx(1.4, abs=0.1)


def test_a_heavy_tail_alone_is_drift(rng):
    seconds = np.where(np.arange(400) % 4 == 0, 40.0, 10 * 0.63)
    report = drift_report(Fixed(), pd.DataFrame({"turns": np.ones(400)}), seconds)
    assert report.periods["p90"].iloc[0] == 0.75
    assert report.drifted


def test_other_work_is_seen_in_the_features(rng):
    X, old = pd.DataFrame({"turns": rng.normal(5, 1, 300)}), pd.DataFrame({"turns": rng.normal(2, 1, 300)})
    seconds = 10 * rng.lognormal(0, 0.2, 300)
    assert drift_report(Fixed(), X, seconds, reference=old).features["moved"].tolist() == [True]
    assert drift_report(Fixed(), X, seconds, reference=X).features["moved"].tolist() == [False]


def test_stability_index_of_equal_values_is_0():
    values = np.array([1.0, 2.0, np.nan, 4.0])
    assert stability_index(values, values) == 0


# -- back-test -------------------------------------------------------------------------------------------------------


def test_total_of_the_same_people_is_met(rng):
    X, seconds = noisy(rng, 400)
    found = backtest_total(forest(), X, seconds, rng=rng, n_campaigns=5)
    assert found.median_error < 0.05
    assert len(found.errors) == 5


def test_a_crew_never_seen_is_harder_to_foresee(rng):
    who = np.arange(300) // 30
    X = pd.DataFrame({"worker": who.astype(float)})
    seconds = 10.0 * 2.0 ** (who % 4) * rng.lognormal(0, 0.1, 300)
    same = backtest_total(forest(), X, seconds, rng=rng, workers=who, n_campaigns=6)
    fresh = backtest_total(forest(), X, seconds, rng=rng, workers=who, unseen_workers=True, n_campaigns=6)
    assert same.median_error < fresh.median_error
    assert "workers never seen" in str(fresh)


def test_unseen_workers_need_workers(rng):
    with pytest.raises(InputError, match="unseen_workers needs workers"):
        backtest_total(forest(), {"turns": np.ones(20)}, np.arange(20.0), rng=rng, unseen_workers=True)


# -- which times, and how much each counts -----------------------------------------------------------------------------

ROWS = {
    "task": ["d", "d", "d", "e"],
    "worker": ["a", "b", "c", "a"],
    "label": ["x", "x", "y", "x"],
    "seconds": [50.0, 70.0, 10.0, 40.0],
}


def test_all_paid_times_train_and_agreement_is_a_feature():
    times = training_times(ROWS, {"d": "x"})
    assert (times.n_kept, times.bias) == (4, 0)
    assert times.frame["agrees"].tolist()[:3] == [1, 1, 0]
    assert np.isnan(times.frame["agrees"].iloc[3])


def test_the_papers_preset_shows_its_bias(rng):
    # Kept: b's 70 of d (the better score) and a's 40 of e, mean 55; of all four 42.5: 29.4 % more.
    times = training_times(ROWS, {"d": "x", "e": "x"}, preset="paper", rng=rng, scores={"a": 0.8, "b": 0.9, "c": 1.0})
    assert times.frame["seconds"].tolist() == [70, 40]
    assert times.bias == pytest.approx(55 / 42.5 - 1)
    assert "+29.4%" in str(times)


def test_agreement_is_averaged_out_when_planning(rng):
    agrees = rng.uniform(size=300) < 0.8
    X = pd.DataFrame({"turns": np.full(300, 3.0), "agrees": agrees.astype(float)})
    model = EffortModel(n_estimators=10).fit(X, np.where(agrees, 60.0, 20.0))
    pool = {"agrees": [1.0, 0.0]}
    # Nobody knows yet who will agree: .8 * 60 + .2 * 20 = 52.
    assert predict_over_pool(model, {"turns": [3.0]}, pool, weights=[0.8, 0.2])[0] == pytest.approx(52)


@pytest.mark.parametrize("given", [{"preset": "best"}, {"preset": "paper"}])
def test_presets_that_cannot_be(given):
    with pytest.raises(InputError, match="preset"):
        training_times(ROWS, **given)


def test_weights_by_hand():
    # 1/1, 1/1, 1/.5 = 2: mean 4/3, so .75, .75, 1.5.
    assert inclusion_weights([1.0, 1.0, 0.5]).tolist() == [0.75, 0.75, 1.5]


def test_a_thin_chance_is_bounded():
    assert inclusion_weights([1.0, 0.001], most=20)[1] == 20 * inclusion_weights([1.0, 0.001])[0]


def test_what_nobody_could_see_has_no_time():
    with pytest.raises(InputError, match=r"probability is 0 in row 1"):
        inclusion_weights([0.5, 0.0])


def test_weights_undo_the_choice_of_the_plan():
    # Doubtful items take twice as long and are always asked, the others one in ten.
    draw = np.random.default_rng(3)
    doubtful = draw.uniform(size=4000) < 0.3
    seconds = np.where(doubtful, 80.0, 40.0) * draw.lognormal(0, 0.1, 4000)
    asked = doubtful | (draw.uniform(size=4000) < 0.1)
    chance = np.where(doubtful, 1.0, 0.1)[asked]
    X = pd.DataFrame({"constant": np.ones(int(asked.sum()))})
    weighted = forest(quantiles=()).fit(X, seconds[asked], inclusion_weights(chance)).predict(X[:1])[0]
    plain = forest(quantiles=()).fit(X, seconds[asked]).predict(X[:1])[0]
    assert abs(weighted / seconds.mean() - 1) < 0.03
    assert plain / seconds.mean() - 1 > 0.2
