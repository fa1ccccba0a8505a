"""Which models differ, and how many items does it take to tell?

Paired t-tests on per-item scores 0, 1/2, 1 (never on category codes: the published code ranked a tie below a loss, and
a p-value of 8e-4 became .33). Two identical columns, or one item, give t = 0/0: no p-value, counted.

Sources: Lyu et al. (2024), "HREF", section 5 and figure 6; Holm (1979) for the correction; conformance: scipy 1.12
``ttest_rel``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways, spread_of
from hmc_crowd.metrics._unit_intervals import mean_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["p_values_by_size", "paired_p_values", "read_scores"]


def read_scores(scores: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Return model names and per-item scores, shape (items, models), NaN where a judgement is missing.

    `scores` is a wide frame or mapping model -> scores (or outcomes 'win', 'tie', 'loss', which become 1, 1/2, 0), or
    an array of shape (items, models).
    """
    names, columns = read_columns(scores)
    # Each model's scores lie together in memory, as every test reads them.
    return names, np.stack(columns).T


def read_columns(scores: Any) -> tuple[list[str], list[NDArray[np.float64]]]:
    """Return model names and each model's per-item scores; see `read_scores`."""
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        listed = list(scores if isinstance(scores, Mapping) else scores.columns)
        names = [str(each) for each in listed]
        columns = [_column(scores[each], str(each)) for each in listed]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise InputError(f"scores has columns of {', '.join(map(str, sorted(lengths)))} items; give the same items")
    else:
        table = np.asarray(scores, dtype=np.float64)
        if table.ndim != 2:
            raise InputError(f"scores has shape {table.shape}; give (items, models)")
        names, columns = [f"m{place}" for place in range(table.shape[1])], list(table.T)
    if len(names) < 2:
        raise InputError(f"scores holds {len(names)} models; a comparison needs two")
    # A sum is infinite or NaN only if one of its numbers is: one pass tells whether to look closer.
    for column in columns:
        if not np.isfinite(column.sum()) and np.isinf(column).any():
            raise InputError("scores holds infinite numbers; correct them or make them missing")
    return names, columns


def paired_p_values(scores: Any, *, clusters: Any = None) -> pd.DataFrame:
    """Test every pair of models on the items that both have.

    Parameters
    ----------
    scores : frame or mapping of model -> per-item scores, or array (items, models)
        0, 1/2, 1 or any scores; NaN: no judgement. Outcomes as words also work.
    clusters : array, shape (items,), optional
        Items that belong together (one instruction): the standard error then respects them.

    Returns
    -------
    pandas.DataFrame
        ``first, second, n, difference, se, t, p``, one row per pair; p is NaN where all differences are equal or
        there is one item.

    Examples
    --------
    Differences 1, 0, 1, 0: mean 1/2, se .2887, t = 1.732 with 3 degrees of freedom.

    >>> paired_p_values({"a": [1, 0, 1, 1], "b": [0, 0, 0, 1]})["p"].round(4).tolist()
    [0.1817]
    """
    import pandas as pd

    names, columns = read_columns(scores)
    ways = cluster_ways(clusters, len(columns[0]))
    rows = []
    for first, second in combinations(range(len(names)), 2):
        rows.append((names[first], names[second], *_paired(columns[first] - columns[second], ways)))
    return pd.DataFrame(rows, columns=["first", "second", "n", "difference", "se", "t", "p"])


