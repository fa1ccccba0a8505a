"""How often do two scores agree, exactly or within a tolerance?

Source: RSMTool's page "Evaluation Metrics" (exact and adjacent agreement). Departures, each with a test of its own:
incomplete pairs leave the count (the tool keeps them as disagreements), and a difference may exceed the tolerance by
1e-9 (in the tool 4.4 - 3.4 is not adjacent). Values are shares in [0, 1]; the tool's are percentages.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import Ask, Interval, ask_for, no_interval, smooth_interval, wilson_interval
from hmc_crowd.metrics._intervals_clusters import Way, spread_of
from hmc_crowd.metrics._intervals_moments import Rows, take_totals
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_labels import nominal_pairs
from hmc_crowd.metrics._validate import as_scores, score_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["adjacent_agreement", "exact_agreement", "mean_value"]

SLACK = 1e-9


def exact_agreement(
    human: Any,
    system: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the share of pairs with equal scores (or equal text labels).

    Parameters
    ----------
    human : array of scores, shape (n,), or a frame
        A frame (pandas, polars, mapping of columns) has columns ``human, system``; or it is long, ``task, worker``
        and ``score`` or ``label``, and `system` names the worker that plays the system. Columns of text are labels if
        they hold no number at all; so are, with a warning, numbers beside a word that both columns use, and numbers
        that begin with a zero. Any other word among numbers is a bad score, left out and counted.
    system : array of scores, shape (n,)
    level : float, default 0.95
        Coverage of the interval.
    interval : {"auto", "analytic", "bootstrap", "none"}
        "auto" is the analytic one, whatever the size: Wilson's interval, or the same with the effective number of
        rows if `clusters` are given. "bootstrap" is BCa; with two ways the multiway bootstrap, t-type.
    clusters : array (n,), tuple of two arrays, or mapping of one or two names to arrays, optional
        Rows that hang together, such as the answers of a worker; two ways (items and workers) may cross.
    rng : numpy.random.Generator, optional
        For the bootstrap; a new ``default_rng(0)`` if not given, so that a repeated call gives the same ends.
    n_boot : int, default 2000
        Bootstrap draws.

    Returns
    -------
    Metric
        In [0, 1]. Scores within 1e-9 of one another are equal. Undefined without a complete pair.

    Raises
    ------
    InputError
        Unequal lengths, or something that is no column of scores.

    Examples
    --------
    >>> print(exact_agreement([1, 2, 3, None, 5], [1, 2, 4, 4, 5]))
    exact agreement 0.7500 [0.3006, 0.9544] (95%, n = 4; dropped 1: human score is missing)
    """
    ask = ask_for(level, interval, rng, n_boot)
    labels = nominal_pairs(human, system, clusters=clusters)
    if labels is not None:
        told: dict[str, Any] = {"name": "exact agreement", "dropped": labels.dropped, "level": ask.level}
        found = _share(labels.human == labels.system, labels.ways, ask, told)
        return found.replace(warnings=(*found.warnings, *labels.warnings))
    return _within(human, system, 0.0, "exact agreement", ask, clusters)


