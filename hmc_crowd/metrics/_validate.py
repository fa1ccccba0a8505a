"""Which pairs of scores can be compared, and what becomes of the others?

One rule for all metrics of scores: a pair counts if both scores are finite numbers. Every other pair is left out and
counted under the first reason that applies. Unequal lengths are an error, since nobody can say which scores belong
together. Nothing is written into the caller's arrays or frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Pairs",
    "as_array",
    "as_column",
    "as_scores",
    "column_names",
    "group_codes",
    "is_frame",
    "named_or_given",
    "score_pairs",
]

LONG = ("task", "worker")
_MISSING = {"", "nan", "none", "na", "n/a", "#n/a", "null", "<na>"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Complete pairs of scores.

    Parameters
    ----------
    human, system : array of float, shape (n,)
    keep : array of bool, shape (n_rows,), or None
        Which rows of the input they are; None if all.
    dropped : dict of str to int
    ways : tuple of Way
        The clusters of the pairs.
    """

    human: NDArray[np.float64]
    system: NDArray[np.float64]
    keep: NDArray[np.bool_] | None
    dropped: dict[str, int]
    ways: tuple[Way, ...] = ()

    @property
    def n(self) -> int:
        """Pairs."""
        return len(self.human)


def is_frame(values: Any) -> bool:
    """Tell whether this is a table (pandas, polars, a mapping of columns)."""
    return isinstance(values, Mapping) or (hasattr(values, "columns") and hasattr(values, "__getitem__"))


def column_names(frame: Any) -> list[str]:
    """Return the names of a table's columns; iterating a polars frame would give the columns themselves."""
    return [str(each) for each in (frame if isinstance(frame, Mapping) else frame.columns)]


def named_or_given(frame: Any, values: Any) -> Any:
    """Return a column where a name is given beside a table (or a tuple of names), and anything else as it is."""
    if not is_frame(frame) or not {"human", "system"} <= set(column_names(frame)):
        return values
    if isinstance(values, str):
        return as_column(frame, values)
    if isinstance(values, tuple) and values and all(isinstance(each, str) for each in values):
        return {name: as_column(frame, name) for name in values}
    return values


def as_column(frame: Any, name: str) -> Any:
    """Return a column of a table, or name the columns that there are."""
    names = column_names(frame)
    if name not in names:
        raise FrameError(f"the frame has no column {name!r}; it has {', '.join(names[:12]) or 'none'}")
    return frame[name]


def as_array(values: Any, *, name: str) -> NDArray[Any]:
    """Return an array, or say that the rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} is no table of numbers: {error}; use None where a score is missing") from None


def as_scores(values: Any, *, name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    """Read scores, NaN where missing; the second result marks entries that are no numbers (None if there are none).

    Raises
    ------
    InputError
        Not one-dimensional, or dates, complex numbers and the like.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(np.float64))
    array = as_array(values, name=name)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one score per response, shape (n,)")
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False), None
    if array.dtype.kind not in "OUS":
        raise InputError(f"{name} holds {array.dtype}; scores are numbers")
    return _parse(array)


