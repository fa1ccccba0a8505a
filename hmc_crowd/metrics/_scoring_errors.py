"""How far off are a system's scores? Squared errors, and the variance that they leave unexplained.

Source: RSMTool's page "Evaluation Metrics" and its code; the docstrings name where the two differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._intervals import Ask, ask_for, smooth_interval
from hmc_crowd.metrics._intervals_moments import Rows, take_totals
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._scoring_centred import flat
from hmc_crowd.metrics._validate import Pairs, score_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mean_squared_error", "r2", "root_mean_squared_error"]


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
    h, m, n = pairs.human, pairs.system, pairs.n
    middle = float(h.mean())
    # About the mean itself the sum of h has no influence; only a bootstrap, whose means differ, needs it.
    width = 4 if ask.interval == "bootstrap" else 3

    def fill(rows: slice, out: NDArray[np.float64]) -> None:
        np.subtract(h[rows], m[rows], out=out[1])
        np.square(out[1], out=out[1])
        np.subtract(h[rows], middle, out=out[width - 1])
        np.square(out[width - 1], out=out[2])
        # The last feature is still h minus its mean where it is wanted.

    def formula(sums: NDArray[Any]) -> NDArray[Any]:
        shift = sums[..., 3] ** 2 / sums[..., 0] if width == 4 else 0.0
        return np.asarray(1.0 - sums[..., 1] / (sums[..., 2] - shift))

    rows = Rows(n, width, fill)
    totals = take_totals(rows, products=ask.interval != "none")
    if flat(float(totals.sums[2]) / n, middle):
        told = "the human scores have no spread; by scikit-learn's convention R2 is 1 if all pairs are equal, else 0"
        equal = 1.0 if totals.sums[1] == 0.0 else 0.0
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
