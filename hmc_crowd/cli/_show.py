"""How results reach the terminal: one line and a table for people, JSON for programs, progress on standard error."""

from __future__ import annotations

import dataclasses
import json
import math
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

__all__ = ["emit", "progress_bar", "table", "to_plain"]


def emit(result: Any, *, as_json: bool, text: str | None = None) -> None:
    """Print a result: as JSON, or as the line it describes itself with."""
    if as_json:
        typer.echo(json.dumps(to_plain(result), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        Console(soft_wrap=True, highlight=False).print(str(result) if text is None else text, markup=False)


def to_plain(value: Any) -> Any:
    """Turn results into what JSON can hold; what is undefined becomes null."""
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return [to_plain(row) for row in value.to_dict("records")]
    if isinstance(value, pd.Series):
        return to_plain(value.to_list())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: to_plain(each) for name, each in fields.items() if not name.startswith("_")}
    if isinstance(value, dict):
        return {str(key): to_plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, Enum):
        return to_plain(value.value)
    if isinstance(value, (datetime, date)):
        return None if pd.isna(value) else value.isoformat()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (Path, Decimal, bytes)):
        return str(value)
    if value is pd.NaT or value is pd.NA:
        return None
    return value


def table(frame: pd.DataFrame, *, title: str | None = None, note: str | None = None, rows: int = 40) -> None:
    """Print a frame as a table; longer ones are cut, saying so."""
    shown = Table(title=title, caption=note, title_justify="left", caption_justify="left", show_edge=False)
    for column in frame.columns:
        numeric = frame[column].dtype.kind in "iuf"
        shown.add_column(str(column), justify="right" if numeric else "left", overflow="fold")
    for row in frame.head(rows).itertuples(index=False):
        shown.add_row(*(_cell(value) for value in row))
    console = Console(highlight=False)
    console.print(shown)
    if len(frame) > rows:
        console.print(f"... and {len(frame) - rows:,} more rows; --out FILE writes them all")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{value:,.4f}" if abs(value) < 100 else f"{value:,.1f}"
    # Markup in somebody's text must not colour our terminal.
    return str(value).replace("[", r"\[")


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on standard error when a person is looking; hand out the function that moves it."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda *_: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def move(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield move
