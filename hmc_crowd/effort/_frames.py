"""What may come in as a table, and what is said when a column is missing or holds no numbers.

Tables are pandas inside; other frames are converted at this edge by narwhals and never written to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__: list[str] = []


def as_pandas(frame: Any, *, name: str) -> pd.DataFrame:
    """Return the table as pandas; a pandas frame comes back as it is, uncopied."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if isinstance(frame, Mapping):
        try:
            return pd.DataFrame(dict(frame))
        except ValueError as error:
            raise FrameError(f"{name} cannot be read as a table: {error}; give columns of one length") from None
    import narwhals as nw

    try:
        converted: pd.DataFrame = nw.from_native(frame, eager_only=True).to_pandas()
    except TypeError:
        raise FrameError(f"{name} is a {type(frame).__name__}; give a pandas, polars or pyarrow table") from None
    return converted


def require_columns(frame: pd.DataFrame, columns: Sequence[str], *, name: str) -> None:
    """Raise FrameError that names the missing columns and the ones there are."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns[:20])) or "none"
        plural = "s" if len(missing) > 1 else ""
        raise FrameError(f"{name} lacks the column{plural} {', '.join(missing)} (it has: {there}); add or rename them")


def number_column(values: Any, *, name: str) -> NDArray[np.float64]:
    """Return float64 with NaN for missing; refuse text and infinite values."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FrameError(f"{name} must hold numbers: {error}; encode or drop it") from None
    bad = np.isinf(array)
    if bad.any():
        raise FrameError(f"{name} holds infinite values: {first_rows(bad, array)}; correct them or leave them missing")
    return array


def number_matrix(frame: pd.DataFrame, columns: Sequence[str], *, name: str) -> NDArray[np.float64]:
    """Return the named columns as a float64 matrix; missing values stay NaN."""
    require_columns(frame, columns, name=name)
    if not columns:
        raise FrameError(f"{name} has no columns to use; give at least one feature")
    repeated = sorted({str(column) for column in columns if int((frame.columns == column).sum()) > 1})
    if repeated:
        raise FrameError(f"{name} has more than one column called {', '.join(repeated)}; keep one of each")
    return np.column_stack([number_column(frame[column], name=f"{name} column {column}") for column in columns])


def require_no_missing(frame: pd.DataFrame, columns: Sequence[str], *, name: str) -> None:
    """Refuse rows whose key columns are empty."""
    for column in columns:
        bad = frame[column].isna().to_numpy()
        if bad.any():
            raise FrameError(f"{name} column {column} is empty in {first_rows(bad)}; fill or drop these rows")


def require_unique(values: pd.Series[Any], *, name: str) -> None:
    """Refuse repeated identifiers."""
    bad = values.duplicated().to_numpy()
    if bad.any():
        raise FrameError(f"{name} repeats: {first_rows(bad, values.to_numpy())}; keep one row of each")


def instants(values: Any, *, name: str) -> NDArray[np.int64]:
    """Return aware times as microseconds since the epoch in UTC; refuse naive or missing ones."""
    import pandas as pd

    series = pd.Series(values)
    bad = series.isna().to_numpy()
    if bad.any():
        raise InputError(f"{name} is empty in {first_rows(bad)}; every row needs its time")
    if not isinstance(series.dtype, pd.DatetimeTZDtype):
        try:
            series = pd.Series([as_utc(each, name=name) for each in series], dtype="object")
        except (AttributeError, TypeError):
            raise InputError(f"{name} must hold aware times, got {series.iloc[0]!r}; convert them to UTC") from None
        series = pd.to_datetime(series, utc=True)
    moments = series.dt.tz_convert("UTC").astype("datetime64[us, UTC]")
    return np.asarray(moments.astype("int64"), dtype=np.int64)
