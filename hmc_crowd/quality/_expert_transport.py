"""Give every item to one of few takers, each with room for some, at the largest total score: a transport problem.

``bonus[j][k]`` is what taker j's item number k + 1 adds beside its own score; it may only fall with k. The largest
total of ``score[i, taker of i] + bonus`` is found exactly.

Guarantee: the result is optimal up to rounding, whatever the prices it starts from; ``gap`` is the distance to the
bound that the final prices prove (weak duality), so nobody has to believe the algorithm.

How: prices per taker are brought near the optimum; then every item takes what it likes best at these prices, which is
optimal for wrong counts, and the wrong counts are repaired along shortest paths between takers (successive shortest
paths; Ahuja, Magnanti, Orlin 1993, ch. 9). The graph has one node per taker, not one per item, and items with the same
scores move together: that is why it is quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.quality._expert_prices import near_prices

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Transport", "best_transport"]

_EPS = 1e-12


@dataclass(frozen=True)
class Transport:
    """Who takes what.

    Parameters
    ----------
    taker : array of int, shape (n_items,)
    total : float
        Sum of scores and bonuses.
    prices : array, shape (n_takers,)
        What a place at each taker is worth.
    gap : float
        Upper bound minus total; 0 but for rounding.
    """

    taker: NDArray[np.intp]
    total: float
    prices: NDArray[np.float64]
    gap: float


def best_transport(score: NDArray[np.float64], bonus: list[NDArray[np.float64]]) -> Transport:
    """Assign every item.

    Parameters
    ----------
    score : array, shape (n_items, n_takers)
        Finite, or -inf where a taker may not have the item.
    bonus : list of array
        One per taker, one value per place, falling.

    Raises
    ------
    InputError
        There are fewer places than items, a bonus rises, or an item has no taker.

    Examples
    --------
    >>> found = best_transport(np.array([[0.9, 0.8], [0.8, 0.1]]), [np.zeros(1), np.zeros(1)])
    >>> found.taker.tolist(), round(found.total, 6)
    ([1, 0], 1.6)
    """
    n, m = score.shape
    if sum(map(len, bonus)) < n:
        raise InputError(f"there are {sum(map(len, bonus)):,} places for {n:,} items; leave items in the queue first")
    if any((np.diff(each) > _EPS).any() for each in bonus):
        raise InputError("a bonus rises with the place; it may only fall, or stay")
    if n == 0:
        return Transport(np.empty(0, dtype=np.intp), 0.0, np.zeros(m), 0.0)
    if not np.isfinite(score.max(axis=1)).all():
        raise InputError("an item has no taker who may have it; leave it in the queue first")
    kinds, kind, size = np.unique(score, axis=0, return_inverse=True, return_counts=True)
    flow = _Flow(kinds, size, bonus, near_prices(kinds, size, bonus))
    flow.repair()
    taker = np.empty(n, dtype=np.intp)
    # Within a kind it makes no difference who gets which.
    taker[np.argsort(kind.ravel(), kind="stable")] = np.repeat(np.tile(np.arange(m), len(kinds)), flow.at.ravel())
    return flow.result(taker)


def _in_use(bonus: list[NDArray[np.float64]], prices: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many places of each taker are in use at these prices, at least and at most: equal ones may be."""
    pairs = list(zip(bonus, prices.tolist(), strict=True))
    low = np.array([int((each + price > _EPS).sum()) for each, price in pairs], dtype=np.intp)
    return low, np.array([int((each + price >= -_EPS).sum()) for each, price in pairs], dtype=np.intp)


