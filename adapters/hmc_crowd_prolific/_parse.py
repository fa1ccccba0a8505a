"""Reading what Prolific sends: tolerant of new fields and words, strict about what money depends on."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.numbers import finite_number
from hmc_crowd.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["identity", "moment", "one", "rows", "text", "whole"]

_MOST = 10**15


def identity(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is there, as a string that must not be empty."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value
    raise PlatformError(
        f"Prolific's answer has no {' or '.join(names)}; it has {sorted(row)[:8]}: look whether its API has changed"
    )


def text(row: Mapping[str, Any], name: str) -> str | None:
    """Return a string, or None where it is absent or empty."""
    value = row.get(name)
    return value if isinstance(value, str) and value else None


def whole(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """Return an integer; a fraction in a field of minor units would be a misunderstanding about money."""
    value = row.get(name, default)
    # A JSON reader takes Infinity and NaN, which are no whole numbers, and integers that no database holds.
    if finite_number(value) is None or isinstance(value, str) or value != int(value) or abs(value) > _MOST:
        raise PlatformError(f"Prolific's answer has {name} = {value!r:.40}, where a whole number was expected")
    return int(value)


def moment(row: Mapping[str, Any], name: str) -> datetime | None:
    """Return an aware UTC time, or None where it is absent; a time without a zone is taken as UTC."""
    value = text(row, name)
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
        return as_utc(found if found.tzinfo else datetime.fromisoformat(f"{value}+00:00"), name=name)
    except (ValueError, OverflowError):  # an InputError is a ValueError
        raise PlatformError(f"Prolific's answer has {name} = {value[:40]!r}, which is no time") from None


def rows(answer: Any) -> list[dict[str, Any]]:
    """Return the rows of a list answer; a bare object counts as one row, as some documents show it."""
    if isinstance(answer, list):
        found = answer
    elif isinstance(answer, dict):
        found = answer.get("results", [answer] if answer else [])
    else:
        found = None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise PlatformError(f"Prolific answered {str(answer)[:80]!r} where a list of objects was expected")
    return found


def one(answer: Any) -> dict[str, Any]:
    """Return the object of an answer, or the first row where it came as a list."""
    found = rows(answer)
    if not found:
        raise PlatformError(f"Prolific answered {str(answer)[:80]!r} where an object was expected")
    return found[0]
