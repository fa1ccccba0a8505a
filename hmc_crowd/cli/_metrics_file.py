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
    frame: pd.DataFrame,
    wanted: Sequence[str],
    file: Path,
    *,
    ids: Sequence[str] = (),
    together: bool = False,
    like: Any = None,
    nominal: bool = False,
) -> pd.DataFrame:
    """Return columns of labels: empty cells missing; numbers if all their cells are numbers.

    Parameters
    ----------
    ids : sequence of str
        Columns of names, which never become numbers: task "007" is another than "7".
    together : bool
        Columns that share one scale: all become numbers or none.
    like : frame, optional
        Become numbers only if this frame's columns are.
    nominal : bool
        The labels are names: "01" is another than "1", so that a column with such cells stays text.
    """
    import pandas as pd

    cells = {}
    for name in wanted:
        given = column(frame, name, file)
        text = given.astype(object).where(given.notna(), None)
        cells[name] = text.map(lambda each: None if isinstance(each, str) and not each.strip() else each)
    numbers = {name: pd.to_numeric(each, errors="coerce") for name, each in cells.items()}
    numeric = {name: name not in ids and bool((numbers[name].notna() == cells[name].notna()).all()) for name in wanted}
    if nominal:
        coded = {name: any(map(_zero_first, each)) for name, each in cells.items()}
        numeric = {name: numeric[name] and not coded[name] for name in wanted}
    if together:
        numeric = dict.fromkeys(wanted, all(numeric.values()))
    if like is not None:
        alike = all(like[name].dtype.kind in "iuf" for name in like.columns)
        numeric = {name: each and alike for name, each in numeric.items()}
    return pd.DataFrame({name: numbers[name] if numeric[name] else cells[name].astype(object) for name in wanted})


def _zero_first(cell: Any) -> bool:
    return isinstance(cell, str) and len(cell) > 1 and cell[0] == "0" and cell.isdigit()


def outcomes_of(loaded: pd.DataFrame, name: str, file: Path) -> list[str | None]:
    """Return a column of outcomes; what no judge said is None."""
    import numpy as np

    from hmc_crowd.io import read_frame

    words = [str(each).strip().lower() for each in column(loaded, name, file).tolist()]
    found = [None if word in {"", "nan", "none", "unparsed"} else word for word in words]
    odd = np.array([word not in {None, "win", "tie", "loss"} for word in found], dtype=bool)
    if odd.any():
        # Read again: nothing but the message needs the lines.
        first = read_frame(file, kind=None).rows(odd, words)
        raise FrameError(
            f"{file}: {name} must be win, tie or loss, or empty where nothing was read: {first}; correct them"
        )
    return found
