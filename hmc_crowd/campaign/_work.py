"""What is there to do for people: which questions, how often still, and what each costs in time?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._packing import BundleItem
    from hmc_crowd.campaign._until_sure import UntilSure
    from hmc_crowd.campaign.bundles import Bundle
    from hmc_crowd.store import HitRecord, Transaction

__all__ = ["all_asked", "asked_units", "gold_work", "items_answered", "open_places", "work_left"]

TAKEN = ("submitted", "approved", "rejected")


def work_left(
    context: Context, tx: Transaction, plan_id: int, redundancy: int, until: UntilSure | None = None
) -> pd.DataFrame:
    """Return every question about the plan's items for people, with how many answers it still needs, and its cost.

    A question whose answers are tied needs one more than it has. Answers under another guideline are none. With
    ``until`` questions are asked again, one answer at a time, until they are sure.
    """
    units = asked_units(context, tx, plan_id, redundancy, until)
    units = units[units["needed"] > 0]
    return _with_cost(context, tx, units[["item", "aspect", "needed"]])


def asked_units(
    context: Context, tx: Transaction, plan_id: int, redundancy: int, until: UntilSure | None = None
) -> pd.DataFrame:
    """Return every question about the plan's items for people: ``item, aspect, destination, given, coming, needed``."""
    if isinstance(redundancy, bool) or redundancy < 1:
        raise InputError(f"redundancy is {redundancy}; at least one worker must answer an item")
    units = _questions(context, tx, tx.plans.read(plan_id, people_only=True, columns=["item", "destination"]))
    versions = Versions(context, tx)
    pairs = pd.MultiIndex.from_frame(units[["item", "aspect"]])
    given = np.asarray(_given(context, tx, versions).reindex(pairs, fill_value=0), dtype=np.int64)
    # Places of earlier HITs that somebody may still take are as good as asked.
    coming = np.asarray(_still_coming(context, tx, versions).reindex(pairs, fill_value=0), dtype=np.int64)
    have = given + coming
    labels = tx.labels.read(context.campaign_id)
    tied = pairs.isin(pd.MultiIndex.from_frame(labels.loc[labels["tied"].astype(bool), ["item", "aspect"]]))
    needed = np.where(tied & (have == redundancy), 1, np.maximum(0, redundancy - have))
    if until is not None:
        # What has no labels to be sure of is asked as ever.
        needed = np.where(until.is_limited(units), until.needed(units, given, coming, redundancy), needed)
    return units.assign(given=given, coming=coming, needed=needed)


def items_answered(context: Context, tx: Transaction, plan_id: int, redundancy: int) -> tuple[int, int]:
    """Return how many of the plan's items for people have all their answers, and how many such items there are."""
    units = _questions(context, tx, tx.plans.read(plan_id, people_only=True, columns=["item"]))
    pairs = pd.MultiIndex.from_frame(units[["item", "aspect"]])
    have = _given(context, tx, Versions(context, tx)).reindex(pairs, fill_value=0).to_numpy()
    lacking, every = units.loc[have < redundancy, "item"].nunique(), units["item"].nunique()
    return every - lacking, every


def _given(context: Context, tx: Transaction, versions: Versions) -> pd.Series[int]:
    """Return how many answers count for each item and aspect."""
    answers = tx.work.answers(context.campaign_id, include_excluded=False, include_gold=False)
    return versions.counting(answers).groupby(["task", "aspect"], observed=True).size()


def open_places(context: Context, tx: Transaction) -> list[tuple[HitRecord, int]]:
    """Return each HIT that is out with how many of its places nobody has handed in yet.

    A rejected submission keeps its place, except where the platform offers it again by itself. Of a HIT that was
    stopped only those are left whose work is under way, as far as we have heard of it.
    """
    submissions = tx.work.submissions(context.campaign_id)
    frees = submissions["platform"].isin(tx.campaigns.get(context.name).settings.get("frees_slot", []))
    is_taken = submissions["state"].isin(TAKEN) & ~(frees & (submissions["state"] == "rejected"))
    taken = submissions[is_taken].groupby("hit_key").size()
    begun = submissions[submissions["state"] == "accepted"].groupby("hit_key").size()
    found = [
        (hit, max(0, hit.redundancy - int(taken.get(hit.key, 0))))
        for hit in tx.work.hits(context.campaign_id, state="open")
    ]
    stopped = tx.work.hits(context.campaign_id, state="stopped")
    return [*found, *((hit, int(begun.get(hit.key, 0))) for hit in stopped)]


def _questions(context: Context, tx: Transaction, items: pd.DataFrame) -> pd.DataFrame:
    """Return all aspects of these items, but those whose answer is known."""
    aspects = [each.name for each in tx.campaigns.aspects(context.campaign_id)]
    asked = items.merge(pd.DataFrame({"aspect": aspects}), how="cross")
    if len(aspects) == 1:
        return asked  # gold of the first aspect is never planned
    known = tx.frames.read(context.campaign_id, "gold", columns=["item", "aspect"])
    is_known = pd.MultiIndex.from_frame(asked[["item", "aspect"]]).isin(pd.MultiIndex.from_frame(known.astype(str)))
    return asked[~is_known].reset_index(drop=True)


