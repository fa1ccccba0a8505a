"""Is this item drawn? A keyed draw without state, the same for one item and for a million.

The draw is SipHash-2-4 of the item id's UTF-8 bytes, a keyed function made for short inputs: who does not hold the
key can neither foresee nor tell apart from chance which items are drawn, however many draws they have seen. It
needs only additions, rotations and exclusive-ors on 64 bits, so numpy computes it for whole columns, and
`keyed_fractions` equals `keyed_fraction` bit for bit; any other implementation of the published function gives the
same draws.

`hmc_crowd._base.ids.keyed_fraction` (HMAC-SHA-256) has the same purpose; it takes microseconds an item and cannot
be run on columns.

Source: Aumasson, Bernstein (2012), "SipHash: a fast short-input PRF".
"""

from __future__ import annotations

import hashlib
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["item_text", "item_texts", "keyed_fraction", "keyed_fractions", "siphash"]

_MASK = (1 << 64) - 1
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_UNIT = 1.0 / (1 << 53)
# Columns are hashed in blocks that stay in the processor's cache.
_BLOCK = 1 << 14


def keyed_fraction(key: bytes, item: str, *, purpose: str = "audit") -> float:
    """Return a number in [0, 1) that depends on key, purpose and item alone.

    An item whose number is below ``p`` is drawn with probability p.

    Examples
    --------
    >>> keyed_fraction(b"key", "item-1") == float(keyed_fractions(b"key", ["item-1"])[0])
    True
    """
    return (siphash(_sip_key(key, purpose), _bytes(item_text(item))) >> 11) * _UNIT


def keyed_fractions(key: bytes, items: Sequence[str], *, purpose: str = "audit") -> NDArray[np.float64]:
    """Return `keyed_fraction` of every item, shape (n_items,).

    Examples
    --------
    >>> bool((keyed_fractions(b"key", [f"item-{i}" for i in range(1000)]) < 0.5).mean().round(1) == 0.5)
    True
    """
    data, lengths = _packed(items)
    starts = np.cumsum(lengths) - lengths
    words = lengths >> 3
    # Every position of the text read as a little-endian word, without a copy; eight zero bytes close the last one.
    text = np.ndarray((len(data) + 1,), dtype="<u8", buffer=data + bytes(8), strides=(1,))
    hashes = np.empty(len(lengths), dtype=np.uint64)
    sip_key = _sip_key(key, purpose)
    for count in np.unique(words).tolist():
        rows = np.flatnonzero(words == count)
        for first in range(0, len(rows), _BLOCK):
            block = rows[first : first + _BLOCK]
            hashes[block] = _siphash_block(sip_key, text, starts[block], lengths[block], count)
    return (hashes >> np.uint64(11)).astype(np.float64) * _UNIT


