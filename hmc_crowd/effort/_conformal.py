"""P90 that nine of ten times keep, and how surely, when the times of one worker are alike.

Split conformal calibration (Papadopoulos et al. 2002; Romano, Patterson, Candes 2019) with workers as the unit: folds
never share a worker, the score of a row is how far its log time lies above the predicted quantile, and the quantile is
moved by the score that a share ``q`` of the rows keeps. So a quantile covers its share of the next crew's rows on
average over crews, not in each. Counting a whole worker still to come as an infinite score (Dunn, Wasserman, Ramdas
2023) would promise it as a lower bound; with forty workers that covered .924 in simulation, so one row is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["clustered_mean"]


def conformal_offset(score: NDArray[np.float64], weight: NDArray[np.float64], q: float) -> float:
    """Return what to add to a predicted quantile so that a share ``q`` of the weight lies at or below it.

    Upper quantiles carry the row still to come: q * (1 + 1 / rows), at most the largest score. The median and below
    need no such margin.

    >>> conformal_offset(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 0.5)
    2.0

    Four rows: .7 * 5 / 4 = .875, the fourth of four.

    >>> conformal_offset(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), 0.7)
    4.0
    """
    level = min(1.0, q * (1 + 1 / len(score))) if q > 0.5 else q
    order = np.argsort(score, kind="stable")
    reached = np.cumsum(weight[order])
    # Less a hair, so that rounding never skips the score that reaches the level exactly.
    place = int(np.searchsorted(reached, level * reached[-1] * (1 - 1e-12), side="left"))
    return float(score[order][min(place, len(score) - 1)])


def worker_folds(code: NDArray[np.intp], folds: int, seed: int) -> NDArray[np.intp]:
    """Return a fold per row; workers are dealt out from the busiest down, each to the emptiest fold."""
    rows = np.bincount(code)
    order = np.random.default_rng(seed).permutation(len(rows))
    order = order[np.argsort(-rows[order], kind="stable")]
    fold, load = np.empty(len(rows), dtype=np.intp), np.zeros(folds)
    for worker in order:
        fold[worker] = int(np.argmin(load))
        load[fold[worker]] += rows[worker]
    return fold[code]


def clustered_mean(
    values: ArrayLike, clusters: Any = None, *, level: float = 0.95
) -> tuple[float, tuple[float, float], int]:
    """Return a mean, its interval when rows of one cluster are alike, and the number of clusters.

    The linearised variance of a ratio of cluster totals with Student's t on clusters - 1 degrees of freedom (Cochran
    1977, section 9A.2); (nan, nan) for fewer than two clusters.

    Parameters
    ----------
    values : array of float, shape (n,)
    clusters : array, shape (n,), optional
        For example the worker of each row; every row is its own by default.
    level : float, default 0.95

    Examples
    --------
    Two workers with totals 2 of 2 and 0 of 2: mean .5, the totals' deviations are 1 and -1, so the variance is
    2 / 1 * (1 + 1) / 4**2 = .25, and t with 1 degree of freedom makes the interval wide.

    >>> mean, interval, workers = clustered_mean([1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b"])
    >>> mean, round(interval[1], 2), workers
    (0.5, 6.85, 2)
    """
    from scipy.stats import t

    number = float_vector(values, name="values")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; give a share between 0 and 1, for example 0.95")
    code = cluster_codes(clusters, len(number))
    require_same_length([("clusters", code), ("values", number)])
    mean, k = float(number.mean()), int(code.max()) + 1
    if k < 2:
        return mean, (float("nan"), float("nan")), k
    totals = np.bincount(code, weights=number - mean)
    half = float(t.ppf((1 + level) / 2, k - 1)) * float(np.sqrt(k / (k - 1) * (totals**2).sum())) / len(number)
    return mean, (mean - half, mean + half), k


def cluster_codes(clusters: Any, n: int) -> NDArray[np.intp]:
    """Return 0-based numbers in order of first appearance; every row is its own where none are given."""
    import pandas as pd

    if clusters is None:
        return np.arange(n)
    code = np.asarray(pd.factorize(np.asarray(clusters))[0])
    if (code < 0).any():
        raise InputError("workers has missing values; every row needs its worker")
    return code
