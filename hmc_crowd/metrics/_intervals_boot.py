"""How would a metric vary if the rows, or whole clusters, were drawn again?

A draw never builds a new data set: it only counts how often each row is taken and multiplies the counts with the
rows' features, so thousands of draws are one matrix product.

Sources: Efron (1987), BCa; Owen (2007) for two crossed ways.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = ["bca_ends", "counts_of_draws", "draws_of_rows", "multiway_ends", "percentile_ends"]

# Counts held at once (draws x units), 32 MB of them.
_AT_ONCE = 1 << 22


def counts_of_draws(units: int, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each unit is taken in each draw of `units` with replacement, shape (draws, units)."""
    taken = rng.integers(0, units, (draws, units))
    taken += np.arange(draws)[:, None] * units
    return np.bincount(taken.ravel(), minlength=draws * units).reshape(draws, units).astype(np.float64)


def draws_of_rows(
    matrix: NDArray[np.float64], ways: tuple[Way, ...], n_boot: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return sums of features over bootstrap samples.

    Parameters
    ----------
    matrix : array of float, shape (width, n)
        Features of the rows.
    ways : tuple of Way
        None: rows are drawn. One: its clusters. Two: both ways, a row counting as often as its item times its worker.
    n_boot : int
    rng : numpy.random.Generator

    Returns
    -------
    array of float, shape (n_boot, width)
    """
    if len(ways) == 2:
        return _two_way(matrix, ways[0], ways[1], n_boot, rng)
    units = ways[0].sums(matrix) if ways else matrix
    size = units.shape[1]
    at_once = max(1, _AT_ONCE // size)
    parts = []
    for start in range(0, n_boot, at_once):
        counts = counts_of_draws(size, min(at_once, n_boot - start), rng)
        parts.append(counts @ units.T)
    return np.concatenate(parts)


def _two_way(
    matrix: NDArray[np.float64], first: Way, second: Way, n_boot: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    n = matrix.shape[1]
    at_once = max(1, _AT_ONCE // max(n, first.size, second.size))
    parts = []
    for start in range(0, n_boot, at_once):
        draws = min(at_once, n_boot - start)
        weight = counts_of_draws(first.size, draws, rng)[:, first.code]
        weight *= counts_of_draws(second.size, draws, rng)[:, second.code]
        parts.append(weight @ matrix.T)
    return np.concatenate(parts)


def percentile_ends(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Return the plain quantiles of the draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def multiway_ends(value: float, draws: NDArray[np.float64], ways: tuple[Way, ...], level: float) -> tuple[float, float]:
    """Return value -+ t * sd of the draws, with the smaller number of clusters minus 1 as degrees of freedom.

    With a dozen workers the plain quantiles of a multiway bootstrap are too narrow (87% where 95 was asked).
    """
    from scipy.special import stdtrit

    df = max(min(way.size for way in ways) - 1, 1)
    half = float(stdtrit(df, (1 + level) / 2)) * float(draws.std())
    return value - half, value + half


def bca_ends(
    value: float, draws: NDArray[np.float64], influence: NDArray[np.float64], level: float
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated quantiles of the draws.

    Parameters
    ----------
    value : float
        The estimate.
    draws : array of float
        Finite bootstrap values of it.
    influence : array of float
        Influence of each unit that was drawn; gives the acceleration.
    level : float
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(draws < value) + 0.5 * np.count_nonzero(draws == value)) / len(draws)
    # A bias this large means the draws are useless on one side; the clip keeps the quantiles finite.
    shift = float(ndtri(min(max(below, 1 / len(draws)), 1 - 1 / len(draws))))
    squares = float(influence @ influence)
    accel = float((influence**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = shift + float(ndtri(tail))
        ends.append(float(ndtr(shift + z / (1 - accel * z))))
    if not all(math.isfinite(end) for end in ends):
        return percentile_ends(draws, level)
    low, high = np.quantile(draws, ends)
    return float(low), float(high)
