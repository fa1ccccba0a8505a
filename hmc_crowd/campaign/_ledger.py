"""Which money belongs to which places, and what of it is spent?

A pot is what was reserved for places that are filled from one stock: a HIT with what it was extended by, or the people
recruited together for many HITs. What is spent of a pot follows from how many of its places are to be paid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.store import HitRecord, IntentRecord, Transaction

__all__ = ["Pot", "pots_of", "settle_pot"]


@dataclass(frozen=True)
class Pot:
    """HITs and the money for their places.

    Parameters
    ----------
    reservations : tuple of (str, int, int)
        Key, places and amount in minor units of each.
    unmatched : tuple of (str, str)
        Id and state of submissions whose worker never came to our pages.
    is_growing : bool
        Whether more places are asked for and nobody knows yet whether they are there: it is not settled before that.
    """

    key: str
    hits: tuple[HitRecord, ...]
    reservations: tuple[tuple[str, int, int], ...]
    unmatched: tuple[tuple[str, str], ...] = ()
    is_growing: bool = False

    @property
    def places(self) -> int:
        """Places in all."""
        return sum(hit.redundancy for hit in self.hits)


def pots_of(hits: Iterable[HitRecord], intents: Iterable[IntentRecord]) -> list[Pot]:
    """Return the pots of these HITs, in their order."""
    together: dict[str, list[HitRecord]] = {}
    for hit in hits:
        if hit.state != "cancelled":  # nobody was ever asked for it
            together.setdefault(hit.order_key or hit.key, []).append(hit)
    growing: set[str] = set()
    money: dict[str, list[tuple[str, int, int]]] = {}
    unmatched: dict[str, tuple[tuple[str, str], ...]] = {}
    for intent in intents:
        if intent.operation not in {"publish", "recruit", "extend"} or intent.state == "cancelled":
            continue
        key, places = _place(intent, together)
        if key is not None:
            money.setdefault(key, []).append((intent.key, places, intent.amount_minor))
            if intent.operation == "extend" and intent.state != "done":
                growing.add(key)
        if intent.operation == "recruit":
            unmatched[intent.key] = tuple(sorted(((intent.result or {}).get("unmatched") or {}).items()))
    return [
        Pot(key, tuple(some), tuple(money.get(key, ())), unmatched.get(key, ()), is_growing=key in growing)
        for key, some in together.items()
    ]


def _place(intent: IntentRecord, together: dict[str, list[HitRecord]]) -> tuple[str | None, int]:
    """Return the pot that an intent paid into, and for how many places."""
    payload, result = intent.payload or {}, intent.result or {}
    if intent.operation == "recruit":
        return intent.key, int(payload["places"])
    if intent.operation == "publish":
        hits = together.get(intent.key, [])
        return intent.key, int(payload.get("places") or sum(hit.redundancy for hit in hits))
    way = payload["way"]
    key = {"places": payload.get("order_key"), "publish": payload.get("new_key")}.get(way)
    if way == "top_up":
        key = result.get("rest_key") or payload["hit_key"]
    return key, int(payload["more"])


def settle_pot(campaign: int, tx: Transaction, pot: Pot, used: int) -> None:
    """Settle what ``used`` of a pot's places cost; what was settled before is lowered if it was less in the end."""
    left = used
    for key, places, amount in pot.reservations:
        here = min(left, places)
        left -= here
        # Upwards, so that a share of a cent is never missing.
        cost = -(-amount * here // places) if places else 0
        found = tx.budget.purpose(campaign, key)
        if found is None:
            continue
        state, _, settled = found
        if state == "reserved":
            tx.budget.settle(campaign, key, cost)
        elif state == "settled" and settled > cost:
            tx.budget.correct(campaign, key, cost)
