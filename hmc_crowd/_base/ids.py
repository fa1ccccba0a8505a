"""Identifiers that sort by time, and keys that follow from what they name."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hmc_crowd._base.clock import Clock

__all__ = ["IdSource", "RandomIds", "digest", "natural_key"]


class IdSource(Protocol):
    """Anything that hands out new identifiers."""

    def new(self) -> str:
        """Return an identifier never handed out before."""
        ...


class RandomIds:
    """Time-ordered identifiers: 48 bits of milliseconds, then 80 random bits, as 26 characters of Crockford's base 32.

    Text order is time order (to the millisecond), which keeps index pages of a database hot and pages by key cheap.

    Parameters
    ----------
    clock : Clock
        Tells the time part.
    rng : numpy.random.Generator
        Supplies the random part; a seeded one makes the identifiers repeatable.
    """

    _ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

    def __init__(self, clock: Clock, rng: np.random.Generator) -> None:
        self._clock = clock
        self._rng = rng

    def new(self) -> str:
        """Return an identifier never handed out before."""
        milliseconds = int(self._clock.now().timestamp() * 1000)
        number = (milliseconds << 80) | int.from_bytes(self._rng.bytes(10), "big")
        return "".join(self._ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def digest(*parts: object) -> str:
    """Return the SHA-256 of the parts' text, hex, with lengths mixed in so that no two lists of parts collide.

    Examples
    --------
    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    sha = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        sha.update(len(data).to_bytes(8, "big"))
        sha.update(data)
    return sha.hexdigest()


def natural_key(*parts: object) -> str:
    """Return the deterministic key of an intent: 32 characters, letters and digits, safe as a request token.

    Examples
    --------
    >>> natural_key("publish", "campaign", 1) == natural_key("publish", "campaign", 1)
    True
    >>> len(natural_key("publish"))
    32
    """
    return b32encode(bytes.fromhex(digest(*parts))).decode("ascii")[:32]
