"""Who signed this person in? A proxy before us, where its address was named; from anybody else its header is a lie.

An in-house proxy (oauth2-proxy, Authelia, a company's gateway) asks people for their password and adds a header with
their name. The header is believed from the addresses that are named here alone; a request with it from another address
is refused, whatever it says.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from hmc_crowd._base.serving import PEER
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

__all__ = ["ForgedHeaderError", "Person", "TrustedProxy", "proxy_from"]

_ROLES = ("auditor", "reviewer", "owner")
_LONGEST = 200
_BLANKS = " \t"
_GROUP = "group:"
_PREFIX = "HMC_CROWD_BOARD_"


class ForgedHeaderError(Exception):
    """A header of the proxy's came from somebody who is not the proxy."""


@dataclass(frozen=True)
class Person:
    """Whom the proxy signed in, and with which role; None where no role is mapped."""

    name: str
    role: str | None


@dataclass(frozen=True)
class TrustedProxy:
    """A proxy that signs people in.

    Parameters
    ----------
    addresses : tuple of str
        Addresses or networks from which the proxy connects, for example ``("10.0.0.2", "fd00::/8")``.
    roles : mapping of str to str
        Role by person (``"ann@example.org"``) or by group (``"group:research"``); of several, the highest counts.
        Names and groups must be the same to the letter, upper and lower case too. ``"*"`` is everybody whom the proxy
        signs in.
    user_header : str, default "X-Forwarded-User"
        Holds the person's name.
    groups_header : str, default "X-Forwarded-Groups"
        Holds the groups, separated by commas; a group with a comma in it stands in double quotes. The proxy must
        replace what its visitors send under both names; a header that comes twice is refused.

    Examples
    --------
    >>> proxy = TrustedProxy(("10.0.0.2",), {"ann": "owner", "group:research": "auditor"})
    >>> proxy.role_of("ann", ["research"]), proxy.role_of("bob", ["research"]), proxy.role_of("eve", [])
    ('owner', 'auditor', None)
    """

    addresses: tuple[str, ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    user_header: str = "X-Forwarded-User"
    groups_header: str = "X-Forwarded-Groups"

    def __post_init__(self) -> None:
        if not self.addresses:
            raise InputError("addresses is empty; name the address from which the proxy connects")
        for each in self.addresses:
            try:
                ip_network(each, strict=False)
            except ValueError:
                raise InputError(f"addresses holds {each!r}; give an address or a network, as 10.0.0.2") from None
        odd = sorted(set(self.roles.values()) - set(_ROLES))
        if odd:
            raise InputError(f"roles holds {odd[0]!r}; on the board there are {', '.join(_ROLES)}")

    def role_of(self, name: str, groups: list[str]) -> str | None:
        """Return the highest role that a person has; None without any."""
        # A person may be called "group:research" or "*", and has nobody's role but his own for it.
        is_person = name != "*" and not name.startswith(_GROUP)
        known = ["*", *([name] if is_person else []), *(f"{_GROUP}{group}" for group in groups)]
        found = {self.roles.get(each) for each in known}
        return next((role for role in reversed(_ROLES) if role in found), None)

    def person(self, request: Request) -> Person | None:
        """Return whom the proxy signed in; None where the request carries no name.

        Raises
        ------
        ForgedHeaderError
            The header came from another address, or twice, or with a name or groups that are none.
        """
        names = request.headers.getlist(self.user_header)
        groups = request.headers.getlist(self.groups_header)
        if not names and not groups:
            return None
        if not self._is_proxy(request) or len(names) != 1 or len(groups) > 1:
            raise ForgedHeaderError
        name = _text(names[0])
        if not 1 <= len(name) <= _LONGEST or not name.isprintable():
            raise ForgedHeaderError
        return Person(name, self.role_of(name, _groups(_text(groups[0] if groups else ""))))

    def _is_proxy(self, request: Request) -> bool:
        """Whether the connection itself comes from the proxy, whatever forwarding headers say."""
        peer = request.scope.get(PEER) or request.scope.get("client")
        try:
            address = ip_address(peer[0]) if peer else None
        except ValueError:
            return False
        return address is not None and any(
            address in network
            for network in (ip_network(each, strict=False) for each in self.addresses)
            if network.version == address.version
        )


def _text(value: str) -> str:
    """Return what the proxy wrote, as UTF-8; only blanks around it are not part of it."""
    try:
        return value.encode("latin-1").decode("utf-8").strip(_BLANKS)
    except UnicodeError:
        raise ForgedHeaderError from None


def _groups(text: str) -> list[str]:
    """Return the groups of a header, each as it is called; what cannot be read is refused whole."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ForgedHeaderError from None
    return [each.strip(_BLANKS) for row in rows for each in row if each.strip(_BLANKS)]


def proxy_from(environment: Mapping[str, str]) -> TrustedProxy | None:
    """Read a proxy from ``HMC_CROWD_BOARD_PROXIES``, ``..._ROLES``, ``..._USER_HEADER`` and ``..._GROUPS_HEADER``.

    Raises
    ------
    InputError
        Roles are given without proxies, or something of it cannot be read.

    Examples
    --------
    >>> found = proxy_from({"HMC_CROWD_BOARD_PROXIES": "10.0.0.2", "HMC_CROWD_BOARD_ROLES": "ann=owner, *=auditor"})
    >>> found.role_of("bob", [])
    'auditor'
    """
    addresses = _parts(environment.get(f"{_PREFIX}PROXIES", ""))
    roles = _parts(environment.get(f"{_PREFIX}ROLES", ""))
    if not addresses:
        if roles:
            raise InputError(f"{_PREFIX}ROLES is set without {_PREFIX}PROXIES; name the proxy's address, too")
        return None
    pairs = [each.rpartition("=") for each in roles]
    wrong = next((each for each, (name, _, role) in zip(roles, pairs, strict=True) if not name or not role), None)
    if wrong is not None or not roles:
        raise InputError(f"{_PREFIX}ROLES holds {wrong!r}; write person=role or group:name=role, separated by commas")
    headers = {
        field: environment[f"{_PREFIX}{name}"]
        for field, name in (("user_header", "USER_HEADER"), ("groups_header", "GROUPS_HEADER"))
        if environment.get(f"{_PREFIX}{name}")
    }
    return TrustedProxy(tuple(addresses), {name.strip(): role.strip() for name, _, role in pairs}, **headers)


def _parts(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
