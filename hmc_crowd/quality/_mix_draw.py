"""A crowd, items and experts as the source describes them, drawn so that everything about them is known.

An item has a complexity (mean .4) and a risk; a worker an accuracy at average complexity. The log-odds of a right
answer fall with complexity. What a gate sees are estimates: a worker's quality from a record of gold answers, and the
complexity with noise. None of this is in the source, which gives totals alone: every number is a setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality._risk_urgency import RISKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MixSetting", "draw_batch", "draw_workers"]


@dataclass(frozen=True)
class MixSetting:
    """What is simulated.

    Parameters
    ----------
    items, workers, experts : int, default 10,000, 5,000 and 50
        The source's numbers.
    answers : int, default 3
        Answers per item.
    labels : int, default 2
    worker_accuracy : float, default 0.8
        Mean over workers at average complexity.
    worker_spread : float, default 12
        Concentration of the beta distribution of accuracies: lower is more mixed.
    record : int, default 10
        Gold answers of a worker's record, from earlier work.
    noise : float, default 0.15
        Standard deviation of the error in the estimated complexity: the quality of what a gate is given.
    hardness : float, default 2.5
        How much the log-odds of a right answer fall from complexity 0 to 1.
    risks : (float, float, float), default (0.7, 0.2, 0.1)
        Shares of low, medium and high risk.
    train_items : int, default 2,000
        Items that the ML gate has learnt from, judged by crowd and expert before.
    machine_accuracy : float, default 0.75
        Of a machine that judges every item, at average complexity.
    """

    items: int = 10_000
    workers: int = 5_000
    experts: int = 50
    answers: int = 3
    labels: int = 2
    worker_accuracy: float = 0.8
    worker_spread: float = 12.0
    record: int = 10
    noise: float = 0.15
    hardness: float = 2.5
    risks: tuple[float, float, float] = (0.7, 0.2, 0.1)
    train_items: int = 2_000
    machine_accuracy: float = 0.75

    def __post_init__(self) -> None:
        counts = {
            name: getattr(self, name) for name in ("items", "workers", "experts", "answers", "record", "train_items")
        }
        bad = [name for name, value in counts.items() if not value >= 1]
        if bad or self.labels < 2:
            name = bad[0] if bad else "labels"
            raise InputError(f"{name} is {getattr(self, name)}; give at least {1 if bad else 2}")
        if self.answers > self.workers:
            raise InputError(f"answers is {self.answers}, more than the {self.workers} workers; lower it")
        if not 0 < self.machine_accuracy < 1:
            raise InputError(f"machine_accuracy is {self.machine_accuracy}; give a share between 0 and 1")
        if not 0 < self.worker_accuracy < 1 or not self.worker_spread > 0 or not self.noise >= 0:
            raise InputError("worker_accuracy lies in (0, 1), worker_spread is above 0 and noise is not negative")
        if abs(sum(self.risks) - 1) > 1e-9 or min(self.risks) < 0:
            raise InputError(f"risks is {self.risks}; give three shares that add up to 1")


@dataclass(frozen=True)
class MixBatch:
    """Items with their truth, what a gate sees of them, and the answers."""

    items: pd.DataFrame
    answers: pd.DataFrame
    truth: NDArray[np.intp]
    complexity: NDArray[np.float64]

    def wrong_machine(self, setting: MixSetting, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return where a machine is wrong that judges alone."""
        accuracy = setting.machine_accuracy
        odds = np.log(accuracy / (1 - accuracy)) + setting.hardness * (0.4 - self.complexity)
        return np.asarray(rng.random(len(odds)) >= 1 / (1 + np.exp(-odds)))


def draw_workers(setting: MixSetting, rng: np.random.Generator) -> tuple[NDArray[np.float64], pd.Series[float]]:
    """Return true accuracy and estimated quality of each worker."""
    a = setting.worker_accuracy * setting.worker_spread
    accuracy = np.clip(rng.beta(a, setting.worker_spread - a, setting.workers), 0.02, 0.98)
    right = rng.binomial(setting.record, accuracy)
    return accuracy, pd.Series((right + 1) / (setting.record + 2))


def draw_batch(setting: MixSetting, accuracy: NDArray[np.float64], n: int, rng: np.random.Generator) -> MixBatch:
    """Return n items with the answers of workers drawn for each."""
    complexity = rng.beta(2, 3, n)
    seen = np.clip(complexity + rng.normal(0, setting.noise, n), 0, 1)
    truth = rng.integers(0, setting.labels, n)
    worker = _distinct(rng, setting.workers, n, setting.answers)
    odds = np.log(accuracy / (1 - accuracy))[worker] + setting.hardness * (0.4 - complexity)[:, None]
    right = rng.random(worker.shape) < 1 / (1 + np.exp(-odds))
    wrong = (truth[:, None] + rng.integers(1, setting.labels, worker.shape)) % setting.labels
    items = pd.DataFrame(
        {
            "item": np.arange(n),
            "risk": np.array(RISKS, dtype=object)[rng.choice(3, n, p=setting.risks)],
            "complexity": seen,
            "semantic_complexity": np.clip(complexity + rng.normal(0, 2 * setting.noise, n), 0, 1),
            "urgency": rng.integers(1, 6, n),
            "text_length": np.round(np.exp(rng.normal(5.5 + complexity, 0.6))),
        }
    )
    answers = pd.DataFrame(
        {
            "task": np.repeat(np.arange(n), setting.answers),
            "worker": worker.ravel(),
            "label": np.where(right, truth[:, None], wrong).ravel(),
        }
    )
    return MixBatch(items, answers, truth, complexity)


def _distinct(rng: np.random.Generator, workers: int, n: int, k: int) -> NDArray[np.intp]:
    """Draw k different workers for each item: those that come twice are drawn again."""
    drawn = rng.integers(0, workers, (n, k))
    while True:
        ordered = np.sort(drawn, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not again.any():
            return drawn
        rows = np.flatnonzero(again)
        drawn[rows] = rng.permuted(np.tile(np.arange(workers), (len(rows), 1)), axis=1)[:, :k]
