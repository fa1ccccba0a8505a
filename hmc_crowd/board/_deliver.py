"""How do others learn what happened? Signed messages to their addresses, tried again, and never to an inner address.

Whoever may subscribe could otherwise make this server knock at what only it can reach: a name is resolved once, its
addresses are looked at, and the connection goes to one that was looked at; redirects are not followed. A message may
come twice, never not at all, unless it is dead: then it stands on the board until somebody sends it again.
"""

from __future__ import annotations

import hmac
import json
import logging
import socket
import threading
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import HmcCrowdError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from hmc_crowd.board._house import BoardHouse
    from hmc_crowd.store import DeliveryRecord, WebhookRecord

__all__ = ["Deliverer", "HookSettings", "check_address", "hook_secret", "is_signed", "signature"]

_LOG = logging.getLogger("hmc_crowd.board")
_LONGEST_PAUSE_S = 6 * 3600.0
_LEASE_S = 120.0
_AT_ONCE = 20
# Where the world's IPv6 addresses lie; the second leads to the IPv4 address in its last 32 bits (RFC 6052).
_NAT64 = IPv6Network("64:ff9b::/96")
_WORLD = (IPv6Network("2000::/3"), _NAT64)


@dataclass(frozen=True)
class HookSettings:
    """How webhooks are delivered.

    Parameters
    ----------
    inner_hosts : frozenset of str
        ``host`` or ``host:port`` that may have a private address, and may be sent to by http; none by default.
    attempts : int, default 8
        How often a message is tried before it is dead.
    first_pause_s : float, default 30
        Pause after the first failure; it doubles with each, up to six hours.
    silence_s : float, default 10
        How long a receiver may take.
    every_s : float, default 2
        How often what waits is looked at.
    watch_s : float, default 30
        How often alerts and the state of campaigns are looked at, where somebody wants to be told of them.
    """

    inner_hosts: frozenset[str] = frozenset()
    attempts: int = 8
    first_pause_s: float = 30.0
    silence_s: float = 10.0
    every_s: float = 2.0
    watch_s: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or not self.first_pause_s > 0:
            raise InputError(f"attempts is {self.attempts}, first_pause_s {self.first_pause_s}; give 1 and more than 0")


