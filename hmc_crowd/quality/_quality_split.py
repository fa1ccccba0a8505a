"""Which rows teach, and which check, so that nothing leaks from one to the other?

A random split puts the same worker, and the same week, on both sides; a model is then praised for knowing people it has
met. Here the rows that teach are of some workers before a moment, the rows that check are of *other* workers *after*
it; what is neither is left out and counted.

Source: the requirements' decision on D5 and D21.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["WorkerTimeSplit", "split_by_worker_and_time"]


@dataclass(frozen=True, eq=False)
class WorkerTimeSplit:
    """Masks over the rows, and the moment that divides them.

    Parameters
    ----------
    fit, check : array of bool, shape (n_rows,)
        Rows of the teaching workers before ``moment``, rows of the checking workers from it on.
    moment : pandas.Timestamp
    left_out : int
        Rows in neither.
    """

    fit: NDArray[np.bool_]
    check: NDArray[np.bool_]
    moment: pd.Timestamp
    left_out: int

    def __str__(self) -> str:
        return f"{self.fit.sum():,} rows before {self.moment:%Y-%m-%d %H:%M}, {self.check.sum():,} of others after it"


def split_by_worker_and_time(
    workers: Sequence[Any], at: Any, *, rng: np.random.Generator, share: float = 0.3, until: float = 0.5
) -> WorkerTimeSplit:
    """Divide rows by worker and by time at once.

    Parameters
    ----------
    workers : sequence, length n
    at : sequence of aware times, length n
    rng : numpy.random.Generator
        Draws the checking workers.
    share : float, default 0.3
        Share of the workers who check, in (0, 1).
    until : float, default 0.5
        The dividing moment as a quantile of the times, in (0, 1).

    Raises
    ------
    InputError
        Fewer than two workers, or one side would be empty.

    Examples
    --------
    >>> times = pd.date_range("2026-01-05", periods=8, tz="UTC")
    >>> split = split_by_worker_and_time(list("abababab"), times, rng=np.random.default_rng(0))
    >>> int(split.fit.sum()), int(split.check.sum()), split.left_out
    (2, 2, 4)
    """
    for name, value in (("share", share), ("until", until)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value!r}; give a share between 0 and 1")
    times = pd.DatetimeIndex(pd.to_datetime(list(at), utc=True))
    codes, names = pd.factorize(pd.Series(list(workers), dtype="object"), sort=True)
    if len(codes) != len(times):
        raise InputError(f"at has {len(times)} rows but workers has {len(codes)}; they must describe the same rows")
    if len(names) < 2:
        raise InputError(f"workers names {len(names)} worker; a split by worker needs at least two: collect more work")
    n_check = min(max(round(share * len(names)), 1), len(names) - 1)
    checking = np.zeros(len(names), dtype=bool)
    checking[rng.permutation(len(names))[:n_check]] = True
    moment = times.sort_values()[int(until * len(times))]
    early = np.asarray(times < moment)
    fit, check = ~checking[codes] & early, checking[codes] & ~early
    if not (fit.any() and check.any()):
        raise InputError(
            f"the split leaves {fit.sum()} rows to fit and {check.sum()} to check; collect more work of more workers"
        )
    return WorkerTimeSplit(fit, check, moment, int((~fit & ~check).sum()))
