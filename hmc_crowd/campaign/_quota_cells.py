"""Which people are recruited apart from one another, so that quotas come out? The cells of quotas, with their places.

A platform that recruits for a study with places can be told whom to let in, but not how many of whom. So each cell (a
value of every attribute, or the rest of it) is a study of its own. Guarantees: the people of the cells add up to what
every quota asks, exactly; the places are shared out by people, and the answers to each item as evenly as whole numbers
go; nobody is of two cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.quotas import Trait
from hmc_crowd._base.shares import largest_remainders
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.errors import InfeasibleError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.quality import Quota
    from hmc_crowd.store import HitRecord

__all__ = ["Cell", "cells_of", "share_places", "split_records"]

_MOST_CELLS = 100


@dataclass(frozen=True)
class Cell:
    """People who are recruited together: what is asked of them, how many there shall be, how they are let in."""

    traits: tuple[Trait, ...]
    people: int
    filters: tuple[dict[str, Any], ...] = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self.traits))

    def values(self) -> dict[str, str]:
        """Return the values that everybody in it has."""
        return {each.attribute: each.value for each in self.traits if each.value}


def cells_of(quotas: Sequence[Quota], people: int) -> list[Cell]:
    """Return the cells with their people, those without any left out.

    Where several attributes have quotas, they are crossed as if they were independent, as nearly as whole numbers and
    the quotas allow.

    Raises
    ------
    InfeasibleError
        The cross has very many cells: each would be a study of its own.

    Examples
    --------
    >>> from hmc_crowd.quality import Quota
    >>> [(str(each), each.people) for each in cells_of([Quota("region", {"south": 0.3})], 40)]
    [('region south', 12), ('region other than south', 28)]
    """
    sides = [_side(quota, people) for quota in quotas]
    size = int(np.prod([len(side) for side in sides]))
    if size > _MOST_CELLS:
        raise InfeasibleError(
            f"the quotas have {size} cells, each of them a study of its own; cross fewer attributes, or draw a panel"
        )
    counts = _crossed([np.array([count for _, count in side]) for side in sides], people)
    traits = [tuple(trait for trait, _ in combination) for combination in product(*sides)]
    return [Cell(each, int(count)) for each, count in zip(traits, counts, strict=True) if count]


def _side(quota: Quota, people: int) -> list[tuple[Trait, int]]:
    """Return the values of an attribute and its rest, with their people."""
    asked = quota.counts(people)
    if sum(asked.values()) > people:
        # Least numbers are rounded up, and of few people everybody may be asked for twice.
        asked = replace(quota, kind="target").counts(people)
    counts = {str(value): count for value, count in asked.items()}
    choices = {str(value): tuple(names) for value, names in quota.choices.items()}
    named = tuple(counts)

    def trait(value: str) -> Trait:
        return Trait(quota.attribute, value, () if value else named, quota.filter_id, choices)

    rest = people - sum(counts.values())
    return [(trait(value), count) for value, count in counts.items()] + ([(trait(""), rest)] if rest else [])


def _crossed(sides: Sequence[NDArray[np.int64]], people: int) -> NDArray[np.int64]:
    """Return whole numbers over the cross, with exactly these sums along each side, close to the independent mix."""
    at = np.indices([len(side) for side in sides]).reshape(len(sides), -1)
    mix = people * np.prod([side[values] / people for side, values in zip(sides, at, strict=True)], axis=0)
    counts: NDArray[np.int64] = np.floor(mix + 1e-9).astype(np.int64)
    left = [
        side - np.bincount(values, counts, len(side)).astype(np.int64) for side, values in zip(sides, at, strict=True)
    ]
    # What is left over along one side is as much along every other, so there is always a cell that fits.
    for _ in range(people - int(counts.sum())):
        fits = np.all([rest[values] > 0 for rest, values in zip(left, at, strict=True)], axis=0)
        best = int(np.argmax(np.where(fits, mix - counts, -np.inf)))
        counts[best] += 1
        for rest, values in zip(left, at, strict=True):
            rest[values[best]] -= 1
    return counts


def share_places(places: int, cells: Sequence[Cell]) -> list[int]:
    """Return the places of each cell, by its people; largest remainders.

    Raises
    ------
    InfeasibleError
        There are fewer places than people.

    Examples
    --------
    >>> cells = [Cell((), 12), Cell((), 28)]
    >>> share_places(80, cells), share_places(41, cells)
    ([24, 56], [12, 29])
    """
    people = sum(each.people for each in cells)
    if places < people:
        raise InfeasibleError(
            f"the quotas ask for {people} people, but there are {places} places; ask for fewer people, or raise the "
            "redundancy"
        )
    return largest_remainders([places * each.people / people for each in cells], places)


def split_records(uid: str, records: Sequence[HitRecord], cells: Sequence[Cell]) -> list[list[HitRecord]]:
    """Return the HITs of each cell: the same questions under keys of their own, with their part of the redundancy."""
    totals = share_places(sum(record.redundancy for record in records), cells)
    share = np.array(totals) / max(1, sum(totals))
    given = np.zeros(len(cells), dtype=np.int64)
    found: list[list[HitRecord]] = [[] for _ in cells]
    handed = 0
    # HITs of one pay come together: each of their orders gets its part.
    for record in sorted(records, key=lambda each: (each.pay_minor, each.key)):
        mine = np.zeros(len(cells), dtype=np.int64)
        for _ in range(record.redundancy):
            handed += 1
            # Whoever is furthest behind his share gets the next place: so no item is left to one cell alone.
            behind = np.where(given < totals, share * handed - given, -np.inf)
            next_ = int(np.argmax(behind))
            given[next_] += 1
            mine[next_] += 1
        for at in np.flatnonzero(mine).tolist():
            key = campaign_key(uid, "cell", record.key, *sorted(map(str, cells[at].traits)))
            found[at].append(replace(record, key=key, redundancy=int(mine[at])))
    return found
