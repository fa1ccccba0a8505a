"""What is known about a worker's quality at an instant, as numbers for a model.

The source's features: accuracy, response time, availability, agreement, and consistency. Each is computed from events
strictly before the instant; nothing known is NaN. Time is a feature beside others and never a rule of its own: on open
answer sets quick answers are not worse.

Source: requirements D5 and D7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._answer_checks import check_table
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["FEATURES", "quality_features"]

FEATURES = ("accuracy", "n_gold", "response_log_s", "availability", "agreement", "n_agreement", "consistency")
"""Columns that `quality_features` makes."""

_WINDOW = 50
_DAY_US = 86_400_000_000


def quality_features(
    workers: Sequence[Any],
    as_of: Any,
    *,
    gold: Any,
    agreement: Any = None,
    work: Any = None,
    days: int = 7,
) -> pd.DataFrame:
    """Return the features of workers as they were known at instants.

    Parameters
    ----------
    workers : sequence, length n
        A worker may occur many times, each with another instant.
    as_of : sequence of aware times, length n
    gold : pandas.DataFrame
        `gold_checks`: ``worker, right, at``.
    agreement : pandas.DataFrame, optional
        `agreement_checks`, with ``at``.
    work : pandas.DataFrame, optional
        ``worker, at, seconds`` of each answer, for response time and availability.
    days : int, default 7
        Availability is the share of the last so many days on which the worker worked.

    Returns
    -------
    pandas.DataFrame
        ``worker, as_of`` and `FEATURES`: share right on gold and its count, mean log seconds of the last 50 answers,
        availability, share of agreement and its count, and consistency: 1 less the absolute difference between the
        halves of the last 50 checks of gold and agreement together.

    Examples
    --------
    >>> times = pd.date_range("2026-01-05", periods=4, freq="D", tz="UTC")
    >>> gold = pd.DataFrame({"worker": "ann", "right": [True, True, False, True], "at": times})
    >>> found = quality_features(["ann", "ann", "bob"], times[[0, 3, 3]], gold=gold)
    >>> found[["accuracy", "n_gold"]].round(3).to_dict("list")
    {'accuracy': [nan, 0.667, nan], 'n_gold': [0.0, 3.0, 0.0]}
    """
    if isinstance(days, bool) or days < 1:
        raise InputError(f"days is {days!r}; give a whole number of at least 1")
    names, moments = list(workers), pd.DatetimeIndex(pd.to_datetime(list(as_of), utc=True))
    if len(names) != len(moments):
        raise InputError(f"as_of has {len(moments)} rows but workers has {len(names)}; they must describe the same")
    when = moments.as_unit("us").asi8
    for table, name in ((gold, "gold"), (agreement, "agreement"), (work, "work")):
        if table is not None and "worker" in table:
            require_one_kind(names, table["worker"], name=f"workers and {name}.worker")
    checks = [check_table(gold)] + ([] if agreement is None else [check_table(agreement)])
    known, agreed = _Past(checks[0], "right"), _Past(checks[1], "right") if agreement is not None else None
    both = _Past(check_table(pd.concat([each[["worker", "right", "at"]] for each in checks])), "right")
    times = None if work is None else _Past(_work_table(work), "seconds")
    rows = np.full((len(names), len(FEATURES)), np.nan)
    for row, (name, instant) in enumerate(zip(names, when.tolist(), strict=True)):
        right = known.before(name, instant)
        rows[row, 0:2] = _mean(right), len(right)
        if times is not None:
            rows[row, 2:4] = _mean(np.log(times.before(name, instant)[-_WINDOW:])), times.active(name, instant, days)
        if agreed is not None:
            same = agreed.before(name, instant)
            rows[row, 4:6] = _mean(same), len(same)
        rows[row, 6] = _consistency(both.before(name, instant)[-_WINDOW:])
    found = pd.DataFrame(rows, columns=list(FEATURES))
    found.insert(0, "worker", names)
    found.insert(1, "as_of", moments)
    return found


class _Past:
    """Values of each worker in order of time, cut off before an instant."""

    def __init__(self, table: pd.DataFrame, column: str) -> None:
        at = pd.DatetimeIndex(table["at"]).as_unit("us").asi8
        order = np.argsort(at, kind="stable")
        values, at = table[column].to_numpy(dtype=float)[order], at[order]
        groups = table["worker"].iloc[order].reset_index(drop=True).groupby(table["worker"].to_numpy()[order]).indices
        self._of = {worker: (at[rows], values[rows]) for worker, rows in groups.items()}
        self._none = (np.empty(0, dtype=np.int64), np.empty(0))

    def before(self, worker: Any, instant: int) -> NDArray[np.float64]:
        at, values = self._of.get(worker, self._none)
        past: NDArray[np.float64] = values[: np.searchsorted(at, instant, side="left")]
        return past

    def active(self, worker: Any, instant: int, days: int) -> float:
        at, _ = self._of.get(worker, self._none)
        past = at[(at < instant) & (at >= instant - days * _DAY_US)]
        return len(np.unique((instant - 1 - past) // _DAY_US)) / days


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _consistency(values: NDArray[np.float64]) -> float:
    half = len(values) // 2
    return float("nan") if not half else 1.0 - abs(float(values[half:].mean() - values[:half].mean()))


def _work_table(work: Any) -> pd.DataFrame:
    lacking = [name for name in ("worker", "at", "seconds") if name not in work.columns]
    if lacking:
        raise FrameError(f"work lacks the column {', '.join(lacking)}; give worker, at, seconds")
    used: pd.DataFrame = work[work["seconds"].notna()]
    wrong = ~(used["seconds"].to_numpy(dtype=float) > 0)
    if wrong.any():
        raise FrameError(
            f"work.seconds holds {used['seconds'].to_numpy()[wrong][0]}; times are positive, drop this row"
        )
    return used
