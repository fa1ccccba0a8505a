"""How much may one sender send? Requests per minute, bytes per body, seconds per body; for every server of ours."""

from __future__ import annotations

import asyncio
import json
import re
from collections import OrderedDict, deque
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

__all__ = ["BodyError", "RateLimit", "read_body", "read_document"]

_WINDOW_S = 60.0
_MOST_SENDERS = 10_000
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class BodyError(Exception):
    """A body that is too large or too slow, or whose sender went away; ``status`` says which."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class RateLimit:
    """At most so many requests of one sender in any minute; the senders seen longest ago are forgotten first.

    Any number of threads may ask.

    Examples
    --------
    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows("ann") for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._most = per_minute
        self._clock = clock
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = Lock()

    def allows(self, sender: str) -> bool:
        """Count a request and say whether it may be answered; refused ones are not counted."""
        with self._lock:
            now = self._clock()
            times = self._seen.setdefault(sender, deque())
            self._seen.move_to_end(sender)
            while times and times[0] <= now - _WINDOW_S:
                times.popleft()
            if len(self._seen) > _MOST_SENDERS:
                self._seen.popitem(last=False)
            if len(times) >= self._most:
                return False
            times.append(now)
            return True


async def read_body(request: Request, *, most: int, within_s: float) -> bytes:
    """Read a body, but never more than ``most`` bytes, and never longer than ``within_s``.

    Raises
    ------
    BodyError
        413 too large, 408 too slow, 400 gone.
    """
    from starlette.requests import ClientDisconnect

    announced = request.headers.get("content-length") or "0"
    if not announced.isdecimal() or int(announced[:15]) > most:
        raise BodyError(413)
    parts, size = [], 0
    try:
        async with asyncio.timeout(within_s):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise BodyError(413)
                parts.append(part)
    except TimeoutError:
        raise BodyError(408) from None
    except ClientDisconnect:
        raise BodyError(400) from None
    return b"".join(parts)


def read_document(body: bytes) -> Any:
    r"""Return what a body of JSON holds, if all of it can be written down again.

    Raises
    ------
    ValueError
        No JSON, NaN among its numbers, nested without end, or text that no database keeps: half a character, or NUL.

    Examples
    --------
    >>> read_document(b'{"a": [1, "x"]}')
    {'a': [1, 'x']}
    >>> read_document(rb'"\ud800"')
    Traceback (most recent call last):
    ...
    ValueError: the text holds half a character
    """
    try:
        text = body.decode()
        if _NUL.search(text):
            raise ValueError("the text holds a NUL character")
        found = json.loads(text, parse_constant=_refuse)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError:
        raise ValueError("the text holds half a character") from None
    except RecursionError:
        raise ValueError("the document is nested without end") from None
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
