"""How far may a share be off, when its rows are clustered or its values lie between 0 and 1?

A mean of values in known bounds gets a Wilson interval with the effective number of rows: the number that would give
a yes/no share of that size the standard error found. Without any spread it is the number of independent parts, so 20
wins in 20 give no interval of width 0, and no end leaves the bounds.

Sources: Wilson (1927); Korn, Graubard (1998) for the effective number; the t quantile for few clusters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Spread", "share_interval", "t_quantile"]


@dataclass(frozen=True)
class Spread:
    """Standard error `se` of a share, with `df` degrees of freedom from `clusters` independent parts."""

    se: float
    df: float
    clusters: int
    warnings: tuple[str, ...] = ()


def t_quantile(level: float, df: float) -> float:
    """Return the two-sided t quantile; the normal one beyond 10^6 degrees of freedom."""
    from scipy.special import ndtri, stdtrit

    tail = (1.0 + level) / 2.0
    return float(ndtri(tail) if df > 1e6 else stdtrit(df, tail))


def share_interval(
    value: float, spread: Spread, n: int, level: float, *, low: float = 0.0, high: float = 1.0
) -> tuple[float | None, float | None]:
    """Return the ends for a mean of n values in [low, high]; None without a row.

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
    effective = share * (1.0 - share) / se**2 if se > 0.0 else 0.0
    if not effective > 0.0:
        effective = float(spread.clusters)
    t = t_quantile(level, max(spread.df, 1))
    centre = (share + t * t / (2 * effective)) / (1 + t * t / effective)
    half = t / (1 + t * t / effective) * math.sqrt(share * (1 - share) / effective + (t / (2 * effective)) ** 2)
    # Rounding must not put an end beside the value itself at 0 or 1.
    ends = min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)
    return low + width * ends[0], low + width * ends[1]