def p_values_by_size(
    scores: Any,
    *,
    sizes: Sequence[int] | None = None,
    shuffles: int = 10,
    alpha: float = 0.05,
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """Tell how the p-values of all pairs of models fall with the number of items.

    Parameters
    ----------
    scores
        As in `paired_p_values`; items with a missing score leave.
    sizes : sequence of int, optional
        Numbers of items, each from 1 to all; default 20 evenly spaced ones, the full size included (the published
        code never reaches it).
    shuffles : int, default 10
        Random orders of the items whose results are averaged; 0 takes the first rows as they stand.
    alpha : float, default 0.05
        Pairs below it count as told apart.
    rng : numpy.random.Generator, optional
        Default ``numpy.random.default_rng(0)``.

    Returns
    -------
    pandas.DataFrame
        ``size, mean_p, q90, q80, n_pairs, n_undefined, share_below``: mean, 90th and 80th percentile of p (linear
        interpolation), pairs without a p (left out of these, but told apart they are not), share of all pairs with p
        below `alpha`.

    Examples
    --------
    >>> table = p_values_by_size({"a": [1, 0, 1, 1], "b": [0, 0, 0, 1]}, sizes=[4], shuffles=0)
    >>> table[["size", "mean_p", "share_below"]].round(4).values.tolist()
    [[4.0, 0.1817, 0.0]]
    """
    import pandas as pd

    _, table = read_scores(scores)
    table = table[~np.isnan(table).any(axis=1)]
    n = len(table)
    if n == 0:
        raise InputError("scores holds no item that every model has; nothing can be tested")
    if sizes is None:
        sizes = sorted({round(n * part / 20) for part in range(1, 21)} - {0})
    wrong = [size for size in sizes if not 1 <= size <= n]
    if wrong:
        raise InputError(f"sizes holds {wrong[0]}; give numbers of items from 1 to {n}")
    if shuffles < 0:
        raise InputError(f"shuffles is {shuffles}; give 0 (the order as it stands) or more")
    generator = np.random.default_rng(0) if rng is None else rng
    left, right = np.triu_indices(table.shape[1], 1)
    totals = np.zeros((len(sizes), 5))
    for _ in range(max(shuffles, 1)):
        rows = table if shuffles == 0 else table[generator.permutation(n)]
        gaps = rows[:, left] - rows[:, right]
        for place, size in enumerate(sizes):
            totals[place] += _summary(_p_of_columns(gaps[:size]), alpha)
    averages = totals / max(shuffles, 1)
    frame = pd.DataFrame(averages, columns=["mean_p", "q90", "q80", "n_undefined", "share_below"])
    frame.insert(0, "size", list(sizes))
    frame.insert(4, "n_pairs", len(left))
    return frame


def _paired(gap: NDArray[np.float64], ways: tuple[Way, ...]) -> tuple[int, float, float, float, float]:
    """Return n, mean difference, its standard error, t and p."""
    from scipy.special import stdtr

    if np.isnan(gap.sum()):
        keep = ~np.isnan(gap)
        gap, ways = gap[keep], tuple(way.take(keep) for way in ways)
    n = len(gap)
    mean = float(gap.mean()) if n else np.nan
    if n < 2 or any(way.size < 2 for way in ways) or gap.min() == gap.max():
        return n, mean, np.nan, np.nan, np.nan
    error, df = mean_error(gap, mean), n - 1.0
    if ways:
        spread = spread_of((gap - mean) / n, ways)
        error, df = spread.variance**0.5, spread.df
    # Clusters can cancel to nothing.
    if not error > 0.0:
        return n, mean, np.nan, np.nan, np.nan
    t = mean / error
    return n, mean, error, t, float(2.0 * stdtr(df, -abs(t)))


def _p_of_columns(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import stdtr

    n = len(gaps)
    out = np.full(gaps.shape[1], np.nan)
    varies = np.ptp(gaps, axis=0) > 0.0
    if n < 2 or not varies.any():
        return out
    part = gaps[:, varies]
    t = part.mean(axis=0) / (part.std(axis=0, ddof=1) / np.sqrt(n))
    out[varies] = 2.0 * stdtr(n - 1, -np.abs(t))
    return out


def _summary(p: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    known = p[~np.isnan(p)]
    below = np.count_nonzero(known < alpha) / len(p)
    if not len(known):
        return np.array([np.nan, np.nan, np.nan, len(p), below])
    q90, q80 = np.quantile(known, [0.9, 0.8])
    return np.array([known.mean(), q90, q80, len(p) - len(known), below])


def _column(values: Any, name: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind in "OU" and any(isinstance(each, str) for each in array.tolist()):
        from hmc_crowd.metrics._outcomes import outcome_scores

        return outcome_scores(values)
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise InputError(f"scores of {name} are no numbers; give scores, or 'win', 'tie', 'loss'") from None
