"""Does a document fit the service model? Requests and responses, against botocore's own description of MTurk.

botocore's client checks types only; length, pattern and enum are checked here, by the same model, so that no schema
is copied. Unknown members are errors: what the service did not know it did not take.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TARGET_PREFIX", "operation_names", "problems_of", "read_times", "service_model", "write_times"]

TARGET_PREFIX = "MTurkRequesterServiceV20170117"
# JSON can spell halves of characters, which no database and no XML can hold.
_HALF = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=1)
def service_model() -> Any:
    """Return botocore's service model; it never changes within a process."""
    session = require("botocore.session", extra="web", purpose="the MTurk-API front door").get_session()
    return session.get_service_model("mturk")


def operation_names() -> frozenset[str]:
    """Return the operations that the model has."""
    return frozenset(service_model().operation_names)


def problems_of(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """Yield what is wrong with a document, each with the path to it."""
    where = path or "the request"
    kind = "structure" if shape is None else shape.type_name
    if kind == "structure":
        yield from _structure(shape, value, path, where)
    elif kind == "list":
        yield from _list(shape, value, path, where)
    elif kind == "string":
        yield from _string(shape, value, where)
    elif kind in {"integer", "long"}:
        yield from _number(shape, value, where)
    elif kind == "boolean":
        if not isinstance(value, bool):
            yield f"{where} is {value!r}, not true or false"
    elif kind == "timestamp":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            yield f"{where} is {value!r}, no epoch seconds"
    else:
        yield f"{where} has the unknown type {kind}"


def _structure(shape: Any, value: Any, path: str, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is {type(value).__name__}, not an object"
        return
    members = {} if shape is None else shape.members
    for name in () if shape is None else shape.required_members:
        if value.get(name) is None:
            yield f"{_join(path, name)} is missing"
    for name, each in value.items():
        if name not in members:
            yield f"{_join(path, name)} is unknown"
        elif each is not None:
            yield from problems_of(members[name], each, _join(path, name))


def _list(shape: Any, value: Any, path: str, where: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{where} is {type(value).__name__}, not a list"
        return
    yield from _bounds(shape, len(value), where, "items")
    for number, each in enumerate(value):
        yield from problems_of(shape.member, each, f"{path}[{number}]")


def _string(shape: Any, value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{where} is {value!r}, not text"
        return
    yield from _bounds(shape, len(value), where, "characters")
    pattern = shape.metadata.get("pattern")
    if pattern and not re.search(pattern.removesuffix("$") + r"\Z", value):
        yield f"{where} is {value[:80]!r}, which does not match {pattern}"
    allowed = getattr(shape, "enum", None)
    if allowed and value not in allowed:
        yield f"{where} is {value[:80]!r}, not one of {', '.join(allowed)}"
    if "\x00" in value:
        yield f"{where} holds a NUL character"
    half = _HALF.search(value)
    if half is not None:
        yield f"{where} holds half a character, U+{ord(half[0]):04X}; send whole ones"


def _number(shape: Any, value: Any, where: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int):
        yield f"{where} is {value!r}, not an integer"
        return
    if abs(value) > (2**31 - 1 if shape.type_name == "integer" else 2**63 - 1):
        yield f"{where} is {value}, too large"
        return
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and value < low) or (high is not None and value > high):
        yield f"{where} is {value}, outside {low} to {high}"


def _bounds(shape: Any, length: int, where: str, unit: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and length < low) or (high is not None and length > high):
        yield f"{where} has {length} {unit}, allowed are {low if low is not None else 0} to {high}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def read_times(shape: Any, value: Any) -> Any:
    """Return a checked request with its epoch seconds as aware times, and without members that are null."""
    if shape is None or value is None:
        return value
    if shape.type_name == "structure":
        return {name: read_times(shape.members[name], each) for name, each in value.items() if each is not None}
    if shape.type_name == "list":
        return [read_times(shape.member, each) for each in value]
    if shape.type_name == "timestamp":
        # A date far out of range is as good as the end of the calendar.
        return datetime.fromtimestamp(min(max(value, 0.0), 253402300799.0), tz=UTC)
    return value


def write_times(value: Any) -> Any:
    """Return a response with times as epoch seconds and without members that are None: the wire omits them."""
    if isinstance(value, dict):
        return {name: write_times(each) for name, each in value.items() if each is not None}
    if isinstance(value, list):
        return [write_times(each) for each in value]
    return value.timestamp() if isinstance(value, datetime) else value
