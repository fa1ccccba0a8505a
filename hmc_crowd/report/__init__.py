"""How is a campaign told to people? One self-contained HTML page, and the same numbers as JSON and CSV beside it.

:class:`ReportData` holds a campaign's frames, :func:`write_report` writes them. The blocks underneath
(:class:`Document`, :class:`Section`, :class:`Table`, :func:`line_chart` ...) write any other report the same way.
"""

from __future__ import annotations

from hmc_crowd._base.spreadsheets import inert_frame as inert
from hmc_crowd.report._blocks import Document, Fact, Figure, Section, Table
from hmc_crowd.report._data import ReportData, Summary
from hmc_crowd.report._dots import Dots, dot_chart
from hmc_crowd.report._doubt import aggregation_section
from hmc_crowd.report._draw import Axis, Point
from hmc_crowd.report._format import Column
from hmc_crowd.report._markdown import as_code, as_text
from hmc_crowd.report._publication import croissant, latex_table, methods_paragraph
from hmc_crowd.report._sections import build_document
from hmc_crowd.report._svg import Chart, Series, histogram, line_chart
from hmc_crowd.report._times import time_both_ways
from hmc_crowd.report._write import ReportPaths, render_html, write_document, write_report

__all__ = [
    "Axis",
    "Chart",
    "Column",
    "Document",
    "Dots",
    "Fact",
    "Figure",
    "Point",
    "ReportData",
    "ReportPaths",
    "Section",
    "Series",
    "Summary",
    "Table",
    "aggregation_section",
    "as_code",
    "as_text",
    "build_document",
    "croissant",
    "dot_chart",
    "histogram",
    "inert",
    "latex_table",
    "line_chart",
    "methods_paragraph",
    "render_html",
    "time_both_ways",
    "write_document",
    "write_report",
]
