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
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._ratings import Ratings, read_ratings
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import unit_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Scale
    from hmc_crowd.metrics._unit_intervals import Statistic

__all__ = ["AlphaLevel", "bootstrap_statistic", "krippendorff_alpha"]

AlphaLevel = Literal["nominal", "ordinal", "interval", "ratio"]
# Distances between distinct values are taken in blocks of at most this many.
_BLOCK = 4_000_000
# The bootstrap holds a table of labels x labels per unit.
_BOOTSTRAP_LABELS = 50


def krippendorff_alpha(
    ratings: Any,
    level: AlphaLevel = "nominal",
    *,
    categories: Sequence[Any] | None = None,
    clusters: Any = None,
    interval_level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
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
        What belongs together (the dialogue of a turn): such units stay together in the interval. Units of a long frame
        come in the order of their first row.
    interval_level : float, default 0.95
        Coverage of the interval (`level` is taken).
    interval : {"auto", "analytic", "bootstrap", "none"}, default "auto"
        "auto" is analytic; the bootstrap draws units (clusters) again.
    rng : numpy.random.Generator, optional
        For the bootstrap; default ``numpy.random.default_rng(0)``.
    n_boot : int, default 2000
        Draws of the bootstrap.

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
    ask = ask_for(interval_level, interval, rng, n_boot)
    read = read_ratings(ratings, categories=categories)
    ways = cluster_ways(clusters, read.n_units)
    m = read.per_unit
    usable, rated = m[read.unit] >= 2, m >= 2
    n = int(usable.sum())
    common: dict[str, Any] = {
        "name": f"Krippendorff's alpha ({level})",
        "n": n,
        "dropped": {**read.dropped, "the only rating of its unit": int((m == 1).sum())},
        "level": ask.level,
    }
    if n == 0:
        return Metric.undefined("no unit has two ratings", **common)
    parts = _parts(read, usable, level)
    if parts.expected <= 0.0:
        return Metric.undefined("all pairable ratings are equal, so no disagreement could be seen", **common)
    ratio = (n - 1) * parts.observed / parts.expected
    influence = -ratio * parts.log_influence[rated]
    ways = tuple(way.take(rated) for way in ways)
    again = bootstrap_statistic(read, usable, level) if ask.interval == "bootstrap" else None
    # All equal inside units: log(1 - alpha) has no value.
    scale: Scale = "plain" if parts.observed <= 0.0 else "log1m"
    made = unit_interval(1.0 - ratio, influence, ask, ways, scale=scale, statistic=again)
    assumes = (*made.assumptions, "the raters are taken as given")
    details = {
        "units": int(rated.sum()),
        "observed": parts.observed / n,
        "expected": parts.expected / (n * (n - 1)),
        "se": spread_of(influence, ways).variance ** 0.5,
    }
    return Metric(1.0 - ratio, **{**made.fields(), "assumptions": assumes}, details=details, **common)


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
    return _assemble(observed, expected, np.asarray(2.0 * (n * m - shared), dtype=np.float64), m)


def _same_label(unit: NDArray[np.intp], code: NDArray[np.intp], units: int, size: int) -> NDArray[np.float64]:
    """Return per unit the sum over labels of the squared count."""
    cells = unit * size + code
    if units * size <= 4 * len(code) + 100_000:
        counts = np.bincount(cells, minlength=units * size).reshape(units, size).astype(np.float64)
        return np.asarray(np.einsum("uk,uk->u", counts, counts))
    found, counts = np.unique(cells, return_counts=True)
    squares = np.bincount(found // size, weights=counts.astype(np.float64) ** 2, minlength=units)
    return squares.astype(np.float64)


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
    pooled = np.asarray(2.0 * (m * total + n * outer), dtype=np.float64)
    return _assemble(observed, expected, pooled, m), inside, overall


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
    pooled = np.bincount(unit, weights=far[place.reshape(-1)], minlength=len(m)).astype(np.float64)
    return _assemble(disagreement / np.maximum(m - 1, 1), float(far @ count), 2.0 * pooled, m)


def _ratio_distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    both = a + b
    part: NDArray[np.float64] = (a - b) / np.where(both > 0.0, both, 1.0)
    return part * part


def bootstrap_statistic(read: Ratings, usable: NDArray[np.bool_], level: AlphaLevel) -> Statistic:
    """Return alpha as a function of how often each pairable unit counts, shape (draws, units) -> (draws,)."""
    rated = read.per_unit >= 2
    m = read.per_unit[rated].astype(np.float64)
    if level == "interval":
        y = read.values(why="level='interval'")[usable]
        y = y - y.mean()
        place = (np.cumsum(rated) - 1)[read.unit[usable]]
        first, second = np.bincount(place, weights=y), np.bincount(place, weights=y * y)
        seen = 2.0 * (m * second - first * first) / (m - 1.0)
        table = np.stack([m, first, second, seen])

        def squares(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            n, one, two, observed = (weights @ table.T).T
            return np.asarray(1.0 - (n - 1.0) * observed / (2.0 * (n * two - one * one)))

        return squares
    size = len(read.labels)
    if size > _BOOTSTRAP_LABELS:
        raise InputError(f"{size} labels are too many for a bootstrap of level={level!r}; use interval='analytic'")
    counts = read.counts[rated]
    pairs = (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(size)) / (m - 1.0)[:, None, None]
    flat = pairs.reshape(len(m), size * size)

    def coincidences(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        met = (weights @ flat).reshape(-1, size, size)
        pooled = weights @ counts
        distance = _distances(pooled, read, level)
        n = pooled.sum(axis=1)
        expected = np.einsum("dk,dkl,dl->d", pooled, distance, pooled)
        return np.asarray(1.0 - (n - 1.0) * np.einsum("dkl,dkl->d", met, distance) / expected)

    return coincidences


def _distances(pooled: NDArray[np.float64], read: Ratings, level: AlphaLevel) -> NDArray[np.float64]:
    """Return the squared distance of every pair of labels, shape (draws, labels, labels)."""
    draws, size = pooled.shape
    if level == "nominal":
        return np.broadcast_to(1.0 - np.eye(size), (draws, size, size))
    if level == "ordinal":
        rank = np.cumsum(pooled, axis=1) - pooled / 2.0
        return np.asarray((rank[:, :, None] - rank[:, None, :]) ** 2)
    numbers = read.numbers if read.numbers is not None else np.zeros(size)
    return np.broadcast_to(_ratio_distance(numbers[:, None], numbers[None, :]), (draws, size, size))
