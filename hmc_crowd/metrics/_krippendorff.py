"""Do raters agree more than chance would let them, whatever the number of raters and however many ratings lack?

Krippendorff's alpha = 1 - D_o / D_e: the disagreement seen inside units over the disagreement of all pairable
ratings. Units with fewer than two ratings cannot disagree and leave. Nothing here builds the coincidence matrix:

* nominal: D_o and D_e are sums of squared counts;
* interval: a sum of squared differences is a variance, so D_o and D_e are two sums of squares;
* ordinal: Krippendorff's distance between two labels is the squared difference of their mid-ranks, so ordinal is
  interval on ranks;
* ratio: the pairs inside each unit, and one distance per pair of distinct values.

So the first three cost one pass over the answers. The name of a weight is no definition: irrCAC's "ordinal" weights
are another distance and give other numbers (.8336 where Krippendorff's own example says .8154).

Source: Krippendorff (2019), Content Analysis, 4th ed., chapter 12; interval: influence of each unit (own derivation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._influence import check_level, clustered, scaled_interval
from hmc_crowd.metrics._ratings import Ratings, cluster_codes, read_ratings
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["AlphaLevel", "krippendorff_alpha"]

AlphaLevel = Literal["nominal", "ordinal", "interval", "ratio"]
# Distances between distinct values are taken in blocks of at most this many.
_BLOCK = 4_000_000


def krippendorff_alpha(
    ratings: Any,
    level: AlphaLevel = "nominal",
    *,
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: Literal["auto", "analytic", "none"] = "auto",
) -> Metric:
    """Return Krippendorff's alpha with an interval.

    Parameters
    ----------
    ratings : array of shape (units, raters), wide frame, or long frame ``task, worker, label``
        NaN, None: not rated. Numbers or text; text needs ``level='nominal'``, or `categories` for its order.
    level : {"nominal", "ordinal", "interval", "ratio"}, default "nominal"
        Level of measurement. Distance of two labels: 0 or 1; squared difference of mid-ranks; (a - b)^2;
        ((a - b) / (a + b))^2.
    categories : sequence, optional
        All labels in order. Labels that nobody used change nothing; the order matters for ``ordinal`` with text.
    clusters : array, shape (units,), optional
        What belongs together (the dialogue of a turn): such units stay together in the interval.
    interval_level : float, default 0.95
        Coverage of the interval (`level` is taken).
    interval : {"auto", "analytic", "none"}
        How; "auto" is analytic.

    Returns
    -------
    Metric
        In (-inf, 1]; ``n`` counts pairable ratings, ``details`` hold ``units, observed, expected, se``. Undefined if
        no unit has two ratings, or all pairable ratings are equal (no disagreement could have been seen).

    Raises
    ------
    InputError
        Numbers are needed and missing, a ratio rating is negative, or `level` is unknown.

    Notes
    -----
    O(answers) for nominal and interval, plus a sort of the distinct labels; ``ratio`` also needs the pairs inside
    units and those of distinct values. The package `krippendorff` raises where all ratings are equal; here the
    result says so. Interval: first-order influence of each unit on log(1 - alpha), t quantile.

    Examples
    --------
    Two raters, five units, one disagreement. D_o = 2/10; pairs of the pooled 6 a, 4 b: D_e = 2 * 24 / 90.

    >>> ratings = [["a", "a"], ["a", "a"], ["b", "b"], ["b", "a"], ["a", "b"]]
    >>> round(krippendorff_alpha(ratings).value, 4)  # 1 - (4/10) / (48/90)
    0.25
    """
    if level not in get_args(AlphaLevel):
        raise InputError(f"level is {level!r}; choose nominal, ordinal, interval or ratio")
    coverage = check_level(interval_level, name="interval_level")
    if interval not in {"auto", "analytic", "none"}:
        raise InputError(f"interval is {interval!r}; choose auto, analytic or none")
    read = read_ratings(ratings, categories=categories)
    together = cluster_codes(clusters, n=read.n_units, of="unit")
    name = f"Krippendorff's alpha ({level})"
    m = read.per_unit
    single = int((m == 1).sum())
    dropped = {**read.dropped, "the only rating of its unit": single}
    usable = m[read.unit] >= 2
    if not usable.any():
        return Metric.undefined("no unit has two ratings", name=name, dropped=dropped, level=coverage)
    parts = _parts(read, usable, level)
    n = int(usable.sum())
    if parts.expected <= 0.0:
        return Metric.undefined(
            "all pairable ratings are equal, so no disagreement could be seen",
            name=name,
            n=n,
            dropped=dropped,
            level=coverage,
        )
    ratio = (n - 1) * parts.observed / parts.expected
    value = 1.0 - ratio
    details: dict[str, Any] = {
        "units": int((m >= 2).sum()),
        "observed": parts.observed / n,
        "expected": parts.expected / (n * (n - 1)),
    }
    if interval == "none":
        return Metric(value, n=n, dropped=dropped, level=coverage, name=name, details=details)
    rated = m >= 2
    spread = clustered(-ratio * parts.log_influence[rated], None if together is None else together[rated])
    low, high = scaled_interval(value, spread, coverage, scale="one minus")
    told = spread.warnings
    if parts.observed == 0.0:
        low = high = None
        told += ("no disagreement was seen: no interval",)
    return Metric(
        value,
        low,
        high,
        n,
        dropped,
        coverage,
        "analytic (influence of each unit on log(1 - alpha), t)",
        name=name,
        warnings=told,
        assumptions=("units (clusters) are independent", "raters are taken as given"),
        details={**details, "se": spread.se},
    )


@dataclass(frozen=True)
class _Parts:
    observed: float  # sum over units of (pairwise disagreement) / (m - 1)
    expected: float  # sum over all ordered pairs of pairable ratings
    log_influence: NDArray[np.float64]  # of each unit on log(D_o / D_e), up to a constant


def _parts(read: Ratings, usable: NDArray[np.bool_], level: AlphaLevel) -> _Parts:
    unit, code, m = read.unit[usable], read.code[usable], read.per_unit
    if level == "nominal":
        return _nominal(unit, code, m, len(read.labels))
    if level == "ratio":
        numbers = read.values(why=f"level={level!r}")[usable]
        return _ratio(unit, numbers, m)
    if level == "interval":
        numbers = read.values(why=f"level={level!r}")[usable]
        return _interval(unit, numbers - float(numbers.mean()), m)[0]
    if read.numbers is None and not read.declared:
        read.values(why=f"level={level!r}")
    return _ordinal(unit, code, m, len(read.labels))


def _assemble(
    observed: NDArray[np.float64], expected: float, expected_influence: NDArray[np.float64], m: NDArray[np.intp]
) -> _Parts:
    """Join d log(n - 1) + d log(observed) - d log(expected) per unit; `m` of units left out is 0."""
    total, n = float(observed.sum()), int(m.sum())
    seen = observed / total if total > 0.0 else np.zeros(len(m))
    pooled = expected_influence / expected if expected > 0.0 else np.zeros(len(m))
    return _Parts(total, expected, seen + m / (n - 1) - pooled)


def _nominal(unit: NDArray[np.intp], code: NDArray[np.intp], m: NDArray[np.intp], size: int) -> _Parts:
    m = np.where(m >= 2, m, 0)
    n = int(m.sum())
    pooled = np.bincount(code, minlength=size).astype(np.float64)
    same = _same_label(unit, code, len(m), size)
    observed = (m.astype(np.float64) ** 2 - same) / np.maximum(m - 1, 1)
    expected = float(n) ** 2 - float(pooled @ pooled)
    shared = np.bincount(unit, weights=pooled[code], minlength=len(m))
    return _assemble(observed, expected, 2.0 * (n * m - shared), m)


def _same_label(unit: NDArray[np.intp], code: NDArray[np.intp], units: int, size: int) -> NDArray[np.float64]:
    """Return per unit the sum over labels of the squared count."""
    cells = unit * size + code
    if units * size <= 4 * len(code) + 100_000:
        counts = np.bincount(cells, minlength=units * size).reshape(units, size).astype(np.float64)
        return np.einsum("uk,uk->u", counts, counts)
    found, counts = np.unique(cells, return_counts=True)
    return np.bincount(found // size, weights=counts.astype(np.float64) ** 2, minlength=units)


def _interval(
    unit: NDArray[np.intp], numbers: NDArray[np.float64], m: NDArray[np.intp]
) -> tuple[_Parts, NDArray[np.float64], NDArray[np.float64]]:
    """Return the parts, and per rating its distance to the unit's mean and to the mean of all."""
    m = np.where(m >= 2, m, 0)
    n, per = int(m.sum()), np.maximum(m, 1)
    mean = np.bincount(unit, weights=numbers, minlength=len(m)) / per
    inside = numbers - mean[unit]
    within = np.bincount(unit, weights=inside * inside, minlength=len(m))
    overall = numbers - numbers.mean()
    square = overall * overall
    total = float(square.sum())
    # A sum of squared differences over all ordered pairs of k values is 2 k times their sum of squares.
    observed = 2.0 * m * within / np.maximum(m - 1, 1)
    outer = np.bincount(unit, weights=square, minlength=len(m))
    # Equal values leave rounding error, not spread.
    expected = 2.0 * n * total if np.ptp(numbers) > 0.0 else 0.0
    return _assemble(observed, expected, 2.0 * (m * total + n * outer), m), inside, overall


