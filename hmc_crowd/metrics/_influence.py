"""How far may a number be off? Intervals from each row's share in the error.

The error of a smooth statistic is, to first order, the sum of one small number per row (its influence); rows of one
cluster are added before squaring. That costs one pass whatever the statistic, and it respects clusters exactly as a
bootstrap of whole clusters would. The t quantile with (clusters - 1) degrees of freedom stands in for the normal one.

Guarantee: asymptotic coverage for independent clusters; below 20 clusters a warning says that it is doubtful.

Sources: Efron, Tibshirani (1993), chapter 21 (infinitesimal jackknife); Wilson (1927) and Korn, Graubard (1998) for
shares with an effective number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Literal

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FEW_CLUSTERS", "Spread", "check_level", "clustered", "scaled_interval", "share_interval", "t_quantile"]

FEW_CLUSTERS = 20
Scale = Literal["plain", "one minus", "fisher"]


@dataclass(frozen=True)
class Spread:
    """Standard error from influences: `se`, `df` degrees of freedom, `clusters` independent parts, `warnings`."""

    se: float
    df: int
    clusters: int
    warnings: tuple[str, ...] = ()


def check_level(level: float, *, name: str = "level") -> float:
    """Return a coverage as float, or say what is wrong with it."""
    if isinstance(level, (bool, str)) or not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InputError(f"{name} is {level!r}; give the coverage of the interval between 0 and 1, such as 0.95")
    return float(level)


def t_quantile(level: float, df: float) -> float:
    """Return the two-sided t quantile; the normal one beyond 10^6 degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    tail = (1.0 + level) / 2.0
    return float(ndtri(tail) if df > 1e6 else stdtrit(df, tail))


def clustered(influence: NDArray[np.float64], clusters: NDArray[np.intp] | None = None) -> Spread:
    """Return the standard error of a statistic from the influence of each row (summing to about 0).

    Examples
    --------
    The mean of 0, 0, 1, 1: each row's influence is (x - 1/2) / 4, and sd(ddof 1) / 2 = .2887.

    >>> round(clustered(np.array([-0.125, -0.125, 0.125, 0.125])).se, 4)
    0.2887
    """
    parts = influence if clusters is None else np.bincount(clusters, weights=influence)
    if clusters is not None:
        parts = parts[np.bincount(clusters) > 0]
    m = len(parts)
    if m < 2:
        return Spread(math.nan, 0, m, ("one cluster alone gives no interval",) if clusters is not None else ())
    centred = parts - parts.mean()
    few = clusters is not None and m < FEW_CLUSTERS
    told = (f"only {m} clusters: the interval may be too narrow",) if few else ()
    return Spread(math.sqrt(m / (m - 1) * float(centred @ centred)), m - 1, m, told)


def scaled_interval(
    value: float, spread: Spread, level: float, *, scale: Scale = "plain", top: float | None = None
) -> tuple[float | None, float | None]:
    """Return value -+ t * se, worked out on a scale where the error is more nearly symmetric, then mapped back.

    ``one minus`` works on log(1 - value), the right scale for alpha and the kappas, which stop at 1; ``fisher`` on
    artanh(value), for correlations.
    """
    if spread.df < 1 or not math.isfinite(spread.se):
        return None, None
    half = t_quantile(level, spread.df) * spread.se
    if scale == "one minus" and value < 1.0:
        factor = math.exp(half / (1.0 - value))
        return 1.0 - (1.0 - value) * factor, 1.0 - (1.0 - value) / factor
    if scale == "fisher" and abs(value) < 1.0:
        step = half / (1.0 - value * value)
        return math.tanh(math.atanh(value) - step), math.tanh(math.atanh(value) + step)
    low, high = value - half, value + half
    return low, high if top is None else min(high, top)


def share_interval(
    value: float, spread: Spread, n: int, level: float, *, low: float = 0.0, high: float = 1.0
) -> tuple[float | None, float | None]:
    """Return a Wilson interval for a mean of values in [low, high], with the effective number of rows.

    The effective number is what would give a yes/no share of that size the standard error found; without any spread
    it is the number of clusters. So 20 wins in 20 give no interval of width 0, and no end leaves [low, high].

    Examples
    --------
    >>> low, high = share_interval(1.0, Spread(0.0, 19, 20), 20, 0.95)
    >>> round(low, 3), high
    (0.82, 1.0)
    """
    if spread.clusters < 1 or n < 1:
        return None, None
    width = high - low
    share = min(max((value - low) / width, 0.0), 1.0)
    se = spread.se / width if math.isfinite(spread.se) else 0.0
    effective = share * (1.0 - share) / se**2 if se > 0.0 else float(spread.clusters)
    t = t_quantile(level, max(spread.df, 1))
    centre = (share + t * t / (2 * effective)) / (1 + t * t / effective)
    half = t / (1 + t * t / effective) * math.sqrt(share * (1 - share) / effective + (t / (2 * effective)) ** 2)
    ends = max(centre - half, 0.0), min(centre + half, 1.0)
    # Rounding must not put the interval beside its own value at the very ends.
    ends = min(ends[0], share), max(ends[1], share)
    return low + width * ends[0], low + width * ends[1]
