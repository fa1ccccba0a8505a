"""May anything be sent to this address? Amazon's service is closed, and nothing of ours points there by itself.

The guard looks at the address that the client really uses, never at a configuration: environment variables and
profiles can redirect a boto3 client without a word. It looks again before every call.
"""

from __future__ import annotations

import ipaddress
import os
from typing import Any
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.errors import InputError, PlatformError

__all__ = ["CLOSED", "MODES", "check_endpoint", "mode_of", "refuse_closed_service", "resolve_endpoint"]

CLOSED = (
    "Amazon closed Mechanical Turk on 2026-09-30, so nothing was sent; give the address of an endpoint that speaks its "
    "API, for example your own workplace (`hmc-crowd serve`), or publish on Prolific"
)
MODES = ("stub", "sandbox", "live")
_VARIABLE = "HMC_CROWD_MTURK_ENDPOINT"


def resolve_endpoint(address: str | None) -> str:
    """Return the endpoint to use: the address given, else the environment's; there is no default."""
    given = address or os.environ.get(_VARIABLE)
    if not given:
        raise InputError(f"address is missing; give the endpoint of an MTurk-API server, or set {_VARIABLE}. {CLOSED}")
    return check_endpoint(given)


def check_endpoint(address: str) -> str:
    """Refuse Amazon's hosts, and plain http to anywhere but this machine."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(
            f"address is {shown_address(address)[:200]!r}; write it as https://host or http://127.0.0.1:port"
        )
    if _is_amazon(parts.hostname):
        raise PlatformError(f"address {parts.hostname} is Amazon's: {CLOSED}")
    if parts.username or parts.password:
        raise InputError("address holds a user name or password; keys come from the environment")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InputError(f"address {parts.hostname} is plain http, so anybody on the way reads answers; use https")
    return address.rstrip("/")


def refuse_closed_service(client: Any) -> None:
    """Refuse a client whose real address is Amazon's."""
    host = urlsplit(str(client.meta.endpoint_url)).hostname or ""
    if _is_amazon(host):
        raise PlatformError(f"the client points at {host}: {CLOSED}")


def mode_of(mode: str | None, endpoint: str) -> str:
    """Return the mode that was named; unnamed, this machine is a stub and everything else is live."""
    if mode is None:
        return "stub" if is_loopback(urlsplit(endpoint).hostname or "") else "live"
    if mode not in MODES:
        raise InputError(f"mode is {mode!r}; use one of {', '.join(MODES)}")
    return mode


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_amazon(host: str) -> bool:
    name = host.lower().rstrip(".")
    return any(
        name == each or name.endswith("." + each)
        for each in ("amazonaws.com", "amazonaws.com.cn", "mturk.com", "api.aws")
    )
