"""How much a worker counts as known before the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CLASS_PSEUDO", "RIGHT_SHARE", "prior_counts", "prior_strength"]

# A worker nobody knows is taken to be right two times out of three, however many labels there are.
RIGHT_SHARE = 2 / 3


# Tasks of each given label that count beside the real ones. Without them label shares run to 0 or 1 on small batches.
# In simulation (2 to 30 labels; 6 to 500 tasks; even and uneven shares; one-coin and biased workers) one task of each
# label lifts the mean accuracy from .766 to .791 at 6 tasks with two labels, where the majority has .793, by .01 at 25,
# and changes nothing at 500 or from 12 labels on; half or three times as much does nearly the same. No open data set
# was used.
CLASS_PSEUDO = 1.0

# Pseudo-answers per true label and label of the set. Chosen by simulation (2, 4 and 6 labels; 3 and 5 answers a task; 4
# to 150 answers a worker; skills Beta(4, 1.8)): the best strengths were 3, 6 and 9 per true label, a little more where
# workers gave few answers; half or twice as much costs less than .005 in accuracy. No open data set was used.
_PER_LABEL = 1.5


def prior_strength(n_labels: int, *, answers_per_worker: float) -> float:
    """Return how many answers the prior is worth: more with more labels, and more for workers who gave few answers.

    ``1.5 K^2 (1 + K / n)``: with many labels each row of the error matrix sees few answers, and has more entries.

    Examples
    --------
    >>> [round(prior_strength(k, answers_per_worker=40), 1) for k in (2, 4)]
    [6.3, 26.4]
    """
    return _PER_LABEL * n_labels**2 * (1 + n_labels / answers_per_worker)


def prior_counts(n_labels: int, *, strength: float) -> NDArray[np.float64]:
    """Return Dirichlet pseudo-counts (K answered, K true) worth ``strength`` answers over all true labels.

    Each true label gets ``strength / K`` pseudo-answers, so that the prior thins out per row exactly as a worker's own
    answers do when labels are added.

    Examples
    --------
    >>> prior_counts(2, strength=6.0).round(9).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    if n_labels == 1:
        return np.full((1, 1), strength)
    per_row = strength / n_labels
    counts = np.full((n_labels, n_labels), per_row * (1 - RIGHT_SHARE) / (n_labels - 1))
    np.fill_diagonal(counts, per_row * RIGHT_SHARE)
    return counts
