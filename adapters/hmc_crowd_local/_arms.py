"""Which arm, which side? Who sees the machine's suggestion, and which response of a pair stands first.

Arms are drawn once for each worker and item, by a keyed hash. The same worker meets the same item in the same arm on
every device and after every reload, nobody can foretell his arm without the workplace's secret, and arms are
independent of everything that a worker or an item is: what differs between the arms was caused by the suggestion.
Sides are drawn for each submission and item, and hide nothing.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from hmc_crowd._base.ids import digest

if TYPE_CHECKING:
    from hmc_crowd.platform import Hit

__all__ = ["is_swapped", "mode_of"]

_STEPS = 2**64


def is_swapped(seed: str, item: str) -> bool:
    """Say whether the sides of a pair are shown the other way round.

    >>> sum(is_swapped("submission", f"item {i}") for i in range(1000))
    496
    """
    return int(digest("sides", seed, item)[:8], 16) % 2 == 1


def mode_of(key: bytes, hit: Hit, worker: str, item: str) -> str:
    """Return "suggest" where this worker is shown the machine's label of this item, else "blind".

    Examples
    --------
    >>> from hmc_crowd.platform import Hit, HitItem
    >>> question = HitItem("i1", "label", "d", 1, "Hi", labels=("kind", "rude"), suggestion="kind")
    >>> hit = Hit("k", "Judge", "", (question,), 1, pay_minor=5, currency="USD", suggest_share=0.5)
    >>> modes = [mode_of(b"secret", hit, f"worker {i}", "i1") for i in range(1000)]
    >>> modes.count("suggest")
    497
    """
    has_one = any(each.suggestion for each in hit.items if each.item == item)
    if not has_one or hit.suggest_share <= 0:
        return "blind"
    text = "\x1f".join((hit.scope, worker, item)).encode()
    drawn = int.from_bytes(hmac.digest(key, text, "sha256")[:8], "big")
    return "suggest" if drawn < hit.suggest_share * _STEPS else "blind"
