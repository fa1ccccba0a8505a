"""How does a report reach the disk? Whole or not at all: one HTML page, one JSON file, one CSV table each.

The page holds everything it needs and allows itself nothing more: its content security policy forbids scripts, frames
and every request. Text of items and workers is hostile until proven otherwise; it is escaped everywhere.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.spreadsheets import inert_frame
from hmc_crowd.errors import InputError
from hmc_crowd.report._sections import build_document

if TYPE_CHECKING:
    from hmc_crowd.report._blocks import Document
    from hmc_crowd.report._data import ReportData
    from hmc_crowd.report._svg import Chart

__all__ = ["ReportPaths", "render_html", "write_document", "write_report"]


@dataclass(frozen=True)
class ReportPaths:
    """Where the parts of a report are.

    Parameters
    ----------
    html, json : Path
        The page and its numbers.
    tables : dict of str to Path
        The CSV file of each table, by the table's key.
    figures : dict of str to Path
        The SVG file of each chart, by its key; empty unless they were asked for.
    """

    html: Path
    json: Path
    tables: dict[str, Path]
    figures: dict[str, Path]


def write_report(data: ReportData, path: str | Path, *, overwrite: bool = True) -> ReportPaths:
    """Write a campaign's report: ``report.html``, ``report.json`` and ``report_tables/*.csv`` for ``path=report.html``.

    Parameters
    ----------
    data : ReportData
        What to show.
    path : str or Path
        Where the page goes; a folder means ``report.html`` inside it. Missing folders are made.
    overwrite : bool, default True
        Replace an earlier report; False refuses if one of its files is there.

    Returns
    -------
    ReportPaths
        The files written.

    Raises
    ------
    InputError
        The files exist and ``overwrite`` is False, or the place cannot be written. Nothing was changed then.

    Examples
    --------
    >>> import tempfile
    >>> from datetime import UTC, datetime
    >>> from hmc_crowd.report import ReportData, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_report(ReportData(title="Pilot", created_at=datetime(2026, 1, 1, tzinfo=UTC)), folder)
    ...     print(paths.html.name, paths.json.name)
    report.html report.json
    """
    return write_document(build_document(data), path, overwrite=overwrite)


def write_document(
    document: Document, path: str | Path, *, overwrite: bool = True, drawings: bool = False
) -> ReportPaths:
    """Write any document of blocks as page, JSON and CSV tables; see :func:`write_report`.

    With ``drawings`` each chart is written too, as ``report_figures/<key>.svg``, to be used elsewhere.
    """
    html = Path(path)
    html = html / "report.html" if html.is_dir() or not html.suffix else html
    charts = [chart for section in document.present for chart in section.charts] if drawings else []
    names = [html.name, f"{html.stem}.json", *(f"{html.stem}_tables/{key}.csv" for key in document.tables)]
    names += [f"{html.stem}_figures/{chart.key}.svg" for chart in charts]
    targets = {name: html.parent / name for name in names}
    there = [str(target) for target in targets.values() if target.exists()]
    if there and not overwrite:
        raise InputError(f"{there[0]} exists already; give another path, or allow overwriting")
    try:
        html.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{html.stem}-", dir=html.parent))
        try:
            _stage(document, html, staging, charts)
            _publish(targets, staging, stale=_stale(html, set(document.tables)))
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{html} cannot be written: {error.strerror or error}; give another path") from error
    return ReportPaths(
        html=html,
        json=targets[f"{html.stem}.json"],
        tables={key: targets[f"{html.stem}_tables/{key}.csv"] for key in document.tables},
        figures={chart.key: targets[f"{html.stem}_figures/{chart.key}.svg"] for chart in charts},
    )


def render_html(document: Document, *, json_name: str = "report.json", tables_name: str = "report_tables") -> str:
    """Return the page as text: complete, without references to anything outside it."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    import hmc_crowd

    templates = files("hmc_crowd.report") / "templates"
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # Only the charts' own SVG passes unescaped: _svg.py escapes each text that it draws. The style sheet is ours.
    environment.filters["trusted"] = Markup
    template = environment.from_string((templates / "page.html").read_text(encoding="utf-8"))
    return template.render(
        doc=document,
        style=Markup((templates / "style.css").read_text(encoding="utf-8")),  # noqa: S704
        version=hmc_crowd.__version__,
        json_name=json_name,
        tables_name=tables_name,
    )


def to_json(document: Document) -> str:
    """Return the numbers as strict JSON: missing ones are null, infinite ones the texts ``inf`` and ``-inf``."""
    return json.dumps(_finite(document.to_dict()), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _stage(document: Document, html: Path, staging: Path, charts: list[Chart]) -> None:
    tables, figures = staging / f"{html.stem}_tables", staging / f"{html.stem}_figures"
    tables.mkdir()
    figures.mkdir()
    for chart in charts:
        (figures / f"{chart.key}.svg").write_text(chart.standalone(), encoding="utf-8", newline="\n")
    page = render_html(document, json_name=f"{html.stem}.json", tables_name=tables.name)
    (staging / html.name).write_text(page, encoding="utf-8", newline="\n")
    (staging / f"{html.stem}.json").write_text(to_json(document), encoding="utf-8", newline="\n")
    for key, table in document.tables.items():
        inert_frame(table.frame).to_csv(tables / f"{key}.csv", index=False, lineterminator="\n")


def _stale(html: Path, wanted: set[str]) -> list[Path]:
    """Return the tables of an earlier report at this place that the new one does not have, and nothing else."""
    try:
        before = json.loads((html.parent / f"{html.stem}.json").read_text(encoding="utf-8"))
        old = set(before["tables"]) if before["format"].startswith("hmc-crowd-report/") else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    folder = html.parent / f"{html.stem}_tables"
    return [folder / f"{key}.csv" for key in sorted(old - wanted) if Path(key).name == key]


def _publish(targets: dict[str, Path], staging: Path, *, stale: list[Path]) -> None:
    """Move the finished files into place, the page last: who sees the new page sees its numbers too."""
    for name in reversed(targets):
        targets[name].parent.mkdir(exist_ok=True)
        (staging / name).replace(targets[name])
    for path in stale:
        path.unlink(missing_ok=True)
