"""The arithmetic of leave-one-out agreement: from counts of labels per item to exact expectations.

An item's result depends on a few small numbers only (its signature), and few signatures occur. So items are counted by
signature, the formulas are worked out once for each, in whole numbers, and items look their result up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._ratings import Ratings

__all__ = ["Cells", "Scores", "draw_modes", "inner_scores", "label_cells", "outer_scores"]

# Comparing every column with every label is quicker than sorting answers into cells while there are few of both.
_FEW_COMPARISONS = 64
_MOST_SIGNATURES = 100_000


@dataclass(frozen=True, eq=False)
class Cells:
    """How often each item got which label, and what these counts look like.

    `count`, shape (slots, items): items lie along the last axis, where numpy is quick. A slot is a label, or with many
    labels the item's own first, second, ... label, named by `label` (-1 where the item has no more). Per item: `m`
    annotations, `largest` count M, `top` labels that have it, `second` labels with M - 1 >= 1.
    """

    count: NDArray[Any]
    label: NDArray[np.intp] | None
    m: NDArray[Any]
    largest: NDArray[Any]
    top: NDArray[Any]
    second: NDArray[Any]

    def own(self, guess: NDArray[np.intp]) -> NDArray[Any]:
        """Return how often each item got the guessed label; 0 for -1."""
        if self.label is None:
            known = guess >= 0
            return np.where(known, self.count[np.where(known, guess, 0), np.arange(len(guess))], 0)
        return np.asarray(((self.label == guess) * self.count * (guess >= 0)).sum(axis=0))

    def of_answers(self, read: Ratings) -> NDArray[np.float64]:
        """Return for each answer the chance that it equals the mode of the others."""
        if self.label is None:
            count = self.count[read.code, read.unit]
        else:
            here = self.label[:, read.unit] == read.code
            count = (self.count[:, read.unit] * here).sum(axis=0)
        hit = (count == self.largest[read.unit]) & (self.top[read.unit] == 1)
        return np.asarray(hit / (self.second[read.unit] + 1.0))


@dataclass(frozen=True, eq=False)
class Scores:
    """Agreement by signature.

    The expectation is `over / under` (whole numbers), what draws could give at least and at most `least / m` and
    `most / m`; `random` says whether draws play a part. `key` is the signature of each item.
    """

    key: NDArray[np.intp]
    over: NDArray[np.int64]
    under: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    m: NDArray[np.int64]
    random: NDArray[np.bool_]

    @property
    def expected(self) -> NDArray[np.float64]:
        """The expectation per item."""
        return (self.over / np.maximum(self.under, 1))[self.key]

    @property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What draws could give at least and at most, per item."""
        return (self.least / self.m)[self.key], (self.most / self.m)[self.key]

    def totals(self, keep: NDArray[np.bool_]) -> tuple[Fraction, float, float, int]:
        """Return over the kept items: exact mean, mean least, mean most, and how many have a draw in them."""
        key = self.key if keep.all() else self.key[keep]
        weight = np.bincount(key, minlength=len(self.over))
        n, used = len(key), np.flatnonzero(weight)
        parts = zip(
            weight[used].tolist(), self.over[used].tolist(), np.maximum(self.under, 1)[used].tolist(), strict=True
        )
        by_divisor: dict[int, int] = {}
        for times, over, under in parts:
            by_divisor[under] = by_divisor.get(under, 0) + times * over
        exact = sum((Fraction(over, under) for under, over in by_divisor.items()), Fraction(0)) / n
        least, most = (
            float((weight * (self.least / self.m)).sum()) / n,
            float((weight * (self.most / self.m)).sum()) / n,
        )
        return exact, least, most, int(weight[self.random].sum())


def label_cells(read: Ratings) -> Cells:
    """Count labels per item, in time linear in the annotations (with a sort when there are many labels)."""
    size, units = max(len(read.labels), 1), read.n_units
    count: NDArray[Any]
    label: NDArray[np.intp] | None = None
    if read.grid is not None and size * read.n_raters <= _FEW_COMPARISONS:
        count = np.zeros((size, units), dtype=np.int8)
        for column in read.grid:
            for place in range(size):
                count[place] += column == place
    elif units * size <= 4 * read.n + 100_000:
        count = np.bincount(read.code * units + read.unit, minlength=size * units).reshape(size, units)
    else:
        count, label = _own_slots(read, size)
    largest = count.max(axis=0)
    leads = count == largest
    follows = count == largest - 1
    kind = np.int8 if len(count) < 127 else np.intp
    top = np.add.reduce(leads, axis=0, dtype=kind)
    second = np.add.reduce(follows, axis=0, dtype=kind)
    second[largest <= 1] = 0
    top[largest == 0] = 0
    m = np.add.reduce(count, axis=0, dtype=count.dtype) if count.dtype == np.int8 else read.per_unit
    return Cells(count, label, m, largest, top, second)


