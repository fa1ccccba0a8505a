"""How far is a confidence from the share of labels that are right?

Items are cut into bins of equal size by their confidence; each bin has a gap between the share that is right and the
mean confidence. The mean absolute gap (ECE) is what most papers print; it is above 0 for a perfectly calibrated
confidence too, because shares vary, so what chance alone would give stands beside it. The root mean square gap is
debiased: the squared gap of a bin less its sampling variance is right on average. Its interval is the normal one of
that mean, mapped through the root; it is 0 at the low end where the gaps may be chance.

Condition: items are drawn independently. The gap is that of the bins; differences within a bin average out.

Source: Kumar, Liang, Ma (2019), "Verified uncertainty calibration", section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.confidence._inputs import bool_vector
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CalibrationError", "calibration_error"]

# Fewer items in a bin have no variance that one could rely on.
_LEAST_IN_BIN = 10


@dataclass(frozen=True, eq=False)
class CalibrationError:
    """Gap between confidence and share right. Frozen; arrays are read-only and have one entry a bin.

    Parameters
    ----------
    value : float
        Root mean square gap, debiased; 0 where the gaps are no larger than chance makes them.
    low, high : float
        Interval of it.
    level : float
        Coverage of the interval.
    mean_gap : float
        Mean absolute gap (ECE), as printed in papers.
    mean_gap_by_chance : float
        What that would be on average, were the confidence perfectly calibrated.
    bias : float
        Mean confidence minus share right: above 0 is too sure.
    n : int
        Items.
    count, confidence, correct : array, shape (n_bins,)
        Items of each bin, their mean confidence and their share right: the calibration plot.
    """

    value: float
    low: float
    high: float
    level: float
    mean_gap: float
    mean_gap_by_chance: float
    bias: float
    n: int
    count: NDArray[np.int64]
    confidence: NDArray[np.float64]
    correct: NDArray[np.float64]

    def __post_init__(self) -> None:
        for each in (self.count, self.confidence, self.correct):
            each.setflags(write=False)

    def __str__(self) -> str:
        return (
            f"calibration error {self.value:.4f} [{self.low:.4f}, {self.high:.4f}] (root mean square, "
            f"{self.level:.0%}, n = {self.n:,}); mean gap {self.mean_gap:.4f}, by chance {self.mean_gap_by_chance:.4f}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return ``count, confidence, correct``, one row a bin: the calibration plot."""
        import pandas as pd

        return pd.DataFrame({"count": self.count, "confidence": self.confidence, "correct": self.correct})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = {name: value for name, value in self.__dict__.items() if not isinstance(value, np.ndarray)}
        return plain | {"bins": self.to_frame().to_dict("records")}


def calibration_error(
    confidence: ArrayLike, correct: ArrayLike, *, bins: int = 15, level: float = 0.95
) -> CalibrationError:
    """Measure how far a confidence is from the probability of being right.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        In [0, 1].
    correct : array of bool, shape (n_items,)
        Whether the label was right.
    bins : int, default 15
        Bins of equal size, at most; fewer where they would hold less than 10 items. Equal confidences stay together.
    level : float, default 0.95
        Coverage of the interval.

    Raises
    ------
    InputError
        Out of range, of different lengths, or `bins` or `level` cannot be used.

    Examples
    --------
    >>> right = [True] * 9 + [False]
    >>> calibration_error([0.9] * 10, right).mean_gap.__round__(9)
    0.0
    >>> print(calibration_error([0.5] * 10 + [1.0] * 10, right + right).bias.__round__(9))
    -0.15
    """
    given = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    right = bool_vector(correct, name="correct")
    n = require_same_length([("confidence", given), ("correct", right)])
    if not isinstance(bins, Integral) or isinstance(bins, bool) or bins < 1:
        raise InputError(f"bins is {bins!r}; give an integer of at least 1")
    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a share strictly between 0 and 1, such as 0.95")
    place = _bin_of(given, max(1, min(int(bins), n // _LEAST_IN_BIN)))
    count = np.bincount(place)
    residual = right - given
    gap = np.bincount(place, weights=residual) / count
    spread = np.bincount(place, weights=(residual - gap[place]) ** 2)
    variance = np.divide(spread, count * (count - 1.0), out=np.zeros(len(count)), where=count > 1)
    squares, low, high = _debiased(gap, variance, count / n, level)
    chance = np.sqrt(np.bincount(place, weights=given * (1 - given))) / count
    return CalibrationError(
        value=float(np.sqrt(max(squares, 0.0))),
        low=low,
        high=high,
        level=float(level),
        mean_gap=float(np.abs(gap) @ count / n),
        # The mean of the absolute value of a normal variable is its deviation times sqrt(2 / pi).
        mean_gap_by_chance=float(np.sqrt(2 / np.pi) * chance @ count / n),
        bias=float(-residual.mean()),
        n=n,
        count=count,
        confidence=np.bincount(place, weights=given) / count,
        correct=np.bincount(place, weights=right) / count,
    )


def _debiased(
    gap: NDArray[np.float64], variance: NDArray[np.float64], weight: NDArray[np.float64], level: float
) -> tuple[float, float, float]:
    """Return the mean squared gap without its sampling variance, and the interval of its root."""
    from scipy.stats import norm

    squares = float(weight @ (gap**2 - variance))
    # The observed squares, not the debiased ones: with those the interval covers 93 % where 95 % is asked for.
    deviation = float(np.sqrt(weight**2 @ (2 * variance**2 + 4 * gap**2 * variance)))
    reach = float(norm.ppf(0.5 + level / 2)) * deviation
    return squares, float(np.sqrt(max(squares - reach, 0.0))), float(np.sqrt(max(squares + reach, 0.0)))


def _bin_of(given: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """Return the bin of each item, 0 the least confident, none of them empty."""
    edges = np.quantile(given, np.arange(1, bins) / bins, method="lower")
    return np.asarray(np.unique(np.searchsorted(edges, given, side="left"), return_inverse=True)[1])
