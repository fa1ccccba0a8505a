"""How far may an agreement coefficient or a mean of shares be off?

Two helpers over the intervals that all metrics share (`_intervals`): one for statistics of whole units, which also
bootstraps them by re-weighting; one for means of values inside known bounds.

Sources: Efron (1987) for BCa; `_influence` for shares.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import Interval, no_interval, spread_interval
from hmc_crowd.metrics._intervals_boot import bca_ends, counts_of_draws, percentile_ends
from hmc_crowd.metrics._intervals_clusters import FEW_CLUSTERS, spread_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Ask, Scale
    from hmc_crowd.metrics._intervals_clusters import Way

    Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["mean_error", "mean_interval", "unit_interval"]

# Weights held at once (draws x units), 32 MB of them.
_AT_ONCE = 1 << 22


def mean_interval(
    values: NDArray[np.float64], ask: Ask, ways: tuple[Way, ...] = (), *, low: float = 0.0, high: float = 1.0
) -> Interval:
    """Return the interval of the mean of values that lie in [low, high]."""
    if ask.interval == "none":
        return no_interval("not asked for")
    n, mean = len(values), float(values.mean())
    if ask.interval == "bootstrap":
        centred = (values - mean) / n
        return unit_interval(mean, centred, ask, ways, statistic=lambda drawn: (drawn @ values) / drawn.sum(axis=1))
    if not ways:
        return _of_independent(values, mean, ask, low, high)
    parts = min(way.size for way in ways)
    if parts < 2:
        return no_interval("one cluster alone has no spread")
    spread = spread_of((values - mean) / n, ways)
    ends = share_interval(mean, Spread(spread.variance**0.5, spread.df, parts), n, ask.level, low=low, high=high)
    method = f"analytic (Wilson with the effective number of rows, {spread.how})"
    return Interval(*ends, method, spread.warnings, spread.assumptions)


def _of_independent(values: NDArray[np.float64], mean: float, ask: Ask, low: float, high: float) -> Interval:
    n = len(values)
    rough = Spread(mean_error(values, mean), max(n - 1, 1), n)
    ends = share_interval(mean, rough, n, ask.level, low=low, high=high)
    return Interval(*ends, "analytic (Wilson with the effective number of rows, t)", (), ("rows are independent",))


def mean_error(values: NDArray[np.float64], mean: float) -> float:
    """Return the standard error of a mean of independent rows; 0 for one row."""
    n = len(values)
    rest = values - mean
    # Not the dot product of BLAS: its threads make it slower for one long sum, much slower on a busy machine.
    return math.sqrt(float(np.einsum("i,i->", rest, rest)) / (n * max(n - 1, 1)))


def unit_interval(
    value: float,
    influence: NDArray[np.float64],
    ask: Ask,
    ways: tuple[Way, ...],
    *,
    scale: Scale = "plain",
    statistic: Statistic | None = None,
) -> Interval:
    """Return the interval of a statistic of units from their influence, or by drawing units again.

    Parameters
    ----------
    value : float
    influence : array of float, shape (units,)
        The estimate minus its target is about their sum.
    ask : Ask
    ways : tuple of Way
        Clusters of the units.
    scale : {"plain", "fisher", "log", "log1m"}
        Where the estimate is nearly normal; for the analytic interval.
    statistic : callable, optional
        ``statistic(weights)``, (draws, units) -> (draws,): the statistic with each unit counted so often. Without
        it there is no bootstrap.
    """
    if ask.interval == "none":
        return no_interval("not asked for")
    if len(influence) < 2:
        return no_interval("one unit has no spread")
    if ask.interval != "bootstrap" or statistic is None:
        return spread_interval(value, influence, ways, ask.level, scale=scale)
    draws = _draw(statistic, len(influence), ways, ask)
    good = draws[np.isfinite(draws)]
    if len(good) < 0.9 * len(draws) or float(np.ptp(good)) == 0.0:
        return no_interval("the bootstrap draws show no spread or are mostly undefined")
    told = f"{ask.n_boot:,} draws" + (f", {', '.join(f'{way.size:,} {way.name}' for way in ways)}" if ways else "")
    warnings = tuple(
        f"only {way.size} clusters in {way.name}: below {FEW_CLUSTERS} the interval is rough"
        for way in ways
        if way.size < FEW_CLUSTERS
    )
    if len(good) < len(draws):
        warnings += (f"{len(draws) - len(good):,} of {len(draws):,} draws were undefined and left out",)
    if len(ways) == 2:
        ends = percentile_ends(good, ask.level)
        return Interval(*ends, f"multiway bootstrap, percentile, {told}", warnings, ())
    parts = ways[0].sums(influence) if ways else influence
    ends = bca_ends(value, good, parts, ask.level)
    return Interval(*ends, f"BCa bootstrap, {told}", warnings, (f"{'clusters' if ways else 'units'} are independent",))


def _draw(statistic: Statistic, units: int, ways: tuple[Way, ...], ask: Ask) -> NDArray[np.float64]:
    rng = ask.generator()
    at_once = max(1, _AT_ONCE // units)
    parts = []
    for start in range(0, ask.n_boot, at_once):
        draws = min(at_once, ask.n_boot - start)
        if not ways:
            weight = counts_of_draws(units, draws, rng)
        else:
            weight = np.ones((draws, units))
            for way in ways:
                weight *= counts_of_draws(way.size, draws, rng)[:, way.code]
        with np.errstate(all="ignore"):
            parts.append(statistic(weight))
    return np.concatenate(parts)