def _own_slots(read: Ratings, size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return counts and labels with the distinct labels of an item numbered within the item."""
    found, where = np.unique(read.unit * size + read.code, return_inverse=True)
    unit = found // size
    start = np.searchsorted(unit, np.arange(read.n_units))
    slot = np.arange(len(found)) - start[unit]
    width = max(int(slot.max(initial=-1)) + 1, 1)
    label = np.full((width, read.n_units), -1, dtype=np.intp)
    label[slot, unit] = found % size
    cells = slot[where.reshape(-1)] * read.n_units + read.unit
    return np.bincount(cells, minlength=width * read.n_units).reshape(width, read.n_units), label


def _signatures(columns: list[NDArray[Any]]) -> tuple[NDArray[np.intp], list[NDArray[np.int64]]]:
    """Return each item's signature, and the columns (small whole numbers) by signature."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    total = 1
    for size in sizes:
        total *= size
    if total > _MOST_SIGNATURES:
        # Too many different ones to list: every item is its own.
        return np.arange(len(columns[0])), [column.astype(np.int64) for column in columns]
    key = columns[0].astype(np.intp)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        key *= size
        key += column
    grid = np.unravel_index(np.arange(total), sizes)
    return key, [part.astype(np.int64) for part in grid]


def inner_scores(cells: Cells) -> Scores:
    """Return the agreement of each annotation with the mode of the others."""
    key, (m, big, top, second) = _signatures([cells.m, cells.largest, cells.top, cells.second])
    m = np.maximum(m, 1)
    alone = (top == 1) & (m >= 2)
    over, under = np.where(alone, big, 0), m * (second + 1)
    # Taking away another label may also leave several modes, but then the label taken away is none of them.
    least, most = np.where(alone & (second == 0), big, 0), np.where(alone, big, 0)
    return Scores(key, over, under, least, most, m, alone & (second > 0))


def outer_scores(cells: Cells, guess: NDArray[np.intp]) -> Scores:
    """Return the agreement of one label per item with the mode of the others; guess -1 agrees with nothing."""
    columns = [cells.m, cells.largest, cells.top, cells.second, cells.own(guess)]
    key, (m, big, top, second, own) = _signatures(columns)
    m = np.maximum(m, 1)
    leads, alone = (own == big) & (own > 0), top == 1
    follows = (own == big - 1) & (own > 0) & alone
    over = np.where(leads & alone, (m - big) * (second + 1) + big, 0)
    over = np.where(leads & ~alone, 1, np.where(follows, big, over))
    under = np.where(leads & ~alone, top, m * (second + 1))
    least = np.where(leads & alone, m - big + big * (second == 0), 0)
    # Two leaders: taking away one of the other's annotations leaves a single mode.
    least = np.where(leads & (top == 2), big, least)
    most = np.where(leads & alone, m, np.where(leads, m - big, np.where(follows, big, 0)))
    random = np.where(alone, (leads | follows) & (second > 0), leads & ((m > top * big) | (top > 2)))
    return Scores(key, over, under, least, most, m, random)


def draw_modes(
    cells: Cells, guess: NDArray[np.intp] | None, keep: NDArray[np.bool_], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean agreement over the kept items for so many draws of every mode, shape (draws,).

    How many of an item's annotations hit is a binomial count, since each annotation has its own draw.
    """
    m, big, top, second = (each[keep].astype(np.int64) for each in (cells.m, cells.largest, cells.top, cells.second))
    alone = top == 1
    # Up to two kinds of annotations per item: `first` of them hit with chance p, `other` with chance q; `sure` always.
    if guess is None:
        first, p = np.where(alone, big, 0), 1.0 / (second + 1.0)
        other, q, sure = np.zeros_like(m), np.zeros(len(m)), np.zeros_like(m)
    else:
        own = cells.own(guess)[keep].astype(np.int64)
        leads = (own == big) & (own > 0)
        follows = (own == big - 1) & (own > 0) & alone
        first = np.where(alone & (leads | follows), big, np.where(leads, m - top * big, 0))
        p = np.where(alone, 1.0 / (second + 1.0), 1.0 / np.maximum(top, 1))
        other, q = np.where(leads & ~alone, (top - 1) * big, 0), 1.0 / np.maximum(top - 1.0, 1.0)
        sure = np.where(leads & alone, m - big, 0)
    out = np.empty(draws)
    for each in range(draws):
        hits = sure + rng.binomial(first, p) + rng.binomial(other, q)
        out[each] = float((hits / m).mean())
    return out
