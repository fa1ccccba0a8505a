"""How much a worker counts as known before the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RIGHT_SHARE", "prior_counts"]

# A worker nobody knows is taken to be right two times out of three, however many labels there are.
RIGHT_SHARE = 2 / 3


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
