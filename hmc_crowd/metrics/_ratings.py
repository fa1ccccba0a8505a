"""What did the raters say? Ratings in any of three forms, read once by one rule.

Forms: an array of shape (units, raters); a wide frame with one column per rater; a long frame with the columns
``task, worker, label``. One rule for what is missing: None, NaN and pandas' NA are "not rated" and leave, counted.
Nothing else is missing: an empty text is a label like any other. A worker who answered a task twice is refused,
because a person must not be paired with themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.metrics._ratings_codes import array_of, coded, codes_of, missing_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Ratings", "read_ratings", "read_row_labels"]

_LONG = ("task", "worker", "label")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings, coded, in long form (one entry per rating that is present) and, if they came so, as a table.

    Parameters
    ----------
    labels : list
        The categories in order: the declared ones, else those that occur, sorted.
    numbers : array of float, shape (n_labels,), or None
        The labels as numbers; None if they are not numbers.
    n_units, n_raters : int
        All of them, rated or not.
    units, raters : sequence
        Their names.
    dropped : mapping
        Reason -> ratings left out.
    declared : bool
        Whether the caller named the categories.
    grid : array of int, shape (n_raters, n_units), or None
        Position in `labels`, -1 where there is no rating; None if the ratings came in long form.
    long : tuple of arrays, or None
        Unit, rater and code of each rating; made from the grid when asked for.
    """

    labels: list[Any]
    numbers: NDArray[np.float64] | None
    n_units: int
    n_raters: int
    units: Sequence[Any]
    raters: Sequence[Any]
    dropped: Mapping[str, int] = field(default_factory=dict)
    declared: bool = False
    grid: NDArray[Any] | None = None
    long: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]] | None = None

    @cached_property
    def _long(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        if self.long is not None:
            return self.long
        table = np.zeros((0, 0), dtype=np.intp) if self.grid is None else self.grid.T
        if table.min(initial=0) < 0:
            unit, rater = np.nonzero(table >= 0)
            return unit, rater, table[unit, rater].astype(np.intp)
        unit = np.repeat(np.arange(table.shape[0]), table.shape[1])
        return unit, np.tile(np.arange(table.shape[1]), table.shape[0]), table.reshape(-1).astype(np.intp)

    @property
    def unit(self) -> NDArray[np.intp]:
        """Unit of each rating, ascending."""
        return self._long[0]

    @property
    def rater(self) -> NDArray[np.intp]:
        """Rater of each rating."""
        return self._long[1]

    @property
    def code(self) -> NDArray[np.intp]:
        """Position in `labels` of each rating."""
        return self._long[2]

    @cached_property
    def n(self) -> int:
        """Ratings that are present."""
        return int(self.per_unit.sum())

    @cached_property
    def per_unit(self) -> NDArray[np.intp]:
        """Number of ratings of each unit, shape (n_units,)."""
        if self.grid is None:
            return np.bincount(self.unit, minlength=self.n_units)
        return np.asarray(np.count_nonzero(self.grid >= 0, axis=0))

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """How often each unit got each label, shape (n_units, n_labels); only for few labels."""
        size = len(self.labels)
        cells = np.bincount(self.unit * size + self.code, minlength=self.n_units * size)
        return cells.reshape(self.n_units, size).astype(np.float64)

    def values(self, *, why: str) -> NDArray[np.float64]:
        """Return the ratings as numbers, shape (n_answers,)."""
        if self.numbers is None:
            odd = next(label for label in self.labels if not isinstance(label, (int, float, np.number)))
            raise InputError(f"ratings holds {odd!r}; {why} needs numbers (or use level='nominal')")
        return self.numbers[self.code]


def read_ratings(ratings: Any, *, categories: Sequence[Any] | None = None) -> Ratings:
    """Read ratings of shape (units, raters), a wide frame, or a long frame ``task, worker, label``.

    Raises
    ------
    InputError
        Not two-dimensional, infinite numbers, a label that `categories` lacks, or a worker who answered a task twice.
    """
    units: Sequence[Any]
    raters: Sequence[Any]
    columns = list(ratings) if isinstance(ratings, Mapping) else getattr(ratings, "columns", None)
    if columns is not None and not isinstance(ratings, np.ndarray):
        names = [str(each) for each in columns]
        if all(each in names for each in _LONG):
            return _from_long(ratings, categories)
        if any(each in names for each in ("task", "worker")):
            lacking = [each for each in _LONG if each not in names]
            raise FrameError(f"the table has columns {', '.join(names)} but no {' and no '.join(lacking)}")
        array = _wide_array(ratings)
        raters, units = names, _index_of(ratings, len(array))
    else:
        array = array_of(ratings)
        if array.ndim == 0:
            raise InputError(f"ratings is a {type(ratings).__name__}; give rows of ratings, or a frame")
        if array.ndim == 1:
            array = array[None, :]
        raters, units = range(array.shape[1] if array.ndim == 2 else 0), range(len(array))
    if array.ndim != 2:
        raise InputError(f"ratings has shape {array.shape}; give (units, raters) with NaN where a rating is missing")
    missing = missing_in(array)
    holes = bool(missing.any())
    values = array[~missing] if holes else array.reshape(-1)
    labels, code, numbers = coded(values, categories)
    kind = np.int8 if len(labels) < 127 else np.intp
    if holes:
        grid = np.full(array.shape, -1, dtype=kind)
        grid[~missing] = code
    else:
        grid = code.reshape(array.shape).astype(kind)
    return Ratings(
        labels,
        numbers,
        len(units),
        len(raters),
        units,
        raters,
        {"missing rating": int(array.size - len(values))},
        categories is not None,
        grid=np.ascontiguousarray(grid.T),
    )


def read_row_labels(values: Any, read: Ratings, *, name: str) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return for one label per unit its position in ``read.labels`` (-1: a label no rater used), and what is missing.

    Raises
    ------
    InputError
        Not one label per unit, or a mapping that lacks a unit.
    """
    if isinstance(values, Mapping):
        lacking = [unit for unit in read.units if unit not in values]
        if lacking:
            raise InputError(f"{name} lacks {lacking[0]!r} and {len(lacking) - 1} more tasks; give None for unparsed")
        values = [values[unit] for unit in read.units]
    array = np.atleast_1d(array_of(values))
    if array.shape != (read.n_units,):
        raise InputError(f"{name} has shape {array.shape}; give one label per item, shape ({read.n_units},)")
    missing = missing_in(array)
    position = {label: place for place, label in enumerate(read.labels)}
    found, codes = codes_of(array[~missing])
    known = np.array([position.get(label, -1) for label in found], dtype=np.intp)
    out = np.full(read.n_units, -1, dtype=np.intp)
    if len(found):
        out[~missing] = known[codes]
    return out, missing


def _from_long(frame: Any, categories: Sequence[Any] | None) -> Ratings:
    label, missing = _column(frame, "label")
    columns = {}
    for name in ("task", "worker"):
        column, absent = _column(frame, name)
        if absent.any():
            raise FrameError(f"column {name} has missing values: {first_rows(absent)}; every answer needs its {name}")
        columns[name] = _factorize(column, frame)
    (units, unit), (raters, rater) = columns["task"], columns["worker"]
    kept = ~missing
    values, unit, rater = label[kept], unit[kept], rater[kept]
    pair = unit * len(raters) + rater
    order = np.argsort(pair, kind="stable")
    pair = pair[order]
    again = pair[1:] == pair[:-1]
    if again.any():
        first = int(pair[1:][again][0])
        raise InputError(
            f"worker {raters[first % len(raters)]!r} answered task {units[first // len(raters)]!r} more than once "
            f"({int(again.sum())} such rows in all); keep one answer per worker and task, such as the latest"
        )
    labels, code, numbers = coded(values[order], categories)
    return Ratings(
        labels,
        numbers,
        len(units),
        len(raters),
        units,
        raters,
        {"missing rating": int(missing.sum())},
        categories is not None,
        long=(unit[order], rater[order], code),
    )


def _column(frame: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column and where it is missing; pandas looks through text much faster than Python does."""
    column = array_of(frame[name])
    return column, frame[name].isna().to_numpy() if _is_pandas(frame) else missing_in(column)


def _factorize(column: NDArray[Any], frame: Any) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values in the order in which they first appear, and each value's position."""
    if _is_pandas(frame):
        import pandas as pd

        codes, found = pd.factorize(column)
        return found.tolist(), codes.astype(np.intp)
    labels, code = codes_of(column)
    order = np.argsort(np.unique(code, return_index=True)[1])
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return [labels[each] for each in order.tolist()], place[code]


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas"


def _wide_array(frame: Any) -> NDArray[Any]:
    columns = [array_of(frame[name]) for name in (frame if isinstance(frame, Mapping) else frame.columns)]
    if len({len(column) for column in columns}) > 1:
        raise FrameError("the columns of ratings differ in length; give one entry per unit, None where it is not rated")
    if not columns:
        raise FrameError("the table has no columns; give one column per rater, or task, worker, label")
    if any(each.dtype.kind not in "biuf" for each in columns):
        columns = [each.astype(object) for each in columns]
    return np.stack(columns, axis=1)


def _index_of(frame: Any, n: int) -> Sequence[Any]:
    """Return the names of the rows; a plain count stays a range."""
    index = getattr(frame, "index", None)
    if index is None or callable(index) or np.array_equal(np.asarray(index), np.arange(n)):
        return range(n)
    return list(index)
