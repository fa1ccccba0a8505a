"""Who has become worse? All workers watched together, at a rate of false alarms that is agreed on.

A thousand workers who are each tested at 5% raise fifty alarms about nobody. Here the rate is fixed for all of them:
so many false alarms a day, from which follows how rare a false alarm must be for each (`answers_between`). An alarm is
a reason to look and to give more gold, never one to refuse work or pay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._answer_checks import check_table
from hmc_crowd.quality._drift_cusum import Cusum
from hmc_crowd.quality._drift_unknown import UnknownChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["answers_between", "find_drift"]

_COLUMNS = ["worker", "at", "answer", "since", "statistic", "threshold", "reason", "stream"]


def answers_between(*, workers: int, per_worker_day: float, false_alarms_per_day: float = 1.0) -> float:
    """Return how many answers of a steady worker must lie between false alarms, on average.

    Parameters
    ----------
    workers : int
        How many are watched.
    per_worker_day : float
        Watched answers of each a day; with two streams, of both together.
    false_alarms_per_day : float, default 1
        Of all workers together.

    Examples
    --------
    >>> answers_between(workers=1000, per_worker_day=2)
    2000.0
    """
    for name, value in (
        ("workers", workers),
        ("per_worker_day", per_worker_day),
        ("false_alarms_per_day", false_alarms_per_day),
    ):
        if not 0 < value < np.inf:
            raise InputError(f"{name} is {value!r}; give a positive number")
    between = workers * per_worker_day / false_alarms_per_day
    if between <= 1:
        raise InputError(f"{false_alarms_per_day:g} false alarms a day are one for every answer; allow fewer")
    return between


def find_drift(checks: Any, detector: Cusum | UnknownChange | Sequence[UnknownChange]) -> pd.DataFrame:
    """Return every alarm in the history of answers that were checked.

    Parameters
    ----------
    checks : pandas.DataFrame
        ``worker, right, at`` and, for several kinds of answers, ``stream`` (its number, from 0): gold checks and, as a
        second stream, `agreement_checks`; optionally ``ease`` (`check_ease`, for levels that nobody knows). In any
        order; equal times keep theirs.
    detector : Cusum, UnknownChange, or one UnknownChange for each stream
        The first where levels are set, the second where nobody knows them. Of several watches each keeps its own rate
        of false alarms, so that they add up; an alarm of one starts all watches of the worker anew.

    Returns
    -------
    pandas.DataFrame
        One row per alarm in order of time: ``worker, at, answer, since, statistic, threshold, reason, stream``;
        ``answer`` counts the worker's checks, ``since`` is when the fall seems to have begun (for a CUSUM; NaT
        otherwise), ``stream`` is that of the last check. After an alarm a worker is watched anew. Without an alarm the
        frame is empty.

    Examples
    --------
    >>> from hmc_crowd.quality import Cusum, Levels
    >>> right = [True] * 20 + [False] * 6
    >>> times = pd.date_range("2026-01-05", periods=26, freq="h", tz="UTC")
    >>> checks = pd.DataFrame({"worker": "ann", "right": right, "at": times})
    >>> found = find_drift(checks, Cusum(Levels(0.9, 0.6), between_alarms=2000))
    >>> found[["answer", "since"]].to_dict("records")
    [{'answer': 24, 'since': Timestamp('2026-01-05 20:00:00+0000', tz='UTC')}]
    """
    table = check_table(checks)
    watches = [detector] if isinstance(detector, UnknownChange) else detector
    streams = len(watches.levels) if isinstance(watches, Cusum) else len(watches)
    stream = np.zeros(len(table), dtype=np.intp)
    if "stream" in table.columns:
        stream = table["stream"].to_numpy()
    outside = ~np.isin(stream, np.arange(streams))
    if outside.any():
        first = stream[outside].tolist()[0]
        raise FrameError(f"checks has the stream {first!r}; the detector knows {streams}, counted from 0")
    stream = stream.astype(np.intp)
    if isinstance(watches, Cusum):
        rows = _cusum_alarms(table, stream, watches)
    else:
        rows = _Watched(table, stream, watches).alarms()
    found = pd.DataFrame(rows, columns=_COLUMNS)
    for column in ("at", "since"):
        found[column] = pd.to_datetime(found[column], utc=True)
    return found.sort_values(["at", "worker"], kind="stable", ignore_index=True)


def _cusum_alarms(table: pd.DataFrame, stream: NDArray[np.intp], cusum: Cusum) -> list[tuple[Any, ...]]:
    rows = []
    right, at = table["right"].to_numpy(dtype=bool), table["at"]
    for worker, where in table.groupby("worker", sort=True).indices.items():
        statistic, begun = 0, 0
        for place, row in enumerate(np.asarray(where).tolist()):
            if statistic == 0:
                begun = row
            statistic = cusum.step(statistic, right=bool(right[row]), stream=int(stream[row]))
            if statistic >= cusum.threshold:
                reason = f"answers since {at.iloc[begun]:%Y-%m-%d} fit a fall to {cusum.levels[0].after:g} better"
                moments = at.iloc[row], place + 1, at.iloc[begun]
                rows.append((worker, *moments, statistic, cusum.threshold, reason, int(stream[row])))
                statistic = 0
    return rows


class _Watched:
    """Watches over the streams of all workers; the n-th checks of all of them are one step.

    The tables of a watch are large enough to make that worth it.
    """

    def __init__(self, table: pd.DataFrame, stream: NDArray[np.intp], watches: Sequence[UnknownChange]) -> None:
        self.stream, self.watches = stream, watches
        self.code, self.workers = pd.factorize(table["worker"], sort=True)
        self.right, self.at = table["right"].to_numpy(dtype=bool), table["at"]
        self.ease = table["ease"].to_numpy(dtype=np.float64) if "ease" in table.columns else None
        self.place = table.groupby("worker").cumcount().to_numpy()
        self.state = [watch.start(len(self.workers)) for watch in watches]

    def alarms(self) -> list[tuple[Any, ...]]:
        """Return a row per alarm."""
        order = np.argsort(self.place, kind="stable")
        steps = np.split(order, np.flatnonzero(np.diff(self.place[order])) + 1) if len(order) else []
        found = []
        for now in steps:
            for number in range(len(self.watches)):
                found += self._step(number, now[self.stream[now] == number])
        return found

    def _step(self, number: int, now: NDArray[np.intp]) -> list[tuple[Any, ...]]:
        if not len(now):
            return []
        watch, (likelihood, sums), who = self.watches[number], self.state[number], self.code[now]
        ease = None if self.ease is None else self.ease[now]
        likelihood[who], sums[who] = state = watch.step((likelihood[who], sums[who]), self.right[now], ease)
        statistic = watch.statistic(state)
        rows = []
        for hit in np.flatnonzero(statistic >= watch.threshold).tolist():
            row, worker = int(now[hit]), int(who[hit])
            reason = "a fall at some answer explains the history better than a steady level"
            counted = pd.NaT, float(statistic[hit]), watch.threshold
            moment = self.at.iloc[row], int(self.place[row]) + 1
            rows.append((self.workers[worker], *moment, *counted, reason, number))
            for start, sum_ in self.state:
                start[worker], sum_[worker] = 0.0, -np.inf
        return rows
