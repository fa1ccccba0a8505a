"""Which logged times are pauses rather than work, and what goes in their place.

First form: within each kind of work, on log seconds, values beyond the 5th and 95th percentile are pulled in to them
where there are at least 20, otherwise values beyond median +- 3 * 1.4826 * MAD. The raw times are never overwritten,
and every value that was pulled in is counted. A fast time is a time like any other: nothing here calls it bad.

Source: PLATFORMS.md section 5.4, point 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.effort._frames import as_pandas, require_columns, require_no_missing
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CleanTimes", "clean_times", "winsorise_seconds"]

# Half the step of a clock that counts whole seconds: what a logged 0 stands for on the log scale.
_FLOOR_S = 0.5


@dataclass(frozen=True, eq=False)
class CleanTimes:
    """Cleaned times beside the raw ones.

    Attributes
    ----------
    frame : pandas.DataFrame
        A copy of the input with ``seconds_clean`` and ``winsorised`` (bool) added.
    summary : pandas.DataFrame
        One row per kind of work: ``n, n_winsorised, rule, low_s, high_s, median_s, trimmed_mean_s, p25_s, p75_s`` (the
        last four of the raw times).
    n_winsorised : int
    """

    frame: pd.DataFrame
    summary: pd.DataFrame
    n_winsorised: int

    def __str__(self) -> str:
        return f"{self.n_winsorised:,} of {len(self.frame):,} times winsorised in {len(self.summary):,} kinds of work"


def winsorise_seconds(
    seconds: ArrayLike, *, low: float = 0.05, high: float = 0.95, min_n: int = 20
) -> tuple[NDArray[np.float64], NDArray[np.bool_], str]:
    """Pull in extreme times; return the new array, which values changed, and the rule that was used.

    Parameters
    ----------
    seconds : array of float, shape (n,)
        >= 0.
    low, high : float, default 0.05 and 0.95
        Percentiles, as shares, on log seconds.
    min_n : int, default 20
        With fewer values the median and the MAD decide; where the MAD is 0 (most values equal) nothing is changed.

    Examples
    --------
    >>> clean, changed, rule = winsorise_seconds([10, 11, 9, 10, 12, 5000])
    >>> changed.tolist(), rule
    ([False, False, False, False, False, True], 'median +- 3 MAD')
    """
    raw = float_vector(seconds, name="seconds", low=0.0)
    if not 0 <= low < high <= 1:
        raise InputError(f"low is {low} and high is {high}; give shares with 0 <= low < high <= 1")
    logs = np.log(np.maximum(raw, _FLOOR_S))
    if len(raw) >= min_n:
        rule = f"P{100 * low:g}-P{100 * high:g}"
        bottom, top = np.quantile(logs, [low, high])
    else:
        middle = float(np.median(logs))
        reach = 3 * 1.4826 * float(np.median(np.abs(logs - middle)))
        rule, (bottom, top) = "median +- 3 MAD", (middle - reach, middle + reach)
        if reach == 0:
            return raw.copy(), np.zeros(len(raw), dtype=bool), "none: MAD is 0"
    # A hair of tolerance: a value at the border must not count as changed by the round trip through the logarithm.
    changed = (logs < bottom - 1e-12) | (logs > top + 1e-12)
    return np.where(changed, np.exp(np.clip(logs, bottom, top)), raw), changed, rule


def clean_times(
    times: Any,
    *,
    by: Sequence[str] = (),
    seconds: str = "seconds",
    low: float = 0.05,
    high: float = 0.95,
    min_n: int = 20,
) -> CleanTimes:
    """Winsorise logged times within each kind of work.

    Parameters
    ----------
    times : table
        One row per time; not written to.
    by : sequence of str, default ()
        Columns that make times comparable, for example task type and length bin; none means all together.
    seconds : str, default "seconds"
        Column of the times.
    low, high, min_n
        As in `winsorise_seconds`.

    Raises
    ------
    FrameError, InputError
        A column is missing, or a time is missing, infinite or negative.

    Examples
    --------
    >>> cleaned = clean_times({"seconds": [10.0, 11.0, 9.0, 10.0, 12.0, 5000.0]})
    >>> print(cleaned)
    1 of 6 times winsorised in 1 kinds of work
    >>> float(cleaned.frame["seconds"].max())
    5000.0
    """
    import pandas as pd

    table = as_pandas(times, name="times")
    keys = [by] if isinstance(by, str) else list(by)
    require_columns(table, [seconds, *keys], name="times")
    require_no_missing(table, keys, name="times")
    raw = float_vector(table[seconds].to_numpy(), name=f"times column {seconds}", low=0.0)
    clean, changed, rows = raw.copy(), np.zeros(len(raw), dtype=bool), []
    code = table.groupby(keys, sort=True).ngroup().to_numpy() if keys else np.zeros(len(raw), dtype=np.int64)
    order = np.argsort(code, kind="stable")
    for where in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        clean[where], changed[where], rule = winsorise_seconds(raw[where], low=low, high=high, min_n=min_n)
        rows.append(
            {key: table[key].iloc[where[0]] for key in keys} | _describe(raw[where], clean[where], changed[where], rule)
        )
    frame = table.assign(seconds_clean=clean, winsorised=changed)
    return CleanTimes(frame, pd.DataFrame(rows), int(changed.sum()))


def _describe(
    raw: NDArray[np.float64], clean: NDArray[np.float64], changed: NDArray[np.bool_], rule: str
) -> dict[str, Any]:
    """Return one row of the summary; robust figures rather than a bare mean."""
    from scipy.stats import trim_mean

    p25, median, p75 = np.quantile(raw, [0.25, 0.5, 0.75])
    return {
        "n": len(raw),
        "n_winsorised": int(changed.sum()),
        "rule": rule,
        "low_s": float(clean.min()),
        "high_s": float(clean.max()),
        "median_s": float(median),
        "trimmed_mean_s": float(trim_mean(raw, 0.1)),
        "p25_s": float(p25),
        "p75_s": float(p75),
    }
