"""Connections that do not ask, do not end or do not read keep nobody else out."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from hmc_crowd.cli._connections import Limits, Places, places, protocol_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SILENCE_S = 20.0  # a test that hangs fails after so long


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer ``/echo`` with the body, ``/early`` before it is there, ``/much`` with much, ``/later`` when it is let."""
    path, more, size = scope["path"], path_reads(scope["path"]), 0
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    while path == "/later" and not LET.is_set():
        await asyncio.sleep(0.01)
    body = b"x" * (50_000_000 if path == "/much" else 2)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


def path_reads(path: str) -> bool:
    return path != "/early"


LET = threading.Event()


class Host:
    def __init__(self, held: Places) -> None:
        self.held = held
        self.lines: list[socket.socket] = []
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, log_level="critical", lifespan="off", ws="none", http=protocol_with(held)
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def line(self, sent: bytes = b"") -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=SILENCE_S)
        self.lines.append(line)
        if sent:
            line.sendall(sent)
        return line

    def get(self, path: str = "/", **options: Any) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=SILENCE_S, trust_env=False, **options)


@pytest.fixture
def host() -> Iterator[Callable[..., Host]]:
    running: list[Host] = []
    LET.clear()

    def go(most: int = 100, *, trusted: bool = True, **limits: Any) -> Host:
        running.append(Host(Places(most, Limits(**limits), lambda _address: trusted)))
        return running[-1]

    yield go
    LET.set()
    for each in running:
        for line in each.lines:
            line.close()
        each.server.should_exit = True
        each.thread.join(timeout=10)


def everything(line: socket.socket) -> bytes:
    """Read until the other side ends the line; fails where it never does."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := line.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def is_answered(line: socket.socket) -> bool:
    """Read one whole answer, and no further."""
    said = b""
    while not said.endswith(b"\r\n\r\nxx"):
        part = line.recv(1000)
        if not part:
            return False
        said += part
    return said.startswith(b"HTTP/1.1 200 ")


HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: "
POST = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_head_that_does_not_come_ends_its_connection(host) -> None:
    server = host(head_s=0.2)
    assert everything(server.line()) == b""
    assert everything(server.line(HALF)).startswith(b"HTTP/1.1 408 ")


def test_a_head_that_drips_is_no_reason_to_wait_longer(host) -> None:
    line = host(head_s=0.3).line(HALF)
    line.settimeout(0.05)
    said = b""
    until = time.monotonic() + SILENCE_S
    while not said:
        assert time.monotonic() < until, "the connection never ended"
        with contextlib.suppress(TimeoutError):
            line.sendall(b"x")
            said = line.recv(100)
    assert said.startswith(b"HTTP/1.1 408 ")


def test_a_second_head_has_its_own_time_and_an_idle_line_stays(host) -> None:
    line = host(head_s=0.2).line(WHOLE)
    assert is_answered(line)
    time.sleep(0.5)  # longer than a head may take: nothing was begun
    line.sendall(WHOLE)
    assert is_answered(line)
    line.sendall(HALF)
    assert everything(line).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_does_not_come_ends_its_connection_whether_it_is_read_or_not(host) -> None:
    server = host(body_s=0.2)
    assert everything(server.line(POST)) == b""
    early = server.line(POST.replace(b"/echo", b"/early"))
    assert everything(early).startswith(b"HTTP/1.1 200 ")


def test_a_request_that_is_worked_on_may_take_longer_than_its_head_and_body(host) -> None:
    server = host(head_s=0.2, body_s=0.2)
    # The next request's head is begun meanwhile; the answer under way is not cut by that.
    line = server.line(POST.replace(b"/echo", b"/later") + b"012345678" + HALF)
    time.sleep(0.6)
    LET.set()
    assert is_answered(line)


def test_an_answer_that_nobody_reads_ends(host) -> None:
    server = host(unread_s=0.3)
    server.line(WHOLE.replace(b"GET /", b"GET /much"))
    until = time.monotonic() + SILENCE_S
    while server.held.open:
        assert time.monotonic() < until, "the connection never ended"
        time.sleep(0.02)


def test_where_all_places_are_taken_the_oldest_that_asks_nothing_makes_room(host) -> None:
    server = host(10)
    half = [server.line(HALF) for _ in range(40)]
    assert server.get().status_code == 200
    assert len(server.held.open) <= 10
    assert everything(half[0]) == b""


def test_lines_that_have_had_an_answer_and_stay_open_make_room_too(host) -> None:
    server = host(10)
    kept = []
    for _ in range(40):
        kept.append(server.line(WHOLE))
        assert is_answered(kept[-1])
    assert server.get().status_code == 200
    assert len(server.held.open) <= 10


def test_what_is_worked_on_is_never_ended_for_a_newcomer(host) -> None:
    server = host(3)
    working = [server.line(WHOLE.replace(b"GET /", b"GET /later")) for _ in range(3)]
    until = time.monotonic() + SILENCE_S
    while server.held.idle or len(server.held.open) < 3:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert server.get().status_code == 503
    LET.set()
    assert all(is_answered(each) for each in working)
    assert server.get().status_code == 200


def test_one_address_has_its_share_and_a_trusted_proxy_all(host) -> None:
    stranger, proxy = host(each=5, trusted=False), host(each=5, trusted=True)
    lines = [[each.line(HALF) for _ in range(20)] for each in (stranger, proxy)]
    assert [each.get().status_code for each in (stranger, proxy)] == [200, 200]
    assert len(stranger.held.open) <= 5 < len(proxy.held.open)
    assert len(lines) == 2


def test_a_head_without_end_is_cut(host) -> None:
    line = host().line(WHOLE[:-2])
    with contextlib.suppress(ConnectionError):
        for _ in range(200):
            line.sendall(b"X-More: " + b"x" * 1_000 + b"\r\n")
    said = everything(line)
    assert said == b"" or said.startswith(b"HTTP/1.1 400 ")


def test_there_are_never_more_places_than_files() -> None:
    held = places()
    assert 16 <= held.most <= resource.getrlimit(resource.RLIMIT_NOFILE)[0]