def hook_secret(secret: bytes, webhook: str) -> str:
    """Return the secret of a webhook; it follows from the server's own and is stored nowhere."""
    return f"whsec_{hmac.digest(secret, f'webhook {webhook}'.encode(), 'sha256').hex()}"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the hex HMAC-SHA256 of timestamp, a full stop and the body.

    Examples
    --------
    >>> is_signed("s", "2026-01-05T12:00:00+00:00", b"{}", signature("s", "2026-01-05T12:00:00+00:00", b"{}"))
    True
    """
    return hmac.digest(secret.encode(), timestamp.encode() + b"." + body, "sha256").hex()


def is_signed(secret: str, timestamp: str, body: bytes, mark: str) -> bool:
    """Say whether a message is ours, for receivers: ``X-Hmc-Timestamp``, the body as it came, ``X-Hmc-Signature``.

    Look at the timestamp too, and refuse what is older than some minutes: it is signed, so nobody can renew it.
    """
    return mark.isascii() and hmac.compare_digest(signature(secret, timestamp, body), mark)


def check_address(url: str, settings: HookSettings, *, resolve: Callable[..., Any] = socket.getaddrinfo) -> str:
    """Return an address that a message to ``url`` may be sent to.

    Raises
    ------
    InputError
        No https address, one that cannot be found, or one inside a private network that no setting names.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    # A host may be read otherwise by who resolves it than by who sends to it, unless it is written plainly.
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' \\"<>')
    if host is None or port == 0 or not is_plain or "@" in parts.netloc or parts.netloc.endswith(":"):
        host = None
    if host is None or "#" in url or parts.scheme not in {"http", "https"}:
        raise InputError(
            f"url is {shown_address(url)[:100]!r}; give an https address without a name or password in it, other "
            "letters as %.."
        )
    is_inner = bool({parts.netloc, host} & settings.inner_hosts)
    if parts.scheme == "http" and not is_inner:
        raise InputError(
            f"url is {shown_address(url)[:100]!r}; give an https address: http would show what it tells to everybody"
        )
    try:
        found = resolve(host, port or (443 if parts.scheme == "https" else 80), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InputError(f"url names {host!r}, which cannot be found; check the name") from None
    addresses = [str(each[4][0]).partition("%")[0] for each in found]
    if not is_inner and not all(_is_public(each) for each in addresses):
        raise InputError(
            f"url names {host!r}, which is inside a private network; the owner of the server allows such hosts by "
            "HMC_CROWD_BOARD_WEBHOOK_HOSTS"
        )
    return addresses[0]


def _is_public(address: str) -> bool:
    """Whether an address is the world's, and so is the IPv4 address that it holds, if it does."""
    found = ip_address(address)
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if isinstance(found, IPv4Address):
        return found.is_global and not found.is_multicast
    is_world = found.is_global and any(found in each for each in _WORLD)
    return is_world and all(each.is_global and not each.is_multicast for each in _held(found))


def _held(address: IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that gateways take out of an IPv6 address: NAT64, ISATAP, 6to4, Teredo."""
    is_isatap = (int(address) >> 32) & 0xFCFF_FFFF == 0x0000_5EFE
    held = [IPv4Address(int(address) & 0xFFFF_FFFF)] if is_isatap or address in _NAT64 else []
    return [*held, *([address.sixtofour] if address.sixtofour else []), *(address.teredo or ())]


class Deliverer:
    """Sends what waits, and looks at what is to be told; `step` does it once, `start` does it in the background."""

    def __init__(self, house: BoardHouse, *, client: httpx.Client | None = None) -> None:
        self._house, self._settings = house, house.settings.hooks
        self._client = client
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Work in the background until `close`."""
        self._thread = threading.Thread(target=self._run, name="hmc-crowd-webhooks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; what waits is sent by whoever runs next."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(self._settings.silence_s + 5)
        if self._client is not None:
            self._client.close()

    def step(self) -> int:
        """Send what is due; return how many messages were tried."""
        now = self._house.clock.now()
        with self._house.store.begin() as tx:
            due = tx.hooks.due(until=now + timedelta(seconds=_LEASE_S), limit=_AT_ONCE)
        for delivery, hook in due:
            problem = self._send(delivery, hook)
            with self._house.store.begin() as tx:
                if problem is None:
                    tx.hooks.sent(delivery.id)
                else:
                    tx.hooks.failed(delivery.id, problem, again_at=self._again_at(delivery.attempts + 1))
        return len(due)

    def _again_at(self, attempts: int) -> Any:
        if attempts >= self._settings.attempts:
            return None
        pause = min(_LONGEST_PAUSE_S, self._settings.first_pause_s * 2 ** (attempts - 1))
        return self._house.clock.now() + timedelta(seconds=pause)

    def _send(self, delivery: DeliveryRecord, hook: WebhookRecord) -> str | None:
        """Send a message; return what went wrong, in words, or None."""
        import httpx

        message = {"id": delivery.id, "event": delivery.event, "at": delivery.created_at.isoformat()}
        body = json.dumps(message | {"data": json.loads(delivery.body)}).encode()
        stamp = self._house.clock.now().isoformat()
        headers = {
            "Content-Type": "application/json",
            "X-Hmc-Event": delivery.event,
            "X-Hmc-Delivery": delivery.id,
            "X-Hmc-Timestamp": stamp,
            "X-Hmc-Signature": signature(hook_secret(self._house.secret, hook.id), stamp, body),
        }
        try:
            address = check_address(hook.url, self._settings)
            url = httpx.URL(hook.url)
            headers["Host"] = url.netloc.decode("ascii")
            # To the address that was looked at: the name could mean another one by now.
            to = url.copy_with(host=address)
            # Its status is all that counts: what a receiver writes is not read, however long it is.
            with self._http().stream(
                "POST", to, content=body, headers=headers, extensions={"sni_hostname": url.host}
            ) as reply:
                status, is_success = reply.status_code, reply.is_success
        except InputError as error:
            return str(error)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return f"{type(error).__name__}: {error}"[:200]
        return None if is_success else f"the receiver answered {status}"

    def _http(self) -> httpx.Client:
        import httpx

        if self._client is None:
            self._client = httpx.Client(timeout=self._settings.silence_s, follow_redirects=False, trust_env=False)
        return self._client

    def _run(self) -> None:
        from hmc_crowd.board._watch_hooks import look

        waited = self._settings.watch_s
        while not self._stopping.is_set():
            try:
                if waited >= self._settings.watch_s:
                    waited = 0.0
                    look(self._house)
                tried = self.step()
            except HmcCrowdError as error:
                _LOG.warning("webhooks wait: %s", type(error).__name__)
                tried = 0
            except Exception:  # noqa: BLE001  # because one bad message must not end all others
                _LOG.exception("webhooks wait")
                tried = 0
            if tried < _AT_ONCE:
                self._stopping.wait(self._settings.every_s)
            waited += self._settings.every_s
