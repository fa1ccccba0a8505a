"""Between which bounds does the true value of a metric lie?

Default: the delta method on a scale where the estimate is nearly normal (Fisher's z for correlations and kappas, the
logarithm for variances), a t quantile, and Wilson's interval for shares of independent rows. It costs one pass over
the rows. On request: a BCa bootstrap of rows or of whole clusters; with two crossed ways (items and workers) the
multiway bootstrap. `clusters` are respected by all of them.

Guarantee: about `level` coverage in large samples of independent rows (or clusters), none in tiny ones; the figures
at n = 200 are measured by the tests. Where rows show no spread there is no interval, and `method` says so.

Sources: Wilson (1927); Efron (1987) for BCa; Owen (2007), "The pigeonhole bootstrap"; van der Vaart, ch. 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals_boot import bca_ends, draws_of_rows, multiway_ends
from hmc_crowd.metrics._intervals_clusters import Spread, Way, spread_of
from hmc_crowd.metrics._intervals_moments import Rows, Totals, gradient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals_moments import Function

__all__ = ["Ask", "Interval", "ask_for", "smooth_interval", "spread_interval", "t_interval", "wilson_interval"]

Scale = Literal["plain", "fisher", "log", "log1m"]
KINDS = ("auto", "analytic", "bootstrap", "none")


@dataclass(frozen=True)
class Interval:
    """Two ends and how they were made; None where there are none."""

    low: float | None
    high: float | None
    method: str
    warnings: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """Return the fields as `Metric` takes them."""
        return {
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "warnings": self.warnings,
            "assumptions": self.assumptions,
        }


@dataclass(frozen=True)
class Ask:
    """What interval the caller wants."""

    level: float
    interval: str
    rng: np.random.Generator | None
    n_boot: int

    def generator(self) -> np.random.Generator:
        """Return the caller's generator, or a new one with seed 0, so that a repeated call repeats its numbers."""
        return np.random.default_rng(0) if self.rng is None else self.rng


def ask_for(
    level: float = 0.95, interval: str = "auto", rng: np.random.Generator | None = None, n_boot: int = 2000
) -> Ask:
    """Check the arguments that all metrics share.

    Raises
    ------
    InputError
        A level outside (0, 1), an unknown kind of interval, or fewer than 100 draws.
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InputError(f"level is {level!r}; give a number between 0 and 1, such as 0.95")
    if interval not in KINDS:
        raise InputError(f"interval is {interval!r}; give one of {', '.join(KINDS)}")
    if isinstance(n_boot, bool) or not isinstance(n_boot, Integral) or n_boot < 100:
        raise InputError(f"n_boot is {n_boot!r}; give a whole number of at least 100")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is {type(rng).__name__}; give a numpy.random.Generator, such as default_rng(7)")
    return Ask(float(level), interval, rng, int(n_boot))


def no_interval(why: str) -> Interval:
    """Return an interval without ends."""
    return Interval(None, None, f"no interval: {why}")


def wilson_interval(hits: float, n: float, level: float) -> Interval:
    """Return Wilson's interval for a share of independent rows.

    Examples
    --------
    >>> [round(end, 4) for end in (lambda i: (i.low, i.high))(wilson_interval(8, 10, 0.95))]
    [0.4902, 0.9433]
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    share = hits / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At a share of 0 or 1 the end is exactly there; rounding must not move it.
    low, high = (0.0 if hits == 0 else max(middle - half, 0.0)), (1.0 if hits == n else min(middle + half, 1.0))
    return Interval(low, high, "analytic (Wilson)", (), ("rows are independent",))


def t_interval(
    value: float, spread: Spread, level: float, *, scale: Scale = "plain", what: str = "delta method", unit: float = 1.0
) -> Interval:
    """Return value -+ t * se, taken on a scale where the estimate is nearly normal; `spread` is on that scale.

    `unit` is the size of numbers of this kind: an error below 1e-12 of it is rounding, not spread.
    """
    from scipy.special import stdtrit

    middle = complex(_to(scale, np.array(value + 0j))).real
    if not (math.isfinite(spread.variance) and math.isfinite(middle)):
        return no_interval("its variance cannot be computed on this data")
    if spread.variance <= (1e-12 * (max(unit, abs(value)) if scale == "plain" else 1.0)) ** 2:
        return no_interval("the rows show no spread")
    half = float(stdtrit(spread.df, (1 + level) / 2)) * math.sqrt(spread.variance)
    ends = sorted((_back(scale, middle - half), _back(scale, middle + half)))
    told = {"plain": "", "fisher": " on Fisher's z", "log": " on the log scale", "log1m": " on log(1 - value)"}[scale]
    clusters = f", {spread.how}" if spread.how else ", t"
    assumed = (*spread.assumptions, "the sample is large enough for a normal estimate")
    return Interval(ends[0], ends[1], f"analytic ({what}{told}{clusters})", spread.warnings, assumed)


