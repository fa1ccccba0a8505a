"""What waits for an expert, and may he open it? His list, in which nothing tells a first look from a later one.

An item is an expert's if a gate sent it (or there is no gate), nobody else has it, and nobody has settled it; or if
another look is asked for, he has not judged it, and his tier may. What was drawn for an audit is everybody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._looks import OPEN, current_judgements, looks
from hmc_crowd.campaign._tiers import policy_of, tiers_in
from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["cases", "drawn_items", "require_mine"]

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
    taken = set(given.loc[given["expert"] != expert, "item"])
    first = labels[~labels["item"].isin(stand.loc[stand["state"] != "begun", "item"])]
    first = _sent(context, tx, aspect, first, taken, begun)
    again = stand[stand["state"].isin(OPEN)]
    tier = tiers_in(context, tx, [expert])[expert]
    may = [to <= tier and expert not in judges for to, judges in zip(again["to_tier"], again["judges"], strict=True)]
    again = again[pd.Series(may, index=again.index, dtype=bool)]
    again = again.loc[~again["item"].isin(taken - begun), ["item"]].merge(labels, on="item", how="left")
    found = pd.concat([first, again], ignore_index=True) if len(again) else first
    place = given.loc[given["expert"] == expert].set_index("item")["place"]
    # What is nobody's comes after what was given to this expert.
    return found.assign(
        is_begun=found["item"].isin(begun), place=found["item"].map(place).fillna(len(given) + 1)
    ).reset_index(drop=True)


def _sent(
    context: Context, tx: Transaction, aspect: str, waiting: pd.DataFrame, taken: set[str], begun: set[str]
) -> pd.DataFrame:
    """Leave out what a gate accepted and what another expert has; without a gate everything is for everybody."""
    sent = tx.gates.decisions(context.campaign_id, aspect=aspect, newest=True)
    # That an item is looked at again is no gate's doing.
    if ((sent["decision"] != "decided") & (sent["policy"] != "tiers")).any():
        # What an expert decided under an earlier guideline comes again; under this one it is not among the waiting.
        wanted = set(sent.loc[sent["decision"] != "accept", "item"])
        return waiting[waiting["item"].isin((wanted - taken) | begun)]
    return waiting


def _mixed(every: pd.DataFrame) -> pd.DataFrame:
    """Leave out what is known of any item, and order alike ones so that nothing tells them apart."""
    every = every.assign(mark=[digest("case", item) for item in every["item"]])
    every = every.sort_values(["is_begun", "place", "mark"], ascending=[False, True, True], ignore_index=True)
    return every.assign(tied=False, confidence=float("nan"), n_answers=0)[_SHOWN]
