"""Arithmetic of numeric answers: a task's value, a worker's bias and variance.

An answer is value + bias + noise; values are normal around their mean, biases around 0, and a worker's variance is
pulled towards the crowd's by an inverse gamma prior. EM with the values as what is missing; every step maximises its
part, so the objective (marginal log density of the answers, each task once, plus log priors) never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Numbers", "NumericFit", "numeric"]


@dataclass(frozen=True)
class Numbers:
    """``worker[i]`` said ``value[i]`` of ``task[i]``, with ``weight[i]``; ``gold`` (n_tasks,) is NaN if unknown."""

    task: NDArray[np.intp]
    worker: NDArray[np.intp]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    gold: NDArray[np.float64]
    n_workers: int

    def by_task(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums per task."""
        return np.bincount(self.task, weights=values * self.weight, minlength=len(self.gold)).astype(float)

    def by_worker(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums per worker."""
        return np.bincount(self.worker, weights=values * self.weight, minlength=self.n_workers).astype(float)


@dataclass(frozen=True)
class NumericFit:
    """``mean`` and ``variance`` (n_tasks,) of the values; ``bias``, its ``bias_variance`` and ``noise`` per worker."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    bias: NDArray[np.float64]
    bias_variance: NDArray[np.float64]
    noise: NDArray[np.float64]
    centre: float
    spread: float
    history: tuple[float, ...]
    converged: bool


def numeric(numbers: Numbers, *, strength: float, n_iter: int, tol: float) -> NumericFit:
    """Iterate from plain task means; ``strength`` is how many answers the prior of a worker's variance is worth."""
    ones = np.ones(len(numbers.task))
    per_task, per_worker = numbers.by_task(ones), numbers.by_worker(ones)
    known = ~np.isnan(numbers.gold)
    mean = np.where(known, numbers.gold, numbers.by_task(numbers.value) / np.maximum(per_task, 1e-300))
    residual = numbers.value - mean[numbers.task]
    freedom = max(float(numbers.weight.sum() - (~known).sum()), 1.0)
    total = float(np.var(numbers.value)) or 1.0
    # Without repeated answers nothing tells noise from value: half and half.
    crowd = float((numbers.weight * residual**2).sum()) / freedom
    crowd = max(crowd, 1e-9 * total) if (per_task > 1).any() or known.any() else total / 2
    bias_prior = crowd / 2
    centre, spread = float(mean.mean()), max(float(np.var(mean)) - crowd / float(per_task.mean()), 0.05 * total)
    spread_prior = spread
    bias, noise = np.zeros(numbers.n_workers), np.full(numbers.n_workers, crowd)
    history: list[float] = []
    while True:
        precision = numbers.by_task(1 / noise[numbers.worker])
        pulled = numbers.by_task((numbers.value - bias[numbers.worker]) / noise[numbers.worker])
        variance = 1 / (1 / spread + precision)
        mean = variance * (centre / spread + pulled)
        history.append(_objective(numbers, known, bias, noise, centre, spread, mean, variance))
        history[-1] -= float(np.sum(bias**2) / (2 * bias_prior))
        history[-1] -= float(np.sum(strength / 2 * (np.log(noise) + crowd / noise)))
        history[-1] -= float(np.log(spread) + spread_prior / spread)
        variance, mean = np.where(known, 0.0, variance), np.where(known, numbers.gold, mean)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * len(mean)
        if converged or len(history) >= n_iter:
            bias_variance = 1 / (per_worker / noise + 1 / bias_prior)
            return NumericFit(mean, variance, bias, bias_variance, noise, centre, spread, tuple(history), converged)
        off = numbers.value - mean[numbers.task]
        bias = numbers.by_worker(off) / (per_worker + noise / bias_prior)
        squared = numbers.by_worker((off - bias[numbers.worker]) ** 2 + variance[numbers.task])
        noise = (strength * crowd + squared) / (strength + per_worker)
        centre = float(mean.mean())
        spread = float((np.sum((mean - centre) ** 2 + variance) + 2 * spread_prior) / (len(mean) + 2))


def _objective(
    numbers: Numbers,
    known: NDArray[np.bool_],
    bias: NDArray[np.float64],
    noise: NDArray[np.float64],
    centre: float,
    spread: float,
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> float:
    """Return the marginal log density of the answers, up to a constant."""
    scale = noise[numbers.worker]
    off = numbers.value - bias[numbers.worker] - np.where(known, numbers.gold, mean)[numbers.task]
    answers = -0.5 * numbers.by_task(np.log(scale) + off**2 / scale)
    # Density at the posterior mean times its width; for a known value the density itself.
    place = np.where(known, numbers.gold, mean)
    prior = -0.5 * (np.log(spread) + (place - centre) ** 2 / spread)
    return float(np.sum(answers + prior + np.where(known, 0.0, 0.5 * np.log(variance))))
