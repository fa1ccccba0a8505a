"""What is a report made of? Figures, tables, charts and sections, independent of what they speak about.

The same blocks become the HTML page, the JSON file and the CSV tables, so the three cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd.report._format import Column, columns_of, plain, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.report._svg import Chart

__all__ = ["Document", "Fact", "Figure", "Section", "Table"]

FORMAT = "hmc-crowd-report/1"
# A browser is no place for a million rows: the page shows the first ones and says where the others are.
ROWS_SHOWN = 200
CHARACTERS_SHOWN = 600


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of the summary: a key, a label, the value, and what it rests on.

    Parameters
    ----------
    key : str
        Name in the JSON file.
    label : str
        What the number is.
    value : object
        The number itself, unrounded; None where it is not known, and then ``note`` says why.
    column : Column
        How it is shown; its unit stands behind the number.
    note : str, default ""
        One short sentence: of how many, at which level, or why it is missing.

    Examples
    --------
    >>> Figure(key="share", label="To people", value=0.4999, column=Column("To people", "percent")).text
    '50.0'
    """

    key: str
    label: str
    value: Any
    column: Column
    note: str = ""

    @property
    def text(self) -> str:
        """The value as shown, without its unit."""
        return shown(self.value, self.column)

    @property
    def unit(self) -> str:
        """The unit as shown behind the value; empty where there is no value."""
        if plain(self.value) is None:
            return ""
        return "%" if self.column.kind == "percent" else self.column.unit


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One line of a list of facts: label and value, shown as a description list.

    Examples
    --------
    >>> Fact(key="cap", label="Cap mode", value="at_most").text
    'at_most'
    """

    key: str
    label: str
    value: Any
    column: Column = field(default_factory=lambda: Column(""))

    @property
    def text(self) -> str:
        """The value as shown, with its unit."""
        text = shown(self.value, self.column)
        unit = "%" if self.column.kind == "percent" else self.column.unit
        return f"{text} {unit}" if unit and plain(self.value) is not None else text


@dataclass(frozen=True, kw_only=True)
class Table:
    """A frame with a caption and the way its columns are shown.

    Parameters
    ----------
    key : str
        Name of the CSV file and of the table in the JSON file.
    title : str
        Caption.
    frame : pandas.DataFrame
        The numbers, unrounded; its index is ignored.
    note : str, default ""
        Printed under the table: what the numbers rest on.
    columns : mapping of str to Column, optional
        How columns are shown, where the name alone does not tell.
    currency : str, default ""
        ISO code for columns that end in ``_minor``.
    folded : bool, default False
        Show the table closed, behind its title: for long ones that a chart sums up.
    merged : int, default 0
        So many leading columns say a repeated value once, for all of its rows. Only on the page.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(key="t", title="Times", frame=pd.DataFrame({"worker": ["w1"], "median_s": [12.34]}))
    >>> [column.heading for column in table.shown_columns.values()]
    ['Worker', 'Median time (s)']
    """

    key: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    columns: Mapping[str, Column] = field(default_factory=dict)
    currency: str = ""
    folded: bool = False
    merged: int = 0

    @property
    def shown_columns(self) -> dict[str, Column]:
        """Name and presentation of each column, in the frame's order."""
        return columns_of(self.frame, self.columns, currency=self.currency)

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows as plain values."""
        names = [str(name) for name in self.frame.columns]
        return [
            {name: plain(value) for name, value in zip(names, row, strict=True)}
            for row in self.frame.itertuples(index=False, name=None)
        ]

    def shown_rows(self) -> Iterator[list[Cell]]:
        """Yield the cells of the first rows, long texts cut; a cell that one above it stands for is left out."""
        columns = list(self.shown_columns.values())
        rows = list(self.frame.head(ROWS_SHOWN).itertuples(index=False, name=None))
        for at, row in enumerate(rows):
            cells = []
            for i, (column, value) in enumerate(zip(columns, row, strict=True)):
                span = 1
                if i < self.merged:
                    if at and rows[at - 1][: i + 1] == row[: i + 1]:
                        continue
                    span = next(
                        (n for n in range(1, len(rows) - at) if rows[at + n][: i + 1] != row[: i + 1]), len(rows) - at
                    )
                cells.append(_cell(column, value, head=i == 0, span=span))
            yield cells

    @property
    def cut_note(self) -> str:
        """What the page leaves out, or an empty text."""
        parts = []
        if len(self.frame) > ROWS_SHOWN:
            parts.append(f"The first {ROWS_SHOWN} of {len(self.frame):,} rows")
        texts = [name for name, column in self.shown_columns.items() if column.kind == "text"]
        if any(self.frame[name].astype(str).str.len().gt(CHARACTERS_SHOWN).any() for name in texts):
            parts.append(f"{'texts' if parts else 'Texts'} cut at {CHARACTERS_SHOWN} characters")
        return f"{', '.join(parts)}; all of it is in {self.key}.csv." if parts else ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the report: paragraphs, facts, charts and tables, or the reason why there are none.

    Parameters
    ----------
    key : str
        Anchor in the page and name in the JSON file.
    title : str
        Heading.
    paragraphs : sequence of str, default ()
        Text before the charts.
    facts : sequence of Fact, default ()
        Labelled values.
    charts : sequence of Chart, default ()
        Drawings, each with a text alternative.
    tables : sequence of Table, default ()
        Numbers.
    bullets : sequence of str, default ()
        A list, headed by ``bullets_title``: assumptions, notes.
    bullets_title : str, default ""
        What the list holds.
    missing : str, default ""
        Why the section is absent; then only this sentence is shown, at the report's end.
    """

    key: str
    title: str
    paragraphs: Sequence[str] = ()
    facts: Sequence[Fact] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    bullets: Sequence[str] = ()
    bullets_title: str = ""
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A whole report, ready to be written.

    Parameters
    ----------
    title : str
        Title of the page.
    created_at : datetime
        Aware time of the numbers.
    subtitle : str, default ""
        One line under the title.
    figures : sequence of Figure, default ()
        The summary.
    sections : sequence of Section, default ()
        In reading order.
    """

    title: str
    created_at: datetime
    subtitle: str = ""
    figures: Sequence[Figure] = ()
    sections: Sequence[Section] = ()

    @property
    def present(self) -> list[Section]:
        """Sections that have something to show."""
        return [section for section in self.sections if not section.missing]

    @property
    def absent(self) -> list[Section]:
        """Sections that say why they are not there."""
        return [section for section in self.sections if section.missing]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by key, in reading order."""
        return {table.key: table for section in self.present for table in section.tables}

    def to_dict(self) -> dict[str, Any]:
        """Return all content as plain values: what the JSON file holds."""
        return {
            "format": FORMAT,
            "title": self.title,
            "subtitle": self.subtitle,
            "created_at": self.created_at.isoformat(),
            "summary": {
                figure.key: {
                    "label": figure.label,
                    "value": plain(figure.value),
                    "unit": "share" if figure.column.kind == "percent" else _unit(figure.column),
                    "note": figure.note,
                }
                for figure in self.figures
            },
            "sections": {
                section.key: {
                    "title": section.title,
                    "paragraphs": list(section.paragraphs),
                    "facts": {fact.key: plain(fact.value) for fact in section.facts},
                    "bullets": list(section.bullets),
                    "tables": [table.key for table in section.tables],
                }
                for section in self.present
            },
            "missing": {section.key: section.missing for section in self.absent},
            "tables": {
                key: {"title": table.title, "note": table.note, "rows": table.rows()}
                for key, table in self.tables.items()
            },
        }


@dataclass(frozen=True)
class Cell:
    """What the page prints in one place of a table."""

    text: str
    value: Any
    style: str
    head: bool
    span: int


def _cell(column: Column, value: Any, *, head: bool, span: int) -> Cell:
    text = shown(value, column)
    if len(text) > CHARACTERS_SHOWN:
        text = text[:CHARACTERS_SHOWN].rstrip() + " …"
    kept = plain(value)
    style = _style(column, text) + (" flag-yes" if column.kind == "flag" and kept else "")
    number = isinstance(kept, (int, float)) and not isinstance(kept, bool)
    return Cell(text, kept if number else None, style, head, span)


def _style(column: Column, text: str) -> str:
    """Return the style class of a cell: numbers right, prose wide, and words broken only where they are monsters."""
    if column.is_number:
        return "num"
    if len(text) > 60:
        return "prose"
    return "long" if max(map(len, text.split()), default=0) > 24 else "word"


def _unit(column: Column) -> str:
    return f"minor units of {column.unit}" if column.kind == "money" and column.unit else column.unit
