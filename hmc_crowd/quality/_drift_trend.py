"""How good is each worker of late, and where is it going?

The source alerts when "a worker's trend is below .3" and means the level. Here the alert is on the rolling quality,
with its interval; the trend is a slope with an interval of its own. Whether a level *changed* is for `find_drift`.

Source: requirement D9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality._answer_checks import check_table, last_checks
from hmc_crowd.quality._gold_scores import beta_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["rolling_quality"]


def rolling_quality(
    checks: Any, *, window: int = 50, below: float = 0.3, at_least: int = 10, level: float = 0.95
) -> pd.DataFrame:
    """Return the share right of each worker's last checks, its slope, and who is to be looked at.

    Parameters
    ----------
    checks : pandas.DataFrame
        ``worker, right, at``, such as `gold_checks`.
    window : int, default 50
        Checks that count, the latest.
    below : float, default 0.3
        Alert below this quality, the source's figure, in [0, 1].
    at_least : int, default 10
        Checks without which nobody is alerted on; at least 2, one failure never alerts.
    level : float, default 0.95
        Of the intervals.

    Returns
    -------
    pandas.DataFrame
        One row per worker, sorted: ``worker, n, quality, low, high, slope, slope_low, slope_high, alert, severity,
        reason``. ``slope`` is the change of the share right per 100 checks by least squares; NaN under 3 checks or
        where all are alike.

    Examples
    --------
    >>> times = pd.date_range("2026-01-05", periods=12, tz="UTC")
    >>> checks = pd.DataFrame({"worker": "ann", "right": [True] * 2 + [False] * 10, "at": times})
    >>> rolling_quality(checks)[["quality", "alert", "severity"]].round(3).to_dict("records")
    [{'quality': 0.167, 'alert': True, 'severity': 'high'}]
    """
    if not 0 <= below <= 1:
        raise InputError(f"below is {below!r}; give a share between 0 and 1")
    if isinstance(at_least, bool) or at_least < 2:
        raise InputError(f"at_least is {at_least!r}; give a whole number of at least 2: one failure alerts nobody")
    last = last_checks(check_table(checks), window)
    groups = last.groupby("worker", sort=True)["right"]
    right, n = (np.asarray(each, dtype=np.intp) for each in (groups.sum(), groups.size()))
    low, high = beta_interval(right, n, level=level, prior=(1.0, 1.0))
    slopes = [_slope(values.to_numpy(dtype=float), level) for _, values in groups]
    share = right / np.maximum(n, 1)
    alert = (n >= at_least) & (share < below)
    reasons = [
        f"right on {good} of the last {all_}, below {below:g}" if rings else ""
        for good, all_, rings in zip(right.tolist(), n.tolist(), alert.tolist(), strict=True)
    ]
    found = pd.DataFrame({"worker": groups.size().index.to_numpy(), "n": n, "quality": share, "low": low, "high": high})
    found[["slope", "slope_low", "slope_high"]] = np.array(slopes, dtype=np.float64).reshape(-1, 3)
    return found.assign(alert=alert, severity=np.where(alert, "high", ""), reason=reasons)


def _slope(values: NDArray[np.float64], level: float) -> tuple[float, float, float]:
    """Return the least-squares slope per 100 checks with its interval (Student's t)."""
    from scipy.stats import t

    n = len(values)
    if n < 3 or values.min() == values.max():
        return float("nan"), float("nan"), float("nan")
    place = np.arange(n) - (n - 1) / 2
    spread = float(place @ place)
    slope = float(place @ values) / spread
    rest = values - values.mean() - slope * place
    wide = float(t.ppf((1 + level) / 2, n - 2)) * np.sqrt(float(rest @ rest) / (n - 2) / spread)
    return 100 * slope, 100 * (slope - wide), 100 * (slope + wide)
