"""Variance components of units, raters and error, from any crossed design, in time linear in the ratings.

The residual of unit + rater needs one linear system in the smaller of the two sides; past 2,000 of both it is solved
by iteration (LSMR) to 1e-12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._intervals import Interval, no_interval, t_interval
from hmc_crowd.metrics._intervals_clusters import FEW_CLUSTERS, Spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Components", "components", "group_interval"]

_DENSE_SIDE = 2_000
# Up to so many cells of units x raters the table of who rated what is written out.
_DENSE_CELLS = 2_000_000
_GROUPS = 40
# With so many units per group each group speaks for itself: one pass instead of forty.
_LARGE_GROUP = 500


@dataclass(frozen=True)
class Components:
    """Variances of unit, rater and error, and the mean squares of a complete design (else NaN)."""

    unit: float
    rater: float
    error: float
    units: int
    raters: int
    complete: bool
    mean_ratings: float
    tiny: float
    between_units: float = math.nan
    between_raters: float = math.nan
    within_units: float = math.nan
    residual: float = math.nan

    def told(self, kind: str) -> dict[str, Any]:
        """Return what a result should keep."""
        facts: dict[str, Any] = {
            "unit_variance": self.unit,
            "rater_variance": math.nan if kind == "1" else self.rater,
            "error_variance": self.error,
            "units": self.units,
            "raters": self.raters,
            "complete": self.complete,
        }
        if not self.complete:
            return facts
        from scipy.stats import f as f_law

        inside = self.within_units if kind == "1" else self.residual
        df1 = self.units - 1
        df2 = self.units * (self.raters - 1) if kind == "1" else df1 * (self.raters - 1)
        ratio = self.between_units / inside if inside > self.tiny else math.nan
        p_value = float(f_law.sf(ratio, df1, df2)) if ratio == ratio else math.nan
        return {**facts, "F": ratio, "df1": df1, "df2": df2, "p_value": p_value}


def components(
    unit: NDArray[np.intp], rater: NDArray[np.intp], numbers: NDArray[np.float64], *, one_way: bool
) -> Components | str:
    """Return the components, or the reason why there are none."""
    if len(unit) == 0:
        return "no unit is rated by every rater" if len(numbers) == 0 else "no ratings"
    _, unit = np.unique(unit, return_inverse=True)
    _, rater = np.unique(rater, return_inverse=True)
    m, c = np.bincount(unit), np.bincount(rater)
    units, raters, n = len(m), len(c), len(unit)
    if units < 2:
        return "one unit: nothing to compare it with"
    if raters < 2 or n == units:
        return "no unit has two ratings"
    y = numbers - numbers.mean()
    y = y - y.mean()
    total = float(y @ y)
    # Equal scores leave rounding error of this size; below it a spread is not believed.
    tiny = max(float(np.abs(numbers).max()) * 1e-15, 0.0) ** 2 * 4.0
    if total / n <= tiny or float(np.ptp(numbers)) == 0.0:
        return "the scores have no spread"
    sse_unit = _within(unit, y, m)
    mean_ratings = units / float((1.0 / m).sum())
    if one_way or n == units * raters:
        sse_rater = _within(rater, y, c)
    if n == units * raters:
        ms_r = (total - sse_unit) / (units - 1)
        ms_c = (total - sse_rater) / (raters - 1)
        ms_w = sse_unit / (n - units)
        ms_e = max(_additive_residual(unit, rater, y, units, raters), 0.0) / ((units - 1) * (raters - 1))
        error = ms_w if one_way else ms_e
        return Components(
            (ms_r - error) / raters,
            (ms_c - ms_e) / units,
            error,
            units,
            raters,
            True,
            float(raters),
            tiny,
            ms_r,
            ms_c,
            ms_w,
            ms_e,
        )
    if one_way:
        error = sse_unit / (n - units)
        size = (n - float(m @ m) / n) / (units - 1)
        between = (total - sse_unit) / (units - 1)
        return Components((between - error) / size, 0.0, error, units, raters, False, mean_ratings, tiny)
    return _method_three(unit, rater, y, m, c, sse_unit, mean_ratings, tiny)


def _method_three(
    unit: NDArray[np.intp],
    rater: NDArray[np.intp],
    y: NDArray[np.float64],
    m: NDArray[np.intp],
    c: NDArray[np.intp],
    sse_unit: float,
    mean_ratings: float,
    tiny: float,
) -> Components | str:
    units, raters, n = len(m), len(c), len(y)
    sse, parts = _unit_and_rater(unit, rater, y, m, c)
    left = n - units - raters + parts
    if left < 1:
        return "too few ratings overlap to tell raters from noise; the one-way form needs less"
    error = sse / left
    of_unit = (_within(rater, y, c) - sse - (units - parts) * error) / (n - raters)
    of_rater = (sse_unit - sse - (raters - parts) * error) / (n - units)
    return Components(of_unit, of_rater, error, units, raters, False, mean_ratings, tiny)


def _within(group: NDArray[np.intp], y: NDArray[np.float64], size: NDArray[np.intp]) -> float:
    rest = y - (np.bincount(group, weights=y) / size)[group]
    return float(rest @ rest)


def _additive_residual(
    unit: NDArray[np.intp], rater: NDArray[np.intp], y: NDArray[np.float64], units: int, raters: int
) -> float:
    rest = y - (np.bincount(unit, weights=y) / raters)[unit] - (np.bincount(rater, weights=y) / units)[rater]
    return float(rest @ rest)


def _unit_and_rater(
    unit: NDArray[np.intp],
    rater: NDArray[np.intp],
    y: NDArray[np.float64],
    m: NDArray[np.intp],
    c: NDArray[np.intp],
) -> tuple[float, int]:
    """Return the residual sum of squares of unit + rater, and the number of connected parts of the design."""
    if len(c) > len(m):
        unit, rater, m, c = rater, unit, c, m
    if len(m) * len(c) <= _DENSE_CELLS:
        cells = np.bincount(unit * len(c) + rater, minlength=len(m) * len(c)).reshape(len(m), len(c))
        return _reduced(unit, rater, y, m, c.astype(np.float64), cells.T @ (cells / m[:, None]))
    return _sparse(unit, rater, y, m, c)


def _sparse(
    unit: NDArray[np.intp],
    rater: NDArray[np.intp],
    y: NDArray[np.float64],
    m: NDArray[np.intp],
    c: NDArray[np.intp],
) -> tuple[float, int]:
    from scipy.sparse import csr_array, hstack
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import lsmr

    rows = np.arange(len(y))
    one = np.ones(len(y))
    by_unit = csr_array((one, (rows, unit)), shape=(len(y), len(m)))
    by_rater = csr_array((one, (rows, rater)), shape=(len(y), len(c)))
    if len(c) > _DENSE_SIDE:
        links = csr_array((one, (unit, rater + len(m))), shape=(len(m) + len(c),) * 2)
        parts = int(connected_components(links, directed=False)[0])
        solved = lsmr(hstack([by_unit, by_rater]).tocsr(), y, atol=1e-12, btol=1e-12, maxiter=10_000)
        return float(solved[3]) ** 2, parts
    meet = (by_unit.T @ by_rater).tocsr()
    scaled = csr_array((meet.data / np.repeat(m, np.diff(meet.indptr)), meet.indices, meet.indptr), shape=meet.shape)
    return _reduced(unit, rater, y, m, c.astype(np.float64), (meet.T @ scaled).toarray())


def _reduced(
    unit: NDArray[np.intp],
    rater: NDArray[np.intp],
    y: NDArray[np.float64],
    m: NDArray[np.intp],
    c: NDArray[np.float64],
    met: NDArray[np.float64],
) -> tuple[float, int]:
    """Solve for the raters with the units swept out; each connected part leaves one direction open."""
    rest = y - (np.bincount(unit, weights=y) / m)[unit]
    values, vectors = np.linalg.eigh(np.diag(c) - met)
    known = values > 1e-9 * max(float(c.max()), 1.0)
    right = vectors[:, known].T @ np.bincount(rater, weights=rest)
    effect = vectors[:, known] @ (right / values[known])
    # The unit's own level is fitted anew around the raters it met.
    rest = y - effect[rater]
    rest = rest - (np.bincount(unit, weights=rest) / m)[unit]
    return float(rest @ rest), int((~known).sum())


def group_interval(
    again: Callable[[NDArray[np.bool_]], float | None],
    value: float,
    unit: NDArray[np.intp],
    clusters: NDArray[np.intp] | None,
    level: float,
) -> tuple[Interval, float]:
    """Return the interval from groups of units on Fisher's z, and the standard error.

    Leaves out one of at most 40 groups in turn, dealt by position; with 500 units or more per group it compares the
    groups themselves.
    """
    belongs = (clusters if clusters is not None else np.arange(int(unit.max()) + 1))[unit]
    found, place = np.unique(belongs, return_inverse=True)
    groups = min(len(found), _GROUPS)
    dealt = place % groups
    large = len(found) >= _LARGE_GROUP * groups
    values = [again(dealt == each if large else dealt != each) for each in range(groups)]
    kept = np.array([each for each in values if each is not None])
    if len(kept) < max(2, groups - 1) or not abs(value) < 1.0:
        return no_interval("too few units, or the value lies on the border of its range"), math.nan
    rest = float(((kept - kept.mean()) ** 2).sum())
    variance = rest / (len(kept) * (len(kept) - 1)) if large else rest * (len(kept) - 1) / len(kept)
    told = (f"only {groups} units or clusters: the interval is rough",) if groups < FEW_CLUSTERS else ()
    assumes = ("units (clusters) are independent", "the raters are taken as given")
    slope = 1.0 / (1.0 - value * value)
    spread = Spread(variance * slope * slope, len(kept) - 1, f"{groups} groups of units, t", told, assumes)
    return t_interval(value, spread, level, scale="fisher", what="jackknife"), math.sqrt(variance)
