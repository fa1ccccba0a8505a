"""Is this body a request? Every field known, of its kind and size; what is wrong is named, and nothing was done yet."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["moment", "require_known", "require_rows", "require_text", "require_whole"]

_LONGEST = {"item": 500, "label": 500, "worker": 200, "due_at": 60, "key": 200, "campaign": 500, "aspect": 200}
_LONGEST |= {"risk": 10, "url": 2000, "webhook": 200}
_MOST_SKILLS = 20
_RANGES = {"confidence": (0.0, 1.0), "complexity": (0.0, 1.0), "effort": (0.0, 1e12), "seconds": (0.0, 1e9)}
_YEARS = (2000, 9000)
_LEAP = re.compile(r":60(?=[.Z+-])")


def require_known(given: Mapping[str, Any], own: set[str], *, is_keyed: bool = True) -> str:
    """Refuse unknown fields of a body; return its client key."""
    common = {"campaign", "key"} if is_keyed else {"campaign"}
    unknown = sorted(set(given) - own - common)
    if unknown:
        raise InputError(f"the body has the unknown field {unknown[0]!r}; see openapi.json")
    if given.get("campaign") is not None:
        require_text("campaign", given["campaign"], "the body")
    if is_keyed:
        require_text("key", given.get("key"), "the body")
    return str(given.get("key", ""))


def require_rows(
    given: Mapping[str, Any], name: str, fields: Mapping[str, Any], needed: set[str], *, most: int
) -> list[dict[str, Any]]:
    """Return a list of objects, their nulls left out; ``fields`` says of which kind each field is."""
    rows = given.get(name)
    if not isinstance(rows, list) or not 1 <= len(rows) <= most:
        raise InputError(f"{name} must be a list of 1 to {most:,}; see openapi.json")
    known = set(fields)
    for at, row in enumerate(rows):
        where = f"{name}[{at}]"
        if not isinstance(row, dict):
            raise InputError(f"{where} is a {type(row).__name__}; give an object")
        if not (row.keys() <= known and needed <= row.keys()):
            odd = sorted((set(row) - known) | (needed - set(row)))
            state = "lacks" if odd[0] in needed else "has the unknown field"
            raise InputError(f"{where} {state} {odd[0]!r}; see openapi.json")
        for field, value in row.items():
            if value is not None or field in needed:
                _check(field, value, fields[field], where)
    return [{field: value for field, value in row.items() if value is not None} for row in rows]


def require_text(name: str, value: Any, where: str) -> str:
    """Return text that is not empty and not too long."""
    most = _LONGEST.get(name, 1_000_000)
    if not isinstance(value, str) or not (value or name == "text") or len(value) > most:
        raise InputError(f"{name} of {where} is {str(value)[:50]!r}; give text of 1 to {most:,} characters")
    return check_text(value, name=f"{name} of {where}")


def require_whole(name: str, value: Any, *, least: int, most: int, usual: int, in_query: bool = False) -> int:
    """Return a whole number of a body, or of a query, where all is text; ``usual`` where none is given.

    Examples
    --------
    >>> require_whole("limit", "7", least=1, most=10, usual=1, in_query=True)
    7
    """
    if value is None:
        return usual
    if isinstance(value, str) is not in_query:
        raise InputError(f"{name} is {str(value)[:20]!r}; give a whole number from {least:,} to {most:,}")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    is_number = not isinstance(value, bool) and text.isascii() and text.isdecimal() and len(text) < 10
    if not is_number or not least <= int(text) <= most:
        raise InputError(f"{name} is {text[:20]!r}; give a whole number from {least:,} to {most:,}")
    return int(text)


def moment(item: str, text: str | None) -> datetime | None:
    """Return the deadline of an item; of a leap second, the second before."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(_LEAP.sub(":59", text.upper()))
    except ValueError:
        found = None
    if found is not None and found.tzinfo is not None:
        if not _YEARS[0] <= found.year <= _YEARS[1]:
            raise StateError(f"due_at of item {item!r} is {text!r}; give a year from {_YEARS[0]} to {_YEARS[1]}")
        return found
    raise InputError(f"due_at of item {item!r} is {text!r}; give a time with its zone, as 2026-01-05T12:00:00Z")


def _check(name: str, value: Any, kind: Any, where: str) -> None:
    if kind is str:
        require_text(name, value, where)
    elif kind is float:
        least, most = _RANGES[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{name} of {where} is {str(value)[:50]!r}; give a number")
        if not least <= value <= most:
            raise InputError(f"{name} of {where} is {str(value)[:50]}; give a number from {least:g} to {most:g}")
    elif kind is list:
        if not isinstance(value, list) or len(value) > _MOST_SKILLS:
            raise InputError(f"{name} of {where} must be a list of at most {_MOST_SKILLS}")
        for each in value:
            require_text("label", each, f"{name} of {where}")
    elif isinstance(value, bool) or value not in kind:
        raise InputError(f"{name} of {where} is {str(value)[:50]!r}; choose {', '.join(map(str, kind))}")
