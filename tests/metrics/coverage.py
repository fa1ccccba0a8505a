"""Worlds with known truth, to count how often an interval holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd import metrics as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

World = "Callable[[int, np.random.Generator], tuple[Any, ...]]"


@dataclass(frozen=True)
class Case:
    """A metric in a world; `truth` comes from one sample of a million rows."""

    name: str
    world: Callable[[int, np.random.Generator], tuple[Any, ...]]
    metric: Callable[..., m.Metric]

    def truth(self) -> float:
        rng = np.random.default_rng(99)
        return float(np.mean([float(self.metric(*self.world(500_000, rng), interval="none")) for _ in range(4)]))


def coverage(case: Case, *, n: int, runs: int, seed: int = 1, truth: float | None = None, **how: Any) -> float:
    """Share of samples of n whose interval holds the truth."""
    rng = np.random.default_rng(seed)
    target = case.truth() if truth is None else truth
    hits = 0
    for _ in range(runs):
        found = case.metric(*case.world(n, rng), **how)
        hits += found.low is not None and found.high is not None and found.low <= target <= found.high
    return hits / runs


def scale(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(np.rint(values), 1, 6)


def whole(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Whole scores 1..6 of two raters, r about .7."""
    true = rng.normal(3.4, 1.1, n)
    return scale(true + rng.normal(0, 0.6, n)), scale(true + rng.normal(0.1, 0.6, n))


def mixed(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Whole human scores, continuous system scores."""
    true = rng.normal(3.4, 1.1, n)
    return scale(true + rng.normal(0, 0.6, n)), 0.8 * true + 0.6 + rng.normal(0, 0.5, n)


def binary(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Two labels, 20% of the rarer, agreement 85%."""
    left = (rng.random(n) < 0.2).astype(float)
    return left, np.where(rng.random(n) < 0.15, 1 - left, left)


def rated(share: float, raters: int) -> Callable[[int, np.random.Generator], tuple[Any, ...]]:
    """Ratings of a first rater everywhere and of the others on a share of the responses."""

    def world(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
        true = rng.normal(3.4, 1.1, n)
        ratings = scale(true[:, None] + rng.normal(0, 0.6, (n, raters)))
        ratings[:, 1:][rng.random((n, raters - 1)) >= share] = np.nan
        return ratings, 0.8 * true + 0.7 + rng.normal(0, 0.5, n)

    return world


def grouped(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Three groups, one of which the system favours."""
    human, system = mixed(n, rng)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    return human, system + 0.4 * (group == "b"), group


def dsm(human: Any, system: Any, group: Any, **how: Any) -> m.Metric:
    return m.difference_of_standardized_means(human, system, group, **how)["b"]


def fairness(which: str) -> Callable[..., m.Metric]:
    def metric(human: Any, system: Any, group: Any, **how: Any) -> m.Metric:
        found: m.Metric = m.fairness_analysis(human, system, group, **how)[which]
        return found

    return metric


def kappa(weights: str | None) -> Callable[..., m.Metric]:
    return lambda human, system, **how: m.cohen_kappa(human, system, weights=weights, **how)


def pooled(human: Any, system: Any, **how: Any) -> m.Metric:
    return m.standardized_mean_difference(human, system, method="pooled", **how)


def given(ratings: Any, system: Any, **how: Any) -> m.Metric:
    return m.prmse(ratings[:, 0], system, 0.42, **how)


CASES = [
    Case("exact agreement", whole, m.exact_agreement),
    Case("adjacent agreement", whole, m.adjacent_agreement),
    Case("accuracy .85", binary, m.exact_agreement),
    Case("kappa", whole, kappa(None)),
    Case("kappa, two skewed labels", binary, kappa(None)),
    Case("kappa linear", whole, kappa("linear")),
    Case("kappa quadratic", whole, kappa("quadratic")),
    Case("QWK, continuous", mixed, m.quadratic_weighted_kappa),
    Case("Pearson r", mixed, m.pearson),
    Case("SMD unpooled", mixed, m.standardized_mean_difference),
    Case("SMD pooled", mixed, pooled),
    Case("MSE", mixed, m.mean_squared_error),
    Case("RMSE", mixed, m.root_mean_squared_error),
    Case("R2", mixed, m.r2),
    Case("PRMSE, all double", rated(1.0, 2), m.prmse),
    Case("PRMSE, half double", rated(0.5, 2), m.prmse),
    Case("PRMSE, a fifth double", rated(0.2, 2), m.prmse),
    Case("PRMSE, 1 to 4 ratings", rated(0.4, 4), m.prmse),
    Case("PRMSE, given error variance", rated(0.0, 2), given),
    Case("error variance", rated(0.5, 2), lambda ratings, _, **how: m.variance_of_errors(ratings, **how)),
    Case("true-score variance", rated(0.5, 2), lambda ratings, _, **how: m.true_score_variance(ratings, **how)),
    Case("MSE true", rated(0.5, 2), m.mse_true),
    Case("DSM of a group", grouped, dsm),
    Case("OSA", grouped, fairness("osa")),
    Case("OSD", grouped, fairness("osd")),
    Case("CSD", grouped, fairness("csd")),
]
