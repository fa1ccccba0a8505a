"""Sure labels: what is called sure is wrong in no more than was asked for, and with too little gold nothing is sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, EarlyStops, sure_labels
from hmc_crowd.aggregation._sure import _replayed, gold_needed
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ["task", "worker", "label"]


def crowd(
    rng: np.random.Generator, tasks: int, *, answers: int = 5, workers: int = 25, hard: float = 0.3
) -> tuple[pd.DataFrame, np.ndarray]:
    """Workers of mixed skill, and hard tasks that the model knows nothing of; ``turn`` orders a task's answers."""
    truth = rng.integers(0, 2, tasks)
    skill = rng.beta(12, 2, workers)
    who = np.stack([rng.choice(workers, answers, replace=False) for _ in range(tasks)])
    ease = np.where(rng.random(tasks) < hard, 0.6, 1.0)[:, None]
    label = np.where(rng.random(who.shape) < ease * (skill[who] - 0.5) + 0.5, truth[:, None], 1 - truth[:, None])
    table = pd.DataFrame({"task": np.repeat(np.arange(tasks), answers), "worker": who.ravel(), "label": label.ravel()})
    return table.assign(turn=table.groupby("task").cumcount()), truth


def asked_until_sure(
    pool: pd.DataFrame, gold: pd.Series, *, error: float, low: int = 2, high: int = 5
) -> tuple[pd.DataFrame, pd.Series]:
    """Play the rounds of a campaign: gold is asked in full, the others until they are sure."""
    rng = np.random.default_rng(0)
    asked = pd.Series(low, index=pool["task"].unique())
    asked[gold.index] = high
    for _ in range(high):
        now = pool[pool["turn"].to_numpy() < pool["task"].map(asked).to_numpy()]
        found = sure_labels(
            now[COLUMNS],
            gold,
            error=error,
            rng=rng,
            min_answers=low,
            max_answers=high,
            labels=sorted(set(pool["label"])),
        ).frame
        again = found.index[~found["is_sure"] & (found["n_answers"] < high) & ~found.index.isin(gold.index)]
        if again.empty:
            break
        asked[again] += 1
    others = ~found.index.isin(gold.index)
    return found[others], asked[~asked.index.isin(gold.index)]


def errors_of_sure(seed: int, runs: int, *, error: float, gold: int) -> tuple[list[float], list[float]]:
    """Share of wrong labels among the sure ones, run by run, and the answers an item took."""
    rng = np.random.default_rng(seed)
    wrong, took = [], []
    for _ in range(runs):
        pool, truth = crowd(rng, 600 + gold)
        found, asked = asked_until_sure(pool, pd.Series(truth[:gold]), error=error)
        sure = found[found["is_sure"]]
        if len(sure):
            wrong.append(float((sure["label"] != truth[sure.index]).mean()))
        took.append(float(asked.mean()))
    return wrong, took


def test_sure_labels_are_wrong_no_more_than_asked_for() -> None:
    wrong, took = errors_of_sure(3, 4, error=0.1, gold=100)
    # 4 runs of about 500 sure labels each: Monte Carlo error of their mean .007
    assert np.mean(wrong) <= 0.1 + 2 * 0.007
    assert np.mean(took) < 4  # of 5


@pytest.mark.slow
@pytest.mark.parametrize(("error", "gold"), [(0.05, 60), (0.05, 200), (0.1, 40), (0.1, 100)])
def test_the_error_holds_over_crowds(error: float, gold: int) -> None:
    wrong, _ = errors_of_sure(7, 40, error=error, gold=gold)
    # on average, and with a margin of one half in nearly every crowd: no bound is promised of a single one
    assert np.mean(wrong) <= error
    assert np.mean(np.array(wrong) > 1.5 * error) <= 0.1


def test_with_too_little_gold_nothing_is_sure_and_it_is_said() -> None:
    pool, truth = crowd(np.random.default_rng(1), 200, hard=0.0)
    rng = np.random.default_rng(0)
    for known in (None, pd.Series(truth[:19])):
        found = sure_labels(pool[COLUMNS], known, error=0.1, rng=rng)
        assert not found.frame["is_sure"].any()
        assert "20 are needed" in found.why_none
        assert found.frame["confidence"].isna().all()
    assert sure_labels(pool[COLUMNS], pd.Series(truth[:60]), error=0.1, rng=rng).frame["is_sure"].any()


def test_gold_that_stops_at_wrong_labels_calls_nothing_sure() -> None:
    pool, truth = crowd(np.random.default_rng(2), 300)
    upside_down = pd.Series(np.where(np.arange(60) % 4 == 0, 1 - truth[:60], truth[:60]))
    found = sure_labels(pool[COLUMNS], upside_down, error=0.05, rng=np.random.default_rng(0))
    assert found.threshold is None
    assert not found.frame["is_sure"].any()
    assert "asking goes on" in found.why_none