def _first_takers(value: NDArray[np.float64], size: NDArray[np.intp], room: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put each kind at takers of its largest value, shape (n_kinds, n_takers); of equal ones, where there is room."""
    at = np.zeros(value.shape, dtype=np.intp)
    best = value.argmax(axis=1)
    equal = value >= value.max(axis=1, keepdims=True) - _EPS
    several = equal.sum(axis=1) > 1
    at[np.flatnonzero(~several), best[~several]] = size[~several]
    left = room - at.sum(axis=0)
    for kind in np.flatnonzero(several).tolist():
        among = np.flatnonzero(equal[kind])
        among = among[np.argsort(-left[among], kind="stable")]
        before = np.concatenate([[0], np.cumsum(np.maximum(left[among], 0))])
        filled = np.minimum(before, size[kind])
        at[kind, among] = np.diff(filled)
        at[kind, among[0]] += size[kind] - filled[-1]
        left[among] -= at[kind, among]
    return at


class _Flow:
    """How many items of each kind are at each taker, and places in use, which the repair brings to the same numbers."""

    def __init__(
        self,
        score: NDArray[np.float64],
        size: NDArray[np.intp],
        bonus: list[NDArray[np.float64]],
        prices: NDArray[np.float64],
    ) -> None:
        self.score, self.size, self.bonus = score, size, bonus
        self.m = score.shape[1]
        lo, hi = _in_use(bonus, prices)
        self.at = _first_takers(score - prices, size, hi)
        self.used = np.clip(self.at.sum(axis=0), lo, hi)
        self.sink = self.m
        self.loss = np.full((self.m + 1, self.m + 1), np.inf)
        self.mover = np.full((self.m, self.m), -1, dtype=np.intp)
        for j in range(self.m):
            self._see(j)

    def _see(self, j: int) -> None:
        """Work out the cheapest moves from taker j to each other, and to and from its places."""
        here = np.flatnonzero(self.at[:, j])
        if len(here):
            loss = self.score[here, j][:, None] - self.score[here]
            pick = loss.argmin(axis=0)
            self.loss[j, : self.m], self.mover[j] = loss[pick, np.arange(self.m)], here[pick]
        else:
            self.loss[j, : self.m] = np.inf
        self.loss[j, j] = np.inf
        used, places = self.used[j], self.bonus[j]
        self.loss[j, self.sink] = -places[used] if used < len(places) else np.inf
        self.loss[self.sink, j] = places[used - 1] if used else np.inf

    def excess(self) -> NDArray[np.intp]:
        """Return items beyond the places in use, by taker; at the sink, places in use beyond the items."""
        return np.append(self.at.sum(axis=0) - self.used, self.used.sum() - self.size.sum())

    def repair(self) -> None:
        """Move items from where there are too many to where there are too few, as many at a time as are alike."""
        while (excess := self.excess()).any():
            source = int(excess.argmax())
            distance, before = _shortest(self.loss, source)
            wanted = np.flatnonzero(excess < 0)
            target = int(wanted[distance[wanted].argmin()])
            if not np.isfinite(distance[target]):
                raise InputError("the places do not suffice for the items that only some takers may have")
            path = [target]
            while path[-1] != source:
                path.append(int(before[path[-1]]))
            steps = list(zip(path[:0:-1], path[-2::-1], strict=True))
            most = min(int(excess[source]), -int(excess[target]))
            self._move(steps, min([most, *(self._alike(a, b) for a, b in steps)]))

    def _alike(self, a: int, b: int) -> int:
        """Return how many units this step can take at the same loss."""
        if b == self.sink:
            places, used = self.bonus[a], int(self.used[a])
            return int((places[used:] >= places[used] - _EPS).sum())
        if a == self.sink:
            places, used = self.bonus[b], int(self.used[b])
            return int((places[:used] <= places[used - 1] + _EPS).sum())
        return int(self.at[self.mover[a, b], a])

    def _move(self, steps: list[tuple[int, int]], units: int) -> None:
        for a, b in steps:
            if b == self.sink:
                self.used[a] += units
            elif a == self.sink:
                self.used[b] -= units
            else:
                self.at[self.mover[a, b], a] -= units
                self.at[self.mover[a, b], b] += units
        for node in {node for step in steps for node in step} - {self.sink}:
            self._see(node)

    def result(self, taker: NDArray[np.intp]) -> Transport:
        """Return what was found, with the bound that proves it."""
        total = float(np.where(self.at > 0, self.score, 0.0).ravel() @ self.at.ravel())
        total += sum(float(each[:used].sum()) for each, used in zip(self.bonus, self.used, strict=True))
        # Distances from the sink are prices at which nothing can be won any more.
        distance, _ = _shortest(self.loss, self.sink)
        # A taker that cannot be reached has no item that it may take: its first place opens at no lower a price.
        shut = np.array([-each[0] if len(each) else 0.0 for each in self.bonus])
        prices = np.where(np.isfinite(distance[: self.m]), -distance[: self.m], shut)
        bound = float((self.score - prices).max(axis=1) @ self.size)
        bound += sum(float(np.maximum(each + price, 0).sum()) for each, price in zip(self.bonus, prices, strict=True))
        return Transport(taker, total, prices, max(0.0, bound - total))


def _shortest(loss: NDArray[np.float64], source: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return distances from a node and each node's predecessor (Bellman and Ford; there are no negative cycles)."""
    distance = np.full(len(loss), np.inf)
    distance[source] = 0.0
    before = np.full(len(loss), source, dtype=np.intp)
    for _ in range(len(loss)):
        through = distance[:, None] + loss
        best = through.argmin(axis=0)
        reached = through[best, np.arange(len(loss))]
        better = reached < distance - _EPS
        better[source] = False
        if not better.any():
            break
        distance[better], before[better] = reached[better], best[better]
    return distance, before
