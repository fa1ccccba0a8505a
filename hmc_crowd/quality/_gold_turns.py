"""Gold in turns: which known item comes next, so that neither a label nor a difficulty nor an item is met too often?

Labels take turns, within a label steps of difficulty, and within these the least shown item comes first. Strict turns
would show the one item of a rare label again and again, and gold that everybody has seen proves nothing: where gold is
shown to many, no cell is drawn more than so many times as often as its size would have it.

Source: requirement D12; PLATFORMS.md, P24.
"""

from __future__ import annotations

import heapq
import math
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

__all__ = ["GoldTurns", "gold_cells"]

_STEPS = 3
# Numbers of more values than this are no labels but a scale; it is cut into as many steps of equal width.
_VALUES = 5


def gold_cells(label: Sequence[Any], difficulty: ArrayLike | None = None) -> list[tuple[Any, int]]:
    """Return label and step of difficulty of each gold item: between these cells drawing is balanced.

    Parameters
    ----------
    label : sequence, length n
        Known labels. Numbers of more than five values, such as ratings, are put into five steps of equal width, so that
        always giving the commonest value does not pass; None and NaN are a cell of their own.
    difficulty : array of float, shape (n,), optional
        Larger is harder, on any scale; cut into thirds. NaN is unknown, a step (-1) of its own.

    Examples
    --------
    >>> gold_cells(["yes", "no", "yes"], [0.1, 0.5, 0.9])
    [('yes', 0), ('no', 1), ('yes', 2)]
    >>> [name for name, _ in gold_cells([0, 10, 21, 39, 60, 100])]
    ['0 to 20', '0 to 20', '20 to 40', '20 to 40', '60 to 80', '80 to 100']
    """
    names = _steps_of_numbers(label)
    step = np.zeros(len(names), dtype=np.intp)
    if difficulty is not None and len(names):
        values = np.asarray(difficulty, dtype=np.float64)
        known = values[~np.isnan(values)]
        edges = np.quantile(known, np.arange(1, _STEPS) / _STEPS) if len(known) else np.empty(0)
        step = np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="left"))
    return list(zip(names, step.tolist(), strict=True))


def _steps_of_numbers(label: Sequence[Any]) -> list[Any]:
    names = [None if isinstance(each, float) and math.isnan(each) else each for each in label]
    given = [each for each in names if each is not None]
    if not all(isinstance(each, Real) and not isinstance(each, bool) for each in given) or len(set(given)) <= _VALUES:
        return names
    edges = np.linspace(min(given), max(given), _VALUES + 1)
    said = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    place = np.clip(np.searchsorted(edges, np.array(given, dtype=float), side="right") - 1, 0, _VALUES - 1)
    steps = iter(place.tolist())
    return [None if each is None else said[next(steps)] for each in names]


