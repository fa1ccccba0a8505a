"""Columns of a file as metrics want them: an empty cell is missing, and text that is all numbers is numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

__all__ = ["column", "labels_of", "optional", "outcomes_of", "read_table"]


def read_table(file: Path) -> pd.DataFrame:
    """Read a file by no rules but those of its format."""
    from hmc_crowd.io import read_frame

    return read_frame(file, kind=None).frame


def column(frame: pd.DataFrame, name: str, file: Path) -> pd.Series[Any]:
    """Return a column, or name the columns that there are."""
    if name not in frame.columns:
        there = ", ".join(map(str, frame.columns[:12]))
        raise FrameError(f"{file} has no column {name!r}; it has {there or 'none'}")
    return frame[name]


def optional(frame: pd.DataFrame, name: str | None, file: Path) -> Any:
    """Return a column if one is named."""
    return None if name is None else column(frame, name, file).to_numpy()


def labels_of(
    frame: pd.DataFrame, wanted: Sequence[str], file: Path, *, together: bool = False, like: Any = None
) -> pd.DataFrame:
    """Return columns of labels: empty cells missing; numbers if all their cells are numbers.

    Parameters
    ----------
    together : bool
        Columns that share one scale: all become numbers or none.
    like : frame, optional
        Become numbers only if this frame's columns are.
    """
    import pandas as pd

    cells = {}
    for name in wanted:
        given = column(frame, name, file)
        text = given.astype(object).where(given.notna(), None)
        cells[name] = text.map(lambda each: None if isinstance(each, str) and not each.strip() else each)
    numbers = {name: pd.to_numeric(each, errors="coerce") for name, each in cells.items()}
    numeric = {name: bool((numbers[name].notna() == cells[name].notna()).all()) for name in wanted}
    if together:
        numeric = dict.fromkeys(wanted, all(numeric.values()))
    if like is not None:
        alike = all(like[name].dtype.kind in "iuf" for name in like.columns)
        numeric = {name: each and alike for name, each in numeric.items()}
    return pd.DataFrame({name: numbers[name] if numeric[name] else cells[name].astype(object) for name in wanted})


def outcomes_of(loaded: pd.DataFrame, name: str, file: Path) -> list[str | None]:
    """Return a column of outcomes; what no judge said is None."""
    words = [str(each).strip().lower() for each in column(loaded, name, file).tolist()]
    return [None if word in {"", "nan", "none", "unparsed"} else word for word in words]
