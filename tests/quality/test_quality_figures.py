"""What it must reach on recorded answers: quality raises accuracy over majority and over unweighted Dawid-Skene."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, MajorityVote, WeightedMajorityVote
from hmc_crowd.quality import answer_weights, screen_workers, worker_quality

SETS = ("cf_amt", "sp", "s4_dog", "zencrowd_in")
GOLD_SHARE = 0.2


def crowd_folder() -> Path:
    base = Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (base / "crowd").is_dir():
        pytest.skip(f"no crowd data sets under {base}; set HMC_CROWD_DATA")
    return base / "crowd"


def one_order(name: str, seed: int) -> dict[str, float]:
    """Accuracy off the gold of one seeded order: one answer per worker and task, the first in the order."""
    folder, rng = crowd_folder() / name, np.random.default_rng(seed)
    answers = pd.read_csv(folder / "answers.csv")[["task", "worker", "label"]]
    truth = pd.read_csv(folder / "truth.csv").set_index("task")["label"]
    answers = answers.iloc[rng.permutation(len(answers))].drop_duplicates(["task", "worker"])
    drawn = rng.permutation(len(truth))[: round(GOLD_SHARE * len(truth))]
    gold, rest = truth.iloc[drawn], truth.drop(truth.index[drawn])

    def accuracy(model: object, **more: object) -> float:
        labels = model.fit(answers, **more).labels_.reindex(rest.index)
        return float((labels == rest).mean())

    quality = worker_quality(answers, gold)
    weights = answer_weights(answers, quality)
    own = answers["worker"].map(quality.set_index("worker")["quality"]).to_numpy(dtype=float)
    out = screen_workers(quality, minimum=0.6)
    kept = answer_weights(answers, quality, excluded=out)
    k = answers["label"].nunique()
    value = np.clip(quality["quality"], 1e-3, 1 - 1e-3)
    log_odds = pd.Series(np.maximum(np.log(value * (k - 1) / (1 - value)), 0.01).to_numpy(), index=quality["worker"])
    return {
        "majority": accuracy(MajorityVote()),
        "vote, log-odds of quality": accuracy(WeightedMajorityVote(log_odds)),
        "Dawid-Skene": accuracy(DawidSkene()),
        "Dawid-Skene, gold clamped": accuracy(DawidSkene(), gold=gold),
        "Dawid-Skene, weights": accuracy(DawidSkene(), weights=weights),
        "Dawid-Skene, weights and exclusion": accuracy(DawidSkene(), weights=kept),
        "Dawid-Skene, qualities as they are": accuracy(DawidSkene(), weights=own),
        "Dawid-Skene, the mean quality for all": accuracy(DawidSkene(), weights=np.full(len(own), own.mean())),
        "Dawid-Skene, weights, gold clamped": accuracy(DawidSkene(), gold=gold, weights=weights),
    }


def table(orders: int) -> pd.DataFrame:
    """All sets and orders: index (set, order), one column per method."""
    rows = {(name, seed): one_order(name, seed) for name in SETS for seed in range(orders)}
    return pd.DataFrame.from_dict(rows, orient="index")


def check(found: pd.DataFrame) -> None:
    by_set = found.groupby(level=0).mean()
    for name in SETS:
        assert by_set.loc[name, "Dawid-Skene, weights"] > by_set.loc[name, "majority"], name
        assert by_set.loc[name, "vote, log-odds of quality"] > by_set.loc[name, "majority"], name
    assert by_set["Dawid-Skene, weights"].mean() > by_set["Dawid-Skene"].mean()
    # Not only because gold tells something: with gold clamped for both, the weights still win.
    assert by_set["Dawid-Skene, weights, gold clamped"].mean() > by_set["Dawid-Skene, gold clamped"].mean()


@pytest.mark.slow
def test_twenty_orders_of_four_sets() -> None:
    found = table(20)
    check(found)
    by_set = found.groupby(level=0).mean()
    # With weights that say nothing but who counts more than whom no set loses against Dawid and Skene's model.
    assert (by_set["Dawid-Skene, weights"] > by_set["Dawid-Skene"]).all()


def test_two_orders_of_four_sets() -> None:
    check(table(2))
