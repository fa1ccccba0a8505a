"""How many people rated each response, how, and which responses can be used?

Ratings may come as one column, a table with a column per rater, a mapping of raters, or a long table
``task, worker, score``. All of them become three numbers per response: how many ratings, their mean, and their sum of
squares about it. Responses that nobody rated or that have no system score are dropped first and counted: RSMTool's
table path counts them in N, which gives a plausible wrong number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways
from hmc_crowd.metrics._validate import as_array, as_column, as_scores, column_names, is_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Ratings", "read_ratings"]

VALUES = ("score", "label")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings per response, and the system's scores, all minus `pivot`.

    Parameters
    ----------
    count : array of float, shape (n,)
        Ratings of each response, at least 1.
    mean, within : array of float, shape (n,)
        Their mean minus `pivot`, and their sum of squares about it.
    system : array of float, shape (n,), or None
    pivot : float
        Near the mean of all ratings, so that large offsets cost no digits.
    dropped : dict of str to int
    ways : tuple of Way
    warnings : tuple of str
    """

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    within: NDArray[np.float64]
    system: NDArray[np.float64] | None
    pivot: float
    dropped: dict[str, int]
    ways: tuple[Way, ...]
    warnings: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Responses."""
        return len(self.count)

    @property
    def multiple(self) -> int:
        """Responses with two ratings or more."""
        return int(np.count_nonzero(self.count > 1))


def read_ratings(human: Any, system: Any = None, *, need_system: bool, clusters: Any = None) -> Ratings:
    """Read ratings in any of the forms that `prmse` describes.

    Raises
    ------
    InputError
        Three dimensions, unequal lengths, a long table without scores of the system by task.
    """
    if is_frame(human) and {"task", "worker"} <= set(column_names(human)):
        flat, unit, n, system = _long(human, system)
        bad = ("rating is infinite or not a number", int(np.count_nonzero(~np.isfinite(flat) & ~np.isnan(flat))))
    else:
        matrix, bad = _matrix(human)
        n = len(matrix)
        unit, rater = np.nonzero(np.isfinite(matrix))
        flat = matrix[unit, rater]
    keep_rating = np.isfinite(flat)
    flat, unit = flat[keep_rating], unit[keep_rating]
    scores, keep, dropped = _usable(np.bincount(unit, minlength=n) > 0, system, n, need_system)
    ways = tuple(way.take(keep) for way in cluster_ways(clusters, n))
    pivot = float(flat[0] + (flat - flat[0]).mean()) if len(flat) else 0.0
    count = np.bincount(unit, minlength=n).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(unit, weights=flat - pivot, minlength=n) / count
    within = np.bincount(unit, weights=(flat - pivot - mean[unit]) ** 2, minlength=n).astype(np.float64, copy=False)
    told = (f"{bad[1]} ratings left out: {bad[0]}",) if bad[1] else ()
    chosen = None if scores is None else scores[keep] - pivot
    return Ratings(count[keep], mean[keep], within[keep], chosen, pivot, dropped, ways, told)


def _usable(
    rated: NDArray[np.bool_], system: Any, n: int, need_system: bool
) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_], dict[str, int]]:
    dropped = {"nobody rated the response": int(np.count_nonzero(~rated))}
    if not need_system:
        return None, rated, {why: rows for why, rows in dropped.items() if rows}
    if system is None:
        raise InputError("system is missing; give the system's scores, one per response")
    scores, _ = as_scores(system, name="system")
    if len(scores) != n:
        raise InputError(f"system has {len(scores)} scores but human has {n} responses; they must be the same ones")
    scored = np.isfinite(scores)
    dropped["system score is missing or no number"] = int(np.count_nonzero(rated & ~scored))
    return scores, rated & scored, {why: rows for why, rows in dropped.items() if rows}


def _matrix(human: Any) -> tuple[NDArray[np.float64], tuple[str, int]]:
    """Return ratings (responses, raters), NaN where there is none."""
    if is_frame(human):
        names = column_names(human) if not hasattr(human, "iloc") else list(human.columns)
        if not names:
            raise InputError("human has no rater; give a column of ratings per rater")
        columns = [as_scores(human[name], name=f"rater {name}") for name in names]
        if len({len(column) for column, _ in columns}) > 1:
            told = ", ".join(f"{name} {len(column)}" for name, (column, _) in zip(names, columns, strict=True))
            raise InputError(f"the raters differ in length ({told}); use None or NaN where a response was not rated")
        matrix, odd = np.column_stack([column for column, _ in columns]), [each for _, each in columns]
    else:
        array = human if isinstance(human, np.ma.MaskedArray) else as_array(human, name="human")
        if array.ndim == 1:
            values, one = as_scores(array, name="human")
            matrix, odd = values[:, None], [one]
        elif array.ndim == 2:
            parts = [as_scores(array[:, place], name=f"rater {place}") for place in range(array.shape[1])]
            matrix = np.column_stack([part for part, _ in parts]) if parts else np.zeros((len(array), 0))
            odd = [each for _, each in parts]
        else:
            raise InputError(f"human has shape {array.shape}; give (responses,) or (responses, raters)")
    bad = int(np.count_nonzero(np.isinf(matrix))) + sum(int(each.sum()) for each in odd if each is not None)
    return matrix, ("infinite or not a number", bad)


def _long(frame: Any, system: Any) -> tuple[NDArray[np.float64], NDArray[np.intp], int, Any]:
    """Return ratings, the response of each, how many responses, and the system's score of each."""
    import pandas as pd

    names = column_names(frame)
    value = next((name for name in VALUES if name in names), None)
    if value is None:
        raise FrameError(f"a long table needs a column score (or label) beside task and worker; it has {names}")
    task, worker = np.asarray(as_column(frame, "task")), np.asarray(as_column(frame, "worker"))
    scores, odd = as_scores(as_column(frame, value), name=value)
    if odd is not None:
        scores = np.where(odd, np.inf, scores)
    if isinstance(system, str):
        own = worker == system
        if not own.any():
            raise InputError(f"system is {system!r}, but no row has that worker; name a worker or give scores by task")
        system = dict(zip(task[own].tolist(), scores[own].tolist(), strict=True))
        task, worker, scores = task[~own], worker[~own], scores[~own]
    twice = pd.MultiIndex.from_arrays([task, worker]).duplicated()
    if twice.any():
        raise FrameError(
            f"{int(twice.sum())} rows repeat a task and worker (first: row {int(twice.argmax())}); keep one"
        )
    unit, tasks = pd.factorize(task)
    if system is not None and not hasattr(system, "items"):
        raise InputError(
            "with a long table give the system's scores by task: a dict or a Series with the task as index"
        )
    if system is not None:
        found = dict(system.items())
        system = [found.get(each) for each in tasks.tolist()]
    return scores, unit.astype(np.intp), len(tasks), system
