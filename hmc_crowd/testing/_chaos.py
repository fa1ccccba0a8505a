"""What does a client do when the line breaks at the worst moment? A proxy that breaks it on demand, byte by byte.

It stands in front of any HTTP/1.1 server. A fault "after" forwards the request, reads the whole answer, and only then
breaks the line, so the work is done and the client cannot know; "before" breaks it with nothing forwarded. A reset is a
real one: the client's socket sees ECONNRESET. Each request has a connection of its own, so no fault touches another.

It cuts the line for the crash tests of publishing and paying (docs/requirements.md, F9).
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import urlsplit

from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["ChaosCall", "ChaosKind", "ChaosProxy"]

ChaosKind: TypeAlias = Literal[
    "reset_before",
    "reset_after",
    "status_before",
    "status_after",
    "hang_before",
    "hang_after",
    "truncate_after",
    "html_before",
    "html_after",
    "slow_after",
    "drip_after",
    "twice",
]

_HTML = b"<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
_LONGEST_HANG_S = 120.0


class ChaosCall(NamedTuple):
    """One request as the proxy saw it: ``status`` is the upstream's, None where nothing was forwarded."""

    method: str
    target: str
    body: bytes
    status: int | None
    fault: ChaosKind | None


@dataclass
class _Fault:
    kind: ChaosKind
    match: re.Pattern[str]
    skip: int
    times: int
    status: int
    seconds: float


@dataclass
class _Request:
    method: str
    target: str
    head: bytes
    body: bytes
    label: str = field(default="")


