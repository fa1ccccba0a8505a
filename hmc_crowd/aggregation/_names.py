"""Names of tasks, workers and labels: what kind they are, and their codes in sorted order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "as_pandas",
    "coded",
    "kind_of",
    "label_index",
    "require_columns",
    "require_one_aspect",
    "require_same_kind",
    "sorted_codes",
]

_SORTABLE = {"string", "integer", "floating", "mixed-integer-float", "boolean", "decimal", "date", "datetime", "bytes"}
_EQUAL_KINDS = {"integer", "floating", "mixed-integer-float", "boolean"}


def as_pandas(frame: Any, *, name: str) -> Any:
    """Return another library's table, or a list of dicts, as a pandas frame; all else comes back as it is.

    Examples
    --------
    >>> as_pandas([{"task": "a", "worker": "w", "label": "x"}], name="answers").columns.tolist()
    ['task', 'worker', 'label']
    """
    library = type(frame).__module__.partition(".")[0]
    if library not in {"polars", "pyarrow", "datasets"} and not (isinstance(frame, list) and frame):
        return frame
    from hmc_crowd.io import read_frame  # because one place knows how other libraries' tables are read

    return read_frame(frame, kind=None, name=name).frame


def require_columns(frame: Any, columns: Sequence[str], *, name: str) -> None:
    """Refuse what is no pandas frame, lacks one of ``columns`` or has it twice."""
    if not isinstance(frame, pd.DataFrame):
        raise FrameError(
            f"{name} is a {type(frame).__name__}; give a pandas DataFrame with the columns {', '.join(columns)} "
            "(hmc_crowd.io.read_frame makes one from files and from other libraries' tables)"
        )
    there = list(frame.columns)
    missing = [column for column in columns if column not in there]
    if missing:
        has = ", ".join(map(str, frame.columns)) or "none"
        raise FrameError(f"{name} lacks the column {', '.join(missing)} (it has: {has}); rename or add it")
    twice = [column for column in columns if there.count(column) > 1]
    if twice:
        raise FrameError(f"{name} has the column {twice[0]} more than once; keep one")


def require_one_aspect(answers: pd.DataFrame) -> None:
    """Refuse answers to several questions: a worker's answers to two of them are no repeats."""
    if "aspect" not in answers.columns:
        return
    aspects = answers["aspect"].dropna().unique()
    if len(aspects) > 1:
        names = ", ".join(map(repr, sorted(map(str, aspects))[:5]))
        raise FrameError(f"answers mixes the aspects {names}; aggregate one aspect at a time")


def kind_of(index: pd.Index[Any]) -> str:
    """Return 'text', 'numbers', 'truth values' or pandas' own word for what an index holds."""
    inferred = pd.api.types.infer_dtype(index, skipna=True)
    known = {"string": "text", "empty": "nothing", "boolean": "truth values"}
    if inferred in {"integer", "floating", "mixed-integer-float", "decimal"}:
        return "numbers"
    return known.get(inferred, inferred)


def sorted_codes(column: pd.Series[Any], *, name: str) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """Return the rank of each value among the sorted distinct values, and those values.

    Raises
    ------
    FrameError
        The column mixes kinds that have no order, such as text and numbers.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:
        raise FrameError(
            f"{name} holds values such as {next(value for value in column if not _is_name(value))!r}, which name "
            "nothing; give text, numbers or truth values (method='crowdkit:binary_relevance' takes lists of labels)"
        ) from None
    names = pd.Index(distinct)
    if names.dtype == object:
        inferred = pd.api.types.infer_dtype(names, skipna=True)
        if inferred in _EQUAL_KINDS:  # True equals 1, so that the distinct values do not show the mixture
            inferred = pd.api.types.infer_dtype(column, skipna=True)
        if inferred not in _SORTABLE:
            kinds = sorted({type(value).__name__ for value in column})
            if len(kinds) == 1:
                raise FrameError(f"{name} holds values of the kind {kinds[0]}; give text, numbers or truth values")
            raise FrameError(f"{name} mixes values of the kinds {', '.join(kinds)}; turn the column into one of them")
    order = np.asarray(names.argsort(), dtype=np.intp)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return rank[codes], names[order].rename(None)


def _is_name(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def require_same_kind(index: pd.Index[Any], names: pd.Index[Any], *, what: str, others: str) -> None:
    """Refuse names of another kind (text for numbers), none of which could ever meet the others.

    Raises
    ------
    FrameError
        The kinds differ.
    """
    if len(index) and len(names) and kind_of(index) != kind_of(names):
        raise FrameError(f"{what} by {kind_of(index)}, {others} by {kind_of(names)}; convert one of them")


def label_index(labels: Iterable[Any]) -> pd.Index[Any]:
    """Return the label set that a user names, in its order; refuse an empty one, missing labels and repetitions."""
    if isinstance(labels, str | bytes):
        raise InputError(f"labels is the text {labels!r}; give a list of labels")
    index: pd.Index[Any] = pd.Index(list(labels))
    if len(index) == 0:
        raise InputError("labels is empty; name at least one label, or leave it out")
    if index.hasnans:
        raise InputError("labels holds a missing value; name real labels only")
    if not index.is_unique:
        twice = index[index.duplicated()].unique().tolist()
        raise InputError(f"labels names {twice[:5]} more than once; name each label once")
    return index


def coded(index: pd.Index[Any], values: pd.Index[Any]) -> NDArray[np.intp]:
    """Return the place of each value in ``index``, -1 where it has none; text never equals a number."""
    if len(index) == 0 or len(values) == 0 or kind_of(index) != kind_of(values):
        return np.full(len(values), -1, dtype=np.intp)
    return np.asarray(index.get_indexer(values), dtype=np.intp)
