"""Do people's browsers reach our address, and safely? https, the certificate, the answer, the clock."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from hmc_crowd._base.findings import State

__all__ = ["Outside", "Surroundings", "look_at_address", "look_at_certificate", "look_at_clock", "look_at_skew"]

#: Certificates are renewed about a month before they end; later than this, the renewal has failed.
_RENEW_DAYS = 14
#: Beyond this, signed requests and webhooks start to be refused.
_SKEW_FAIL_S = 300.0
_SKEW_WARN_S = 30.0
_PATIENCE_S = 10.0


class Surroundings(Protocol):
    """What looking takes from outside, so that tests can stand in for it."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Settings of the process."""
        ...

    def now(self) -> datetime:
        """Return the present moment."""
        ...

    def ask(self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] = ...) -> httpx.Response:
        """Send one request, redirects not followed; raise `httpx.HTTPError` where there is no answer."""
        ...

    def certificate_ends(self, host: str, port: int) -> datetime:
        """Return when the certificate that browsers are shown ends; raise OSError where they would refuse it."""
        ...


@dataclass(frozen=True)
class Outside:
    """The real surroundings."""

    environment: Mapping[str, str]

    def now(self) -> datetime:
        """Return the present moment."""
        return datetime.now(UTC)

    def ask(
        self, method: str, url: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send one request."""
        import httpx

        return httpx.request(
            method, url, content=body, headers=dict(headers or {}), timeout=_PATIENCE_S, follow_redirects=False
        )

    def certificate_ends(self, host: str, port: int) -> datetime:
        """Shake hands as a browser does, and read the certificate's end."""
        context = ssl.create_default_context()
        with (
            socket.create_connection((host, port), timeout=_PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname=host) as safe,
        ):
            shown = safe.getpeercert() or {}
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)


def look_at_address(url: str, around: Surroundings, *, check: str, expect: Mapping[int, str]) -> list[Finding]:
    """Ask an address without anything in the request.

    Parameters
    ----------
    url : str
        Where people or machines will come.
    around : Surroundings
        How to reach it.
    check : str
        What to call it.
    expect : mapping of int to str
        The statuses that are right, each with what it says.

    Returns
    -------
    list of Finding
        The address; for one of https its certificate; and how far its clock is from ours.
    """
    import httpx

    parts, shown = urlsplit(url), shown_address(url)
    if parts.scheme != "https" and not _is_loopback(parts.hostname):
        return [Finding(check, "fail", f"{shown} is no https address; serve it behind a TLS proxy")]
    found = []
    if parts.scheme == "https":
        found += look_at_certificate(parts.hostname or "", parts.port or 443, around)
    try:
        answer = around.ask("GET", url)
    except httpx.HTTPError as error:
        text = f"{shown} does not answer ({type(error).__name__}); start `hmc-crowd serve` and check proxy and firewall"
        return [Finding(check, "fail", text), *found]
    found.append(look_at_clock(answer.headers.get("date"), around.now(), check=f"{check}: clock"))
    return [_answered(shown, answer.status_code, check, expect, is_public=parts.scheme == "https"), *found]


def _answered(url: str, status: int, check: str, expect: Mapping[int, str], *, is_public: bool) -> Finding:
    if status not in expect:
        why = {502: "the proxy does not reach the server", 404: "nothing is served there"}.get(status, "not ours?")
        return Finding(check, "fail", f"{url} answers {status} ({why}); check path, proxy and settings of the server")
    if not is_public:
        return Finding(check, "warn", f"{url} answers ({expect[status]}), but only on this machine")
    return Finding(check, "ok", f"{url} answers ({expect[status]})")


def look_at_certificate(host: str, port: int, around: Surroundings) -> list[Finding]:
    """Say for how many days browsers still trust the address; nothing where no connection comes about."""
    try:
        ends = around.certificate_ends(host, port)
    except ssl.SSLError as error:
        said = getattr(error, "verify_message", "") or str(error)
        return [Finding("TLS", "fail", f"browsers refuse the certificate of {host}: {said}; look at the proxy's log")]
    except OSError:
        return []
    days = (ends - around.now()).total_seconds() / 86_400
    state: State = "fail" if days <= 0 else "warn" if days < _RENEW_DAYS else "ok"
    tail = "" if state == "ok" else "; its renewal fails: look at the proxy's log"
    return [Finding("TLS", state, f"the certificate of {host} is valid for {days:.0f} more days{tail}")]


def look_at_clock(date: str | None, now: datetime, *, check: str = "clock") -> Finding:
    """Compare a server's ``Date`` header, which is exact to the second, with our clock.

    Examples
    --------
    >>> moment = datetime(2026, 1, 5, 9, 0, 40, tzinfo=UTC)
    >>> look_at_clock("Mon, 05 Jan 2026 09:00:00 GMT", moment).state
    'warn'
    """
    try:
        theirs = parsedate_to_datetime(date or "")
        return look_at_skew((theirs - now).total_seconds(), check=check)
    except (ValueError, TypeError):
        return Finding(check, "warn", "the answer has no readable Date header, so the clocks cannot be compared")


def look_at_skew(skew_s: float, *, check: str = "clock") -> Finding:
    """Judge by how many seconds a server's clock is ahead of ours.

    Examples
    --------
    >>> look_at_skew(-400.0).found
    'ours is 400 s ahead of theirs; set this machine by NTP'
    """
    away = abs(skew_s)
    state: State = "fail" if away > _SKEW_FAIL_S else "warn" if away > _SKEW_WARN_S else "ok"
    side = "ahead of" if skew_s < 0 else "behind"
    return Finding(
        check, state, f"ours is {away:.0f} s {side} theirs{'' if state == 'ok' else '; set this machine by NTP'}"
    )


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
