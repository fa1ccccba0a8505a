"""Can workers tell which pages are gold by how they look? What a page shows, and with which odds that gives gold away.

Looked at is what anybody sees without thinking: whether a dialogue stands before the text, whether the page is the only
one of its dialogue, how long the text is, in which script it is written, whether it is blurred, how many answers it
offers. Where gold is among the pages with one of these far more often than among the others, it is said with the odds.
"""

from __future__ import annotations

import operator
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import hypergeom

from hmc_crowd.campaign._pages import Pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Hit
    from hmc_crowd.store import HitRecord, Transaction

__all__ = ["GoldTell", "gold_tells", "tells_of"]

_MOST_HITS = 2_000
# So unlikely by chance, and so much likelier to be gold than the other pages, is a tell. Context is looked at first and
# is the one that workers see at once, so less is enough for it.
_CHANCE, _CHANCE_CONTEXT, _LIFT = 1e-3, 0.05, 2.0
_CUTS = 33
_CONTEXT = "without a dialogue before it"


@dataclass(frozen=True)
class GoldTell:
    """How a kind of page gives gold away: so many of its pages are gold, and so many of all others."""

    look: str
    gold: int
    pages: int
    gold_else: int
    pages_else: int

    @property
    def odds(self) -> float:
        """The probability that a page of this look is gold."""
        return self.gold / self.pages

    def __str__(self) -> str:
        return (
            f"a page {self.look} is gold with probability {self.gold:,}/{self.pages:,}, any other with "
            f"{self.gold_else:,}/{self.pages_else:,}"
        )


def gold_tells(context: Context, tx: Transaction, records: Sequence[HitRecord]) -> tuple[GoldTell, ...]:
    """Return by which looks the gold of HITs can be told, the surest first."""
    some = list(records[:_MOST_HITS])
    if not any(each.is_gold for record in some for each in record.items):
        return ()
    pages = Pages(context, tx, some)
    return tells_of((pages.hit(record), {each.item for each in record.items if each.is_gold}) for record in some)


def tells_of(hits: Iterable[tuple[Hit, set[str]]]) -> tuple[GoldTell, ...]:
    """Return the same for HITs with the ids of their gold.

    Examples
    --------
    >>> from hmc_crowd.platform import Hit, HitItem
    >>> asked = [HitItem(f"t{n}", "label", "d", n, "So?", ("Hello.",)) for n in range(12)]
    >>> alone = [HitItem(f"s{n}", "label", f"s{n}", 1, "So?") for n in range(3)]
    >>> gold = [HitItem(f"g{n}", "label", f"g{n}", 1, "So?") for n in range(4)]
    >>> hit = Hit("k", "Judge", "", tuple(asked + alone + gold), 1, 5, "USD")
    >>> print(tells_of([(hit, {each.item for each in gold})])[0])
    a page without a dialogue before it is gold with probability 4/7, any other with 0/12
    """
    looks: list[frozenset[str]] = []
    gold: list[bool] = []
    sizes: list[int] = []
    for hit, known in hits:
        turns = Counter(group for group, _ in {(each.group, each.item) for each in hit.items})
        for each in {each.item: each for each in hit.items}.values():
            found = {f"written in {_script(each.text)} letters", f"with {len(each.labels)} answers to choose from"}
            if not each.context:
                found.add(_CONTEXT)
            if turns[each.group] == 1:
                found.add("that is alone of its dialogue")
            if each.sensitive:
                found.add("that is blurred")
            looks.append(frozenset(found))
            gold.append(each.item in known)
            sizes.append(len(each.text))
    told = [_tell(look, looks, gold) for look in sorted(set().union(*looks))] if looks else []
    told += _lengths(sizes, gold)
    return tuple(sorted((each for each in told if each is not None), key=lambda each: (-each.odds, each.look)))


def _tell(look: str, looks: Sequence[frozenset[str]], gold: Sequence[bool]) -> GoldTell | None:
    """Return the odds of one look where they tell anything."""
    found, chance = _counted(look, [look in each for each in looks], gold)
    return found if chance < (_CHANCE_CONTEXT if look == _CONTEXT else _CHANCE) else None


def _counted(look: str, has_look: Sequence[bool], gold: Sequence[bool]) -> tuple[GoldTell | None, float]:
    """Return the odds of a look, and how likely as many would be by chance; 1 where it is no likelier gold."""
    every, all_gold, pages = len(gold), sum(gold), sum(has_look)
    hit = sum(is_gold and has for has, is_gold in zip(has_look, gold, strict=True))
    if not hit or pages == every:
        return None, 1.0
    tell = GoldTell(look, hit, pages, all_gold - hit, every - pages)
    is_more = tell.odds >= _LIFT * tell.gold_else / tell.pages_else
    return tell, float(hypergeom.sf(hit - 1, every, all_gold, pages)) if is_more else 1.0


def _lengths(sizes: Sequence[int], gold: Sequence[bool]) -> list[GoldTell]:
    """Return the length of text that tells most, where one does: as many cuts are tried, so chance is held smaller."""
    cuts = sorted({int(each) for each in np.quantile(sizes, np.linspace(0, 1, _CUTS), method="lower")}) if sizes else []
    tried = [
        _counted(f"with a text of {word} {cut:,} characters", [compare(size, cut) for size in sizes], gold)
        for cut in cuts
        for word, compare in (("at most", operator.le), ("over", operator.gt))
    ]
    found, chance = min(tried, key=lambda each: each[1], default=(None, 1.0))
    return [found] if found is not None and chance * len(tried) < _CHANCE else []


def _script(text: str) -> str:
    """Return the script of a text's letters, by what most of its first letters are called."""
    letters = [each for each in text[:200] if each.isalpha()][:40]
    names = Counter(unicodedata.name(each, "UNKNOWN").partition(" ")[0] for each in letters)
    return names.most_common(1)[0][0].title() if names else "no"
