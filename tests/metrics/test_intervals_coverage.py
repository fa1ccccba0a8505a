"""How often does an interval hold the truth? Worlds with known truth, sampled again and again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd import metrics as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


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


def margin(runs: int, level: float = 0.95) -> float:
    """Four standard errors of the simulation."""
    return 4 * math.sqrt(level * (1 - level) / runs)


QUICK = [
    case
    for case in CASES
    if case.name
    in {
        "accuracy .85",
        "kappa",
        "kappa quadratic",
        "QWK, continuous",
        "Pearson r",
        "PRMSE, all double",
        "PRMSE, half double",
        "MSE",
        "DSM of a group",
    }
]


@pytest.mark.parametrize("case", QUICK, ids=[case.name for case in QUICK])
def test_coverage_at_200(case: Case) -> None:
    runs = 300
    assert abs(coverage(case, n=200, runs=runs) - 0.95) < margin(runs)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_coverage_at_200_is_93_to_97(case: Case) -> None:
    # 6,000 samples: the simulation's own standard error is .3%.
    assert 0.93 <= coverage(case, n=200, runs=6000, seed=7) <= 0.97


def answers(
    workers: int, items: int, per: int | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right or wrong answers with an ability of each worker and an ease of each item."""
    ability, ease = rng.normal(0, 0.6, workers), rng.normal(0, 0.8, items)
    if per is None:
        worker, item = (each.ravel() for each in np.meshgrid(np.arange(workers), np.arange(items)))
    else:
        item = np.repeat(np.arange(items), per)
        worker = rng.integers(0, workers, len(item))
    right = rng.random(len(item)) < 1 / (1 + np.exp(-(1.2 + ability[worker] + ease[item])))
    return right.astype(float), item, worker


# The mean of logistic(1.2 + N(0, 1)): the two spreads of .6 and .8 add up to 1. By Gauss-Hermite.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
SHARE = float((WEIGHTS / (1 + np.exp(-(1.2 + NODES)))).sum() / WEIGHTS.sum())


def two_way(workers: int, items: int, per: int | None, runs: int, how: str = "auto") -> float:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(runs):
        right, item, worker = answers(workers, items, per, rng)
        found = m.mean_value(right, clusters={"item": item, "worker": worker}, interval=how, n_boot=300)
        hits += found.low <= SHARE <= found.high
    return hits / runs


@pytest.mark.parametrize("per", [None, 3], ids=["all answer all", "3 answers"])
def test_two_way_coverage_at_12_workers_and_500_items(per: int | None) -> None:
    assert abs(two_way(12, 500, per, 300) - 0.95) < margin(300)


@pytest.mark.slow
@pytest.mark.parametrize("per", [None, 3], ids=["all answer all", "3 answers"])
@pytest.mark.parametrize(("workers", "items"), [(12, 500), (100, 1000)])
def test_two_way_coverage_is_93_to_97(workers: int, items: int, per: int | None) -> None:
    assert 0.93 <= two_way(workers, items, per, 3000 if per else 1500) <= 0.97


def test_one_way_intervals_are_too_narrow_for_crossed_answers() -> None:
    # What the two ways are for: clusters by item alone ignore that a dozen workers decide the share.
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(150):
        right, item, _ = answers(12, 500, None, rng)
        found = m.mean_value(right, clusters=item)
        hits += found.low <= SHARE <= found.high
    assert hits / 150 < 0.7