class ChaosProxy:
    """An HTTP proxy on 127.0.0.1 that breaks what it is told to; use it as a context manager.

    Parameters
    ----------
    upstream : str
        Address of the real server, for example ``"http://127.0.0.1:8080"``; plain http only.

    Attributes
    ----------
    url : str
        Where clients reach it, without a trailing slash. Known inside the ``with`` block.
    calls : list of ChaosCall
        Every request in the order of arrival, the broken ones too.

    Examples
    --------
    >>> proxy = ChaosProxy("http://127.0.0.1:9")
    >>> proxy.inject("reset_after", match=r"POST .*/pay/")
    >>> proxy.pending
    1
    """

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        if parts.scheme != "http" or not parts.hostname or not parts.port:
            raise InputError(
                f"upstream is {upstream!r}; give a plain address with a port, such as http://127.0.0.1:8080"
            )
        self._host, self._port = parts.hostname, parts.port
        self.calls: list[ChaosCall] = []
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._own_port: int | None = None
        self._open: set[asyncio.Task[None]] = set()

    def inject(
        self,
        kind: ChaosKind,
        *,
        match: str = "",
        nth: int = 1,
        times: int = 1,
        status: int = 500,
        seconds: float = 0.05,
    ) -> None:
        """Break later requests.

        Parameters
        ----------
        kind : str
            ``reset``, ``status`` (an answer of its own with that status), ``hang`` (no answer until the client gives
            up) and ``html`` (a gateway's page with status 502), each ``_before`` or ``_after`` the work;
            ``truncate_after`` (half of the answer), ``slow_after`` (the whole answer after a wait), ``drip_after`` (a
            byte at a time), ``twice`` (forwarded two times, as a careless gateway would).
        match : str
            Regular expression, searched in ``METHOD target`` and, behind it, the value of ``X-Amz-Target`` if there is
            one; every request matches the empty one.
        nth, times : int, default 1
            The first request to break, counted among those that match from now on, and how many of them in a row.
        status : int, default 500
            For the ``status`` kinds.
        seconds : float, default 0.05
            The wait of ``slow_after``, and between two bytes of ``drip_after``.
        """
        if kind not in get_args(ChaosKind):
            raise InputError(f"kind is {kind!r}; known are {', '.join(get_args(ChaosKind))}")
        if nth < 1 or times < 1:
            raise InputError(f"nth is {nth}, times is {times}; both count from 1")
        with self._lock:
            self._faults.append(_Fault(kind, re.compile(match), nth - 1, times, status, seconds))

    def reset(self) -> None:
        """Forget the faults that are waiting, and the calls."""
        with self._lock:
            self._faults.clear()
        self.calls.clear()

    @property
    def pending(self) -> int:
        """How many injected faults have not been used up."""
        with self._lock:
            return len(self._faults)

    @property
    def url(self) -> str:
        """Where clients reach the proxy."""
        if self._own_port is None:
            raise StateError("the proxy is not running; use it inside 'with ChaosProxy(...) as proxy:'")
        return f"http://127.0.0.1:{self._own_port}"

    def count(self, match: str) -> int:
        """Return how many requests matched and were forwarded to the server."""
        return sum(
            call.status is not None and re.search(match, f"{call.method} {call.target}") is not None
            for call in self.calls
        )

    def __enter__(self) -> ChaosProxy:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="chaos-proxy", daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)
        self._own_port = None

    def _run(self, ready: threading.Event) -> None:
        asyncio.run(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._own_port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Held here: once the client has left, nothing else would hold a task that still waits for the server.
        task = asyncio.get_running_loop().create_task(self._client(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await _read_request(reader)
            fault = self._next_fault(request.label)
            kind = fault.kind if fault else None
            answer = None if kind and kind.endswith("_before") else await self._forward(request)
            if kind == "twice":
                answer = await self._forward(request)
            status = int(answer.split(b" ", 2)[1]) if answer else None
            self.calls.append(ChaosCall(request.method, request.target, request.body, status, kind))
            await _reply(reader, writer, answer, fault)
        with suppress(ConnectionError):
            writer.close()

    def _next_fault(self, label: str) -> _Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.match.search(label) is None:
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if not fault.times:
                    self._faults.remove(fault)
                return fault
        return None

    async def _forward(self, request: _Request) -> bytes:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            writer.write(request.head + request.body)
            await writer.drain()
            return await reader.read()
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> _Request:
    """Read one request; ask the server to close the connection after it, so that its answer ends where it ends."""
    raw = await reader.readuntil(b"\r\n\r\n")
    lines = raw[:-4].split(b"\r\n")
    method, target, _ = lines[0].decode("latin-1").split(" ", 2)
    headers = [line.partition(b":")[::2] for line in lines[1:]]
    values = {name.strip().lower(): value.strip() for name, value in headers}
    body = await _read_body(reader, values)
    dropped = {b"connection", b"transfer-encoding", b"content-length", b"expect"}
    kept = [line for line in lines[1:] if line.partition(b":")[0].strip().lower() not in dropped]
    added = [b"connection: close"]
    if body or method not in {"GET", "HEAD", "DELETE"}:
        added.append(b"content-length: %d" % len(body))
    head = b"\r\n".join([lines[0], *kept, *added]) + b"\r\n\r\n"
    operation = values.get(b"x-amz-target", b"").decode("latin-1")
    return _Request(method, target, head, body, f"{method} {target} {operation}".rstrip())


async def _read_body(reader: asyncio.StreamReader, headers: dict[bytes, bytes]) -> bytes:
    if headers.get(b"transfer-encoding", b"").lower() != b"chunked":
        return await reader.readexactly(int(headers.get(b"content-length", b"0")))
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(parts)


async def _reply(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: bytes | None, fault: _Fault | None
) -> None:
    kind = fault.kind if fault else "twice"
    if kind.startswith("reset"):
        _reset(writer)
    elif kind.startswith("hang"):
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(), _LONGEST_HANG_S)
    elif kind.startswith("html"):
        await _send(writer, _page(502, b"text/html", _HTML))
    elif kind.startswith("status") and fault:
        await _send(writer, _page(fault.status, b"text/plain", b""))
    elif answer:
        head, _, body = answer.partition(b"\r\n\r\n")
        if kind == "truncate_after":
            answer = head + b"\r\n\r\n" + body[: len(body) // 2]
        if kind == "slow_after" and fault:
            await asyncio.sleep(fault.seconds)
        if kind == "drip_after" and fault:
            for position in range(len(answer)):
                await _send(writer, answer[position : position + 1])
                await asyncio.sleep(fault.seconds)
            return
        await _send(writer, answer)


def _page(status: int, kind: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %d X\r\ncontent-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (
        status,
        kind,
        len(body),
        body,
    )


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the peer sees a reset: with a linger time of zero the kernel sends RST, not FIN."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
