"""What may a frame hold? One reading of pandas frames and Arrow tables into typed Arrow columns, checked without loops.

Arrow is the form in between: bulk inserts, COPY, Parquet and the frames that go out are all made from it. A text is
valid Unicode without NUL, a time is aware, a key fits PostgreSQL's index pages; whatever is not is refused with the
first rows that are wrong, before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError
from hmc_crowd.store._types import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Column", "bad_rows", "column_names", "empty_table", "expand", "read_frame", "select", "to_pandas", "widen"]

_TYPES = {
    "key": pa.large_string(),
    "text": pa.large_string(),
    "number": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", "UTC"),
    "dict": pa.large_string(),
}
# A btree entry of PostgreSQL holds 2,704 bytes, and one index holds an item, an aspect and a worker.
_KEY_BYTES = 800


@dataclass(frozen=True)
class Column:
    """One column of a bulk frame; ``default`` fills it where ``required`` is False, None leaves it missing.

    A "dict" column may also come spread over columns that start with ``spread`` (``p_yes``, ``f_length``).
    """

    name: str
    kind: Literal["key", "text", "number", "integer", "flag", "time", "dict"]
    required: bool = False
    default: Any = None
    spread: str | None = None

    @property
    def type(self) -> Any:
        """The column's Arrow type."""
        return _TYPES[self.kind]


def column_names(frame: Any) -> list[str]:
    """Return the column names of a pandas frame or Arrow table."""
    names = frame.column_names if isinstance(frame, pa.Table) else getattr(frame, "columns", None)
    if names is None:
        raise FrameError(f"a frame is {type(frame).__name__}; give a pandas DataFrame or a pyarrow Table")
    return [str(each) for each in names]


def empty_table(columns: Sequence[Column]) -> Any:
    """Return a table without rows that has the columns."""
    return pa.table({each.name: pa.array([], each.type) for each in columns})


def bad_rows(mask: Any, values: Any = None) -> str:
    """Name the rows of an Arrow mask, with their values."""
    wrong: NDArray[np.bool_] = pc.fill_null(mask, False).to_numpy(zero_copy_only=False)
    if values is None:
        return first_rows(wrong)
    where = wrong.nonzero()[0][:5].tolist()
    # Only the shown rows become Python objects.
    return first_rows(wrong, {row: repr(values[row].as_py())[:60] for row in where})


def read_frame(frame: Any, columns: Sequence[Column], *, name: str, wide: bool = False) -> Any:
    """Turn a pandas frame or Arrow table into an Arrow table of exactly these columns.

    Parameters
    ----------
    frame : pandas.DataFrame or pyarrow.Table
        Rows; other columns are left out.
    columns : sequence of Column
        What is wanted.
    name : str
        What to call the frame in messages.
    wide : bool, default False
        Keep dicts as one column per key (Parquet) instead of one JSON text per row (SQL).

    Raises
    ------
    FrameError
        A column is missing, of a wrong type, or has missing or wrong values.
    """
    names = column_names(frame)
    lacking = [each.name for each in columns if each.required and each.name not in names]
    if lacking:
        raise FrameError(f"{name} lacks the column {', '.join(lacking)}; it has {', '.join(names) or 'none'}")
    out: dict[str, Any] = {}
    for column in columns:
        if column.kind == "dict":
            out.update(_dicts(frame, column, names, name=name, wide=wide))
        elif column.name in names:
            out[column.name] = _checked(_array(frame[column.name], column, name), column, name)
        else:
            out[column.name] = _filled(column, len(frame))
    return pa.table(out)


def _filled(column: Column, length: int) -> Any:
    return pa.repeat(pa.scalar(column.default, column.type), length)


