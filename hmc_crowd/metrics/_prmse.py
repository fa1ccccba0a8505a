"""How well does a system predict the TRUE score, the mean that endless raters would give?

A person's score is true score plus rater error, H = T + e. Where at least some responses have two ratings (or the
error variance is known from elsewhere), the variances of T and e can be told apart, and the system is compared with T
instead of with one person's noisy score. With c_i ratings of response i, mean Hbar_i, c. = sum(c_i):

    error variance      = sum over i of sum_j (H_ij - Hbar_i)^2 / sum(c_i - 1), responses with c_i >= 2
    true-score variance = (sum(c_i (Hbar_i - Hbar)^2) - (N - 1) error) / (c. - sum(c_i^2) / c.)
    MSE(T | M)          = (sum(c_i (Hbar_i - M_i)^2) - N error) / c.
    PRMSE               = 1 - MSE(T | M) / true-score variance

For two ratings everywhere this is the simple formula. Hbar is the mean of ALL ratings (the page says: of the first
rater; its code uses all). Intervals are the delta method's, over responses.

Sources: Haberman, Qian (2007); Loukina et al. (2020); RSMTool's page "Evaluation Metrics" and its code.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import Ask, ask_for, smooth_interval
from hmc_crowd.metrics._intervals_moments import Rows, take_totals
from hmc_crowd.metrics._prmse_ratings import Ratings, read_ratings
from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Scale

__all__ = ["mse_true", "prmse", "true_score_variance", "variance_of_errors"]

NO_DOUBLE = "no response has two ratings and no error variance is given"
ONE = "one response has no variance of true scores"


def variance_of_errors(
    human: Any,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the variance of rater errors, in squared score points.

    Parameters
    ----------
    human, level, interval, clusters, rng, n_boot
        As in `prmse`.

    Returns
    -------
    Metric
        At least 0, over the responses with two ratings or more (`n` counts those). Undefined if there are none.

    Raises
    ------
    InputError
        As `prmse`.

    Examples
    --------
    >>> variance_of_errors([[1, 1], [2, 3], [3, 3], [4, 5], [5, 5]], interval="none").value  # (1 + 1) / (2 * 5)
    0.2
    """
    ask = ask_for(level, interval, rng, n_boot)
    found = read_ratings(human, need_system=False, clusters=clusters)
    used = found.multiple
    told = _told("variance of rater errors", found, ask)
    if used == 0:
        return Metric.undefined("no response has two ratings", **{**told, "n": 0})

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(sums[..., 4] / (sums[..., 1] - sums[..., 0]))

    return _smooth(found, formula, ask, {**told, "n": used}, "log")


