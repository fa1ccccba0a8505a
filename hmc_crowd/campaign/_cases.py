"""What waits for an expert, and may he open it? His list, in which nothing tells a first look from a later one.

An item is an expert's if a gate sent it (or there is no gate), nobody else has it, and nobody has settled it; or if
another look is asked for, he has not judged it, and his tier may. What was drawn for an audit is everybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._gate_data import known_of
from hmc_crowd.campaign._looks import OPEN, current_judgements, looks
from hmc_crowd.campaign._tiers import ANY_TIER, policy_of, tiers_asked, tiers_in
from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["cases", "drawn_items", "require_mine"]

_FEW = 100
_SHOWN = ["item", "tied", "confidence", "n_answers", "is_begun"]


def cases(context: Context, expert: str, *, aspect: str | None) -> pd.DataFrame:
    """Return what waits for an expert: ``item, tied, confidence, n_answers, is_begun``, the most doubtful first.

    Where experts look at items a second time, or an audit was drawn, what is known of items is left out: it would tell
    which ones these are.
    """
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        stand = looks(context, tx, record.name)
        waiting = _waiting(context, tx, record.name, expert, stand)
        drawn = drawn_items(context, tx, record.name)
        said = current_judgements(context, tx, record.name)
        drawn = drawn[~drawn.isin(said["item"])]
        is_mixed = bool(
            policy_of(context.settings_in(tx)).second_look
            or tx.reviews.appeals(context.campaign_id, aspect=record.name)
            or stand["state"].isin(OPEN).any()
        )
    if len(drawn):
        others = waiting.loc[~waiting["item"].isin(drawn), ["item", "is_begun"]]
        every = pd.concat([others, pd.DataFrame({"item": drawn, "is_begun": False})], ignore_index=True)
        return _mixed(every.assign(place=0))
    if is_mixed:
        return _mixed(waiting)
    # Begun first, then in the order in which they were given out, then ties, then the least sure.
    order = ["is_begun", "place", "tied", "confidence"]
    waiting = waiting.sort_values(order, ascending=[False, True, False, True], kind="stable")
    return waiting[_SHOWN].reset_index(drop=True)


def require_mine(context: Context, tx: Transaction, record: AspectRecord, item: str, expert: str) -> None:
    """Refuse an item that is not for this expert, in words that do not tell why: that another has judged it, say."""
    if item in set(drawn_items(context, tx, record.name)):
        return
    stand = looks(context, tx, record.name, items=[item])
    if _waiting(context, tx, record.name, expert, stand, item=item).empty:
        raise StateError(f"item {item!r} is not among what waits for {expert!r}; see the list of cases")


def drawn_items(context: Context, tx: Transaction, aspect: str) -> pd.Series[str]:
    """Return the items of the newest experts' audit."""
    newest = tx.expert_audits.newest(context.campaign_id, aspect)
    if newest is None:
        return pd.Series([], dtype="str", name="item")
    return tx.expert_audits.items(context.campaign_id, aspect, newest.number)["item"]


def _waiting(
    context: Context, tx: Transaction, aspect: str, expert: str, stand: pd.DataFrame, *, item: str | None = None
) -> pd.DataFrame:
    """Return ``item, tied, confidence, n_answers, is_begun, place`` of what waits for an expert."""
    some = None if item is None else [item]
    labels = tx.labels.read(context.campaign_id, aspect=aspect, items=some)
    labels = labels[["item", "tied", "confidence", "n_answers"]].astype({"tied": bool})
    said = current_judgements(context, tx, aspect)
    mine = said[said["expert"] == expert]
    begun = set(mine.loc[mine["final_label"].isna(), "item"])
    given = tx.gates.assigned(context.campaign_id, aspect=aspect)
    # Who has left keeps nothing from the others.
    gone = {key.id for key in tx.keys.all() if key.revoked_at is not None}
    taken = set(given.loc[(given["expert"] != expert) & ~given["expert"].isin(gone), "item"])
    first = labels[~labels["item"].isin(stand.loc[stand["state"] != "begun", "item"])]
    first = _sent(context, tx, aspect, first, taken, begun)
    tier = tiers_in(context, tx, [expert])[expert]
    if tier < ANY_TIER:
        own = begun | set(given.loc[given["expert"] == expert, "item"])
        first = first[first["item"].isin(own) | _is_of_tier(context, tx, aspect, first["item"], own, tier)]
    again = stand[stand["state"].isin(OPEN)]
    may = [to <= tier and expert not in judges for to, judges in zip(again["to_tier"], again["judges"], strict=True)]
    again = again[pd.Series(may, index=again.index, dtype=bool)]
    again = again.loc[~again["item"].isin(taken - begun), ["item"]].merge(labels, on="item", how="left")
    found = pd.concat([first, again], ignore_index=True) if len(again) else first
    place = given.loc[given["expert"] == expert].set_index("item")["place"]
    # What is nobody's comes after what was given to this expert.
    return found.assign(
        is_begun=found["item"].isin(begun), place=found["item"].map(place).fillna(len(given) + 1)
    ).reset_index(drop=True)


def _is_of_tier(
    context: Context, tx: Transaction, aspect: str, items: pd.Series[str], own: set[str], tier: int
) -> pd.Series[bool]:
    """Say of each item whether a tier may judge it: as it was asked for when work was given out, else by its risk."""
    asked = tx.gates.tiers(context.campaign_id, aspect)
    names = [item for item in items if item not in asked and item not in own]
    if names:
        known = known_of(context, tx, names, None)
        by_risk = tiers_asked(known, top=policy_of(context.settings_in(tx)).top)
        asked |= {} if by_risk is None else dict(zip(known["item"], by_risk, strict=True))
    return pd.Series([asked.get(item, 1) <= tier for item in items], index=items.index, dtype=bool)


def _sent(
    context: Context, tx: Transaction, aspect: str, waiting: pd.DataFrame, taken: set[str], begun: set[str]
) -> pd.DataFrame:
    """Leave out what a gate accepted and what another expert has; without a gate everything is for everybody."""
    if tx.gates.has_decided(context.campaign_id, aspect):
        some = waiting["item"].tolist() if len(waiting) <= _FEW else None
        sent = tx.gates.decisions(context.campaign_id, aspect=aspect, newest=True, items=some)
        # What an expert decided under another guideline comes again; under this one it is not among the waiting.
        wanted = set(sent.loc[sent["decision"] != "accept", "item"])
        return waiting[waiting["item"].isin((wanted - taken) | begun)]
    return waiting


def _mixed(every: pd.DataFrame) -> pd.DataFrame:
    """Leave out what is known of any item, and order alike ones so that nothing tells them apart."""
    every = every.assign(mark=[digest("case", item) for item in every["item"]])
    every = every.sort_values(["is_begun", "place", "mark"], ascending=[False, True, True], ignore_index=True)
    return every.assign(tied=False, confidence=float("nan"), n_answers=0)[_SHOWN]
