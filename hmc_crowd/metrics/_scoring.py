"""How close are a system's scores to people's? Accuracy against the observed score.

All functions take ``(human, system)``, shape (n,) each, or one frame (see `exact_agreement`); leave out incomplete
pairs and count them; and return a `Metric` with an interval. Shares are in [0, 1]; RSMTool's tables (`score_report`)
print them as percentages.

Undefined values follow one rule: a spread below 1e-9 of the scores' size is rounding, so it counts as no spread
(about 6 digits of such a number would be noise), and the metric has no value but a reason.

Source: the page "Evaluation Metrics" of RSMTool 12 and its code, from which the docstrings name every departure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import Ask, ask_for, smooth_interval
from hmc_crowd.metrics._intervals_moments import Rows, Totals, pivot_of, take_totals
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._validate import Pairs, score_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Scale
    from hmc_crowd.metrics._intervals_moments import Function

__all__ = ["flat", "mean_squared_error", "pearson", "quadratic_weighted_kappa", "r2", "root_mean_squared_error"]

# A standard deviation below this share of the mean is rounding: fewer than about 6 of its digits are real.
RELATIVE = 1e-9


def flat(variance: float, mean: float) -> bool:
    """Tell whether scores have no spread beyond rounding."""
    return not variance > (RELATIVE * mean) ** 2


def pearson(
    human: Any,
    system: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return Pearson's correlation, sum((H - mean)(M - mean)) / sqrt(sum((H - mean)^2) sum((M - mean)^2)).

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.

    Returns
    -------
    Metric
        In [-1, 1] up to rounding. Interval: delta method on Fisher's z, which does not assume normal scores.
        Undefined for one pair, or if either column has no spread.

    Raises
    ------
    InputError
        Unequal lengths, or something that is no column of scores.

    Notes
    -----
    RSMTool tests for one distinct value, so that scores which differ by rounding alone still get a (noise)
    correlation; here a spread below 1e-9 of the mean is none.

    Examples
    --------
    >>> print(pearson([1, 2, 3, 4], [1.1, 2.2, 2.7, 3.9], interval="none"))
    Pearson r 0.9914 (n = 4)
    """

    def check(pairs: Pairs, mean: tuple[float, float], variance: tuple[float, float]) -> str:
        del pairs
        which = [name for name, m, v in zip(("human", "system"), mean, variance, strict=True) if flat(v, m)]
        return f"the {' and '.join(which)} scores have no spread" if which else ""

    def formula(sums: NDArray[Any], _: float) -> NDArray[Any]:
        n = sums[..., 0]
        cov = sums[..., 5] - sums[..., 1] * sums[..., 2] / n
        left = sums[..., 3] - sums[..., 1] ** 2 / n
        return np.asarray(cov / np.sqrt(left * (sums[..., 4] - sums[..., 2] ** 2 / n)))

    ask = ask_for(level, interval, rng, n_boot)
    return _paired("Pearson r", score_pairs(human, system, clusters=clusters), formula, ask, "fisher", check)


def quadratic_weighted_kappa(
    human: Any,
    system: Any = None,
    *,
    ddof: int = 0,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return 2 Cov(M, H) / (Var(H) + Var(M) + (mean M - mean H)^2), for continuous scores, nothing rounded.

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.
    ddof : int, default 0
        Taken from n in variances and covariance. Not in the mean difference, so any other value gives another
        number than the kappa (RSMTool has the same parameter and the same effect).

    Returns
    -------
    Metric
        In [-1, 1]. Equals ``cohen_kappa(weights="quadratic")`` on whole numbers if `ddof` is 0. Undefined if both
        columns are one and the same constant (0 / 0), where skll says 1.

    Raises
    ------
    InputError
        As `exact_agreement`, or `ddof` is not 0 or 1.

    Examples
    --------
    >>> print(quadratic_weighted_kappa([1, 2, 4, 1], [1, 4, 4, 2], interval="none"))
    QWK 0.6897 (n = 4)
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof!r}; give 0 (the kappa) or 1")

    def check(pairs: Pairs, mean: tuple[float, float], variance: tuple[float, float]) -> str:
        if pairs.n <= ddof:
            return f"{pairs.n} pair leaves no degree of freedom with ddof {ddof}"
        size = max(abs(mean[0]), abs(mean[1]))
        total = variance[0] + variance[1] + (mean[0] - mean[1]) ** 2
        return "both columns are one and the same constant" if flat(total, size) else ""

    def formula(sums: NDArray[Any], apart: float) -> NDArray[Any]:
        n = sums[..., 0]
        spread = sums[..., 3] + sums[..., 4] - (sums[..., 1] ** 2 + sums[..., 2] ** 2) / n
        cov = sums[..., 5] - sums[..., 1] * sums[..., 2] / n
        bias = ((sums[..., 1] - sums[..., 2]) / n + apart) ** 2
        return np.asarray(2 * cov / (spread + bias * (n - ddof)))

    ask = ask_for(level, interval, rng, n_boot)
    return _paired(
        "QWK", score_pairs(human, system, clusters=clusters), formula, ask, "fisher", check, single=ddof == 0
    )


