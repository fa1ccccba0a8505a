"""A paper's numbers beside ours, as blocks, plain values, and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hmc_crowd.report import Document, Figure, Section, write_document

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.report import Chart, ReportPaths, Table

__all__ = ["PaperReport"]


@dataclass(frozen=True, eq=False)
class PaperReport:
    """Tables and figures of a paper beside ours.

    Parameters
    ----------
    sections : tuple of Section
        Tables and drawings in the paper's order.
    figures : tuple of Figure
        The numbers to read first.
    created_at : datetime
        Aware time of the run.
    """

    sections: tuple[Section, ...]
    figures: tuple[Figure, ...]
    created_at: datetime

    stem: ClassVar[str] = "paper"
    title: ClassVar[str] = "A paper, reproduced"
    subtitle: ClassVar[str] = ""

    def tables(self) -> list[Table]:
        """Return every table: ``title``, ``frame`` (paper, measured, difference) and ``note``."""
        return [table for section in self.sections for table in section.tables]

    def table(self, key: str) -> Table:
        """Return one table by its key, such as ``table_1``."""
        return self.document().tables[key]

    def charts(self) -> list[Chart]:
        """Return every drawing."""
        return [chart for section in self.sections for chart in section.charts]

    def document(self) -> Document:
        """Return the report as blocks, ready for `hmc_crowd.report.write_document`."""
        return Document(
            title=self.title,
            subtitle=self.subtitle,
            created_at=self.created_at,
            figures=self.figures,
            sections=self.sections,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values, the same as the JSON file of `write`."""
        return self.document().to_dict()

    def write(self, out_dir: str | Path) -> ReportPaths:
        """Write a page, JSON, a CSV file per table, and each drawing as an SVG file, named after the paper.

        Raises
        ------
        InputError
            The folder cannot be written.
        """
        return write_document(self.document(), Path(out_dir) / f"{self.stem}.html", drawings=True)

    def __str__(self) -> str:
        shown = ", ".join(f"{figure.label.lower()} {figure.text} ({figure.note})" for figure in self.figures)
        return f"{self.title.replace(',', '')}: {shown}"
