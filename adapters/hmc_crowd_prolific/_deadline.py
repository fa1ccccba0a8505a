"""A limit on the whole of one exchange: a server that sends a byte now and then for ever must not hold us.

httpx limits the wait for the next bytes, never their sum. Here every read and write gets what is left of the time that
the exchange was given, whatever the server drips.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["DeadlineTransport"]


class _Budget(threading.local):
    ends: float | None = None


class DeadlineTransport(httpx.HTTPTransport):
    """An HTTP transport without retries whose exchanges end in time; see `limit`.

    Parameters
    ----------
    monotonic : callable, default time.monotonic
        Seconds that only grow.
    is_plain : bool, default False
        Only http will be spoken: a stand-in on this machine.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic, is_plain: bool = False) -> None:
        # Reading the certificates takes a while, and plain http has no use for them.
        context = httpx.create_ssl_context(trust_env=False, verify=not is_plain)
        super().__init__(verify=context, retries=0)
        self._budget = _Budget()
        self._monotonic = monotonic
        # The pool takes its network as an argument; httpx has no way to hand it through.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=20,
            max_keepalive_connections=10,
            keepalive_expiry=5.0,
            retries=0,
            network_backend=_Backend(self._left),
        )

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Give everything sent and received inside the block ``seconds`` together."""
        self._budget.ends = self._monotonic() + seconds
        try:
            yield
        finally:
            self._budget.ends = None

    def _left(self, timeout: float | None) -> float | None:
        if self._budget.ends is None:
            return timeout
        left = self._budget.ends - self._monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the exchange took too long in all")
        return left if timeout is None else min(timeout, left)


class _Backend(httpcore.SyncBackend):
    def __init__(self, left: Callable[[float | None], float | None]) -> None:
        self._left = left

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, self._left(timeout), local_address, socket_options)
        return _Stream(stream, self._left)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, left: Callable[[float | None], float | None]) -> None:
        self._inner = inner
        self._left = left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._left(timeout)), self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
