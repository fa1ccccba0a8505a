"""Does the machine know when it is right? Measures of a confidence against whether its labels were right.

They look only at the order that the confidence gives the items, so a raw score does as well as a probability. A
good one puts right labels on top: then people get the items that need them.

Source: Zhang, Ren, de Rijke (2021), table 3; area under risk-coverage: Geifman, El-Yaniv (2017).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import bool_vector
from hmc_crowd.metrics._influence import Spread, share_interval
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._reliability_influence import area_influence, auc_influence, top_influence
from hmc_crowd.metrics._value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["RiskCoverage", "confidence_auc", "risk_coverage", "top_k_accuracy"]


def confidence_auc(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> Value:
    """Return the probability that a right label has a higher confidence than a wrong one (ties count half).

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        Any finite score, higher for surer.
    correct : array of bool, shape (n_items,)
        Whether the machine's label was right.
    clusters : array (n_items,), or two of them, optional
        Items that belong together (dialogues); the interval respects them.
    level : float, default 0.95
        Coverage of the interval.
    interval : {"auto", "analytic", "none"}
        "auto" is analytic.

    Returns
    -------
    Value
        In [0, 1]; .5 is chance. Undefined if all labels are right or all are wrong.

    Raises
    ------
    InputError
        Empty, of different lengths, missing values, or `correct` holds anything but 0, 1, True, False.

    Examples
    --------
    >>> confidence_auc([0.9, 0.8, 0.7, 0.6], [True, True, False, True]).value  # 2 of the 3 pairs in order
    0.6666666666666666
    """
    score, right = _inputs(confidence, correct)
    n_right = int(right.sum())
    n_wrong = len(right) - n_right
    method = "AUC of the confidence for 'the label is right'"
    if n_right == 0 or n_wrong == 0:
        return Value(None, len(right), method, f"every label is {'right' if n_right else 'wrong'}")
    _, where, counts = np.unique(score, return_inverse=True, return_counts=True)
    # Middle rank of each group of equal scores, from 1.
    rank = np.cumsum(counts) - (counts - 1) / 2
    wins = float(rank[where][right].sum()) - n_right * (n_right + 1) / 2
    value = wins / (n_right * n_wrong)
    low, high = _ends(value, lambda: auc_influence(score, right), clusters, level, interval)
    return Value(value, len(right), method, low=low, high=high, level=level)


def top_k_accuracy(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    share: float = 0.5,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> Value:
    """Return the share of right labels among the most confident items.

    Parameters
    ----------
    confidence, correct
        As in `confidence_auc`.
    share : float, default 0.5
        Part of the items to look at, in [0, 1]; floor(share * n) items. Where equal scores straddle the border,
        each of them counts for its share of the places left, so that the result depends on no order.
    clusters, level, interval
        As in `confidence_auc`.

    Returns
    -------
    Value
        Undefined if the part holds no item.

    Raises
    ------
    InputError
        As `confidence_auc`, or `share` is outside [0, 1].

    Examples
    --------
    >>> top_k_accuracy([0.9, 0.8, 0.7, 0.6], [True, True, False, True]).value
    1.0
    """
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, Real) or not 0.0 <= float(share) <= 1.0:
        raise InputError(f"share is {share!r}; give a number in [0, 1], such as 0.5")
    score, right = _inputs(confidence, correct)
    count = math.floor(float(share) * len(right) + 1e-9)
    method = f"accuracy of the most confident {share:.0%}"
    if count == 0:
        return Value(None, 0, method, f"{share:g} of {len(right)} items is none")
    border = np.partition(score, len(score) - count)[len(score) - count]
    above, at = score > border, score == border
    hits = int(right[above].sum()) + (count - int(above.sum())) * float(right[at].mean())
    value = hits / count
    low, high = _ends(value, lambda: top_influence(score, right, count, value), clusters, level, interval)
    return Value(value, count, method, low=low, high=high, level=level)


@dataclass(frozen=True, eq=False)
class RiskCoverage:
    """Error among the most confident items, for every part of the items. Frozen; its arrays are read-only.

    Parameters
    ----------
    coverage : array of float, shape (n_items,)
        1/n, 2/n, ..., 1.
    risk : array of float, shape (n_items,)
        Share of wrong labels among so many most confident items.
    area : float
        Mean of the risk over all coverages (area under the curve, AURC); smaller is better.
    n : int
        Items.
    low, high : float or None
        Interval of the area.
    level : float
        Its coverage.
    """

    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]
    area: float
    n: int
    low: float | None = None
    high: float | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        self.coverage.setflags(write=False)
        self.risk.setflags(write=False)

    def __str__(self) -> str:
        return f"RiskCoverage: area {self.area:.6f}, risk at full coverage {self.risk[-1]:.4f} (n = {self.n:,})"

    def to_frame(self) -> pd.DataFrame:
        """Return ``coverage, risk``, one row per number of items."""
        import pandas as pd

        return pd.DataFrame({"coverage": self.coverage, "risk": self.risk})


def risk_coverage(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
) -> RiskCoverage:
    """Return the error among the most confident items for every coverage, and the area under that curve.

    Parameters
    ----------
    confidence, correct, clusters, level, interval
        As in `confidence_auc`.

    Returns
    -------
    RiskCoverage
        Inside a group of equal scores the wrong labels are spread evenly, so that the curve depends on no order.

    Raises
    ------
    InputError
        As `confidence_auc`.

    Examples
    --------
    >>> risk_coverage([0.9, 0.8, 0.7, 0.6], [True, True, False, True]).risk.tolist()
    [0.0, 0.0, 0.3333333333333333, 0.25]
    """
    score, right = _inputs(confidence, correct)
    n = len(right)
    _, where, counts = np.unique(-score, return_inverse=True, return_counts=True)
    wrong = np.bincount(where, weights=~right) / counts
    taken = np.arange(1, n + 1)
    risk = np.cumsum(np.repeat(wrong, counts)) / taken
    area = float(risk.mean())

    def influence() -> NDArray[np.float64]:
        # Computed by falling confidence, handed back in the rows' own order.
        order = np.argsort(-score, kind="stable")
        out = np.empty(n)
        out[order] = area_influence(risk, (~right[order]).astype(np.float64))
        return out

    low, high = _ends(area, influence, clusters, level, interval)
    return RiskCoverage(taken / n, risk, area, n, low, high, level)


def _ends(
    value: float, influence: Callable[[], NDArray[np.float64]], clusters: Any, level: float, interval: str
) -> tuple[float | None, float | None]:
    """Return Wilson's ends with the effective number of rows."""
    ask = ask_for(level, interval)
    if ask.interval == "none":
        return None, None
    if ask.interval == "bootstrap":
        raise InputError("interval is 'bootstrap'; the measures of a confidence have analytic intervals")
    parts = influence()
    ways = cluster_ways(clusters, len(parts))
    size = min((way.size for way in ways), default=len(parts))
    if size < 2:
        return None, None
    spread = spread_of(parts, ways)
    return share_interval(value, Spread(spread.variance**0.5, spread.df, size), len(parts), ask.level)


def _inputs(confidence: ArrayLike, correct: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    score = float_vector(confidence, name="confidence")
    right = bool_vector(correct, name="correct")
    require_same_length([("confidence", score), ("correct", right)])
    return score, right
