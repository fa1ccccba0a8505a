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
from hmc_crowd.metrics._intervals_moments import Rows, pivot_of
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_centred import centred, flat
from hmc_crowd.metrics._validate import Pairs, score_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Scale
    from hmc_crowd.metrics._intervals_moments import Function

__all__ = ["pearson", "quadratic_weighted_kappa"]


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
    Pearson r 0.9892 (n = 4)
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
    QWK 0.6667 (n = 4)
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

    rows, totals = centred(rows_at, (pivot_of(h), pivot_of(m)), ask, pairs, ((1, 3), (2, 4)))
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
