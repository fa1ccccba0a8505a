"""Is this request signed by a key that we issued, and recently? Signature Version 4, checked, not only looked at.

The whole request is covered: method, path, query, the headers that the client named (host among them) and the body.
Source: AWS's description of the signing process; the tests sign with botocore itself.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from hmc_crowd_local.mturk_api._problems import TurkError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["SignedRequest", "access_key", "plain_host", "verify"]

_ALGORITHM = "AWS4-HMAC-SHA256"
_SERVICE = "mturk-requester"
_FORM = re.compile(
    rf"{_ALGORITHM} +Credential=(?P<key>[^/,\s]+)/(?P<day>[0-9]{{8}})/(?P<region>[^/,\s]+)/(?P<service>[^/,\s]+)"
    r"/aws4_request, *"
    r"SignedHeaders=(?P<headers>[^,\s]+), *Signature=(?P<signature>[0-9a-f]{64})"
)
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::[0-9]{1,5})?")
_KEY = re.compile(r"Credential=([^/,\s]{1,100})/")
_NEEDED = {"host", "x-amz-date", "x-amz-target"}


@dataclass(frozen=True)
class SignedRequest:
    """An HTTP request as it arrived; header names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


def access_key(request: SignedRequest) -> str:
    """Return which key a request names, right or wrong; empty without one."""
    found = _KEY.search(request.headers.get("authorization", ""))
    return "" if found is None else found[1]


def verify(
    request: SignedRequest,
    *,
    holder_of: Callable[[str], tuple[str, str] | None],
    now: datetime,
    clock_skew_s: float,
    hosts: Collection[str],
) -> str:
    """Return the account whose key signed the request; ``holder_of`` returns account and secret of a key in use.

    ``hosts`` are those that it may be signed for, besides this machine's own names.

    Raises
    ------
    TurkError
        No signature, an unknown or revoked key, a wrong scope, another host, a time too far from ours, or a signature
        that does not fit the request.
    """
    header = request.headers.get("authorization", "")
    if not header:
        raise _refused("MissingAuthenticationTokenException", "Missing Authentication Token")
    form = _FORM.fullmatch(header.strip())
    if form is None:
        raise _refused("IncompleteSignatureException", "Authorization header is no Signature Version 4")
    if form["region"] != "us-east-1" or form["service"] != _SERVICE:
        raise _refused(
            "InvalidSignatureException",
            f"Credential should be scoped to us-east-1/{_SERVICE}; it is {form['region']}/{form['service']}",
        )
    signed = form["headers"].split(";")
    missing = _NEEDED - set(signed)
    if missing:
        raise _refused("InvalidSignatureException", f"SignedHeaders lacks {', '.join(sorted(missing))}")
    _check_host(request.headers.get("host", ""), hosts)
    _check_time(request, form["day"], now, clock_skew_s)
    holder = holder_of(form["key"])
    if holder is None:
        raise _refused("UnrecognizedClientException", "The security token included in the request is invalid.")
    expected = _signature(request, holder[1], form["day"], form["region"], signed)
    if not hmac.compare_digest(expected, form["signature"]):
        raise _refused(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. Check your secret key.",
        )
    return holder[0]


def plain_host(host: str, *, scheme: str = "https") -> str:
    """Return a host as names are compared: in small letters, without the port that its scheme has anyway.

    >>> plain_host("Work.Example.org:443"), plain_host("work.example.org:8443")
    ('work.example.org', 'work.example.org:8443')
    """
    return host.strip().lower().removesuffix(":80" if scheme == "http" else ":443")


def _check_host(host: str, hosts: Collection[str]) -> None:
    """Refuse what was signed for another server, and is sent here by whoever saw it there."""
    if plain_host(host) in hosts or plain_host(host, scheme="http") in hosts or _is_this_machine(host):
        return
    named = ", ".join([*sorted(hosts), "localhost", "127.0.0.1"])
    raise _refused(
        "InvalidSignatureException",
        f"The request is signed for the host {host[:100]!r}, and this server takes requests for {named}; use one of "
        "them in endpoint_url, or serve with --public-url",
    )


def _is_this_machine(host: str) -> bool:
    found = _HOST.fullmatch(host.strip().lower())
    if found is None:
        return False
    if found["name"] == "localhost":
        return True
    try:
        return ip_address(found["name"].strip("[]")).is_loopback
    except ValueError:
        return False


def _check_time(request: SignedRequest, day: str, now: datetime, clock_skew_s: float) -> None:
    stamp = request.headers.get("x-amz-date", "")
    try:
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _refused("IncompleteSignatureException", f"X-Amz-Date is {stamp[:40]!r}, no time") from None
    if stamp[:8] != day or abs((now - at).total_seconds()) > clock_skew_s:
        raise _refused(
            "InvalidSignatureException",
            f"Signature expired or not yet current: {stamp} is not within {clock_skew_s:.0f} s of "
            f"{now:%Y%m%dT%H%M%SZ}; set your clock",
        )


def _signature(request: SignedRequest, secret: str, day: str, region: str, signed: list[str]) -> str:
    payload = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join(
        [
            request.method,
            quote(unquote(request.path) or "/", safe="/-_.~"),
            _canonical_query(request.query),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signed),
            "",
            ";".join(signed),
            payload,
        ]
    )
    scope = f"{day}/{region}/{_SERVICE}/aws4_request"
    text = "\n".join([_ALGORITHM, request.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (day, region, _SERVICE, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _canonical_query(query: str) -> str:
    pairs = [part.partition("=") for part in query.split("&") if part]
    return "&".join(sorted(f"{quote(unquote(n), safe='-_.~')}={quote(unquote(v), safe='-_.~')}" for n, _, v in pairs))


def _refused(kind: str, message: str) -> TurkError:
    return TurkError("AWS.NotAuthorized", message, kind=kind, status=403)
