"""Every method on ten public data sets; the default's mean with a bootstrap interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import BWA, EBCC, GLAD, IBCC, MACE, DawidSkene, OneCoinDawidSkene, Wawa

if TYPE_CHECKING:
    from pathlib import Path

BEST_PEER = 0.842  # the best mean of one crowd-kit method over these sets
# s4_dog: the better of crowd-kit's runs under renaming
DOG = {"glad": 0.834, "mace": 0.830}


def read(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    return pd.read_csv(folder / "answers.csv"), pd.read_csv(folder / "truth.csv").set_index("task")["label"]


def right(model: object, folder: Path) -> np.ndarray:
    answers, truth = read(folder)
    labels = model.fit(answers).labels_
    both = truth.index.intersection(labels.index)
    return (labels[both] == truth[both]).to_numpy(dtype=float)


def sets(crowd_dir: Path) -> list[Path]:
    return [folder for folder in sorted(crowd_dir.iterdir()) if folder.is_dir()]


def bootstrap(each: list[np.ndarray], draws: int) -> tuple[float, float, float]:
    """Mean over sets of the accuracy, and its 95% interval over the truths of each set."""
    rng = np.random.default_rng(0)
    means = np.stack([rng.choice(one, (draws, len(one))).mean(axis=1) for one in each]).mean(axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(np.mean([one.mean() for one in each])), float(low), float(high)


def test_the_default_reaches_the_best_peer(crowd_dir: Path) -> None:
    mean, low, high = bootstrap([right(DawidSkene(repeats="all"), folder) for folder in sets(crowd_dir)], 200)
    assert mean >= BEST_PEER
    assert low < mean < high


@pytest.mark.parametrize(("name", "make"), [("glad", GLAD), ("mace", MACE)])
def test_glad_and_mace_are_as_accurate_as_the_peer(crowd_dir: Path, name: str, make: type) -> None:
    assert right(make(repeats="all"), crowd_dir / "s4_dog").mean() >= DOG[name] - 0.005


@pytest.mark.slow
def test_bayesian_methods_stand_beside_the_default(crowd_dir: Path) -> None:
    least = {IBCC: 0.84, EBCC: 0.83, BWA: 0.82, OneCoinDawidSkene: 0.80, Wawa: 0.81}
    for make, mean in least.items():
        each = [right(make(repeats="all"), folder) for folder in sets(crowd_dir)]
        assert bootstrap(each, 50)[0] >= mean, make