class GoldTurns:
    """Draws gold, the cell that is furthest behind its share first, and in a cell the least shown.

    Parameters
    ----------
    cells : sequence of (label, step)
        Of each gold item, see `gold_cells`; an item's row is its name here.
    shown : sequence of int
        How often each was shown so far.
    limit : int, optional
        Most exposures of an item; then it rests.
    most : float, default inf
        No cell is drawn more than this many times as often as its part of the gold would have it. Infinite: strict
        turns, right for the draw of one worker, who meets no item twice anyway.
    rng : numpy.random.Generator
        Decides between equals.

    Examples
    --------
    Nine gold items are fine and one is rude. In strict turns the rude one is every second; here, three of ten:

    >>> cells = gold_cells(["fine"] * 9 + ["rude"])
    >>> for most in (float("inf"), 3):
    ...     turns, rude = GoldTurns(cells, [0] * 10, most=most, rng=np.random.default_rng(0)), 0
    ...     for _ in range(100):
    ...         row = turns.draw()
    ...         rude += row == 9
    ...         turns.give_back([row])
    ...     print(rude)
    50
    30
    """

    def __init__(
        self,
        cells: Sequence[tuple[Any, int]],
        shown: Sequence[int],
        *,
        limit: int | None = None,
        most: float = math.inf,
        rng: np.random.Generator,
    ) -> None:
        if limit is not None and (isinstance(limit, bool) or limit < 1):
            raise InputError(f"limit is {limit!r}; give a whole number of at least 1, or None")
        self._cells, self._shown, self._limit = list(cells), [int(each) for each in shown], limit
        # Equally often shown, the one whose turn was longest ago comes first; at the start, chance decides.
        self._turn = rng.permutation(len(self._cells)).tolist()
        self._clock = len(self._cells)
        self._queues: dict[tuple[Any, int], list[tuple[int, int, int]]] = {}
        sizes: dict[Any, dict[int, int]] = {}
        for row, (label, step) in enumerate(self._cells):
            self._queues.setdefault((label, step), []).append((self._shown[row], self._turn[row], row))
            of_label = sizes.setdefault(label, {})
            of_label[step] = of_label.get(step, 0) + 1
        for queue in self._queues.values():
            heapq.heapify(queue)
        part = most / max(1, len(self._cells))
        self._labels = _Round({label: part * sum(steps.values()) for label, steps in sizes.items()}, rng)
        self._steps = {
            label: _Round({step: part * size / self._labels.share[label] for step, size in steps.items()}, rng)
            for label, steps in sizes.items()
        }

    def draw(
        self, *, times: int = 1, fits: Callable[[int], bool] | None = None, near: Iterable[int] = ()
    ) -> int | None:
        """Return the row of the next item, or None where none is left; it does not come again until given back.

        Parameters
        ----------
        times : int, default 1
            How many people will meet it.
        fits : callable, optional
            Whether a row may be taken now; a cell of which none fits is passed over, and keeps its turn.
        near : iterable of int
            Rows that are cheaper now (of a dialogue that is read anyway): within a label they come first, also one
            showing before their turn.
        """
        close = tuple(near)
        for label in self._labels.order(times):
            steps = self._steps[label].order(times)
            heads = [(step, head) for step in steps if (head := self._head((label, step), times)) is not None]
            cheap = [row for step, head in heads for row in self._close((label, step), times, head, close)]
            for row in (*cheap, *(head for _, head in heads)):
                if fits is None or fits(row):
                    self._turn[row] = -1
                    self._labels.had[label] += times
                    self._steps[label].had[self._cells[row][1]] += times
                    return row
        return None

    def give_back(self, rows: Iterable[int], *, times: int = 1) -> None:
        """Put drawn items back, each shown so many times more."""
        for row in rows:
            self._clock += 1
            self._shown[row] += times
            self._turn[row] = self._clock
            heapq.heappush(self._queues[self._cells[row]], (self._shown[row], self._clock, row))

    def _head(self, cell: tuple[Any, int], times: int) -> int | None:
        """Return the item of a cell whose turn it is."""
        queue = self._queues[cell]
        while queue and queue[0][1] != self._turn[queue[0][2]]:  # drawn since it was queued
            heapq.heappop(queue)
        return queue[0][2] if queue and self._has_room(queue[0][2], times) else None

    def _close(self, cell: tuple[Any, int], times: int, head: int, near: tuple[int, ...]) -> list[int]:
        """Return the items of a cell that are near and at most one showing ahead, the least shown first."""
        most = self._shown[head] + times
        rows = [row for row in near if self._cells[row] == cell and self._turn[row] >= 0 and self._shown[row] <= most]
        return sorted((row for row in rows if self._has_room(row, times)), key=self._shown.__getitem__)

    def _has_room(self, row: int, times: int) -> bool:
        return self._limit is None or self._shown[row] + times <= self._limit


class _Round:
    """Names that take turns: the one furthest behind its share is next; shares are equal, but none is above its cap."""

    def __init__(self, caps: Mapping[Any, float], rng: np.random.Generator) -> None:
        self.share: dict[Any, float] = {}
        left = 1.0
        for place, name in enumerate(sorted(caps, key=lambda each: caps[each])):
            # From the first name on whose cap does not bind, all get the same to the last digit: ties are chance's.
            fair = left / (len(caps) - place)
            if caps[name] >= fair * (1 - 1e-9):
                self.share |= dict.fromkeys((each for each in caps if each not in self.share), fair)
                break
            self.share[name] = caps[name]
            left -= caps[name]
        self.had = dict.fromkeys(caps, 0)
        self._rank = dict(zip(caps, rng.permutation(len(caps)).tolist(), strict=True))

    def order(self, times: int) -> list[Any]:
        """Return the names, the one whose turn it is first."""
        return sorted(self.had, key=lambda name: ((self.had[name] + times) / self.share[name], self._rank[name]))
