"""Stopping: the bound holds by simulation, and an uncalibrated posterior stops nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, calibrate, certify_stopping
from hmc_crowd.aggregation._stopping import _replayed, _upper
from hmc_crowd.errors import ModelError

COLUMNS = ["task", "worker", "label"]


def crowd(
    rng: np.random.Generator, tasks: int, workers: int = 30, redundancy: int = 9
) -> tuple[pd.DataFrame, np.ndarray]:
    """Workers of mixed skill; every third task is hard, which the model does not know."""
    truth = rng.integers(0, 2, tasks)
    skill = rng.beta(8, 2.5, workers)
    who = np.stack([rng.choice(workers, redundancy, replace=False) for _ in range(tasks)])
    right = (
        rng.random((tasks, redundancy))
        < np.where(np.arange(tasks) % 3 == 0, 0.5, 1.0)[:, None] * (skill[who] - 0.5) + 0.5
    )
    label = np.where(right, truth[:, None], 1 - truth[:, None])
    task = np.repeat(np.arange(tasks), redundancy)
    return pd.DataFrame({"task": task, "worker": who.ravel(), "label": label.ravel()}), truth


def share_of_broken_bounds(seed: int, runs: int, max_error: float, level: float) -> tuple[float, float, float]:
    """How often the error of stopped items exceeds the bound, on items that are not gold; and answers per item."""
    broken, asked, stopped = [], [], []
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        answers, truth = crowd(rng, 2500)
        gold = pd.Series(truth[:600])
        try:
            rule = certify_stopping(answers, gold, max_error=max_error, level=level, rng=rng)
        except ModelError:
            continue
        # run the rule on the others, answer by answer, under the same worker tables
        model = DawidSkene().fit(answers)
        errors = np.log(model.errors_.to_numpy().reshape(-1, 2, 2))
        place = {worker: number for number, worker in enumerate(model.skills_.index)}
        rest = answers[answers["task"] >= 600]
        who = rest["worker"].map(place).to_numpy().reshape(-1, 9)
        said = rest["label"].to_numpy().reshape(-1, 9)
        joint = np.cumsum(errors[who, said], axis=1) + np.log(model.priors_.to_numpy())
        posterior = np.exp(joint - joint.max(axis=2, keepdims=True))
        posterior /= posterior.sum(axis=2, keepdims=True)
        sure = rule.calibration.apply(pd.DataFrame(posterior.reshape(-1, 2), columns=[0, 1])).probabilities.to_numpy()
        sure = sure.reshape(posterior.shape)
        over = sure.max(axis=2) >= rule.threshold
        stops = over.any(axis=1)
        look = over.argmax(axis=1)
        label = sure[np.arange(len(sure)), look].argmax(axis=1)
        broken.append((label != truth[600:])[stops].mean() > max_error)
        asked.append(np.where(stops, look + 1, 9).mean())
        stopped.append(stops.mean())
    return float(np.mean(broken)), float(np.mean(asked)), float(np.mean(stopped))


def test_the_error_of_stopped_items_stays_under_the_bound() -> None:
    broken, asked, stopped = share_of_broken_bounds(1, 6, 0.1, 0.9)
    assert broken <= 0.34  # nominal .1 of 6 runs: at most 2
    assert asked < 7  # of 9
    assert stopped > 0.7


@pytest.mark.slow
def test_the_bound_holds_at_its_level() -> None:
    # 120 runs, nominal .1: Monte Carlo error .027
    broken, asked, _ = share_of_broken_bounds(2, 120, 0.1, 0.9)
    assert broken <= 0.1 + 2 * 0.027
    assert asked < 7


def small_rule() -> tuple:
    rng = np.random.default_rng(5)
    answers, truth = crowd(rng, 800)
    return certify_stopping(answers, pd.Series(truth[:600]), max_error=0.15, rng=rng), answers, truth


def test_an_uncalibrated_posterior_stops_nothing() -> None:
    rule, answers, truth = small_rule()
    model = DawidSkene().fit(answers)
    with pytest.raises(ValueError, match="not calibrated"):
        rule.decide(model.probabilities_, model.n_answers_)
    other = calibrate(model, pd.Series(truth[:100])).apply(model)
    with pytest.raises(ValueError, match="another calibration"):
        rule.decide(other, model.n_answers_)


def test_decisions_are_stop_ask_or_expert() -> None:
    rule, answers, _ = small_rule()
    few = answers[(answers["task"] >= 600) & (answers.groupby("task").cumcount() < 2)]
    more = answers[(answers["task"] >= 700)]
    model = DawidSkene().fit(pd.concat([answers[answers["task"] < 600], few[few["task"] < 700], more]))
    action = rule.decide(rule.calibration.apply(model), model.n_answers_)
    assert set(action) <= {"stop", "ask", "expert"}
    assert (action[action.index >= 700] != "ask").all()
    unsure = rule.calibration.apply(model).confidence < rule.threshold
    assert (action[(action.index < 700) & (action.index >= 600) & unsure] == "ask").all()


def test_a_bound_out_of_reach_is_said_with_what_was_reached() -> None:
    rng = np.random.default_rng(6)
    answers, truth = crowd(rng, 100)
    with pytest.raises(ModelError, match="collect more gold"):
        certify_stopping(answers, pd.Series(truth[:60]), max_error=0.01, rng=rng)


def test_replaying_by_hand() -> None:
    # item 0 passes .9 at its second look, and is right; item 1 at its first, wrong; item 2 never: 3 looks
    confidence = np.array([0.7, 0.95, 0.99, 0.92, 0.95, 0.6, 0.7, 0.8])
    right = np.array([False, True, True, False, True, True, True, True])
    found = _replayed(confidence, right, np.array([0, 3, 5, 8]), np.arange(3), threshold=0.9, low=1, high=9)
    assert found == (2, 1, (2 + 1 + 3) / 3)


def test_the_exact_bound() -> None:
    # 0 wrong of 59: 1 - .05^(1/59)
    assert _upper(0, 59, 0.95) == pytest.approx(1 - 0.05 ** (1 / 59))
