"""The scene of the server itself: the MTurk doors behind `hmc-crowd serve`'s protocol and log, in a hurry."""

from __future__ import annotations

import io
import logging
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from hmc_crowd.cli._connections import Limits, Places, protocol_with
from hmc_crowd.cli._log import BoundedHandler
from tests.attacks._mturk import ANN, MTurkScene, mturk
from tests.attacks._table import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 20.0


class ServedScene(Scene):
    """A server on a port under attack; its log is read after each of them."""

    def __init__(self, inside: MTurkScene, port: int, log: io.StringIO) -> None:
        super().__init__()
        self.inside, self.port, self.log = inside, port, log
        self.lines: list[socket.socket] = []
        self.foreign = inside.foreign

    def line(self, sent: bytes = b"") -> socket.socket:
        """Open a connection of an attacker and send the beginning of something."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        self.lines.append(made)
        with suppress(ConnectionError):
            made.sendall(sent)
        return made

    def ends_of(self, lines: list[socket.socket]) -> list[bytes]:
        """Return what each connection was told until the server ended it; fails where it never does."""
        found = []
        for each in lines:
            parts = []
            try:
                while part := each.recv(65_536):
                    parts.append(part)
            except TimeoutError:
                raise AssertionError("a connection stays open for ever") from None
            except ConnectionError:
                pass
            found.append(b"".join(parts))
        self.heard(*(each.decode("latin-1") for each in found))
        return found

    def drip(self, line: socket.socket, part: bytes) -> None:
        """Send a little time and again, until the server has enough of it."""
        until = time.monotonic() + PATIENCE_S
        line.settimeout(0.05)
        while True:
            assert time.monotonic() < until, "a connection that drips stays open for ever"
            try:
                line.sendall(part)
                if not line.recv(1_000):
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break

    def is_ended(self, line: socket.socket) -> None:
        """Wait until the server has ended a connection that nobody reads."""
        until = time.monotonic() + PATIENCE_S
        while line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == b"\x01":  # established
            assert time.monotonic() < until, "a connection that nobody reads stays open for ever"
            time.sleep(0.02)

    def stored(self) -> Any:
        return self.inside.stored()

    def goes_on(self) -> None:
        for each in self.lines:
            each.close()
        self.lines.clear()
        url = f"http://127.0.0.1:{self.port}/mturk/hits"
        with httpx.Client(trust_env=False, timeout=PATIENCE_S) as honest:
            assert honest.get(url, params=self.inside.who(ANN)).status_code == 200
        written = self.log.getvalue()
        assert len(written) < 1_500, f"{len(written)} characters of log"
        assert all(each.isprintable() for each in written.splitlines()), "control characters in the log"
        self.log.seek(0)
        self.log.truncate()


@contextmanager
def served() -> Iterator[ServedScene]:
    """A server of thirty places that waits a third of a second for heads and bodies, and no longer for readers."""
    with mturk() as inside, ExitStack() as stack:
        log = io.StringIO()
        handler = BoundedHandler(log)
        root = logging.getLogger()
        root.addHandler(handler)
        stack.callback(root.removeHandler, handler)
        held = Places(30, Limits(head_s=0.3, body_s=0.3, unread_s=0.3))
        config = uvicorn.Config(
            inside.app, host="127.0.0.1", port=0, log_config=None, log_level="warning", lifespan="off", ws="none",
            access_log=False, http=protocol_with(held),
        )  # fmt: skip
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)

        def stop() -> None:
            server.should_exit = True
            thread.join(10)

        stack.callback(stop)
        scene = ServedScene(inside, server.servers[0].sockets[0].getsockname()[1], log)
        yield scene
        for each in scene.lines:
            each.close()
