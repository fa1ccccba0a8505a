"""Columns of a frame of any kind, as lists; what is missing is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["columns_of"]


def columns_of(frame: Any, *, name: str, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return the named columns of a pandas, polars or Arrow frame as lists; absent optional ones are left out.

    Raises
    ------
    FrameError
        Not a frame, no rows, or a required column is missing.
    """
    import narwhals.stable.v1 as nw

    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise FrameError(f"{name} is a {type(frame).__name__}; give a pandas, polars or Arrow frame") from None
    missing = [column for column in required if column not in native.columns]
    if missing:
        raise FrameError(f"{name} lacks the column {missing[0]!r}; it has {', '.join(native.columns)}")
    if len(native) == 0:
        raise FrameError(f"{name} has no rows; give at least one answer")
    wanted = [*required, *(column for column in optional if column in native.columns)]
    columns = {column: native[column].to_list() for column in wanted}
    for column, values in columns.items():
        gaps = [row for row, value in enumerate(values) if value is None or value != value]  # the last: NaN
        if gaps:
            raise FrameError(
                f"{name} column {column!r} is empty in row {gaps[0]} ({len(gaps)} in all); fill or drop them"
            )
    return columns