def _still_coming(context: Context, tx: Transaction, versions: Versions) -> pd.Series[int]:
    """Return how many answers are still to come for each item and aspect from HITs that are out."""
    coming: Counter[tuple[str, str]] = Counter()
    for hit, places in open_places(context, tx):
        for each in hit.items:
            coming[each.item, each.aspect] += 0 if versions.is_stale(each) else places
    items, aspects = [item for item, _ in coming], [aspect for _, aspect in coming]
    index = pd.MultiIndex.from_arrays([items, aspects], names=["item", "aspect"])
    return pd.Series(list(coming.values()), index=index, dtype="int64")


def _with_cost(context: Context, tx: Transaction, units: pd.DataFrame) -> pd.DataFrame:
    """Add group, position, and seconds split in reading into the group and judging the item.

    A group that has lost a text to retention is asked about no more: nobody could judge what he cannot read.
    """
    wanted = units["item"].unique().tolist()
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "group", "position"], items=wanted)
    every = tx.frames.read(context.campaign_id, "items", columns=["group", "position", "erased_at"])
    items = items[~items["group"].isin(every.loc[every["erased_at"].notna(), "group"])]
    turns = every["group"].value_counts()
    efforts = tx.frames.read(
        context.campaign_id, "efforts", columns=["item", "seconds", "setup_s"], items=wanted
    ).fillna({"setup_s": 0.0})
    frame = units.merge(items, on="item").merge(efforts, on="item")
    first = every.groupby("group")["position"].min()
    # Nothing left to ask about is a frame whose columns have no kind of their own.
    frame["has_context"] = frame["position"].astype("int64") > frame["group"].map(first).astype("int64")
    # An item's seconds hold its part of the set-up; what is left is what one more item of an open group costs.
    part = frame["setup_s"] / frame["group"].map(turns).to_numpy()
    # The seconds are the item's: all that is asked about it shares them.
    asked = frame.groupby("item")["item"].transform("size")
    return frame.assign(effort_s=np.maximum(frame["seconds"] - part, 0.0) / asked).reset_index(drop=True)


def gold_work(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return the items whose label is known, each once; `all_asked` adds what else is asked about them."""
    gold = tx.frames.read(context.campaign_id, "gold").drop_duplicates("item")
    if float(context.settings_in(tx).get("suggest_share", 0.0)) > 0:
        # Where others come with a suggestion, an item without one would be known for gold.
        first = tx.campaigns.aspects(context.campaign_id)[0].name
        said = tx.frames.read(context.campaign_id, "predictions", aspect=first, columns=["item"])["item"]
        gold = gold[gold["item"].isin(said)]
    if gold.empty:
        return gold
    return _with_cost(context, tx, gold[["item", "aspect", "label"]])


def known_beside(context: Context, tx: Transaction, work: pd.DataFrame) -> dict[str, frozenset[str]]:
    """Return, of each item that is to be judged, the aspects whose answer is known: they are asked along, as gold."""
    aspects = [each.name for each in tx.campaigns.aspects(context.campaign_id)]
    if len(aspects) == 1 or work.empty:
        return {}
    wanted = work["item"].astype(str).unique().tolist()
    known = tx.frames.read(context.campaign_id, "gold", columns=["item", "aspect"], items=wanted).astype(str)
    return {str(item): frozenset(some) for item, some in known.groupby("item")["aspect"]}


def all_asked(bundle: Bundle, aspects: Sequence[str], known: Mapping[str, Collection[str]] | None = None) -> Bundle:
    """Return a bundle in which all items are asked the same, in the campaign's order: nothing tells gold.

    What is known of an item that is judged in another aspect (``known``, by item) is asked along as gold. The order of
    an item's questions would give gold away where the two differed, and is what the owner meant.
    """
    known = known or {}
    asked = {each.aspect for each in bundle.items if not each.is_gold}
    asked |= {name for each in bundle.items if not each.is_gold for name in known.get(each.item, ())}
    items: list[BundleItem] = []
    for is_gold, run in groupby(bundle.items, key=lambda each: (each.is_gold, each.item)):
        if not is_gold[0]:
            items += sorted(_with_known([*run], known), key=lambda each: aspects.index(each.aspect))
            continue
        each = next(run)
        wanted = [name for name in aspects if name in asked | {each.aspect}]
        items += [replace(each, aspect=name, effort_s=each.effort_s / len(wanted)) for name in wanted]
    return replace(bundle, items=tuple(items))


def _with_known(run: list[BundleItem], known: Mapping[str, Collection[str]]) -> list[BundleItem]:
    """Return the questions about an item with those whose answer is known; together they take as long as before."""
    more = sorted({*known.get(run[0].item, ())} - {each.aspect for each in run})
    if not more:
        return run
    part = sum(each.effort_s for each in run) / (len(run) + len(more))
    gold = [replace(run[0], aspect=name, is_gold=True) for name in more]
    return [replace(each, effort_s=part) for each in (*run, *gold)]
