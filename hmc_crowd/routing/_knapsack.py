"""Prices for scarce budgets, and a selection that keeps within them: the arithmetic behind `route_within`.

For prices p >= 0 the sum ``p . budgets + (the `count` largest positive values of gain - p . costs)`` is at least as
large as what any plan within the limits can gain (weak duality), whatever the prices. The smallest such bound is
searched: by bisection on its slope for one budget, by the dual of the linear relaxation (HiGHS) for several. The
bound that is reported is always computed here from the prices, so it holds even if the search for them stopped
early.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Limit", "Problem", "fill", "prices"]

_STEPS = 200
_PASSES = 64


@dataclass(frozen=True, eq=False)
class Limit:
    """A budget: what each item costs, and how much there is."""

    name: str
    cost: NDArray[np.float64]
    most: float

    def of(self, rows: NDArray[np.intp]) -> Limit:
        """Return the same budget for some of the items."""
        return Limit(self.name, self.cost[rows], self.most)

    def holds(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> bool:
        """Tell whether a selection keeps within the budget, without rounding error."""
        return math.fsum(self.cost[chosen].tolist()) <= self.most


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximise the gain of at most `count` items within the limits; all gains are positive."""

    gain: NDArray[np.float64]
    count: int
    limits: list[Limit]

    def priced(self, price: list[float]) -> NDArray[np.float64]:
        """Return the gains less what the items cost at these prices."""
        reduced = self.gain.copy()
        for each, limit in zip(price, self.limits, strict=True):
            if each > 0.0:
                reduced -= each * limit.cost
        return reduced

    def bound(self, price: list[float]) -> float:
        """Return the upper bound that these prices prove."""
        reduced = self.priced(price)
        rows = _largest(reduced, self.count)
        paid = sum(each * limit.most for each, limit in zip(price, self.limits, strict=True))
        return float(reduced[rows].sum()) + paid


def _largest(reduced: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the rows of the `count` largest positive values."""
    rows = np.flatnonzero(reduced > 0.0)
    if len(rows) <= count:
        return rows
    if count == 0:
        return rows[:0]
    cut = len(rows) - count
    return rows[np.argpartition(reduced[rows], cut)[cut:]]


def prices(problem: Problem) -> tuple[list[float], float]:
    """Return prices, one per limit, and the least upper bound that was found."""
    alone = [_one_price(problem, index) for index in range(len(problem.limits))]
    candidates = [[each if row == index else 0.0 for row in range(len(alone))] for index, each in enumerate(alone)]
    # Where pricing one budget keeps the others too, the joint prices would be the same.
    kept = [_keeps_others(problem, price, index) for index, price in enumerate(candidates)]
    if len(problem.limits) > 1 and not any(kept):
        candidates.append(_joint_prices(problem))
    bounds = [problem.bound(price) for price in candidates]
    best = int(np.argmin(bounds))
    return candidates[best], bounds[best]


def _keeps_others(problem: Problem, price: list[float], index: int) -> bool:
    rows = _largest(problem.priced(price), problem.count)
    return all(limit.holds(rows) for row, limit in enumerate(problem.limits) if row != index)


def _one_price(problem: Problem, index: int) -> float:
    """Find the price at which one budget is just spent, by bisection: dearer items are dropped as it rises."""
    limit = problem.limits[index]

    def spends(price: float) -> float:
        with np.errstate(over="ignore"):
            reduced = problem.gain - price * limit.cost
        return float(limit.cost[_largest(reduced, problem.count)].sum())

    if spends(0.0) <= limit.most:
        return 0.0
    costly = limit.cost > 0.0
    with np.errstate(over="ignore"):
        low, high = 0.0, float((problem.gain[costly] / limit.cost[costly]).max())
    if not math.isfinite(high):
        high = np.finfo(np.float64).max
    for _ in range(_STEPS):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        if spends(middle) > limit.most:
            low = middle
        else:
            high = middle
    return high


def _joint_prices(problem: Problem) -> list[float]:
    """Price all budgets together: the dual of the linear relaxation."""
    from scipy.optimize import linprog

    scales = [max(float(limit.cost.max()), 1e-300) for limit in problem.limits]
    scaled = list(zip(problem.limits, scales, strict=True))
    table = np.vstack([*(limit.cost / scale for limit, scale in scaled), np.ones(len(problem.gain))])
    most = [*(limit.most / scale for limit, scale in scaled), float(problem.count)]
    solved = linprog(-problem.gain, A_ub=table, b_ub=most, bounds=(0.0, 1.0), method="highs")
    if solved.ineqlin is None or solved.status != 0:
        return [0.0] * len(problem.limits)
    duals = [max(0.0, -float(each)) for each in solved.ineqlin.marginals[: len(scales)]]
    return [dual / scale for dual, scale in zip(duals, scales, strict=True)]


def fill(problem: Problem, price: list[float]) -> NDArray[np.intp]:
    """Return rows that keep within all limits: the best of three orders, each filled up as far as it goes."""
    shares = np.zeros(len(problem.gain))
    # Only the order of the ratios counts, so what overflows or divides by an empty budget may be infinite.
    with np.errstate(over="ignore", divide="ignore"):
        for limit in problem.limits:
            shares += np.divide(limit.cost, limit.most, out=np.zeros(len(shares)), where=limit.cost > 0.0)
        ratio = np.divide(problem.gain, shares, out=np.full(len(shares), np.inf), where=shares > 0.0)
    orders = [problem.priced(price), problem.gain, ratio]
    plans = [_take(problem, np.argsort(-worth, kind="stable")) for worth in orders]
    return max(plans, key=lambda rows: math.fsum(problem.gain[rows].tolist()))


def _take(problem: Problem, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Take items in this order while all fit; then leave out what no longer fits, and go on."""
    left = [limit.most for limit in problem.limits]
    room, taken = problem.count, [order[:0]]
    for _ in range(_PASSES):
        fits = np.ones(len(order), dtype=bool)
        for limit, rest in zip(problem.limits, left, strict=True):
            fits &= limit.cost[order] <= rest
        order = order[fits]
        if room == 0 or len(order) == 0:
            break
        stop = min(room, len(order))
        for limit, rest in zip(problem.limits, left, strict=True):
            stop = min(stop, int(np.searchsorted(np.cumsum(limit.cost[order[:stop]]), rest, side="right")))
        if stop == 0:
            break
        taken.append(order[:stop])
        room -= stop
        left = [
            rest - math.fsum(limit.cost[order[:stop]].tolist())
            for limit, rest in zip(problem.limits, left, strict=True)
        ]
        order = order[stop:]
    rows = np.concatenate(taken)
    # Running sums round; the promise is about the exact sum.
    while len(rows) and not all(limit.holds(rows) for limit in problem.limits):
        rows = rows[:-1]
    return np.sort(rows)
