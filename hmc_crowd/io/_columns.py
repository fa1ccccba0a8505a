"""How one column becomes text or numbers, without surprises.

Text stays as written: "007" keeps its zeros, "NA" is two letters. An integer becomes its digits (7 and 7.0 are "7").
Only empty cells and nulls are missing. Each function returns a new column or names the rows that are wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.io._where import Where

__all__ = [
    "feature_column",
    "flag_column",
    "known_strings",
    "missing_cells",
    "number_column",
    "text_column",
    "whole_column",
]

# Above this, floats skip integers: an id that went through a float may have become another id.
_EXACT = 2.0**53
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_SNIFFED = 100
_FLAGS = {"": False, "0": False, "false": False, "no": False, "1": True, "true": True, "yes": True}


def text_column(series: pd.Series[Any], name: str, where: Where, *, fill: str | None = None) -> pd.Series[Any]:
    """Return a column of text without missing values; ``fill`` stands for missing ones, None refuses them.

    Raises
    ------
    FrameError
        A value is missing, no text or number, or holds a NUL character or half a character.
    """
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return _checked_strings(series, name, where, fill)
    given = series.astype(object).to_numpy()
    texts = [_text_of(value) for value in given.tolist()]
    wrong = np.fromiter((text is None for text in texts), dtype=bool, count=len(texts))
    if wrong.any():
        kinds = [type(value).__name__ for value in given]
        raise FrameError(
            f"{where.name}: {name} must be text (or whole numbers below 2^53): {where.rows(wrong, kinds)}; "
            "write it as text"
        )
    blank = np.fromiter((not text or text.isspace() for text in texts), dtype=bool, count=len(texts))
    if fill is None and blank.any():
        raise _empty(blank, name, where)
    broken = np.fromiter(("\0" in text or not _encodable(text) for text in texts if text is not None), dtype=bool)
    if broken.any():
        raise _broken(broken, texts, name, where)
    if fill is not None:
        missing = series.isna().to_numpy()
        texts = [fill if gone else text for text, gone in zip(texts, missing, strict=True)]
    return pd.Series(texts, name=name) if texts else pd.Series([], name=name, dtype=object)


def _checked_strings(series: pd.Series[Any], name: str, where: Where, fill: str | None) -> pd.Series[Any]:
    """Do what `text_column` does where pandas knows that all is text: the same checks without a loop."""
    texts = series.fillna(fill or "")
    blank = texts.str.strip().eq("").to_numpy(dtype=bool)
    if fill is None and blank.any():
        raise _empty(blank, name, where)
    broken = texts.str.contains("\0", regex=False).to_numpy(dtype=bool)
    if broken.any():
        raise _broken(broken, texts.to_numpy(dtype=object), name, where)
    return texts


def _empty(bad: NDArray[np.bool_], name: str, where: Where) -> FrameError:
    return FrameError(f"{where.name}: {name} is empty in {where.rows(bad)}; fill it in or drop these rows")


def _broken(bad: NDArray[np.bool_], texts: Any, name: str, where: Where) -> FrameError:
    return FrameError(
        f"{where.name}: {name} holds a NUL or half a character in {where.rows(bad, texts)}; remove it from the text"
    )


def _text_of(value: Any) -> str | None:
    """Return the text of one value, "" where it is missing, None where it has no text that is sure."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | np.integer | np.bool_):
        return str(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != number:
            return ""
        if number.is_integer():
            return str(int(number)) if abs(number) < _EXACT else None
        return repr(number)
    if type(value).__name__ in {"NAType", "NaTType"}:
        return ""
    return str(value) if type(value).__name__ in {"UUID", "Decimal"} else None


def _encodable(text: str) -> bool:
    """Whether the text has no half characters (lone surrogates), which no file or database takes."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def known_strings(frame: pd.DataFrame) -> pd.DataFrame:
    """Give object columns of nothing but text and nulls the text type of pandas, which is checked without loops."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in frame.columns:
        columns[name] = frame[name]
        if frame[name].dtype == object and pd.api.types.infer_dtype(frame[name], skipna=True) == "string":
            try:
                columns[name] = pd.Series(frame[name].tolist())
            except UnicodeEncodeError:
                continue  # half a character: named later, with its row, where the column is used
    return pd.DataFrame(columns, index=frame.index)


def number_column(
    series: pd.Series[Any],
    name: str,
    where: Where,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    may_miss: bool = False,
) -> NDArray[np.float64]:
    """Return finite numbers in [low, high]; with ``may_miss``, empty cells become NaN.

    Raises
    ------
    FrameError
        A value is missing, no number, infinite, or out of range.
    """
    numbers, missing = _numbers(series)
    good = np.isfinite(numbers) & (numbers >= low) & (numbers <= high)
    bad = ~good & ~missing if may_miss else ~good
    if bad.any():
        allowed = f"in [{low:g}, {high:g}]" if np.isfinite(high) else f"at least {low:g}"
        kind = f"a number {allowed}" if np.isfinite(low) else "a finite number"
        raise FrameError(
            f"{where.name}: {name} must be {kind}: {where.rows(bad, series.astype(object).to_numpy())}; "
            "correct or drop these rows"
        )
    return numbers


def _numbers(series: pd.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers (NaN where there is none) and which cells are missing."""
    if series.dtype.kind in "iufb" and isinstance(series.dtype, np.dtype):
        numbers = series.to_numpy(dtype=np.float64)
        return numbers, np.isnan(numbers)
    cells = series.astype(object).to_numpy()
    missing = missing_cells(series, cells)
    numbers = np.full(len(cells), np.nan)
    filled = cells[~missing]
    try:
        # Python's own reading of each cell: exact to the last bit, where pandas' may be one off.
        numbers[~missing] = filled.astype(np.float64)
        if not any(isinstance(cell, str) and "_" in cell for cell in filled):
            return numbers, missing
    except (TypeError, ValueError):
        pass
    numbers[~missing] = [_number(cell) for cell in filled]
    return numbers, missing


def _number(cell: Any) -> float:
    try:
        # Python also reads 1_000, which no table means as a number.
        return np.nan if isinstance(cell, str) and "_" in cell else float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def whole_column(series: pd.Series[Any], name: str, where: Where) -> NDArray[np.int64]:
    """Return whole numbers of at least 0.

    Raises
    ------
    FrameError
        A value is missing, negative or no whole number.
    """
    numbers = number_column(series, name, where, low=0, high=_EXACT)
    bad = numbers != np.floor(numbers)
    if bad.any():
        raise FrameError(f"{where.name}: {name} must be whole numbers: {where.rows(bad, numbers)}; correct these rows")
    return numbers.astype(np.int64)


def flag_column(series: pd.Series[Any], name: str, where: Where) -> NDArray[np.bool_]:
    """Return yes or no for each row: booleans, 0 and 1, or true/false and yes/no as text; an empty cell is no.

    Raises
    ------
    FrameError
        A value is none of these.
    """
    texts = text_column(series, name, where, fill="").str.strip().str.lower()
    flags = texts.map(_FLAGS)
    bad = flags.isna().to_numpy()
    if bad.any():
        raise FrameError(
            f"{where.name}: {name} must be true or false: {where.rows(bad, series.astype(object).to_numpy())}; "
            "correct these rows"
        )
    return flags.to_numpy(dtype=np.bool_)


def feature_column(series: pd.Series[Any], name: str, where: Where, *, untyped: bool) -> pd.Series[Any] | None:
    """Return an extra column as numbers if it is one (empty cells are NaN), or None if it is something else.

    In untyped sources (CSV) a column is numeric when every filled cell is written as a plain number; leading zeros are
    not plain, so "007" stays text. In typed sources text stays text.

    Raises
    ------
    FrameError
        A number is infinite.
    """
    import pandas as pd

    kind = series.dtype.kind
    if kind in "iuf" and (isinstance(series.dtype, np.dtype) or not series.isna().any()):
        if kind in "iu":
            return series
        numbers = series.to_numpy(dtype=np.float64)
    elif kind not in "iufO" and not untyped:
        return None
    else:
        cells = series.astype(object).to_numpy()
        filled = cells[~missing_cells(series, cells)].tolist()
        test = _plain_text_number if untyped else _plain_number
        if not filled or not all(map(test, filled[:_SNIFFED])) or not all(map(test, filled[_SNIFFED:])):
            return None
        if len(filled) == len(cells) and all(_WHOLE.fullmatch(str(cell)) for cell in cells):
            return pd.Series([int(cell) for cell in cells], name=name, dtype="int64")
        numbers = _numbers(series)[0]
    infinite = np.isinf(numbers)
    if infinite.any():
        raise FrameError(f"{where.name}: {name} is infinite in {where.rows(infinite)}; correct or drop these rows")
    return pd.Series(numbers, name=name)


def missing_cells(series: pd.Series[Any], cells: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Return which cells are null or blank."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return series.fillna("").str.strip().eq("").to_numpy(dtype=bool)
    blank = np.fromiter((isinstance(cell, str) and not cell.strip() for cell in cells), dtype=bool, count=len(cells))
    gone: NDArray[np.bool_] = series.isna().to_numpy() | blank
    return gone


def _plain_text_number(cell: Any) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _plain_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool)
