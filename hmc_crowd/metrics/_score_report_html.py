"""The tables of a score report as a piece of a web page, readable without colour.

Plain semantic HTML: captions, header cells with scope, footnotes for every dash. All text is escaped.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["LARGE_SMD", "section"]

# RSMTool's mark for a standardised difference that should be looked into.
LARGE_SMD = 0.15

TITLES = {
    "eval": "Agreement of system and human scores",
    "eval_short": "Agreement in short",
    "consistency": "Agreement of two people",
    "degradation": "System against person minus person against person",
    "disattenuated_correlations": "Correlations corrected for rater error",
    "true_score_eval": "Accuracy against true scores (PRMSE)",
    "confMatrix": "Rounded human scores (rows) by rounded system scores (columns)",
    "confMatrix_h1h2": "Rounded scores of the first human (rows) by those of the second (columns)",
    "score_dist": "Distribution of scores (%)",
    "population": "Responses used and left out",
    "intervals": "Intervals",
    "notes": "Why a number is missing",
}


def section(title: str, tables: Mapping[str, pd.DataFrame], warnings: tuple[str, ...]) -> str:
    """Return a ``<section>`` with every table."""
    told = tables["notes"].to_dict("records") if "notes" in tables else []
    reasons = {(str(row["table"]), str(row["row"]), str(row["column"])): str(row["reason"]) for row in told}
    parts = [f"<section><h2>{escape(title)}</h2>"]
    if warnings:
        parts.append("<ul>" + "".join(f"<li>{escape(each)}</li>" for each in warnings) + "</ul>")
    parts += [_table(name, frame, reasons) for name, frame in tables.items() if name != "notes"]
    return "".join([*parts, "</section>"])


def _table(name: str, frame: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str]) -> str:
    if frame.empty:
        return ""
    plain = frame.index.name is None and name in {"population", "intervals"}
    heads = ([] if plain else [str(frame.index.name or "")]) + [str(each) for each in frame.columns]
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    notes: dict[str, int] = {}
    body = []
    for label, row in zip(frame.index, frame.itertuples(index=False, name=None), strict=True):
        first = "" if plain else f'<th scope="row">{escape(str(label))}</th>'
        cells = [
            _cell(str(column), value, reasons.get((name, str(label), str(column)), ""), notes)
            for column, value in zip(frame.columns, row, strict=True)
        ]
        body.append(f"<tr>{first}{''.join(cells)}</tr>")
    foot = "".join(f"<li value='{number}'>{escape(text)}</li>" for text, number in notes.items())
    title = TITLES.get(name, name.replace("_", " "))
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        + (f"<ol>{foot}</ol>" if foot else "")
    )


def _cell(column: str, value: Any, reason: str, notes: dict[str, int]) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    number = float(value)
    if math.isnan(number):
        mark = f"<sup>{notes.setdefault(reason, len(notes) + 1)}</sup>" if reason else ""
        return f"<td>–{mark}</td>"
    text = f"{number:,.0f}" if number == int(number) and abs(number) < 1e15 else f"{number:,.4f}"
    kind = column.split(".")[0]
    if kind in {"SMD", "DSM"} and abs(number) > LARGE_SMD:
        return f'<td class="large" style="background:#fde7c2;color:#5b3200"><strong>{text} (large)</strong></td>'
    return f"<td>{text}</td>"
