"""One-coin arithmetic: a worker is right with one probability, and errs evenly.

Pure functions of `Votes`. The objective (log-likelihood, each task once, plus the log prior) never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._votes import expect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["OneCoinFit", "one_coin", "one_coin_joint"]

# Stands for the logarithm of 0: finite, so that a worker who is always right and errs once gives a tie, not NaN.
_LOG_ZERO = -745.0


@dataclass(frozen=True)
class OneCoinFit:
    """``posterior`` (n_tasks, K) belongs to ``accuracy`` (n_workers,) and ``class_share`` (K,)."""

    posterior: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    class_share: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(values), _LOG_ZERO)


def one_coin_joint(
    votes: Votes, accuracy: NDArray[np.float64], class_share: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log P(answers, truth) per task and truth, shape (n_tasks, K)."""
    right = _log(accuracy)
    wrong = _log((1 - accuracy) / max(votes.n_labels - 1, 1))
    joint = votes.by_cell((right - wrong)[votes.worker])
    joint += votes.by_task(wrong[votes.worker])[:, None]
    joint[: votes.n_real] += _log(class_share)
    return joint


def one_coin(
    votes: Votes,
    *,
    prior: tuple[float, float],
    n_iter: int,
    tol: float,
    class_share: NDArray[np.float64] | None = None,
    learn_classes: bool = True,
    progress: Progress | None = None,
) -> OneCoinFit:
    """Learn accuracies by EM from the shares of the votes; ``prior`` is pseudo-answers (right, wrong) per worker."""
    k = votes.n_labels
    posterior = votes.shares()
    share = np.full(k, 1.0 / k) if class_share is None else class_share
    history: list[float] = []
    while True:
        right = votes.by_worker(votes.right(posterior))
        total = votes.answered + sum(prior)
        accuracy = np.full(votes.n_workers, 0.5)
        np.divide(right + prior[0], total, out=accuracy, where=total > 0)
        accuracy = np.clip(accuracy, 0.0, 1.0)
        if learn_classes:
            share = np.array([column.sum() for column in posterior[: votes.n_real].T]) / votes.n_real
        posterior, likelihood = expect(votes, one_coin_joint(votes, accuracy, share))
        log_prior = 0.0
        if sum(prior) > 0:
            log_prior = float(np.sum(prior[0] * _log(accuracy) + prior[1] * _log(1 - accuracy)))
        history.append(likelihood + log_prior)
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            return OneCoinFit(posterior, accuracy, share, tuple(history), converged)
