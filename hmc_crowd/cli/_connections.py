"""How long may a connection take, and how many may there be? Limits that uvicorn does not have of itself.

A head or a body that does not come in time ends its connection, and so does an answer that nobody reads. Where all
places are taken, the connection that has waited longest without asking anything gives its own to the newcomer, so that
half-sent requests keep nobody out. A proxy that is trusted may hold as many as there are.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require

if TYPE_CHECKING:
    import asyncio

__all__ = ["ACCEPTED_AT_ONCE", "Limits", "Places", "places", "protocol_with", "trusted_by"]

ACCEPTED_AT_ONCE = 64
"""Connections that asyncio may accept before any of them is counted here."""
# For databases and the work itself; and for what is accepted, or ended, and not counted yet.
_KEPT_FILES = 200 + 4 * ACCEPTED_AT_ONCE
_MOST = 4_000
_REFUSED = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 20\r\n\r\ntry again in seconds"
)
_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 8\r\n\r\ntoo slow"
)


@dataclass(frozen=True)
class Limits:
    """What one connection may take.

    Parameters
    ----------
    head_s : float, default 10
        From the first moment, or from the first byte after an answer, until the whole head of a request is there.
    body_s : float, default 60
        From then until its whole body is there; what reads bodies has shorter limits of its own.
    unread_s : float, default 60
        How long an answer may wait for somebody who does not read it.
    head_bytes : int, default 65,536
        Largest head.
    each : int, default 256
        Most connections of one address that is no trusted proxy.
    """

    head_s: float = 10.0
    body_s: float = 60.0
    unread_s: float = 60.0
    head_bytes: int = 65_536
    each: int = 256


@dataclass
class Places:
    """The connections of a server: how many there may be, which ask nothing at the moment, who may have more.

    Parameters
    ----------
    most : int
        Of all addresses together.
    limits : Limits
        For one connection.
    trusted : callable
        Whether an address is a proxy's, which speaks for many people.
    """

    most: int
    limits: Limits = field(default_factory=Limits)
    trusted: Any = lambda _address: False
    open: set[Any] = field(default_factory=set)
    idle: dict[Any, None] = field(default_factory=dict)  # in the order in which they fell silent
    by_address: dict[str, set[Any]] = field(default_factory=dict)

    def enter(self, connection: Any, address: str) -> bool:
        """Take a connection in, in another's place where that is needed; False where no place is left."""
        mine = self.by_address.get(address, set())
        if len(mine) >= self.limits.each and not self.trusted(address) and not self._make_room(mine):
            return False
        if len(self.open) >= self.most and not self._make_room(None):
            return False
        self.open.add(connection)
        self.idle[connection] = None
        self.by_address.setdefault(address, set()).add(connection)
        return True

    def leave(self, connection: Any, address: str) -> None:
        """Forget a connection."""
        self.open.discard(connection)
        self.idle.pop(connection, None)
        mine = self.by_address.get(address)
        if mine is not None:
            mine.discard(connection)
            if not mine:
                del self.by_address[address]

    def _make_room(self, among: set[Any] | None) -> bool:
        oldest = next((each for each in self.idle if among is None or each in among), None)
        if oldest is None:
            return False
        oldest.drop()
        return True


def places(limits: Limits | None = None) -> Places:
    """Return the places of this process: as many as it may have files, less those that the work itself needs."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST + _KEPT_FILES
    if soft < wanted:
        more = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):  # what the system does not give
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = max(16, min(_MOST, soft - _KEPT_FILES))
    return Places(most, limits or Limits(), trusted_by(os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")))


def trusted_by(allowed: str) -> Any:
    """Return whether an address is a trusted proxy's, by uvicorn's own variable; this machine always is.

    >>> [trusted_by("10.0.0.0/8, 192.0.2.7")(each) for each in ("127.0.0.1", "10.1.2.3", "192.0.2.7", "192.0.2.8")]
    [True, True, True, False]
    """
    named = [each.strip() for each in allowed.split(",") if each.strip()]
    nets = []
    for each in named:
        with suppress(ValueError):
            nets.append(ip_network(each, strict=False))

    def is_trusted(address: str) -> bool:
        if "*" in named or address in named:
            return True
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return True  # a socket of this machine has no address
        found = getattr(found, "ipv4_mapped", None) or found
        return found.is_loopback or any(found in net for net in nets)

    return is_trusted


def protocol_with(held: Places) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with these limits."""
    base: Any = require("uvicorn.protocols.http.auto", extra="web", purpose="hmc-crowd serve").AutoHTTPProtocol
    limits = held.limits

    class LimitedProtocol(base):  # type: ignore[misc]
        _address = ""
        _timer: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None
        _waits_for: str | None = None  # the rest of a head, or of a body
        _newest: Any = None  # the last request whose head is there
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            peer = transport.get_extra_info("peername")
            self._address = str(peer[0]) if isinstance(peer, tuple) and peer else ""
            if held.enter(self, self._address):
                self._wait("head", limits.head_s)
            else:
                transport.write(_REFUSED)
                transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            if self._unread is not None:
                self._unread.cancel()
            held.leave(self, self._address)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._waits_for is None:
                self._wait("head", limits.head_s)
            self._head_bytes += len(data)
            super().data_received(data)
            self._look()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._look()
            if self.cycle.response_complete and not self.transport.is_closing():
                held.idle[self] = None

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._unread is None:
                self._unread = self.loop.call_later(limits.unread_s, self.drop)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

        def drop(self) -> None:
            """End the connection at once, and free its place."""
            held.leave(self, self._address)
            self.transport.abort()

        def _look(self) -> None:
            """Find out what is there of the newest request, and wait for the rest of it."""
            if self.cycle is not self._newest:
                self._newest, self._head_bytes = self.cycle, 0
                held.idle.pop(self, None)
                self._wait("body", limits.body_s)
            if self._waits_for == "body" and not self._newest.more_body:
                self._rest()
            elif self._waits_for == "head" and self._head_bytes > limits.head_bytes:
                self.drop()

        def _wait(self, what: str, seconds: float) -> None:
            self._rest()
            self._waits_for, self._timer = what, self.loop.call_later(seconds, self._late)

        def _rest(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
            self._waits_for, self._timer, self._head_bytes = None, None, 0

        def _late(self) -> None:
            if self._waits_for == "head" and self._newest is not None and not self._newest.response_complete:
                self._wait("head", limits.head_s)  # the next request waits behind an answer that is under way
            elif self._waits_for == "head" and self._head_bytes:
                self.transport.write(_LATE)
                self.transport.close()
            else:
                self.drop()

    return LimitedProtocol
