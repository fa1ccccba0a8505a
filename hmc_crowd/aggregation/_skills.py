"""How good is each worker, and how well do we know it?

The truth is only known by posterior, so an answer counts as right by a probability. Louis' identity says how much
information that costs: of ``n`` answers with probabilities ``q`` of being right and mean ``p``, as much is left as
``n - sum q (1 - q) / (p (1 - p))`` answers to gold would give. The interval is Jeffreys' at that effective number.

Guarantee: with gold for all tasks it is Jeffreys' interval on the share of right answers; its cover where the truth is
learnt is shown by simulation (tests), under the model's assumptions.

Source: Louis (1982), "Finding the Observed Information Matrix when Using the EM Algorithm"; Brown, Cai, DasGupta
(2001), "Interval Estimation for a Binomial Proportion"; the spammer score after Raykar and Yu (2012), "Eliminating
Spammers and Ranking Annotators for Crowdsourced Labeling Tasks".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._votes import Votes

__all__ = ["Accuracy", "accuracy_from", "accuracy_of", "accuracy_of_moments", "spammer_score"]


@dataclass(frozen=True)
class Accuracy:
    """Per worker, shape (n_workers,): ``value``, standard error, interval from ``low`` to ``high``, ``effective`` n."""

    value: NDArray[np.float64]
    se: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    effective: NDArray[np.float64]


def accuracy_of(votes: Votes, posterior: NDArray[np.float64], *, level: float = 0.95) -> Accuracy:
    """Return each worker's accuracy with its interval; a worker without answers gets [0, 1] around 1/2."""
    q = votes.right(posterior)
    return accuracy_from(votes.answered, votes.by_worker(q), votes.by_worker(q * (1 - q)), level=level)


def accuracy_of_moments(
    n: NDArray[np.intp],
    moments: NDArray[np.float64],
    *,
    past: NDArray[np.float64] | None = None,
    level: float = 0.95,
) -> Accuracy:
    """Return the same from answers ``n`` per worker and an engine's sums of q and q squared, (2, n_workers)."""
    answered, right = n.astype(np.float64), moments[0].copy()
    if past is not None:
        answered += past.sum(axis=(1, 2))
        right += np.einsum("wkk->w", past)
    return accuracy_from(answered, right, np.maximum(moments[0] - moments[1], 0.0), level=level)


def accuracy_from(
    n: NDArray[np.float64], right: NDArray[np.float64], unsure: NDArray[np.float64], *, level: float = 0.95
) -> Accuracy:
    """Return accuracies from answers ``n``, expected right ones, and the sum of q (1 - q), each per worker."""
    from scipy.special import betaincinv

    share = np.full(len(n), 0.5)
    np.divide(right, n, out=share, where=n > 0)
    share = np.clip(share, 0.0, 1.0)
    spread = share * (1 - share)
    lost = np.zeros(len(n))
    np.divide(unsure, spread, out=lost, where=spread > 1e-12)
    effective = np.clip(n - lost, 0.0, None)
    up, down = share * effective + 0.5, (1 - share) * effective + 0.5
    tail = (1 - level) / 2
    low, high = betaincinv(up, down, tail), betaincinv(up, down, 1 - tail)
    # Jeffreys' interval is closed at the ends where nothing, or everything, was right.
    low = np.where(share * effective < 1e-9, 0.0, low)
    high = np.where((1 - share) * effective < 1e-9, 1.0, high)
    mean = up / (up + down)
    se = np.sqrt(mean * (1 - mean) / (effective + 1))
    return Accuracy(share, se, low, high, effective)


def spammer_score(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each worker's answers depend on the truth, in [0, 1]; 0 is a spammer.

    ``errors`` has shape (n_workers, K answered, K true). For two labels it is (sensitivity + specificity - 1) squared;
    in general half the squared distance between the answer habits of two true labels, averaged over the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> always_right, always_first = np.eye(2), np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> spammer_score(np.stack([always_right, always_first])).tolist()
    [1.0, 0.0]
    """
    k = errors.shape[1]
    if k == 1:
        return np.zeros(len(errors))
    # sum over pairs of |a - b|^2 = K sum |a|^2 - |sum a|^2
    pairs = k * (errors**2).sum(axis=(1, 2)) - (errors.sum(axis=2) ** 2).sum(axis=1)
    result: NDArray[np.float64] = np.clip(pairs / (k * (k - 1)), 0.0, 1.0)
    return result
