"""How results reach the terminal: sentences, facts and tables for people, JSON for programs, progress for who waits.

Standard output carries results alone. Bars and spinners go to standard error, and only when a person is looking.
Whatever is printed passes here, and no control character of somebody's text reaches the terminal: each is written out.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import textwrap
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hmc_crowd._base.printable import escaped, escaped_json, escaped_lines
from hmc_crowd.cli._wording import on_the_command_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

__all__ = [
    "as_json_text",
    "busy",
    "echo",
    "emit_json",
    "facts",
    "give",
    "notes",
    "progress_bar",
    "say",
    "table",
    "tell",
    "to_plain",
]

_NARROWEST = 40


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text as it stands, but for control characters, which are written out."""
    typer.echo(escaped_lines(text), err=err, nl=nl)


def say(text: str, *, indent: str = "") -> None:
    """Print sentences, wrapped between words to the width of the terminal; a path is never broken."""
    for line in escaped_lines(text).split("\n"):
        inner = indent or " " * (len(line) - len(line.lstrip()))
        typer.echo(
            "\n".join(
                textwrap.wrap(
                    line, _width(), subsequent_indent=inner + "  ", break_long_words=False, break_on_hyphens=False
                )
            )
        )


def emit_json(result: Any) -> None:
    """Print a result as JSON; what is undefined is null."""
    typer.echo(as_json_text(result, indent=2))


def as_json_text(result: Any, *, indent: int | None = None) -> str:
    """Return a result as JSON that a terminal shows without harm."""
    return escaped_json(json.dumps(to_plain(result), ensure_ascii=False, indent=indent, allow_nan=False))


def tell(found: Any, *, as_json: bool, said: Sequence[str] = ()) -> None:
    """Print a result: as JSON for programs, as its sentence with the notes on it for people."""
    if as_json:
        emit_json(found)
        return
    say(on_the_command_line(str(found)))
    notes(said)


def facts(headline: str, rows: Sequence[tuple[str, str | None]]) -> None:
    """Print a headline and below it what is known, one name and value a line; rows of None are left out."""
    say(headline)
    known = [(name, value) for name, value in rows if value is not None]
    column = max((len(name) for name, _ in known), default=0) + 4
    room = max(_NARROWEST - column, _width() - column)
    for name, value in known:
        lines = textwrap.wrap(
            escaped(value.replace("\n", " ")), room, break_long_words=False, break_on_hyphens=False
        ) or [""]
        typer.echo(f"  {escaped(name)}".ljust(column) + f"\n{' ' * column}".join(lines))


def notes(texts: Sequence[str], *, kind: str = "note") -> None:
    """Print what the reader of a result should know, one sentence each."""
    for text in texts:
        say(f"{kind}: {on_the_command_line(text)}")


def _width() -> int:
    from rich.console import Console

    return max(_NARROWEST, Console().width)


def to_plain(value: Any) -> Any:
    """Turn results into what JSON can hold; what is undefined becomes null.

    Examples
    --------
    >>> to_plain({"share": float("nan"), "file": Path("a.csv"), 3: (1, None)})
    {'share': None, 'file': 'a.csv', '3': [1, None]}
    """
    if value is None or (isinstance(value, bool | int | str) and not isinstance(value, Enum)):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(to_plain(key)): to_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((to_plain(each) for each in value), key=str)
    if isinstance(value, Enum):
        return to_plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: to_plain(each) for name, each in fields.items() if not name.startswith("_")}
    if isinstance(value, Path | Decimal):
        return str(value)
    return _table_to_plain(value)


def _table_to_plain(value: Any) -> Any:
    """Turn frames, arrays, times and their single values into what JSON can hold."""
    import numpy as np
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return [to_plain(row) for row in value.to_dict("records")]
    if isinstance(value, pd.Series):
        return to_plain(value.to_list())
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value)


def table(frame: pd.DataFrame, *, title: str | None = None, note: str | None = None, rows: int = 40) -> None:
    """Print a frame as a table no wider than the terminal; longer ones are cut, saying so."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    if title:
        say(title)
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="")
    head = frame.head(rows)
    cells = {column: _cells(head[column]) for column in frame.columns}
    for column in frame.columns:
        kind = frame[column].dtype.kind
        # Words of a header may go to lines of their own; underscores would keep them together.
        shown.add_column(
            escaped(str(column)).replace("_", " "), justify="right" if kind in "iuf" else "left", overflow="fold"
        )
    for row in zip(*cells.values(), strict=True):
        shown.add_row(*row)
    Console(highlight=False, markup=False, width=_width()).print(shown)
    if len(frame) > rows:
        say(f"... and {len(frame) - rows:,} more rows; --out FILE writes them all, --json prints them")
    if note:
        say(note)


def give(
    found: pd.DataFrame,
    shown: pd.DataFrame,
    out: Path | None,
    *,
    as_json: bool,
    overwrite: bool,
    rows: str = "rows",
    head: str = "",
    said: Sequence[str] = (),
) -> None:
    """Hand over a table: written to a file where one is named, else as JSON for programs or a table for people.

    Parameters
    ----------
    found : frame
        All of it, for the file and for JSON.
    shown : frame
        What people see of it.
    rows : str
        What its rows are, for the sentence that names the file.
    head, said : str, sequence of str
        A sentence above the table; notes below it.
    """
    from hmc_crowd.io import write_frame

    written = None if out is None else write_frame(found, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json(found)
    elif written is not None:
        say(f"{len(found):,} {rows}: {written}")
    else:
        if head:
            say(head)
        table(shown)
        notes(said)


def _cells(values: pd.Series[Any]) -> list[Any]:
    from rich.text import Text

    decimals = _decimals(values)
    # Text, not str: markup in somebody's item must not colour our terminal.
    return [Text(escaped(_cell(value, decimals))) for value in values.tolist()]


def _decimals(values: pd.Series[Any], most: int = 4) -> int:
    """Return how many decimals tell the numbers of a column apart: none for whole numbers, at most four."""
    numbers = [value for value in values.tolist() if isinstance(value, float) and math.isfinite(value)]
    return next(
        (count for count in range(most) if all(abs(value - round(value, count)) < 1e-9 for value in numbers)), most
    )


def _cell(value: Any, decimals: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-" if math.isnan(value) else f"{value}"
        # Adding zero turns the -0.0 of a rounding into 0.0.
        return f"{round(value, decimals) + 0.0:,.{decimals}f}"
    if value is None or type(value).__name__ in {"NaTType", "NAType"}:
        return "-"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}" if value.tzinfo is None else f"{value.astimezone(UTC):%Y-%m-%d %H:%MZ}"
    return str(value)


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Show bars on standard error when a person is looking; hand out the function that moves them."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # rich would lead standard output to standard error too, past the file or program that it goes to.
    console, is_terminal = Console(stderr=True), sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, redirect_stdout=is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def move(what: str, done: int, total: int) -> None:
            size = total if total > 0 else None
            if what not in tasks:
                tasks[what] = bar.add_task(escaped(what), total=size)
            bar.update(tasks[what], completed=done, total=size)

        yield move


@contextmanager
def busy(what: str) -> Iterator[None]:
    """Show that work goes on whose end cannot be foretold; print results only after the block."""
    with progress_bar() as move:
        move(what, 0, 0)
        yield
