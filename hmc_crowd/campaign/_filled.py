"""Which HITs are full, which can nobody take any more, and what did they cost?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hmc_crowd.campaign._ledger import Pot, pots_of, settle_pot
from hmc_crowd.campaign._set_aside import Aside, read_submissions
from hmc_crowd.platform import ListsHits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import HitRecord, IntentRecord, Transaction

__all__ = ["close_filled"]

_FEW = 3
_OUT = frozenset({"open", "stopped"})


def close_filled(
    context: Context, platform: Platform, hits: Sequence[HitRecord], unmatched: Mapping[str, Mapping[str, str]]
) -> int:
    """Settle the money of what is full or over, and move the HITs on; return the places that are still open.

    Parameters
    ----------
    unmatched : mapping of str to mapping of str to str
        By the platform's id of a study: submissions whose worker never came to our pages, with their state. They hold
        places, and may be paid.
    """
    keys = {hit.key for hit in hits}
    with context.store.read() as tx:
        before = {pot.key: pot for pot in _pots(context, tx, keys, unmatched)}
    # The platform is asked before the transaction, which would hold the database while the network answers.
    gone = _gone(context, platform, [pot for pot in before.values() if any(hit.state in _OUT for hit in pot.hits)])
    with context.store.begin() as tx:
        filled = _Filled(context, tx, platform)
        pots = _pots(context, tx, keys, unmatched)
        for pot in pots:
            _note_unmatched(tx, pot)
        # Another process may have asked for more answers meanwhile: what has changed waits for the next collection.
        return sum(
            _close(context, tx, filled, pot, is_gone=pot.key in gone and pot == before.get(pot.key)) for pot in pots
        )


def _pots(context: Context, tx: Transaction, keys: set[str], unmatched: Mapping[str, Mapping[str, str]]) -> list[Pot]:
    """Return the pots that the HITs belong to, whole, as they stand now."""
    every = tx.work.hits(context.campaign_id, with_items=False)
    orders = {hit.order_key for hit in every if hit.key in keys and hit.order_key}
    whole = [hit for hit in every if hit.key in keys or hit.order_key in orders]
    found = []
    for pot in pots_of(whole, tx.work.intents(context.campaign_id)):
        remote_id = str(pot.hits[0].platform_hit_id)
        found.append(replace(pot, unmatched=tuple(sorted(unmatched.get(remote_id, {}).items()))))
    return found


class _Filled:
    """How many places of each HIT somebody has handed in, and how many of those are to be paid."""

    def __init__(self, context: Context, tx: Transaction, platform: Platform) -> None:
        known = tx.work.submissions(context.campaign_id)
        known = known[known["platform"] == platform.name]
        # A rejected submission keeps its place unless the platform frees it.
        paid = {"submitted", "approved"}
        taken = paid | (set() if platform.capabilities.rejection_frees_slot else {"rejected"})
        apart, freed = _paid_apart(tx.work.intents(context.campaign_id), platform.name)
        has_place, is_of_place = ~known["submission_id"].isin(freed), ~known["submission_id"].isin(apart)
        self.known: pd.DataFrame = known
        self.taken = Counter(known.loc[known["state"].isin(taken) & has_place, "hit_key"].tolist())
        self.paid = Counter(known.loc[known["state"].isin(paid) & is_of_place, "hit_key"].tolist())
        # Of what cannot be read nobody knows whether it is over.
        self.under_way = Counter(known.loc[known["state"].isin({"accepted", "unknown"}), "hit_key"].tolist())
        self.keeps_rejected = "rejected" in taken

    def taken_of(self, pot: Pot) -> int:
        """Return the places of a pot that are filled."""
        states = {"submitted", "approved"} | ({"rejected"} if self.keeps_rejected else set())
        return sum(self.taken[hit.key] for hit in pot.hits) + sum(state in states for _, state in pot.unmatched)

    def paid_of(self, pot: Pot) -> int:
        """Return the places of a pot that are paid, or will be."""
        states = {"submitted", "approved"}
        return sum(self.paid[hit.key] for hit in pot.hits) + sum(state in states for _, state in pot.unmatched)

    def under_way_of(self, pot: Pot) -> int:
        """Return how many people are at work on it."""
        unmatched = sum(state in {"accepted", "unknown"} for _, state in pot.unmatched)
        return unmatched + sum(self.under_way[hit.key] for hit in pot.hits)


def _paid_apart(intents: Iterable[IntentRecord], platform: str) -> tuple[set[str], set[str]]:
    """Return what was paid out of money of its own, not that of its place, and what of it has no place any more."""
    apart: set[str] = set()
    freed: set[str] = set()
    for each in intents:
        payload, result = each.payload or {}, each.result or {}
        if each.operation != "approve" or each.lane != platform or not payload.get("extra"):
            continue
        names = {*result.get("approved", ()), *result.get("auto_approved", ())}
        if each.state == "done" and "approved" not in result:  # a person said so
            names = set(payload["extra"])
        apart |= names & set(payload["extra"])
        freed |= names & set(payload.get("freed", ()))
    return apart, freed


def _close(context: Context, tx: Transaction, filled: _Filled, pot: Pot, *, is_gone: bool) -> int:
    """Settle one pot if nothing more can happen in it; return its open places."""
    if not any(hit.state in _OUT for hit in pot.hits):
        return _look_again(context, tx, filled, pot)
    full = filled.taken_of(pot) >= pot.places
    over = not pot.is_growing and (full or (is_gone and not filled.under_way_of(pot)))
    for hit in pot.hits:
        is_full = filled.taken[hit.key] >= hit.redundancy
        if over and hit.state in _OUT:
            tx.work.set_hit(hit.key, state="complete" if is_full else "closed")
    if not over:
        left = max(0, pot.places - filled.taken_of(pot))
        # Nobody takes a place of what was stopped any more: only who has begun may still hand in.
        return min(left, filled.under_way_of(pot)) if all(hit.state != "open" for hit in pot.hits) else left
    settle_pot(context.campaign_id, tx, pot, filled.paid_of(pot))
    return 0


def _look_again(context: Context, tx: Transaction, filled: _Filled, pot: Pot) -> int:
    """Follow what happened behind our back to a pot that was closed: less is paid, or a place is offered again."""
    if pot.is_growing or any(hit.state not in {"complete", "closed"} for hit in pot.hits):
        return 0
    emptied = [hit for hit in pot.hits if hit.state == "complete" and filled.taken[hit.key] < hit.redundancy]
    for hit in emptied:
        tx.work.set_hit(hit.key, state="open")
    if emptied:
        return max(0, pot.places - filled.taken_of(pot))
    settle_pot(context.campaign_id, tx, pot, filled.paid_of(pot))
    return 0


def _note_unmatched(tx: Transaction, pot: Pot) -> None:
    """Keep with the order whose work we do not hold: a person should ask them to return, and their pay counts."""
    intent = tx.work.intent(pot.key)
    if intent is None or intent.operation != "recruit":
        return
    before = (intent.result or {}).get("unmatched") or {}
    now = dict(pot.unmatched)
    if now != before:
        tx.work.set_intent(pot.key, intent.state, {**(intent.result or {}), "unmatched": now})


def _gone(context: Context, platform: Platform, pots: Sequence[Pot]) -> set[str]:
    """Return the pots that nobody can take from any more and whose submissions are all here.

    Somebody may have taken or filled a place since the submissions were read. Such a HIT is no longer open and yet not
    done with: it stays for the next collection, or its money would be freed and its items asked once more.
    """
    with context.store.read() as tx:
        filled = _Filled(context, tx, platform)
    unfilled = [pot for pot in pots if filled.taken_of(pot) < pot.places]
    still_open = _open_keys(platform, unfilled)
    closed = [pot for pot in unfilled if pot.key not in still_open]
    known = filled.known
    states = dict(zip(known["submission_id"].tolist(), known["state"].tolist(), strict=True))
    for pot in closed:
        states |= dict(pot.unmatched)
    ids = {str(hit.platform_hit_id): pot.key for pot in closed for hit in pot.hits if hit.platform_hit_id}
    aside = Aside(platform.name)
    moved = {
        ids[each.hit_id]
        for each in read_submissions(platform, list(ids), aside)
        if each.hit_id in ids and states.get(each.submission_id) != each.state
    }
    moved |= {ids[each] for each in aside.unread_hits}
    return {pot.key for pot in closed} - moved


def _open_keys(platform: Platform, pots: Sequence[Pot]) -> set[str]:
    """Return which of these somebody may still take; one look through all where the platform has that."""
    if len(pots) > _FEW and isinstance(platform, ListsHits):
        every = platform.find_all()
        return {pot.key for pot in pots if pot.key in every and every[pot.key].is_open}
    found = [(pot.key, platform.find(pot.key)) for pot in pots]
    return {key for key, remote in found if remote is not None and remote.is_open}
