"""Chance that depends on what it is for, not on when it is asked.

Sides are swapped, and the random judge decides, by a hash of the seed, a purpose and the item's id. A passed generator
would give another draw to the same item when pairs come in another order, in other batches, or after an interruption;
then answers that were paid for could not be found again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["coin"]


def coin(seed: int, purpose: str, items: Iterable[str]) -> NDArray[np.bool_]:
    """Return a fair coin per item, shape (n,).

    Examples
    --------
    >>> both = coin(7, "swap", ["x", "y", "z"]), coin(7, "swap", ["z", "y", "x"])[::-1]
    >>> bool((both[0] == both[1]).all())
    True
    """
    keys = (f"{seed}\x1f{purpose}\x1f{item}".encode() for item in items)
    return np.array([hashlib.blake2b(key, digest_size=1).digest()[0] & 1 for key in keys], dtype=bool)
