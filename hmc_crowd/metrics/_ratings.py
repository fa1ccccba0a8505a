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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Ratings", "codes_of", "read_ratings", "read_row_labels"]

_LONG = ("task", "worker", "label")
# Whole numbers in a range this small are counted by position, which is ten times quicker than sorting them.
_SMALL_RANGE = 65_536


@dataclass(frozen=True, eq=False)
class Ratings:
    """Answers in long form, coded; one entry per rating that is present.

    Parameters
    ----------
    unit, rater : array of int, shape (n_answers,)
        Which unit, which rater; positions in `units` and `raters`. Sorted by unit.
    code : array of int, shape (n_answers,)
        Position in `labels`.
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
    """

    unit: NDArray[np.intp]
    rater: NDArray[np.intp]
    code: NDArray[np.intp]
    labels: list[Any]
    numbers: NDArray[np.float64] | None
    n_units: int
    n_raters: int
    units: Sequence[Any]
    raters: Sequence[Any]
    dropped: Mapping[str, int] = field(default_factory=dict)
    declared: bool = False

    @property
    def n(self) -> int:
        """Ratings that are present."""
        return len(self.code)

    @cached_property
    def per_unit(self) -> NDArray[np.intp]:
        """Number of ratings of each unit, shape (n_units,)."""
        return np.bincount(self.unit, minlength=self.n_units)

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

    def of_units(self, keep: NDArray[np.bool_]) -> Ratings:
        """Return the ratings of some units; labels and raters stay."""
        new = np.cumsum(keep) - 1
        rows = keep[self.unit]
        units = (
            [name for name, kept in zip(self.units, keep.tolist(), strict=True) if kept]
            if self._named
            else range(int(keep.sum()))
        )
        return Ratings(
            new[self.unit[rows]],
            self.rater[rows],
            self.code[rows],
            self.labels,
            self.numbers,
            int(keep.sum()),
            self.n_raters,
            units,
            self.raters,
            self.dropped,
            self.declared,
        )

    @property
    def _named(self) -> bool:
        return not isinstance(self.units, range)


def read_ratings(ratings: Any, *, categories: Sequence[Any] | None = None) -> Ratings:
    """Read ratings of shape (units, raters), a wide frame, or a long frame ``task, worker, label``.

    Raises
    ------
    InputError
        Not two-dimensional, infinite numbers, a label that `categories` lacks, or a worker who answered a task twice.
    """
    units: Sequence[Any]
    raters: Sequence[Any]
    columns = getattr(ratings, "columns", None)
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
        array = _array(ratings)
        if array.ndim == 1:
            array = array[None, :]
        raters, units = range(array.shape[1] if array.ndim == 2 else 0), range(len(array))
    if array.ndim != 2:
        raise InputError(f"ratings has shape {array.shape}; give (units, raters) with NaN where a rating is missing")
    missing = _missing(array)
    if missing.any():
        unit, rater = np.nonzero(~missing)
        values = array[~missing]
    else:
        unit = np.repeat(np.arange(array.shape[0]), array.shape[1])
        rater = np.tile(np.arange(array.shape[1]), array.shape[0])
        values = array.reshape(-1)
    dropped = {"missing rating": int(array.size - len(values))}
    return _coded(values, unit, rater, units, raters, dropped, categories)


