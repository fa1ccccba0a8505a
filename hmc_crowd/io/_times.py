"""How a column becomes times: aware, in UTC, or refused."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError
from hmc_crowd.io._columns import missing_cells

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.io._where import Where

__all__ = ["time_column"]

# A zone after a time of day: the "-31" of a bare date is none.
_ZONE = r"[Tt ]\d{2}.*(?:[Zz]|[+-]\d{2}(?::?\d{2})?)$"


def time_column(series: pd.Series[Any], name: str, where: Where, *, assume_utc: bool) -> pd.Series[Any]:
    """Return aware UTC times in microseconds, NaT where the cell is empty.

    Raises
    ------
    FrameError
        A value is no ISO 8601 time, or has no zone and ``assume_utc`` is off.
    """
    import pandas as pd

    if isinstance(series.dtype, pd.DatetimeTZDtype):
        aware: pd.Series[Any] = series.dt.tz_convert("UTC").astype("datetime64[us, UTC]")
        return aware
    if series.dtype.kind == "M":
        if not assume_utc and series.notna().any():
            raise _naive(series.notna().to_numpy(), series, name, where)
        taken: pd.Series[Any] = series.dt.tz_localize("UTC").astype("datetime64[us, UTC]")
        return taken
    cells, written = _written_times(series)
    filled = written.notna().to_numpy()
    times = pd.to_datetime(written, utc=True, format="ISO8601", errors="coerce").astype("datetime64[us, UTC]")
    wrong = filled & times.isna().to_numpy()
    if wrong.any():
        raise FrameError(
            f"{where.name}: {name} must be a time such as 2026-01-31T12:00:00Z: {where.rows(wrong, cells)}; "
            "rewrite these in ISO 8601"
        )
    naive = filled & ~written.str.contains(_ZONE, na=False).to_numpy(dtype=bool)
    if naive.any() and not assume_utc:
        raise _naive(naive, cells, name, where)
    return times.rename(name)


def _written_times(series: pd.Series[Any]) -> tuple[NDArray[np.object_], pd.Series[Any]]:
    """Return the cells as given, and as ISO text (missing where the cell is empty)."""
    import pandas as pd

    cells = series.astype(object).to_numpy()
    filled = ~missing_cells(series, cells)
    if isinstance(series.dtype, pd.StringDtype):
        texts = series.str.strip()
        if texts.str.endswith("UTC").any():
            texts = texts.str.replace(r"\s*UTC$", "Z", regex=True)
        return cells, texts.where(filled, None)
    written = [_time_text(cell) if there else None for cell, there in zip(cells, filled, strict=True)]
    return cells, pd.Series(written, dtype=object)


def _naive(bad: NDArray[np.bool_], cells: Any, name: str, where: Where) -> FrameError:
    shown = [str(cell) for cell in cells]
    return FrameError(
        f"{where.name}: {name} has no time zone in {where.rows(bad, shown)}; "
        "add one (Z is UTC), or pass assume_utc=True"
    )


def _time_text(cell: Any) -> str:
    """Return ISO text, "?" for what is no time (a bare number has no unit)."""
    if isinstance(cell, datetime):
        return cell.isoformat()
    return re.sub(r"\s*UTC$", "Z", cell.strip()) if isinstance(cell, str) else "?"