def test_nothing_is_sure_before_the_first_look() -> None:
    pool, truth = crowd(np.random.default_rng(4), 300, hard=0.0)
    few = pool[(pool["task"] < 80) | (pool["turn"] < 2)]
    found = sure_labels(few[COLUMNS], pd.Series(truth[:80]), error=0.1, rng=np.random.default_rng(0), min_answers=3)
    assert found.threshold is not None
    assert not found.frame.loc[80:, "is_sure"].any()


def test_how_much_gold_an_error_takes() -> None:
    # n right of n leave 1 / (n + 2): .05 = 1 / (18 + 2), but never fewer than 20; .01 = 1 / (98 + 2)
    assert [gold_needed(error) for error in (0.1, 0.05, 0.02, 0.01)] == [20, 20, 48, 98]


def test_replaying_by_hand() -> None:
    from types import SimpleNamespace

    # looks from the second answer to the third; label 1 is right for all
    # task 0 passes .9 at its second answer with label 1; task 1 at its third with label 0: wrong; task 2 never (3 of
    # its 4 answers are looked at, the fourth would pass); task 3 has two answers and passes at none
    best = [0.99, 0.95, 0.5, 0.5, 0.6, 0.08, 0.5, 0.6, 0.7, 0.99, 0.5, 0.6]
    sure = np.array([[1 - one, one] for one in best])
    coded = SimpleNamespace(starts=np.array([0, 3, 6, 10, 12]))
    found = _replayed(coded, sure, np.arange(4), np.ones(4, dtype=int), (2, 3), 0.9)
    assert found == EarlyStops(4, 2, 1, (2 + 3 + 3 + 2) / 4)


def test_the_replay_of_items_with_all_answers_takes_no_others() -> None:
    pool, truth = crowd(np.random.default_rng(6), 300)
    few = pool[(pool["task"] != 299) | (pool["turn"] < 3)]
    found = sure_labels(few[COLUMNS], pd.Series(truth[:100]), error=0.1, rng=np.random.default_rng(0))
    stops = found.replay(range(100, 299))
    assert stops.items == 199
    assert stops.wrong <= stops.stopped <= 199
    assert 2 <= stops.mean_answers <= 5
    assert stops.wrong / stops.stopped <= stops.wrong_at_most()
    with pytest.raises(InputError, match="fewer than 5"):
        found.replay([299])


@pytest.mark.parametrize(
    "bad", [{"error": 0.0}, {"error": 0.5}, {"error": True}, {"min_answers": 6}, {"max_answers": 0}]
)
def test_what_makes_no_sense_is_refused(bad: dict) -> None:
    pool, truth = crowd(np.random.default_rng(1), 30)
    with pytest.raises(InputError):
        sure_labels(pool[COLUMNS], pd.Series(truth), **{"error": 0.05, "rng": np.random.default_rng(0), **bad})


def test_one_label_is_never_sure() -> None:
    answers = pd.DataFrame({"task": np.repeat(np.arange(30), 2), "worker": [0, 1] * 30, "label": "yes"})
    found = sure_labels(answers, dict.fromkeys(range(30), "yes"), error=0.05, rng=np.random.default_rng(0))
    assert not found.frame["is_sure"].any()
    assert "one label" in found.why_none


@pytest.mark.slow
def test_recorded_crowds_save_answers_at_equal_accuracy(crowd_dir: Path) -> None:
    saved, lost = recorded(crowd_dir / "sp", error=0.1, gold=200, seeds=6)
    # sentences by sentiment, five answers each: a fifth of the answers or more, for at most half a point of accuracy
    assert np.mean(saved) > 0.2
    assert np.mean(lost) < 0.005


def recorded(folder: Path, *, error: float, gold: int, seeds: int, high: int = 5) -> tuple[list[float], list[float]]:
    """Ask recorded people until sure; return the share of answers saved and the accuracy lost against all ``high``."""
    answers = pd.read_csv(folder / "answers.csv").drop_duplicates(["task", "worker"])
    truth = pd.read_csv(folder / "truth.csv").set_index("task")["label"]
    saved, lost = [], []
    for seed in range(seeds):
        pool = answers[answers["task"].isin(truth.index)].sample(frac=1, random_state=seed)
        pool["turn"] = pool.groupby("task").cumcount()
        pool = pool[(pool.groupby("task")["turn"].transform("size") >= high) & (pool["turn"] < high)]
        items = np.random.default_rng(seed).permutation(pool["task"].unique())
        found, asked = asked_until_sure(pool, truth[items[:gold]], error=error)
        full = DawidSkene().fit(pool[COLUMNS]).labels_
        lost.append(
            float((full[found.index] == truth[found.index]).mean() - (found["label"] == truth[found.index]).mean())
        )
        saved.append(1 - float(asked.mean()) / high)
    return saved, lost