def true_score_variance(
    human: Any,
    error_variance: float | None = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the variance of true scores, in squared score points.

    Parameters
    ----------
    human, error_variance, level, interval, clusters, rng, n_boot
        As in `prmse`.

    Returns
    -------
    Metric
        May come out negative if rater error is large; then a warning says that it has no use. Undefined for one
        response, or if nothing tells the error variance.

    Raises
    ------
    InputError
        As `prmse`.

    Examples
    --------
    >>> round(true_score_variance([2, 3, 5], error_variance=0.5, interval="none").value, 6)  # 7 / 3 - 1 / 2
    1.833333
    """
    ask = ask_for(level, interval, rng, n_boot)
    error = _given(error_variance)
    found = read_ratings(human, need_system=False, clusters=clusters)
    told = _told("true-score variance", found, ask)
    reason = _hindrance(found, error, need_two=True)
    if reason:
        return Metric.undefined(reason, **told)
    made = _smooth(found, lambda sums: _true_variance(sums, error), ask, told, "plain")
    if made.value is not None and made.value <= 0.0:
        made = made.replace(warnings=(*made.warnings, "not positive: rater error explains all spread of the scores"))
    return made


def mse_true(
    human: Any,
    system: Any = None,
    error_variance: float | None = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the mean squared error of the system against true scores, in squared score points.

    Parameters
    ----------
    human, system, error_variance, level, interval, clusters, rng, n_boot
        As in `prmse`.

    Returns
    -------
    Metric
        May come out negative if the system lies closer to the ratings than their error allows (a warning says so).

    Raises
    ------
    InputError
        As `prmse`.

    Examples
    --------
    >>> mse_true([[1, 1], [2, 3], [3, 3], [4, 5], [5, 5]], [1, 2, 3, 4, 5], interval="none").value  # (1 - 1) / 10
    0.0
    """
    ask = ask_for(level, interval, rng, n_boot)
    error = _given(error_variance)
    found = read_ratings(human, system, need_system=True, clusters=clusters)
    told = _told("MSE against true scores", found, ask)
    reason = _hindrance(found, error, need_two=False)
    if reason:
        return Metric.undefined(reason, **told)
    made = _smooth(found, lambda sums: _true_mse(sums, error), ask, told, "plain")
    if made.value is not None and made.value < 0.0:
        made = made.replace(warnings=(*made.warnings, "negative: the error variance exceeds the system's distance"))
    return made


def prmse(
    human: Any,
    system: Any = None,
    error_variance: float | None = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the share of the variance of true scores that the system explains.

    Parameters
    ----------
    human : ratings
        (N,) with `error_variance`; (N, R) with NaN or None where a rater did not rate; a table or mapping with one
        column per rater; or a long table ``task, worker, score``.
    system : array of float, shape (N,)
        With a long table: scores by task (dict, or Series with the task as index), or the name of a worker in it.
    error_variance : float, optional
        Variance of rater errors from another sample, in squared score points, >= 0; 0.0 is a value like any other.
        Without it some responses must have two ratings.
    level, interval, clusters, rng, n_boot
        As in `exact_agreement`; the interval treats a given `error_variance` as known.

    Returns
    -------
    Metric
        1 is perfect; may be negative (very bad fit) or above 1 (the sample is too small to tell error from truth; a
        warning says so). Undefined for one response, if nothing tells the error variance, or if the true-score
        variance comes out at 0 or below. ``details`` holds the parts: ``error_variance, true_score_variance,
        mse_true, n_raters, n_single, n_multiple, raw``.

    Raises
    ------
    InputError
        Unequal lengths, or a negative `error_variance`.

    Examples
    --------
    >>> print(prmse([2, 3, 5], [1, 2, 5], error_variance=0.5, interval="none"))
    PRMSE 0.9091 (n = 3)
    """
    ask = ask_for(level, interval, rng, n_boot)
    error = _given(error_variance)
    found = read_ratings(human, system, need_system=True, clusters=clusters)
    told = _told("PRMSE", found, ask)
    reason = _hindrance(found, error, need_two=True)
    sums = take_totals(_rows(found), products=False).sums
    details: dict[str, Any] = {
        "n_raters": int(found.count.max()) if found.n else 0,
        "n_single": found.n - found.multiple,
        "n_multiple": found.multiple,
        "error_variance": None if found.n == 0 else _error(sums, error),
    }
    if reason:
        return Metric.undefined(reason, **told, details=details)
    variance, mse = float(_true_variance(sums, error)), float(_true_mse(sums, error))
    details |= {"true_score_variance": variance, "mse_true": mse}
    # Rounding leaves a variance of this size where there is none.
    if variance <= 1e-14 * (float(sums[3] / sums[1]) + float(details["error_variance"] or 0.0)):
        details["raw"] = 1 - mse / variance if variance else None
        why = "the true-score variance is not positive: rater error explains all spread of the scores"
        return Metric.undefined(why, **told, details=details)
    if mse < 0.0:
        why = "above 1: the error variance exceeds the system's distance from the ratings; the sample is too small"
        told["warnings"] = (*told["warnings"], why)
    scale: Scale = "log1m" if mse > 0.0 else "plain"
    return _smooth(found, lambda s: 1 - _true_mse(s, error) / _true_variance(s, error), ask, told, scale, details)


def _given(error_variance: float | None) -> float | None:
    if error_variance is None:
        return None
    good = isinstance(error_variance, Real) and not isinstance(error_variance, bool)
    if not good or not 0.0 <= float(error_variance) < math.inf:
        raise InputError(f"error_variance is {error_variance!r}; give a number of squared score points, at least 0")
    return float(error_variance)


def _told(name: str, found: Ratings, ask: Ask) -> dict[str, Any]:
    return {"name": name, "n": found.n, "dropped": found.dropped, "level": ask.level, "warnings": found.warnings}


def _hindrance(found: Ratings, error: float | None, *, need_two: bool) -> str:
    if found.n == 0:
        return (
            "no response has both a rating and a system score" if found.system is not None else "nobody rated anything"
        )
    if error is None and found.multiple == 0:
        return NO_DOUBLE
    return ONE if need_two and found.n < 2 else ""


def _rows(found: Ratings) -> Rows:
    """Features: 1, c, c Hbar, c Hbar^2, within, c^2, c (Hbar - M)^2."""
    c, mean = found.count, found.mean
    miss = np.zeros(found.n) if found.system is None else c * (mean - found.system) ** 2
    return Rows.of(c, c * mean, c * mean**2, found.within, c * c, miss)


def _error(sums: NDArray[Any], given: float | None) -> Any:
    if given is not None:
        return given
    with np.errstate(invalid="ignore", divide="ignore"):
        found = sums[..., 4] / (sums[..., 1] - sums[..., 0])
    return found if found.ndim else (None if np.isnan(found) else found[()])


def _true_variance(sums: NDArray[Any], given: float | None) -> NDArray[Any]:
    total = sums[..., 1]
    between = sums[..., 3] - sums[..., 2] ** 2 / total
    return np.asarray((between - (sums[..., 0] - 1) * _error(sums, given)) / (total - sums[..., 5] / total))


def _true_mse(sums: NDArray[Any], given: float | None) -> NDArray[Any]:
    return np.asarray((sums[..., 6] - sums[..., 0] * _error(sums, given)) / sums[..., 1])


def _smooth(
    found: Ratings, formula: Any, ask: Ask, told: dict[str, Any], scale: Scale, details: dict[str, Any] | None = None
) -> Metric:
    rows = _rows(found)
    totals = take_totals(rows, products=ask.interval != "none")
    unit = float(totals.sums[3] / totals.sums[1]) if scale == "plain" else 1.0
    made = smooth_interval(rows, totals, formula, ask, ways=found.ways, scale=scale, unit=unit)
    fields = {**made.fields(), "warnings": (*told["warnings"], *made.warnings)}
    return Metric(float(formula(totals.sums)), **{**told, **fields}, details=details or {})
