"""How results show themselves: one small HTML table, numbers and names escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["html_table"]


def html_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return a two-column table for notebooks."""
    body = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(_text(value))}</td></tr>" for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, tuple):
        return "; ".join(str(each) for each in value)
    return str(value)
