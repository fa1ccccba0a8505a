"""How a server runs and ends: who may be served, on which socket, and what a signal means.

Loopback alone is served as it is; an address that others reach needs a public https address before it, because
people's work and keys must not travel in the clear. SIGTERM ends the server with 0, Ctrl-C with 130; both let running
requests finish.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.extras import require
from hmc_crowd._base.serving import keep_peer
from hmc_crowd.cli._connections import ACCEPTED_AT_ONCE, places, protocol_with
from hmc_crowd.cli._log import bounded_log
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["bind", "bound_name", "public_address", "run"]

_WAITING = 2048
# Running requests get so long to finish once the server is told to stop.
_GRACE_S = 10
# Longer than people look at a page and than proxies keep a connection to us, so that none is closed as it is used.
_KEPT_S = 75


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bound_name(host: str, port: int) -> str:
    """Return what programs call the server by that reach it without a proxy; empty where it listens on every address.

    Examples
    --------
    >>> bound_name("lab", 8000), bound_name("::1", 80), bound_name("0.0.0.0", 80)
    ('lab:8000', '[::1]:80', '')
    """
    try:
        if ip_address(host).is_unspecified:
            return ""
    except ValueError:
        pass  # a name
    return f"{f'[{host}]' if ':' in host else host}:{port}"


def public_address(host: str, port: int, public_url: str | None) -> str:
    """Return the address people use, or refuse one that would carry their work in the clear.

    Examples
    --------
    >>> public_address("127.0.0.1", 8000, None)
    'http://127.0.0.1:8000'
    >>> public_address("0.0.0.0", 8000, "https://work.example.org/")
    'https://work.example.org'
    """
    if public_url is None:
        if not is_loopback(host):
            raise InputError(
                f"--host is {host!r}, which others can reach; add --public-url https://... with a TLS proxy before the "
                "server, or serve 127.0.0.1"
            )
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"
    parts = urlsplit(public_url)
    is_fine = parts.scheme == "https" or (
        parts.scheme == "http" and is_loopback(parts.hostname or "") and is_loopback(host)
    )
    if not is_fine or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise InputError(
            f"--public-url is {shown_address(public_url)!r}; give the https address that people's browsers use"
        )
    if parts.path.strip("/"):
        raise InputError(f"--public-url is {shown_address(public_url)!r}; give a host of its own, without a path")
    return f"{parts.scheme}://{parts.netloc}"


def bind(host: str, port: int) -> socket.socket:
    """Take the port before anything is opened or printed.

    Raises
    ------
    InputError
        The host is none of this machine's, or the port is taken.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=_WAITING)
    except OSError as error:
        raise InputError(
            f"port {port} of {host} cannot be served: {error.strerror or error}; give another --port or --host"
        ) from None
    # Connections inherit it. asyncio sets it only on sockets that were made with the protocol's number, which
    # create_server does not; without it each answer on a kept connection waits 40 ms for an acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def run(app: Any, listening: socket.socket, *, started: Callable[[], None]) -> bool:
    """Serve until told to stop; return whether that was Ctrl-C.

    Parameters
    ----------
    app : ASGI application
        What to serve.
    listening : socket
        As `bind` returns it.
    started : callable
        Called once requests are answered.
    """
    import asyncio

    uvicorn = require("uvicorn", extra="web", purpose="hmc-crowd serve")
    stopped_by: list[int] = []

    class Server(uvicorn.Server):  # type: ignore[misc, name-defined]
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """End on a signal, and keep it to ourselves: the exit code is ours to say."""
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            before = {each: signal.signal(each, self._stop) for each in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for each, handler in before.items():
                    signal.signal(each, handler)

        def _stop(self, number: int, _frame: Any) -> None:
            # Said twice, it ends at once.
            self.force_exit = bool(stopped_by)
            self.should_exit = True
            stopped_by.append(number)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            listening.listen(_WAITING)  # the system may keep more waiting than are accepted at once
            # What is loaded by now stays for good. Without this the collector looks through all of it time and again,
            # and each look holds up every request for a tenth of a second or more.
            gc.collect()
            gc.freeze()
            started()

    # Whoever trusts a proxy must know who connected; uvicorn's own reading of the headers would hide it.
    headers = require("uvicorn.middleware.proxy_headers", extra="web", purpose="hmc-crowd serve")
    config = uvicorn.Config(
        keep_peer(headers.ProxyHeadersMiddleware(app, os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"))),
        proxy_headers=False,
        http=protocol_with(places()),
        log_config=None,
        log_level="warning",
        access_log=False,
        backlog=ACCEPTED_AT_ONCE,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEPT_S,
    )
    server = Server(config)
    with bounded_log():
        asyncio.run(server.serve(sockets=[listening]))
    return signal.SIGINT in stopped_by