def adjacent_agreement(
    human: Any,
    system: Any = None,
    *,
    tolerance: float = 1.0,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the share of pairs with |H - M| <= tolerance.

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.
    tolerance : float, default 1
        In score points, >= 0; 0 gives the exact agreement. A difference may exceed it by 1e-9 (or by the rounding of
        scores beyond 10^6, if that is more).

    Returns
    -------
    Metric
        In [0, 1].

    Raises
    ------
    InputError
        As `exact_agreement`, or a negative tolerance.

    Examples
    --------
    >>> adjacent_agreement([3.4, 2.0], [4.4, 3.5]).value  # 4.4 - 3.4 is 1 up to rounding
    0.5
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0.0 <= float(tolerance) < math.inf:
        raise InputError(f"tolerance is {tolerance!r}; give a number of score points, at least 0")
    ask = ask_for(level, interval, rng, n_boot)
    return _within(human, system, float(tolerance), "exact + adjacent agreement", ask, clusters)


def mean_value(
    values: Any,
    *,
    share: bool | None = None,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the mean of values, such as right (1) and wrong (0) answers, with an interval that respects clusters.

    Parameters
    ----------
    values : array of float, shape (n,)
        Missing ones are left out and counted.
    share : bool, optional
        Whether the values are 0 and 1, so that the interval stays in [0, 1]; looked up if not given.
    level, interval, clusters, rng, n_boot
        As in `exact_agreement`. Answers of crossed items and workers: ``clusters=(task, worker)``.

    Returns
    -------
    Metric

    Raises
    ------
    InputError
        Not one-dimensional, or clusters of another length.

    Examples
    --------
    >>> print(mean_value([1, 0, 1, 1], clusters=["w1", "w1", "w2", "w2"]))
    mean 0.7500 [0.0103, 0.9988] (95%, n = 4; 1 warning)
    """
    ask = ask_for(level, interval, rng, n_boot)
    scores, odd = as_scores(values, name="values")
    if odd is not None:
        raise InputError(f"values must hold numbers: {first_rows(odd, np.asarray(values))}; correct or drop these rows")
    pairs = score_pairs(scores, np.zeros(len(scores)), clusters=clusters)
    dropped = {reason.replace("human score", "value"): rows for reason, rows in pairs.dropped.items()}
    told: dict[str, Any] = {"name": "mean", "dropped": dropped, "level": ask.level}
    numbers = pairs.human
    if share or (share is None and bool(((numbers == 0.0) | (numbers == 1.0)).all())):
        return _share(numbers == 1.0, pairs.ways, ask, told)
    rows = Rows.of(numbers - numbers[0])
    totals = take_totals(rows, products=ask.interval != "none")
    start = float(numbers[0])
    unit = abs(float(numbers[0])) + float(np.abs(numbers - numbers[0]).mean())
    found = smooth_interval(
        rows, totals, lambda sums: start + sums[..., 1] / sums[..., 0], ask, ways=pairs.ways, unit=unit
    )
    return Metric(start + float(totals.sums[1]) / pairs.n, n=pairs.n, **told, **found.fields())


def _within(human: Any, system: Any, tolerance: float, name: str, ask: Ask, clusters: Any) -> Metric:
    pairs = score_pairs(human, system, clusters=clusters)
    told: dict[str, Any] = {"name": name, "dropped": pairs.dropped, "level": ask.level}
    if pairs.n == 0:
        return _share(np.zeros(0, dtype=bool), (), ask, told)
    biggest = max(abs(float(pairs.human.max())), abs(float(pairs.human.min())))
    apart = pairs.human - pairs.system
    np.abs(apart, out=apart)
    found = _share(apart <= tolerance + max(SLACK, 4e-16 * biggest), pairs.ways, ask, told)
    if tolerance == 0.0 and bool((pairs.system != np.rint(pairs.system)).any()):
        found = found.replace(
            warnings=(*found.warnings, "the scores are not whole numbers; they are compared unrounded")
        )
    return found


def _share(hit: NDArray[np.bool_], ways: tuple[Way, ...], ask: Ask, told: dict[str, Any]) -> Metric:
    n, hits = len(hit), int(np.count_nonzero(hit))
    if n == 0:
        return Metric.undefined("no complete pair of scores", **told)
    found = _share_interval(hit, hits, ways, ask)
    return Metric(hits / n, n=n, **told, **found.fields())


def _share_interval(hit: NDArray[np.bool_], hits: int, ways: tuple[Way, ...], ask: Ask) -> Interval:
    n = len(hit)
    if ask.interval == "none":
        return no_interval("not asked for")
    if ask.interval == "bootstrap":
        rows = Rows.of(hit.astype(np.float64))
        return smooth_interval(rows, take_totals(rows, products=True), lambda s: s[..., 1] / s[..., 0], ask, ways=ways)
    if not ways:
        return wilson_interval(hits, n, ask.level)
    spread = spread_of((hit - hits / n) / n, ways)
    units = min(way.size for way in ways)
    if units < 2:
        return no_interval("one cluster has no spread")
    rough = Spread(math.sqrt(spread.variance), max(int(spread.df), 1), units)
    low, high = share_interval(hits / n, rough, n, ask.level)
    return Interval(low, high, f"analytic (Wilson, {spread.how})", spread.warnings, spread.assumptions)
