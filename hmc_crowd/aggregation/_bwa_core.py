"""Bayesian weighted averaging: answers as points on the simplex, each worker with a precision.

Source, in our own words: Li, Rubinstein, Cohn (2019), "Truth Inference at Scale: A Bayesian Model for Adjudicating
Highly Redundant Crowd Annotations" (BWA). An answer is the unit vector of its label plus Gaussian noise of the worker's
precision around the task's position z; z is drawn around the mean position. Positions, mean and precisions are updated
in turn, each to its best value given the others: the objective never falls. z lies on the simplex by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._votes import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["BwaFit", "bwa"]


@dataclass(frozen=True)
class BwaFit:
    """``position`` (n_tasks, K) belongs to ``precision`` (n_workers,)."""

    position: NDArray[np.float64]
    precision: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def bwa(
    votes: Votes, *, strength: float, pull: float, n_iter: int, tol: float, progress: Progress | None = None
) -> BwaFit:
    """Iterate from the shares of the votes.

    ``strength`` is how many answers the prior of a precision is worth, ``pull`` the precision of positions around their
    mean.
    """
    k = votes.n_labels
    z = votes.shares()
    n = votes.answered
    first = votes.by_worker(_miss(votes, z))
    # The prior's squared error per answer is the crowd's own mean against the shares of the votes.
    spread = max(float(first.sum() / n.sum()), 1e-6)
    history: list[float] = []
    while True:
        mean = settle(z[: votes.n_real].mean(axis=0))
        squared = votes.by_worker(_miss(votes, z))
        precision = settle((strength + n) * (k - 1) / (strength * spread + squared)) if k > 1 else np.ones_like(n)
        weight = precision[votes.worker]
        z = votes.by_cell(weight)
        total = votes.by_task(weight)[:, None]
        z[: votes.n_real] = (z[: votes.n_real] + pull * mean) / (total[: votes.n_real] + pull)
        z[votes.n_real :] /= np.maximum(total[votes.n_real :], 1e-300)
        z = votes.clamp(settle(z))
        squared = votes.by_worker(_miss(votes, z))
        objective = np.sum((strength + n) * (k - 1) / 2 * np.log(precision))
        objective -= np.sum(precision * (squared + strength * spread)) / 2
        objective -= pull / 2 * np.sum((z[: votes.n_real] - mean) ** 2)
        history.append(float(objective))
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            return BwaFit(z, precision, tuple(history), converged)


def _miss(votes: Votes, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of each answer's unit vector from its task's position."""
    result: NDArray[np.float64] = (z**2).sum(axis=1)[votes.task] - 2 * votes.right(z) + 1
    return result
