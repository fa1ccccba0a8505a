"""The arithmetic of leave-one-out agreement: from counts of labels per item to exact expectations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._ratings import Ratings

__all__ = ["Cells", "Scores", "draw_modes", "inner_scores", "label_cells", "outer_scores"]


@dataclass(frozen=True, eq=False)
class Cells:
    """How often each item got which label, and what these counts look like.

    `count`, shape (slots, items): items lie along the last axis, where numpy is quick. A slot is a label, or with many
    labels the item's own first, second, ... label, named by `label` (-1 where the item has no more). Per item: `m`
    annotations, `largest` count M, `top` labels that have it, `second` labels with M - 1 >= 1. `slot` is per answer.
    """

    count: NDArray[np.intp]
    label: NDArray[np.intp] | None
    slot: NDArray[np.intp]
    m: NDArray[np.intp]
    largest: NDArray[np.intp]
    top: NDArray[np.intp]
    second: NDArray[np.intp]

    def own(self, guess: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how often each item got the guessed label; 0 for -1."""
        if self.label is None:
            known = guess >= 0
            return np.where(known, self.count[np.where(known, guess, 0), np.arange(len(guess))], 0)
        return np.asarray(((self.label == guess) * self.count * (guess >= 0)).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Scores:
    """Agreement per item as `over / under` (whole numbers), its bounds, and whether draws play a part."""

    over: NDArray[np.int64]
    under: NDArray[np.int64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    random: NDArray[np.bool_]

    @property
    def expected(self) -> NDArray[np.float64]:
        """The expectation per item."""
        return self.over / np.maximum(self.under, 1)

    def exact(self, keep: NDArray[np.bool_]) -> Fraction:
        """Return the mean over the kept items, exactly: few different denominators occur."""
        above = np.bincount(self.under[keep], weights=self.over[keep])
        parts = ((int(above[below]), below) for below in np.flatnonzero(above).tolist())
        return sum((Fraction(over, under) for over, under in parts), Fraction(0)) / int(keep.sum())


def label_cells(read: Ratings) -> Cells:
    """Count labels per item, in time linear in the annotations (with a sort when there are many labels)."""
    size, units = len(read.labels), read.n_units
    if units * size <= 4 * read.n + 100_000:
        slot, label = read.code, None
    else:
        # The distinct labels of an item are numbered within the item.
        found, where = np.unique(read.unit * size + read.code, return_inverse=True)
        unit = found // size
        start = np.searchsorted(unit, np.arange(units))
        slot_of = np.arange(len(found)) - start[unit]
        size = int(slot_of.max(initial=-1)) + 1
        label = np.full((size, units), -1, dtype=np.intp)
        label[slot_of, unit] = found % len(read.labels)
        slot = slot_of[where.reshape(-1)]
    size = max(size, 1)
    count = np.bincount(slot * units + read.unit, minlength=size * units).reshape(size, units)
    largest = count.max(axis=0)
    top = np.count_nonzero(count == largest, axis=0)
    second = np.where(largest > 1, np.count_nonzero(count == largest - 1, axis=0), 0)
    return Cells(count, label, slot, read.per_unit, largest, np.where(largest > 0, top, 0), second)


def inner_scores(cells: Cells) -> Scores:
    """Return the agreement of each annotation with the mode of the others, per item."""
    m, big, second = cells.m.astype(np.int64), cells.largest.astype(np.int64), cells.second.astype(np.int64)
    alone = (cells.top == 1) & (m >= 2)
    share = big / np.maximum(m, 1)
    over, under = np.where(alone, big, 0), np.maximum(m, 1) * (second + 1)
    # Taking away another label may also leave several modes, but then the label taken away is none of them.
    least, most = np.where(alone & (second == 0), share, 0.0), np.where(alone, share, 0.0)
    return Scores(over, under, least, most, alone & (second > 0))


def outer_scores(cells: Cells, guess: NDArray[np.intp]) -> Scores:
    """Return the agreement of one label per item with the mode of the others; guess -1 agrees with nothing."""
    m, big = np.maximum(cells.m.astype(np.int64), 1), cells.largest.astype(np.int64)
    top, second = cells.top.astype(np.int64), cells.second.astype(np.int64)
    own = cells.own(guess)
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
    return Scores(over, under, least / m, most / m, random)


def draw_modes(
    cells: Cells, guess: NDArray[np.intp] | None, keep: NDArray[np.bool_], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean agreement over the kept items for so many draws of every mode, shape (draws,).

    How many of an item's annotations hit is a binomial count, since each annotation has its own draw.
    """
    m, big, top, second = cells.m, cells.largest, cells.top, cells.second
    alone = top == 1
    # Up to two kinds of annotations per item: `first` of them hit with chance p, `other` with chance q; `sure` always.
    if guess is None:
        first, p = np.where(alone, big, 0), 1.0 / (second + 1.0)
        other, q, sure = np.zeros_like(m), np.zeros(len(m)), np.zeros_like(m)
    else:
        own = cells.own(guess)
        leads = (own == big) & (own > 0)
        follows = (own == big - 1) & (own > 0) & alone
        first = np.where(alone & (leads | follows), big, np.where(leads, m - top * big, 0))
        p = np.where(alone, 1.0 / (second + 1.0), 1.0 / np.maximum(top, 1))
        other, q = np.where(leads & ~alone, (top - 1) * big, 0), 1.0 / np.maximum(top - 1.0, 1.0)
        sure = np.where(leads & alone, m - big, 0)
    out = np.empty(draws)
    weight = 1.0 / m[keep]
    for each in range(draws):
        hits = sure[keep] + rng.binomial(first[keep], p[keep]) + rng.binomial(other[keep], q[keep])
        out[each] = float((hits * weight).mean())
    return out
