"""Has the traffic changed? A window's scores or mix against those that the plan was made for.

Two histograms are compared by the likelihood ratio (G) test. With much traffic any difference is significant, and
with little a large one is chance; so a shift counts only if it is both: beyond chance at the level given, and at least
`minimum` in total variation, the share of items that would have to change their bin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ScoreBins", "ShiftResult", "shift_test"]


@dataclass(frozen=True)
class ShiftResult:
    """How far a window lies from the reference. Made by `shift_test`.

    Parameters
    ----------
    distance : float
        Total variation between the two histograms, in [0, 1].
    p_value : float
        Of the test that both come from one law.
    shifted : bool
        Both significant and at least `minimum`.
    n_reference, n_window : int
        Items in each.
    """

    distance: float
    p_value: float
    shifted: bool
    n_reference: int
    n_window: int

    def __str__(self) -> str:
        said = "shifted" if self.shifted else "no shift"
        return f"{said}: distance {self.distance:.4f}, p = {self.p_value:.3g} ({self.n_window:,} items)"


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """Bins of equal share on reference scores, and how many fell into each.

    Examples
    --------
    >>> bins = ScoreBins.of([0.1, 0.2, 0.3, 0.4], n_bins=2)
    >>> bins.counts.tolist(), bins.count([0.0, 0.9, 0.9]).tolist()
    ([2, 2], [1, 2])
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, scores: ArrayLike, *, n_bins: int = 10) -> ScoreBins:
        """Cut reference scores into bins of about equal share; ties stay together."""
        values = float_vector(scores, name="scores")
        if n_bins < 2:
            raise InputError(f"n_bins is {n_bins}; give at least 2")
        edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1], method="inverted_cdf"))
        # A cut at the largest score would leave the last bin empty.
        edges = edges[edges < values.max()]
        return cls(edges, _count(edges, values))

    def count(self, scores: ArrayLike) -> NDArray[np.int64]:
        """Return how many scores of a window fall into each bin."""
        return _count(self.edges, float_vector(scores, name="scores", allow_empty=True))


def shift_test(reference: Any, window: Any, *, alpha: float = 0.001, minimum: float = 0.05) -> ShiftResult:
    """Compare counts of a window with those of a reference.

    Parameters
    ----------
    reference, window : mapping of category to count, or array of counts
        In arrays the same place means the same bin.
    alpha : float, default 0.001
        Chance of a false shift.
    minimum : float, default 0.05
        Least total variation that counts.

    Returns
    -------
    ShiftResult
        Without items in either, or in one bin only, nothing has shifted: p-value 1.

    Raises
    ------
    InputError
        Counts are negative or of different length.

    Examples
    --------
    >>> print(shift_test({"en": 800, "de": 200}, {"en": 300, "de": 200}))
    shifted: distance 0.2000, p = 4.67e-16 (500 items)
    """
    first, second = _aligned(reference, window)
    total = first + second
    first, second, total = first[total > 0], second[total > 0], total[total > 0]
    n, m = float(first.sum()), float(second.sum())
    if n == 0 or m == 0 or len(total) < 2:
        return ShiftResult(0.0, 1.0, False, int(n), int(m))
    from scipy.special import chdtrc, xlogy

    g = 2.0 * (xlogy(first, first / (total * n / (n + m))).sum() + xlogy(second, second / (total * m / (n + m))).sum())
    p_value = float(chdtrc(len(total) - 1, max(float(g), 0.0)))
    distance = 0.5 * float(np.abs(first / n - second / m).sum())
    return ShiftResult(distance, p_value, p_value < alpha and distance >= minimum, int(n), int(m))


def _count(edges: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1).astype(np.int64)


def _aligned(reference: Any, window: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(reference, Mapping) and isinstance(window, Mapping):
        names = list(dict.fromkeys([*reference, *window]))
        reference = [reference.get(name, 0) for name in names]
        window = [window.get(name, 0) for name in names]
    first = float_vector(reference, name="reference", low=0.0, allow_empty=True)
    second = float_vector(window, name="window", low=0.0, allow_empty=True)
    if len(first) != len(second):
        raise InputError(f"window has {len(second)} bins but reference has {len(first)}; count both in the same bins")
    return first, second