def codes_of(values: NDArray[Any], categories: Sequence[Any] | None = None) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the labels in order and each value's position among them.

    Examples
    --------
    >>> labels, codes = codes_of(np.array([3.0, 1.0, 3.0]))
    >>> labels, codes.tolist()
    ([1.0, 3.0], [1, 0, 1])
    """
    if categories is not None:
        return _declared(values, list(categories))
    if values.dtype.kind in "biuf":
        return _number_codes(values)
    if values.dtype.kind in "US":
        found, codes = np.unique(values, return_inverse=True)
        return found.tolist(), codes.reshape(-1).astype(np.intp)
    listed = values.tolist()
    distinct = dict.fromkeys(listed)
    try:
        labels = sorted(distinct)
    except TypeError:
        labels = sorted(distinct, key=lambda label: (type(label).__name__, str(label)))
    position = {label: place for place, label in enumerate(labels)}
    return labels, np.fromiter((position[each] for each in listed), dtype=np.intp, count=len(listed))


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
    array = np.atleast_1d(_array(values))
    if array.shape != (read.n_units,):
        raise InputError(f"{name} has shape {array.shape}; give one label per item, shape ({read.n_units},)")
    missing = _missing(array)
    position = {label: place for place, label in enumerate(read.labels)}
    found, codes = codes_of(array[~missing])
    known = np.array([position.get(label, -1) for label in found], dtype=np.intp)
    out = np.full(read.n_units, -1, dtype=np.intp)
    if len(found):
        out[~missing] = known[codes]
    return out, missing


def _number_codes(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    if values.size and values.dtype.kind != "b":
        low, high = float(values.min()), float(values.max())
        if high - low < _SMALL_RANGE and abs(low) < 2**52 and abs(high) < 2**52:
            shifted = values - values.min()
            whole = shifted.astype(np.intp, copy=False)
            if values.dtype.kind != "f" or (low == np.floor(low) and np.array_equal(shifted, whole)):
                seen = np.bincount(whole) > 0
                labels = (np.flatnonzero(seen) + values.min()).tolist()
                return labels, whole if seen.all() else (np.cumsum(seen) - 1)[whole].astype(np.intp)
    found, codes = np.unique(values, return_inverse=True)
    return found.tolist(), codes.reshape(-1).astype(np.intp)


def _declared(values: NDArray[Any], labels: list[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    position = {label: place for place, label in enumerate(labels)}
    if len(position) != len(labels):
        raise InputError(f"categories names a label twice: {labels}; name each once, in order")
    found, codes = codes_of(values)
    unknown = [label for label in found if label not in position]
    if unknown:
        raise InputError(f"ratings holds {unknown[0]!r}, which categories {labels} lacks; add it or correct the rating")
    order = np.array([position[label] for label in found], dtype=np.intp)
    return labels, order[codes] if len(found) else codes


def _coded(
    values: NDArray[Any],
    unit: NDArray[np.intp],
    rater: NDArray[np.intp],
    units: Sequence[Any],
    raters: Sequence[Any],
    dropped: Mapping[str, int],
    categories: Sequence[Any] | None,
) -> Ratings:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"ratings holds infinite numbers: {first_rows(~np.isfinite(values), values)}; correct them")
    if values.dtype == object and all(type(each) in (int, float) for each in set(values.tolist())):
        values = values.astype(np.float64)
    labels, code = codes_of(values, categories)
    numeric = all(isinstance(each, (int, float, np.number)) and not isinstance(each, bool) for each in labels)
    numbers = np.array(labels, dtype=np.float64) if numeric else None
    return Ratings(
        unit, rater, code, labels, numbers, len(units), len(raters), units, raters, dropped, categories is not None
    )


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
    dropped = {"missing rating": int(missing.sum())}
    return _coded(values[order], unit[order], rater[order], units, raters, dropped, categories)


def _column(frame: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column and where it is missing; pandas looks through text much faster than Python does."""
    column = _array(frame[name])
    return column, frame[name].isna().to_numpy() if _is_pandas(frame) else _missing(column)


def _factorize(column: NDArray[Any], frame: Any) -> tuple[list[Any], NDArray[np.intp]]:
    if column.dtype == object and _is_pandas(frame):
        import pandas as pd

        # In the order they appear: sorting the names of a million tasks costs more than the metric.
        codes, found = pd.factorize(column)
        return found.tolist(), codes.astype(np.intp)
    return codes_of(column)


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pandas"


def _wide_array(frame: Any) -> NDArray[Any]:
    columns = [_array(frame[name]) for name in frame.columns]
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


def _array(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError("ratings has rows of different lengths; fill the missing ratings with None or NaN") from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy writes None and NaN as text when it meets text: keep the objects.
        array = np.asarray(values, dtype=object)
    return array


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype != object:
        return np.zeros(array.shape, dtype=bool)
    flat = [
        each is None or type(each).__name__ in {"NAType", "NaTType"} or (isinstance(each, float) and each != each)
        for each in array.ravel().tolist()
    ]
    return np.array(flat, dtype=bool).reshape(array.shape)
