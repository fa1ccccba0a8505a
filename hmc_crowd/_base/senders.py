"""Who sends this request? The address that counts against limits, and whether another site's page had it sent."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd._base.limits import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

__all__ = ["Guesses", "is_cross_site", "sender_of"]

_LONGEST = 64


def sender_of(request: Request) -> str:
    """Return the address a request is counted under; of IPv6 the network of one customer.

    It is that of the connection, or what a proxy says of it that was named as ours (``FORWARDED_ALLOW_IPS``); nobody
    else's forwarding headers are read.
    """
    return network_of(request.client.host if request.client else "")


def network_of(address: str) -> str:
    """Return what one sender cannot change at will of an address.

    Examples
    --------
    >>> network_of("203.0.113.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("::ffff:203.0.113.7")
    ('203.0.113.7', '2001:db8:1:2::/64', '203.0.113.7')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:_LONGEST]
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, 64), strict=False))


def is_cross_site(request: Request, *, public_url: str = "") -> bool:
    """Whether a browser says that another site's page, or nobody's, made it send this form.

    Browsers say so in ``Sec-Fetch-Site``, older ones in ``Origin``; programs say neither, and no page can make a
    browser leave both out.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in {"same-origin", "none"}
    origin = request.headers.get("origin")
    if origin is None:
        return False
    try:
        host = urlsplit(origin).netloc
    except ValueError:
        return True
    own = {request.headers.get("host", ""), urlsplit(public_url).netloc} - {""}
    return host.lower() not in {each.lower() for each in own}


class Guesses:
    """Wrong keys, counted by who sends them and under whose name; right ones are never held up by others' guesses.

    A key is looked at first, and only a wrong one is counted: so nobody who shares an address with a guesser, or whose
    name is guessed under, is locked out, and guessing is no quicker for it, because keys are too long to be guessed.

    Parameters
    ----------
    per_minute : int
        Wrong keys of one address; ten times as many under one name, from wherever.

    Examples
    --------
    >>> guesses = Guesses(2, clock=lambda: 0.0)
    >>> [guesses.is_too_many("203.0.113.7", "ann") for _ in range(3)], guesses.is_too_many("203.0.113.8", "ann")
    ([False, False, True], False)
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float] | None = None) -> None:
        given = {} if clock is None else {"clock": clock}
        self._senders = RateLimit(per_minute, **given)
        self._names = RateLimit(10 * per_minute, **given)

    def is_too_many(self, sender: str, name: str = "") -> bool:
        """Count a wrong key; say whether there were too many of this sender, or under this name."""
        by_sender = self._senders.allows(sender)
        by_name = not name or self._names.allows(name[:_LONGEST])
        return not (by_sender and by_name)
