"""What does gold cost here, what will it show of each worker, and is there enough of it? Before anything is sent.

Too little gold is met twice (where pages give nobody a question twice, it keeps people out instead), gold of one label
is passed by always giving it, and gold at its limit leaves work unchecked: each is said in a sentence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._gold_looks import GoldTell, gold_tells
from hmc_crowd.campaign._gold_marking import best_guess, gold_rules
from hmc_crowd.campaign._gold_pool import gold_shown
from hmc_crowd.quality._gold_load import load_of  # because the HITs are known here, not items and gold of each

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.quality import GoldLoad
    from hmc_crowd.store import HitRecord, Transaction

__all__ = ["GoldSheet", "gold_sheet"]

_SHOWN = 3
_NONE = "nobody's answers can be checked and no worker's quality be known"


@dataclass(frozen=True)
class GoldSheet:
    """The gold in a publication.

    Parameters
    ----------
    items : int
        Known items of the campaign.
    mixed_in : int
        How many of them are in these HITs.
    load : GoldLoad
        Answers to gold with their share and cost; gold answers of one worker and how well they tell his accuracy; how
        many gold items are needed.
    people : int
        Among how many the work is shared, for the figures of one worker: as told, or as have worked so far, or as few
        as the gold allows.
    people_from : str
        Which of these: ``told``, ``worked`` or ``fewest``.
    hits_each : int
        HITs that one person can take without meeting gold again.
    most_shown : int
        How many people will have met the gold item that is shown most, earlier rounds included.
    limit : int or None
        Most people who may meet a gold item.
    hits_without : int
        HITs that carry no gold.
    currency : str
        Of the load's cost.
    tells : tuple of GoldTell
        By which looks of a page workers can tell that it is gold, with the odds.
    """

    items: int
    mixed_in: int
    load: GoldLoad
    people: int
    people_from: str
    hits_each: int
    most_shown: int
    limit: int | None
    hits_without: int
    currency: str
    tells: tuple[GoldTell, ...] = ()

    def __str__(self) -> str:
        return "; ".join(text for text in (self.cost_text(), self.use_text()) if text)

    def cost_text(self) -> str:
        """Say how many answers go to gold, and what they cost."""
        if not self.load.answers:
            return "none"
        cost = Money(self.load.cost_minor, self.currency)
        return f"{self.load.answers:,} of the answers ({self.load.share:.1%}), about {cost}"

    def use_text(self) -> str:
        """Say what that tells of each worker, and how often a gold item is met."""
        if not self.load.answers:
            return ""
        who = {"told": "", "worked": " (who have worked so far)", "fewest": " (the fewest with this gold)"}
        limit = f", the limit is {self.limit:,}" if self.limit else ""
        return (
            f"{self.load.per_worker:,.1f} a worker among {self.people:,} people{who[self.people_from]}: accuracy to "
            f"+-{self.load.half_width:.2f}; {self.mixed_in:,} of {self.items:,} items, none shown to more than "
            f"{self.most_shown:,} people{limit}"
        )


def gold_sheet(
    context: Context,
    tx: Transaction,
    platform: Platform,
    records: Sequence[HitRecord],
    *,
    total_minor: int,
    currency: str,
    limit: int | None,
    people: int | None,
) -> tuple[GoldSheet, tuple[str, ...]]:
    """Return what gold these HITs hold, and sentences on what is wrong with it.

    Parameters
    ----------
    total_minor : int
        What the HITs cost, fees included; an answer to gold is taken to cost as much as any other.
    limit, people : int, optional
        As publishing was told.
    """
    gold = tx.frames.read(context.campaign_id, "gold")
    known = set(zip(gold["item"], gold["aspect"].astype(str), strict=True))
    sets = [frozenset((each.item, each.aspect) for each in hit.items if each.is_gold) & known for hit in records]
    places = sum(hit.redundancy for hit in records)
    hits_each = _hits_each(sets)
    fewest = max(math.ceil(places / max(1, hits_each)), max((hit.redundancy for hit in records), default=1))
    worked = int(tx.work.submissions(context.campaign_id)["worker"].nunique())
    among, source = (people, "told") if people else (worked, "worked") if worked else (fewest, "fewest")
    among = max(1, min(among, places))  # nobody has less than a place
    shown = gold_shown(context, tx, besides={hit.key for hit in records})
    for hit, some in zip(records, sets, strict=True):
        shown.update(dict.fromkeys(some, hit.redundancy))
    sheet = GoldSheet(
        items=gold["item"].nunique(),
        mixed_in=len({item for some in sets for item, _ in some}),
        load=_load(records, sets, total_minor=total_minor, people=among, limit=limit),
        people=among,
        people_from=source,
        hits_each=hits_each,
        most_shown=max(shown.values(), default=0),
        limit=limit,
        hits_without=sum(not some for some in sets),
        currency=currency,
        tells=gold_tells(context, tx, records),
    )
    if not records:
        return sheet, ()
    lacks = _what_lacks(sheet, len(records), fewest, platform)
    return sheet, (*lacks, *_one_sided(context, tx, gold, sheet), *_told_apart(sheet))


def _told_apart(sheet: GoldSheet) -> list[str]:
    """Say where workers can tell gold by its looks."""
    if not sheet.tells:
        return []
    odds = "; ".join(map(str, sheet.tells[:_SHOWN]))
    return [f"workers can tell gold by its looks: {odds}. Make gold of items that look like the others, turns included"]


def _load(
    records: Sequence[HitRecord],
    sets: Sequence[frozenset[tuple[str, str]]],
    *,
    total_minor: int,
    people: int,
    limit: int | None,
) -> GoldLoad:
    """Return the load of these HITs: all answers to gold cost, those whose label is known tell of the worker."""
    every = sum(hit.redundancy * len(hit.items) for hit in records)
    mixed = sum(hit.redundancy * sum(each.is_gold for each in hit.items) for hit in records)
    telling = load_of(
        gold=sum(hit.redundancy * len(some) for hit, some in zip(records, sets, strict=True)),
        answers=every - mixed,
        workers=people,
        at_once=max(map(len, sets), default=0),
        answer_minor=0,
        limit=limit,
    )
    cost = math.ceil(total_minor * mixed / max(1, every))
    return replace(telling, share=mixed / max(1, every), answers=mixed, cost_minor=cost)


def _hits_each(sets: Sequence[frozenset[tuple[str, str]]]) -> int:
    """Count the HITs that somebody can take, in their order, without meeting gold again."""
    met: set[tuple[str, str]] = set()
    count = 0
    for some in sets:
        if met.isdisjoint(some):
            met |= some
            count += 1
    return count


def _what_lacks(sheet: GoldSheet, hits: int, fewest: int, platform: Platform) -> list[str]:
    """Say where there is no gold, too little, or none left under the limit."""
    if not sheet.items:
        return [f"the campaign has no gold, so {_NONE}: add_gold() with items whose labels are known"]
    if not sheet.load.answers:
        return [f"no gold is mixed in, so {_NONE}: give a gold_share above 0, or a gold_limit that leaves some"]
    said = []
    if sheet.hits_without:
        without = f"{sheet.hits_without:,} of {hits:,} HITs carry no gold"
        lacking = math.ceil(sheet.items * sheet.hits_without / max(1, hits - sheet.hits_without))
        at_limit = f", which rests at its limit of {sheet.limit} people: make about {lacking:,} more gold items"
        said.append(f"{without}{at_limit}, or raise gold_limit" if sheet.limit else f"{without}, so {_NONE} there")
    if sheet.people < fewest:
        more = max(1, sheet.load.items_needed - sheet.items)
        again = f"one of them can take {sheet.hits_each:,} of the {hits:,} HITs"
        if not platform.capabilities.repeats_are_barred:
            again = f"one of them meets gold again after {sheet.hits_each:,} of the {hits:,} HITs, which proves nothing"
        said.append(
            f"there is too little gold for {sheet.people:,} people, {again}: make {more:,} more gold items, lower "
            f"gold_share, or have at least {fewest:,} people"
        )
    return said


def _one_sided(context: Context, tx: Transaction, gold: pd.DataFrame, sheet: GoldSheet) -> list[str]:
    """Say where gold is passed by always giving one answer."""
    if not sheet.load.answers:
        return []
    rules, said = gold_rules(context, tx), []
    for aspect, rows in gold.groupby(gold["aspect"].astype(str), sort=False):
        label, share = best_guess(rules[str(aspect)], rows["label"].astype(str).tolist())
        if share == 1.0:
            why = "is of one label" if rows["label"].nunique() == 1 else "is within its tolerance of one answer"
            said.append(
                f"all gold of aspect {aspect!r} {why}, so whoever always says {label!r} passes: make other gold"
            )
    return said
