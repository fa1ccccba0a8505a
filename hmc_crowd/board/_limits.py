"""How much may one sender send? Requests a minute, bytes a body, seconds a body."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

__all__ = ["BodyError", "RateLimit", "read_body"]

_WINDOW_S = 60.0
_MOST_SENDERS = 10_000


class BodyError(Exception):
    """A body too large (413) or too slow (408), or its sender went away (400)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class RateLimit:
    """At most so many requests of one sender in any minute; senders seen longest ago are forgotten first.

    Examples
    --------
    >>> limit = RateLimit(1, clock=lambda: 0.0)
    >>> [limit.allows("ann"), limit.allows("ann"), limit.allows("bob")]
    [True, False, True]
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._clock = per_minute, clock
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    def allows(self, sender: str) -> bool:
        """Count a request and say whether it may be answered; refused ones are not counted."""
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
    """Read a body, but never more than ``most`` bytes, and never longer than ``within_s``."""
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