def _array(values: Any, column: Column, name: str) -> Any:
    """Return values as an Arrow array of the column's type, missing values as null."""
    label = f"{name}: column {column.name}"
    try:
        array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, from_pandas=True)
    except UnicodeEncodeError:
        wrong = pa.array([isinstance(each, str) and not _is_text(each) for each in values])
        raise FrameError(
            f"{label} holds half of a surrogate pair at {bad_rows(wrong)}; decode the text again"
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise FrameError(f"{label} mixes types: {str(error).splitlines()[0]}; give one type per column") from None
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if isinstance(array, pa.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    given = array.type
    if not (pa.types.is_null(given) or _fits(given, column)):
        hint = "times must be aware, for example in UTC" if column.kind == "time" else f"give {column.kind} values"
        raise FrameError(f"{label} holds {given}; {hint}")
    try:
        return array.cast(column.type, safe=column.kind != "time")
    except pa.ArrowInvalid as error:
        raise FrameError(f"{label} cannot be read as {column.kind}: {error}; correct it") from None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits(given: Any, column: Column) -> bool:
    types = pa.types
    match column.kind:
        case "key" | "text":
            return bool(types.is_string(given) or types.is_large_string(given) or types.is_string_view(given))
        case "number":
            return bool(types.is_floating(given) or types.is_integer(given) or types.is_decimal(given))
        case "integer":
            return bool(types.is_integer(given) or types.is_floating(given))
        case "flag":
            return bool(types.is_boolean(given))
        case "time":
            return bool(types.is_timestamp(given) and given.tz is not None)
        case _:
            return False


def _checked(array: Any, column: Column, name: str) -> Any:
    """Refuse missing values of a required column, NaN, NUL and keys that are too long; fill defaults."""
    label = f"{name}: column {column.name}"
    if column.kind == "number" and pc.any(pc.is_nan(array)).as_py():
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    if array.null_count:
        if column.required:
            raise FrameError(f"{label} is missing in {bad_rows(array.is_null())}; fill in or drop these rows")
        if column.default is not None:
            array = pc.fill_null(array, pa.scalar(column.default, column.type))
    if column.kind in {"key", "text"} and len(array):
        nul = pc.match_substring(array, "\x00")
        if pc.any(nul).as_py():
            raise FrameError(
                f"{label} holds a NUL character in {bad_rows(nul)}, which databases cannot store; remove it"
            )
    if column.kind == "key" and len(array):
        length = pc.binary_length(array)
        if (pc.max(length).as_py() or 0) > _KEY_BYTES or pc.min(length).as_py() == 0:
            wrong = pc.or_(pc.greater(length, _KEY_BYTES), pc.equal(length, 0))
            raise FrameError(
                f"{label} must be 1 to {_KEY_BYTES} bytes long: {bad_rows(wrong, array)}; shorten or fill these ids"
            )
    return array


def _dicts(frame: Any, column: Column, names: list[str], *, name: str, wide: bool) -> dict[str, Any]:
    """Return a dict column as JSON texts, or spread over one number column per key."""
    prefix = column.spread or ""
    spread = [each for each in names if prefix and each.startswith(prefix)]
    parts = {
        each: _checked(_array(frame[each], Column(each, "number"), name), Column(each, "number"), name)
        for each in spread
    }
    if column.name in names:
        dicts = list(frame[column.name].to_pylist() if isinstance(frame, pa.Table) else frame[column.name])
        dicts = [each if isinstance(each, dict) else None for each in dicts]
    else:
        dicts = []
    if wide:
        return parts | _spread(dicts, prefix)
    if parts:
        listed = {each.removeprefix(prefix): values.to_pylist() for each, values in parts.items()}
        rows = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
        dicts = [
            (dicts[at] or {} if dicts else {}) | {key: value for key, value in row.items() if value is not None} or None
            for at, row in enumerate(rows)
        ]
    if not dicts:
        return {column.name: pa.nulls(len(frame), column.type)}
    texts = [None if each is None else to_json(each, name=f"{name}: column {column.name}") for each in dicts]
    return {column.name: pa.array(texts, column.type)}


def _spread(dicts: list[dict[str, Any] | None], prefix: str) -> dict[str, Any]:
    keys = sorted({key for each in dicts if each for key in each})
    return {
        f"{prefix}{key}": pa.array([None if each is None else each.get(key) for each in dicts], pa.float64())
        for key in keys
    }


def widen(table: Any, columns: Sequence[Column]) -> Any:
    """Spread the JSON columns of a table read from SQL over one column per key, as Parquet holds them."""
    for column in columns:
        if column.kind == "dict" and column.name in table.column_names:
            dicts = [from_json(text) for text in table[column.name].to_pylist()]
            table = table.drop_columns([column.name])
            for name, values in _spread(dicts, column.spread or "").items():
                table = table.append_column(name, values)
    return table


def expand(table: Any, columns: Sequence[Column], wanted: Sequence[str] | None) -> Any:
    """Give a table exactly the columns wanted, dict columns from or to their spread form as asked."""
    for column in columns:
        prefix = column.spread
        if column.kind != "dict" or prefix is None:
            continue
        spread = [each for each in table.column_names if each.startswith(prefix)]
        asked = [] if wanted is None else [each for each in wanted if each.startswith(prefix)]
        if asked and column.name in table.column_names:
            dicts = [from_json(text) or {} for text in table[column.name].to_pylist()]
            for each in asked:
                values = pa.array([row.get(each.removeprefix(prefix)) for row in dicts], pa.float64())
                table = table.append_column(each, values)
        if column.name not in table.column_names and (wanted is None or column.name in wanted):
            listed = {each.removeprefix(prefix): table[each].to_pylist() for each in spread}
            rows = [
                {key: value for key, value in zip(listed, row, strict=True) if value is not None}
                for row in zip(*listed.values(), strict=True)
            ]
            texts = [to_json(row) if row else None for row in rows] if listed else [None] * len(table)
            table = table.append_column(column.name, pa.array(texts, column.type))
        for each in asked:
            if each not in table.column_names:
                table = table.append_column(each, pa.nulls(len(table), pa.float64()))
    return table.select(list(wanted) if wanted is not None else [each.name for each in columns])


def select(columns: Sequence[Column], wanted: Sequence[str] | None, *, name: str) -> list[str]:
    """Check wanted column names; return them, or all when None."""
    known = [each.name for each in columns]
    if wanted is None:
        return known
    prefixes = tuple(each.spread for each in columns if each.spread)
    wrong = [each for each in wanted if each not in known and not (prefixes and each.startswith(prefixes))]
    if wrong:
        raise FrameError(f"columns names {', '.join(wrong)}, which {name} do not have; choose from {', '.join(known)}")
    return list(wanted)


def to_pandas(table: Any, columns: Sequence[Column]) -> pd.DataFrame:
    """Turn an Arrow table into a pandas frame, JSON columns into dicts; the table must not be used afterwards."""
    dicts = [each.name for each in columns if each.kind == "dict" and each.name in table.column_names]
    parsed = {name: [from_json(text) for text in table[name].to_pylist()] for name in dicts}
    order = table.column_names
    frame: pd.DataFrame = table.drop_columns(dicts).to_pandas(split_blocks=True, self_destruct=True)
    if not dicts:
        return frame
    import pandas as pd

    for name, values in parsed.items():
        frame[name] = pd.Series(values, index=frame.index, dtype=object)
    ordered: pd.DataFrame = frame[order]
    return ordered
