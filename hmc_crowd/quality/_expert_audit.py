"""Which items do the auditors look at? A random sample of their own that nobody else can see, foresee or steer.

An item is in the sample if its keyed hash is small, and only the auditors have the key. They publish the hash of the
key before the work begins; afterwards they open it, and everybody can check that they looked where they had to.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["AuditSample", "audit_sample", "verify_audit"]

_LEAST_KEY = 16


@dataclass(frozen=True)
class AuditSample:
    """The auditors' sample.

    Parameters
    ----------
    items : tuple
        In the order in which they are looked at; for the auditors alone.
    n : int
        Items it was drawn from.
    probability : float
        Chance of each item to be in it.
    commitment : str
        Hash of the key; may be published before the work begins, and binds the auditors.
    """

    items: tuple[Any, ...]
    n: int
    probability: float
    commitment: str

    def __str__(self) -> str:
        # The items do not appear: this line may end up in a log that others read.
        return f"auditors' sample: {len(self.items):,} of {self.n:,} items, key committed as {self.commitment[:12]}"

    def __repr__(self) -> str:
        return f"<{self}>"


def audit_sample(items: Iterable[Any], key: bytes, *, size: int | float) -> AuditSample:
    """Draw the auditors' sample.

    Parameters
    ----------
    items : iterable
        All items that were decided, whoever decided them.
    key : bytes
        The auditors' secret, at least 16 bytes, drawn anew for each audit.
    size : int or float
        A number of items (exactly so many are drawn), or a share in [0, 1] (each item for itself, which also works
        for a stream).

    Examples
    --------
    >>> sample = audit_sample(range(1000), b"sixteen bytes ..", size=50)
    >>> len(sample.items), verify_audit(sample.items, range(1000), b"sixteen bytes ..", sample.commitment)
    (50, True)
    """
    if not isinstance(key, bytes) or len(key) < _LEAST_KEY:
        raise InputError(
            f"key has {len(key)} bytes; give at least {_LEAST_KEY} random ones, as secrets.token_bytes(32)"
        )
    every = list(items)
    if len(set(every)) < len(every):
        raise InputError("items holds an item twice; give each once, so that all have the same chance")
    drawn = {item: _draw(item, key) for item in every}
    if isinstance(size, Integral) and not isinstance(size, bool):
        if not 0 <= size <= len(every):
            raise InputError(f"size is {size}, of {len(every)} items; give a number of items up to all of them")
        chosen, share = sorted(every, key=lambda item: drawn[item])[:size], size / max(len(every), 1)
    elif isinstance(size, float) and 0 <= size <= 1:
        chosen, share = [item for item in sorted(every, key=lambda item: drawn[item]) if drawn[item] < size], size
    else:
        raise InputError(f"size is {size!r}; give a number of items, or a share in [0, 1]")
    return AuditSample(tuple(chosen), len(every), share, _commitment(key))


def verify_audit(looked_at: Sequence[Any], items: Iterable[Any], key: bytes, commitment: str) -> bool:
    """Say whether these items are the first of the order that the committed key makes.

    Examples
    --------
    >>> verify_audit([3], range(5), b"another key that", "not its commitment")
    False
    """
    if not hmac.compare_digest(_commitment(key), commitment):
        return False
    order = sorted(items, key=lambda item: _draw(item, key))
    return set(looked_at) == set(order[: len(looked_at)])


def _draw(item: Any, key: bytes) -> float:
    digest = hmac.new(key, b"audit\0" + str(item).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def _commitment(key: bytes) -> str:
    return hashlib.sha256(b"audit key\0" + key).hexdigest()