def _ordinal(unit: NDArray[np.intp], code: NDArray[np.intp], m: NDArray[np.intp], size: int) -> _Parts:
    pooled = np.bincount(code, minlength=size).astype(np.float64)
    rank = np.cumsum(pooled) - pooled / 2.0
    parts, inside, overall = _interval(unit, rank[code], m)
    if parts.observed <= 0.0 or parts.expected <= 0.0:
        return parts
    # The ranks are counts themselves, so each unit also moves them: slope of log(D_o / D_e) in every rank ...
    per = np.where(m >= 2, m, 0)
    n = int(per.sum())
    pull = 4.0 * (per / np.maximum(per - 1, 1))[unit] * inside / parts.observed - 4.0 * n * overall / parts.expected
    slope = np.bincount(code, weights=pull, minlength=size)
    # ... times what one rating of label c adds: 1/2 to its own rank, 1 to every higher one.
    above = np.cumsum(slope[::-1])[::-1] - slope / 2.0
    moved = np.bincount(unit, weights=above[code], minlength=len(m))
    return _Parts(parts.observed, parts.expected, parts.log_influence + moved)


def _ratio(unit: NDArray[np.intp], numbers: NDArray[np.float64], m: NDArray[np.intp]) -> _Parts:
    if (numbers < 0.0).any():
        raise InputError(f"ratings holds {float(numbers.min()):g}; level='ratio' needs numbers of at least 0")
    m = np.where(m >= 2, m, 0)
    order = np.argsort(unit, kind="stable")
    unit, numbers = unit[order], numbers[order]
    disagreement = np.zeros(len(m))
    for shift in range(1, int(m.max())):
        same = unit[shift:] == unit[:-shift]
        distance = _ratio_distance(numbers[shift:][same], numbers[:-shift][same])
        disagreement += 2.0 * np.bincount(unit[shift:][same], weights=distance, minlength=len(m))
    found, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    far = np.empty(len(found))
    rows = max(_BLOCK // len(found), 1)
    for start in range(0, len(found), rows):
        block = found[start : start + rows, None]
        far[start : start + rows] = _ratio_distance(block, found[None, :]) @ count
    pooled = np.bincount(unit, weights=far[place.reshape(-1)], minlength=len(m))
    return _assemble(disagreement / np.maximum(m - 1, 1), float(far @ count), 2.0 * pooled, m)


def _ratio_distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    both = a + b
    part: NDArray[np.float64] = (a - b) / np.where(both > 0.0, both, 1.0)
    return part * part
