"""How do times and JSON stay the same on SQLite and PostgreSQL? Two column types that refuse what would be lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

__all__ = ["Json", "UtcDateTime", "check_text", "from_json", "to_json"]


class UtcDateTime(sa.types.TypeDecorator[datetime]):
    """Aware UTC in and out; a naive time is refused. SQLite holds ``YYYY-MM-DD HH:MM:SS.ffffff``, sorted as text."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # because the base class passes it
        """Convert to UTC; SQLite's own type drops the zone, which is then always UTC."""
        return None if value is None else as_utc(value, name="time")

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  # because the base class passes it
        """Put the zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Json(sa.types.TypeDecorator[Any]):
    """JSON as canonical ASCII text: the same bytes on both databases, so that they can be hashed and bulk-loaded."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002  # because the base class passes it
        """Write canonical JSON; None is SQL's NULL."""
        return None if value is None else to_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002  # because the base class passes it
        """Read it back."""
        return from_json(value)


def _plain(value: Any) -> Any:
    """Turn numpy scalars, arrays and sets into what JSON knows."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def to_json(value: Any, *, name: str = "value") -> str:
    r"""Return canonical JSON: sorted keys, no blanks, ASCII only.

    Examples
    --------
    >>> to_json({"b": 1, "a": "é"})
    '{"a":"\\u00e9","b":1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be stored as JSON: {error}; use text, finite numbers, lists and dicts"
        ) from None


def from_json(text: str | None) -> Any:
    """Read JSON text; None stays None."""
    return None if text is None else json.loads(text)


def check_text(value: str, *, name: str) -> str:
    r"""Refuse what PostgreSQL cannot hold (NUL) and what is not Unicode text (lone surrogates), on both databases.

    Examples
    --------
    >>> check_text("naïve 🙂", name="text")
    'naïve 🙂'
    >>> check_text("a\x00b", name="text")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: text holds a NUL character at position 1, which databases cannot store; remove it
    """
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; give text")
    if "\x00" in value:
        where = value.index("\x00")
        raise InputError(f"{name} holds a NUL character at position {where}, which databases cannot store; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name} holds half of a surrogate pair at position {error.start}, which is no text; "
            "decode it again or remove it"
        ) from None
    return value