def _parse(array: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
    numbers, odd = np.full(len(array), np.nan), np.zeros(len(array), dtype=bool)
    for place, each in enumerate(array.tolist()):
        if each is None or type(each).__name__ in {"NAType", "NaTType"}:
            continue
        try:
            numbers[place] = float(each)
        except (TypeError, ValueError):
            odd[place] = str(each).strip().lower() not in _MISSING
    return numbers, odd if odd.any() else None


def score_pairs(human: Any, system: Any = None, *, clusters: Any = None) -> Pairs:
    """Bring two columns of scores together.

    Parameters
    ----------
    human : array of scores (n,), or a frame
        A frame has columns ``human`` and ``system``; or is long (``task, worker`` and ``score`` or ``label``), and
        then `system` names the worker that plays the system and one other worker is the human.
    system : array of scores (n,), or a worker's name; optional with a frame
    clusters : see `cluster_ways`; beside a frame also the name of a column, or a tuple of two
        One value per row of the input; per common task for long input.

    Raises
    ------
    InputError
        Lengths differ, or a column is not one-dimensional.
    """
    clusters = named_or_given(human, clusters)
    if is_frame(human):
        human, system = _from_frame(human, system)
    elif system is None:
        raise InputError("system is missing; give the system's scores, or a frame with columns human and system")
    left, odd_left = as_scores(human, name="human")
    right, odd_right = as_scores(system, name="system")
    if len(left) != len(right):
        raise InputError(
            f"system has {len(right)} scores but human has {len(left)}; they must be of the same responses"
        )
    ways = cluster_ways(clusters, len(left))
    numeric = odd_left is None and odd_right is None
    complete = numeric and bool(np.isfinite(left).all() and np.isfinite(right).all())
    if complete:
        return Pairs(left, right, None, {}, ways)
    keep, dropped = _complete(("human", left, odd_left), ("system", right, odd_right))
    return Pairs(left[keep], right[keep], keep, dropped, tuple(way.take(keep) for way in ways))


def _complete(
    *columns: tuple[str, NDArray[np.float64], NDArray[np.bool_] | None],
) -> tuple[NDArray[np.bool_], dict[str, int]]:
    keep = np.ones(len(columns[0][1]), dtype=bool)
    dropped: dict[str, int] = {}
    for name, values, odd in columns:
        reasons = [(f"{name} score is missing", np.isnan(values)), (f"{name} score is infinite", np.isinf(values))]
        if odd is not None:
            reasons.insert(0, (f"{name} score is not a number", odd))
        for reason, bad in reasons:
            dropped[reason] = int(np.count_nonzero(keep & bad))
            keep &= ~bad
    return keep, {reason: rows for reason, rows in dropped.items() if rows}


def _from_frame(frame: Any, system: Any) -> tuple[Any, Any]:
    names = set(column_names(frame))
    if {"human", "system"} <= names and (system is None or isinstance(system, str)):
        return as_column(frame, "human"), as_column(frame, system or "system")
    if not set(LONG) <= names:
        raise FrameError("the frame needs columns human and system, or task, worker and score")
    import pandas as pd

    value = "score" if "score" in names else "label"
    long = pd.DataFrame({name: np.asarray(as_column(frame, name)) for name in (*LONG, value)})
    twice = long.duplicated(list(LONG))
    if twice.any():
        first = int(twice.argmax())
        raise FrameError(f"{int(twice.sum())} rows repeat a task and worker (first: row {first}); keep one of each")
    workers = sorted(long["worker"].unique(), key=str)
    if system not in workers:
        raise InputError(f"system is {system!r}; name the worker that plays the system, one of {workers[:8]}")
    if len(workers) != 2:
        raise InputError(
            f"{len(workers) - 1} workers besides {system!r} scored; a pair needs one: filter, or use prmse"
        )
    wide = long.pivot(index="task", columns="worker", values=value)
    return wide[next(each for each in workers if each != system)].to_numpy(), wide[system].to_numpy()


def group_codes(groups: Any, n: int, *, name: str = "groups") -> tuple[list[str], NDArray[np.intp]]:
    """Return the names of the groups, sorted, and each row's code; -1 where the group is missing.

    Raises
    ------
    InputError
        Wrong length, or no group at all.

    Examples
    --------
    >>> names, code = group_codes(["b", "a", None], 3)
    >>> names, code.tolist()
    (['a', 'b'], [1, 0, -1])
    """
    import pandas as pd

    array = np.asarray(groups, dtype=object) if isinstance(groups, (list, tuple)) else np.asarray(groups)
    if array.shape != (n,):
        raise InputError(f"{name} has shape {array.shape}; give one group per response, shape ({n},)")
    code, found = pd.factorize(array)
    if len(found) == 0:
        raise InputError(f"{name} names no group; give every response the name of its group")
    texts = [str(each) for each in found]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    place = np.empty(len(order) + 1, dtype=np.intp)
    place[order] = np.arange(len(order))
    place[-1] = -1
    return [texts[each] for each in order], place[code]