def spread_interval(
    value: float,
    influence: NDArray[np.float64],
    ways: tuple[Way, ...],
    level: float,
    *,
    scale: Scale = "plain",
    n: int | None = None,
) -> Interval:
    """Return the delta-method interval from influence values on the plain scale, shape (n,).

    The estimate minus its target is about the sum of them. Where `n` is given the values are those of cells of equal
    rows, each multiplied by the root of its number of rows, so that their squares add up to those of the n rows.
    """
    slope = float(gradient(lambda sums: _to(scale, sums[..., 0]), np.array([value]))[0])
    if not math.isfinite(slope):
        return no_interval("the value lies on the border of its range")
    spread = spread_of(slope * influence, ways)
    if n is not None:
        squares = slope**2 * float(influence @ influence)
        spread = Spread(n / max(n - 1, 1) * squares, max(n - 1, 1), "", (), spread.assumptions)
    return t_interval(value, spread, level, scale=scale)


def smooth_interval(
    rows: Rows,
    totals: Totals,
    function: Function,
    ask: Ask,
    *,
    ways: tuple[Way, ...] = (),
    scale: Scale = "plain",
    unit: float = 1.0,
) -> Interval:
    """Return the interval of a smooth function of the rows' sums.

    Parameters
    ----------
    rows, totals : Rows, Totals
        The features and their sums (with products if `ways` is empty).
    function : callable
        (..., width) sums -> (...) values; takes complex numbers.
    ask : Ask
    ways : tuple of Way
    scale : {"plain", "fisher", "log", "log1m"}
        Where the estimate is nearly normal.
    unit : float
        See `t_interval`.
    """
    if ask.interval == "none":
        return no_interval("not asked for")
    if rows.n < 2:
        return no_interval("one row has no spread")
    if ask.interval == "bootstrap":
        return _bootstrap(rows, totals, function, ask, ways)
    value = float(np.real(function(totals.sums)))
    with np.errstate(all="ignore"):
        slope = gradient(lambda sums: _to(scale, function(sums)), totals.sums)
    if not np.isfinite(slope).all():
        return no_interval("the value lies on the border of its range")
    if ways:
        spread = spread_of(_influence(rows, totals, slope), ways)
        return t_interval(value, spread, ask.level, scale=scale, unit=unit)
    spread = Spread(totals.variance_along(slope), rows.n - 1, "", (), ("rows are independent",))
    return t_interval(value, spread, ask.level, scale=scale, unit=unit)


def _influence(rows: Rows, totals: Totals, slope: NDArray[np.float64]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = slope @ rows.matrix()
    return values - float(slope @ totals.sums) / rows.n


def _bootstrap(rows: Rows, totals: Totals, function: Function, ask: Ask, ways: tuple[Way, ...]) -> Interval:
    matrix = rows.matrix()
    value = float(np.real(function(totals.sums)))
    slope = gradient(function, totals.sums)
    with np.errstate(all="ignore"):
        draws = np.real(function(draws_of_rows(matrix, ways, ask.n_boot, ask.generator())))
    good = draws[np.isfinite(draws)]
    warnings = tuple(w for way in ways for w in spread_of(np.zeros(rows.n), (way,)).warnings)
    if len(good) < ask.n_boot:
        warnings += (f"{ask.n_boot - len(good):,} of {ask.n_boot:,} draws were undefined and left out",)
    if len(good) < 0.9 * ask.n_boot or np.ptp(good) == 0.0:
        return no_interval("the bootstrap draws show no spread or are mostly undefined")
    told = f"{ask.n_boot:,} draws" + (f", {', '.join(f'{way.size:,} {way.name}' for way in ways)}" if ways else "")
    if len(ways) == 2:
        low, high = multiway_ends(value, good, ways, ask.level)
        return Interval(
            low,
            high,
            f"multiway bootstrap, t, {told}",
            warnings,
            ("rows sharing neither way are independent",),
        )
    influence = _influence(rows, totals, slope)
    units = ways[0].sums(influence) if ways else influence
    low, high = bca_ends(value, good, units, ask.level)
    assumed = (f"{'clusters' if ways else 'rows'} are independent",)
    return Interval(low, high, f"BCa bootstrap, {told}", warnings, assumed)


def _to(scale: Scale, values: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        if scale == "fisher":
            return np.asarray(np.arctanh(values))
        if scale == "plain":
            return values
        return np.asarray(np.log(values if scale == "log" else 1.0 - values))


def _back(scale: Scale, value: float) -> float:
    if scale == "fisher":
        return math.tanh(value)
    if scale == "plain":
        return value
    positive = math.exp(value) if value < 700 else math.inf
    return positive if scale == "log" else 1.0 - positive