def mean_squared_error(
    human: Any,
    system: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the mean of (H - M)^2, divided by n, in squared score points.

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.

    Returns
    -------
    Metric
        At least 0; interval on the log scale.

    Raises
    ------
    InputError
        As `exact_agreement`.

    Examples
    --------
    >>> mean_squared_error([1, 2, 3], [1, 2, 5], interval="none").value  # 4 / 3
    1.3333333333333333
    """
    ask = ask_for(level, interval, rng, n_boot)
    return _squares("MSE", score_pairs(human, system, clusters=clusters), ask, root=False)


def root_mean_squared_error(
    human: Any,
    system: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return the square root of `mean_squared_error`, in score points; arguments, errors and interval as there.

    Examples
    --------
    >>> root_mean_squared_error([1, 2, 3, 4], [1, 2, 5, 4], interval="none").value
    1.0
    """
    ask = ask_for(level, interval, rng, n_boot)
    return _squares("RMSE", score_pairs(human, system, clusters=clusters), ask, root=True)


def r2(
    human: Any,
    system: Any = None,
    *,
    level: float = 0.95,
    interval: str = "auto",
    clusters: Any = None,
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return 1 - sum((H - M)^2) / sum((H - mean H)^2).

    Parameters
    ----------
    human, system, clusters, level, interval, rng, n_boot
        As in `exact_agreement`.

    Returns
    -------
    Metric
        At most 1, negative if the mean human score would predict better. Undefined for one pair.

    Raises
    ------
    InputError
        As `exact_agreement`.

    Notes
    -----
    RSMTool's page divides the variance by n - 1, its code by n; 1 - R2 differs by (n - 1) / n. This is the code's.
    With constant human scores the code (scikit-learn) says 1 for equal scores and 0 otherwise; so does this
    function, with a warning.

    Examples
    --------
    >>> round(r2([2, 2, 3, 4, 4, 1], [1.5, 2.5, 3.5, 4.5, 3.5, 0.5], interval="none").value, 6)
    0.795455
    """
    ask = ask_for(level, interval, rng, n_boot)
    pairs = score_pairs(human, system, clusters=clusters)
    if pairs.n < 2:
        why = "one pair has no variance to explain" if pairs.n else "no complete pair of scores"
        return Metric.undefined(why, name="R2", n=pairs.n, dropped=pairs.dropped, level=ask.level)
    h, m = pairs.human, pairs.system

    def rows_at(pivot: float) -> Rows:
        def fill(rows: slice, out: NDArray[np.float64]) -> None:
            np.subtract(h[rows], pivot, out=out[1])
            np.square(out[1], out=out[2])
            np.subtract(h[rows], m[rows], out=out[3])
            np.square(out[3], out=out[3])

        return Rows(pairs.n, 4, fill)

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(1.0 - sums[..., 3] / (sums[..., 2] - sums[..., 1] ** 2 / sums[..., 0]))

    pivot = pivot_of(h)
    rows, totals = _centred(rows_at, pivot, ask, pairs, ((1, 2),))
    n = pairs.n
    variance = (totals.sums[2] - totals.sums[1] ** 2 / n) / n
    if flat(float(variance), pivot):
        told = "the human scores have no spread; by scikit-learn's convention R2 is 1 if all pairs are equal, else 0"
        equal = 1.0 if totals.sums[3] == 0.0 else 0.0
        return Metric(equal, n=n, dropped=pairs.dropped, level=ask.level, name="R2", warnings=(told,))
    value = float(formula(totals.sums))
    found = smooth_interval(rows, totals, formula, ask, ways=pairs.ways, scale="log1m")
    return Metric(value, n=n, dropped=pairs.dropped, level=ask.level, name="R2", **found.fields())


def _squares(name: str, pairs: Pairs, ask: Ask, *, root: bool) -> Metric:
    if pairs.n == 0:
        return Metric.undefined("no complete pair of scores", name=name, dropped=pairs.dropped, level=ask.level)
    h, m = pairs.human, pairs.system

    def fill(rows: slice, out: NDArray[np.float64]) -> None:
        np.subtract(h[rows], m[rows], out=out[1])
        np.square(out[1], out=out[1])

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        mean = sums[..., 1] / sums[..., 0]
        return np.asarray(np.sqrt(mean) if root else mean)

    rows = Rows(pairs.n, 2, fill)
    totals = take_totals(rows, products=ask.interval != "none")
    found = smooth_interval(rows, totals, formula, ask, ways=pairs.ways, scale="log")
    value = float(formula(totals.sums))
    return Metric(value, n=pairs.n, dropped=pairs.dropped, level=ask.level, name=name, **found.fields())


def _centred(
    rows_at: Callable[..., Rows], pivots: Any, ask: Ask, pairs: Pairs, places: tuple[tuple[int, int], ...]
) -> tuple[Rows, Totals]:
    """Take the sums; once more with a better pivot if the first was far from the mean."""
    products = ask.interval != "none"
    given = np.atleast_1d(np.asarray(pivots, dtype=np.float64))
    rows = rows_at(*given)
    totals = take_totals(rows, products=products)
    n = pairs.n
    means = np.array([totals.sums[first] / n for first, _ in places])
    squares = np.array([totals.sums[second] / n for _, second in places])
    # Squares about a pivot 4 standard deviations off lose 1 digit of 16; beyond that it is worth a second pass.
    if (means**2 > 16.0 / 17.0 * squares).any() and (squares > 0).any():
        rows = rows_at(*(given + means))
        totals = take_totals(rows, products=products)
    return rows, totals


def _paired(
    name: str,
    pairs: Pairs,
    formula: Callable[[NDArray[Any], float], NDArray[Any]],
    ask: Ask,
    scale: Scale,
    check: Callable[[Pairs, tuple[float, float], tuple[float, float]], str],
    *,
    single: bool = False,
) -> Metric:
    """Return a function of the sums of H, M, H^2, M^2 and H M about pivots."""
    told: dict[str, Any] = {"name": name, "n": pairs.n, "dropped": pairs.dropped, "level": ask.level}
    if pairs.n == 0 or (pairs.n == 1 and not single):
        return Metric.undefined("one pair has no variance" if pairs.n else "no complete pair of scores", **told)
    h, m = pairs.human, pairs.system
    used: list[float] = [0.0, 0.0]

    def rows_at(left: float, right: float) -> Rows:
        used[:] = [left, right]

        def fill(rows: slice, out: NDArray[np.float64]) -> None:
            np.subtract(h[rows], left, out=out[1])
            np.subtract(m[rows], right, out=out[2])
            np.square(out[1:3], out=out[3:5])
            np.multiply(out[1], out[2], out=out[5])

        return Rows(pairs.n, 6, fill)

    rows, totals = _centred(rows_at, (pivot_of(h), pivot_of(m)), ask, pairs, ((1, 3), (2, 4)))
    sums, n = totals.sums, pairs.n
    mean = (used[0] + float(sums[1]) / n, used[1] + float(sums[2]) / n)
    variance = (float(sums[3] - sums[1] ** 2 / n) / n, float(sums[4] - sums[2] ** 2 / n) / n)
    reason = check(pairs, mean, variance)
    if reason:
        return Metric.undefined(reason, **told)
    apart = used[0] - used[1]
    bound: Function = lambda values: formula(values, apart)  # noqa: E731
    found = smooth_interval(rows, totals, bound, ask, ways=pairs.ways, scale=scale)
    return Metric(float(bound(sums)), **told, **found.fields())
