"""Pages by key: a token names where the next page begins, and fits only the query that it came from (rule R13).

Every page with rows carries a token, the last one too, and an empty page has none: so the service did it, and clients
read until a page is empty.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local.mturk_api._problems import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["page", "page_of_list"]

_DEFAULT = 10
_TAG = 12


def page(
    call: Call, operation: str, request: Mapping[str, Any], query: sa.Select[Any], keys: Sequence[sa.Column[Any]]
) -> tuple[list[Any], str | None]:
    """Return the rows of one page in the order of ``keys``, and the token of the next page; None on an empty page."""
    limit = request.get("MaxResults", _DEFAULT)
    cursor = _open(call, operation, request)
    if cursor is not None:
        query = query.where(_after(keys, cursor))
    rows = list(call.connection.execute(query.order_by(*keys).limit(limit)))
    if not rows:
        return rows, None
    return rows, _seal(call, operation, request, [getattr(rows[-1], key.name) for key in keys])


def page_of_list(
    call: Call, operation: str, request: Mapping[str, Any], rows: Sequence[Any]
) -> tuple[list[Any], str | None]:
    """Return one page of rows that are in memory already."""
    limit = request.get("MaxResults", _DEFAULT)
    cursor = _open(call, operation, request)
    start = int(cursor[0]) if cursor else 0
    shown = list(rows[start : start + limit])
    return shown, _seal(call, operation, request, [start + len(shown)]) if shown else None


def _after(keys: Sequence[sa.Column[Any]], cursor: Sequence[Any]) -> sa.ColumnElement[bool]:
    values = [
        datetime.fromisoformat(value) if isinstance(key.type, sa.types.TypeDecorator) else value
        for key, value in zip(keys, cursor, strict=True)
    ]
    clauses = []
    for number, (key, value) in enumerate(zip(keys, values, strict=True)):
        same = [other == earlier for other, earlier in zip(keys[:number], values[:number], strict=True)]
        clauses.append(sa.and_(*same, key > value))
    return sa.or_(*clauses)


def _tag(call: Call, operation: str, request: Mapping[str, Any], cursor: bytes) -> bytes:
    """Bind a cursor to account, operation and query, whatever the size of the page."""
    bound = {name: value for name, value in request.items() if name not in {"NextToken", "MaxResults"}}
    text = json.dumps([call.account_id, operation, bound], sort_keys=True, default=str)
    return hmac.new(call.secret, text.encode() + b"\0" + cursor, hashlib.sha256).digest()[:_TAG]


def _seal(call: Call, operation: str, request: Mapping[str, Any], last: Sequence[Any]) -> str:
    cursor = json.dumps([each.isoformat() if isinstance(each, datetime) else each for each in last]).encode()
    return urlsafe_b64encode(_tag(call, operation, request, cursor) + cursor).decode("ascii")


def _open(call: Call, operation: str, request: Mapping[str, Any]) -> list[Any] | None:
    token = request.get("NextToken")
    if token is None:
        return None
    try:
        raw = urlsafe_b64decode(token.encode("ascii"))
    except ValueError:
        raw = b""
    if urlsafe_b64encode(raw) != token.encode("utf-8"):
        raw = b""  # decoding forgives what was put behind
    if not hmac.compare_digest(_tag(call, operation, request, raw[_TAG:]), raw[:_TAG]):
        raise invalid("NextToken is not one that this query returned; begin again without it")
    cursor: list[Any] = json.loads(raw[_TAG:])
    return cursor