def siphash(key: bytes, data: bytes) -> int:
    """Return SipHash-2-4 of the data under a key of 16 bytes, as an unsigned 64-bit number."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    v0, v1, v2, v3 = _START[0] ^ k0, _START[1] ^ k1, _START[2] ^ k0, _START[3] ^ k1
    tail = len(data) & ~7
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, tail, 8)]
    words.append(int.from_bytes(data[tail:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v0, v1, v2, v3 = _rounds(v0, v1, v2, v3 ^ word, 2)
        v0 ^= word
    v0, v1, v2, v3 = _rounds(v0, v1, v2 ^ 0xFF, v3, 4)
    return v0 ^ v1 ^ v2 ^ v3


def _rounds(v0: int, v1: int, v2: int, v3: int, times: int) -> tuple[int, int, int, int]:
    for _ in range(times):
        v0 = (v0 + v1) & _MASK
        v1 = ((v1 << 13) & _MASK | v1 >> 51) ^ v0
        v0 = (v0 << 32) & _MASK | v0 >> 32
        v2 = (v2 + v3) & _MASK
        v3 = ((v3 << 16) & _MASK | v3 >> 48) ^ v2
        v0 = (v0 + v3) & _MASK
        v3 = ((v3 << 21) & _MASK | v3 >> 43) ^ v0
        v2 = (v2 + v1) & _MASK
        v1 = ((v1 << 17) & _MASK | v1 >> 47) ^ v2
        v2 = (v2 << 32) & _MASK | v2 >> 32
    return v0, v1, v2, v3


def _siphash_block(
    key: bytes, text: NDArray[np.uint64], starts: NDArray[np.int64], lengths: NDArray[np.int64], words: int
) -> NDArray[np.uint64]:
    """Hash ids that all have the same number of full words."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    v = [np.full(len(starts), start ^ k, dtype=np.uint64) for start, k in zip(_START, (k0, k1, k0, k1), strict=True)]
    for index in range(words):
        _absorb(v, text[starts + 8 * index])
    unused_bits = (8 * (8 - (lengths & 7))).astype(np.uint64)
    # A shift by 64 is undefined, so an empty tail is masked in two steps.
    mask = np.uint64(_MASK) >> np.minimum(unused_bits, 63)
    mask[unused_bits == 64] = 0
    _absorb(v, (text[starts + 8 * words] & mask) | (lengths & 0xFF).astype(np.uint64) << np.uint64(56))
    v[2] ^= np.uint64(0xFF)
    _round_block(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _absorb(v: list[NDArray[np.uint64]], word: NDArray[np.uint64]) -> None:
    v[3] ^= word
    _round_block(v, 2)
    v[0] ^= word


def _round_block(v: list[NDArray[np.uint64]], times: int) -> None:
    spare = np.empty_like(v[0])

    def rotate(x: NDArray[np.uint64], bits: int) -> None:
        np.right_shift(x, np.uint64(64 - bits), out=spare)
        np.left_shift(x, np.uint64(bits), out=x)
        np.bitwise_or(x, spare, out=x)

    for _ in range(times):
        for a, b, bits, turn in ((0, 1, 13, 32), (2, 3, 16, 0), (0, 3, 21, 0), (2, 1, 17, 32)):
            v[a] += v[b]
            rotate(v[b], bits)
            v[b] ^= v[a]
            if turn:
                rotate(v[a], turn)


def _sip_key(key: bytes, purpose: str) -> bytes:
    """Derive the 16 bytes; draws of different purposes must not depend on one another."""
    if not isinstance(key, bytes):
        raise InputError(f"key is a {type(key).__name__}; give secret bytes, such as secrets.token_bytes(32)")
    return hashlib.sha256(purpose.encode() + b"\0" + key).digest()[:16]


def _bytes(item: str) -> bytes:
    return item.encode("utf-8", "surrogatepass")


def _packed(items: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
    """Join the ids' bytes and tell the length of each."""
    joined = "".join(items)
    data = _bytes(joined)
    if len(data) == len(joined):
        return data, np.fromiter(map(len, items), dtype=np.int64, count=len(items))
    return data, np.fromiter((len(_bytes(item)) for item in items), dtype=np.int64, count=len(items))


def item_text(item: Any, *, name: str = "item") -> str:
    """Return an item id as text; whole numbers are written out."""
    if isinstance(item, str):
        return item
    if isinstance(item, Integral) and not isinstance(item, bool):
        return str(int(item))
    raise InputError(f"{name} is {item!r}; item ids are text (or whole numbers)")


def item_texts(items: Any) -> list[str]:
    """Return a column of distinct item ids as a list of text."""
    column = items.tolist() if hasattr(items, "tolist") else list(items)
    kinds = set(map(type, column))
    if kinds != {str}:
        column = [item_text(item, name=f"items, row {row},") for row, item in enumerate(column)]
    if len(set(column)) != len(column):
        seen: dict[str, int] = {}
        for row, item in enumerate(column):
            if seen.setdefault(item, row) != row:
                raise InputError(f"items holds {item!r} twice, in rows {seen[item]} and {row}; give every item once")
    return column
