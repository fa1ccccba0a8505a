"""What are the right prices for scarce time, money and people? Lagrangian prices of all limits together.

At given prices every unit (or group, where opening one costs something) decides by itself, so parts of a batch answer
on their own: all that comes back are two sums of whole numbers. For prices p >= 0 the sum ``p . limits + what the units
win at these prices`` is at least what any plan within the limits can gain (weak duality). The least such bound is
searched by cutting planes in a trust region; whatever the search finds, the bound holds.

Source: Fisher (1981), "The Lagrangian relaxation method for solving integer programming problems".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.routing._rows import Problem

__all__ = ["Answer", "Priced", "answer", "best_prices", "split"]

_MOST_STEPS, _HALVINGS = 150, 20
_FARTHEST = 1e5


@dataclass(frozen=True, eq=False)
class Answer:
    """What a part wants at given prices: its choice, how firm it is, and the two sums that the others need.

    ``margin`` is what each unit would lose by its second-best choice: small where the plan is open to doubt.
    """

    choice: NDArray[np.intp]
    margin: NDArray[np.float64]
    gain: int
    used: NDArray[np.int64]


def answer(part: Problem, price: NDArray[np.float64]) -> Answer:
    """Return the best choice of every unit when what it uses has this price (in steps of gain per unit of a row)."""
    value = _less(part.gain, part.cost, price)
    if part.group is None:
        choice, margin = _alone(value)
    else:
        choice, margin = _in_groups(part, value, price)
    return Answer(choice, margin, part.worth(choice), part.use(choice))


def _less(gain: NDArray[np.int64], cost: NDArray[np.int64], price: NDArray[np.float64]) -> NDArray[np.float64]:
    # Row by row, not as a matrix product: the same operations for every unit, however the batch is split.
    value = gain.astype(np.float64)
    for row, each in enumerate(price.tolist()):
        if each:
            value -= each * cost[row]
    return value


def _alone(value: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    best = np.argmax(value, axis=1)
    rows = np.arange(len(value))
    won = value[rows, best]
    rest = value.copy()
    rest[rows, best] = 0.0
    second = np.maximum(rest.max(axis=1), 0.0) if value.shape[1] > 1 else np.zeros(len(value))
    return np.where(won > 0.0, best, -1), np.where(won > 0.0, won - second, -won)


def _in_groups(
    part: Problem, value: NDArray[np.float64], price: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Try every set of pools that a group could open; the best set decides for its units."""
    group, n_pools = part.group, value.shape[1]
    if group is None:
        return _alone(value)
    toll = -_less(-part.open_gain, part.open_cost, price)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    present = group[starts]
    best, second = np.zeros(len(present)), np.full(len(present), -np.inf)
    opened = np.zeros((len(present), n_pools), dtype=bool)
    for subset in product((False, True), repeat=n_pools):
        if not any(subset):
            continue
        which = np.array(subset)
        inside = np.maximum(value[:, which].max(axis=1), 0.0)
        total = np.add.reduceat(inside, starts) - toll[present][:, which].sum(axis=1)
        better = total > best
        second = np.where(better, best, np.maximum(second, total))
        opened[better] = which
        best = np.where(better, total, best)
    place = np.repeat(np.arange(len(present)), np.diff(np.append(starts, len(group))))
    choice, margin = _alone(np.where(opened[place], value, -np.inf))
    return choice, np.minimum(margin, (best - second)[place])


@dataclass(frozen=True, eq=False)
class Priced:
    """The best prices found, the bound that they prove (in steps of gain), and every part's answer to them."""

    price: NDArray[np.float64]
    bound: float
    answers: list[Answer]


class _Parts:
    """All parts, asked together."""

    def __init__(self, parts: list[Problem], run: Callable[..., object]) -> None:
        self._parts, self._run = parts, run
        self.most = parts[0].most

    def ask(self, price: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], list[Answer]]:
        """Return the bound at these prices, its slope, and the answers."""
        answers: list[Answer] = list(self._run(answer, self._parts, [price] * len(self._parts)))  # type: ignore[call-overload]
        used = np.sum([each.used for each in answers], axis=0, dtype=np.int64)
        slope = (self.most - used).astype(np.float64)
        return float(sum(each.gain for each in answers)) + float(price @ slope), slope, answers


def best_prices(parts: list[Problem], *, tolerance: float, run: Callable[..., object] = map) -> Priced:
    """Search the prices that give the least upper bound.

    Parameters
    ----------
    parts : list of Problem
        One, or several with the same rows; no group lies in two of them.
    tolerance : float
        Stop when no prices can lower the bound by more than this share of it.
    run : callable, default map
        Asks all parts, as ``map`` does; an executor's ``map`` asks them in other processes.
    """
    together = _Parts(parts, run)
    zero = np.zeros(len(together.most))
    bound, slope, answers = together.ask(zero)
    found = Priced(zero, bound, answers)
    if not len(zero) or (slope >= 0).all():
        return found
    # A price of 1 here means: spending the whole limit would eat up all the gain there is.
    scale = max(abs(bound), 1.0) / np.maximum(np.abs(together.most.astype(np.float64)), _typical(slope, together))
    cuts = [(bound, slope * scale)]
    points = [zero]
    centre, radius = zero, 1.0
    for _ in range(_MOST_STEPS):
        point, promised = _next_point(cuts, points, centre, radius)
        if found.bound - promised <= tolerance * max(abs(found.bound), 1.0):
            if radius >= _FARTHEST or not _at_border(point, centre, radius):
                break
            radius *= 4.0
            continue
        bound, slope, answers = together.ask(point * scale)
        cuts.append((bound, slope * scale))
        points.append(point)
        if bound < found.bound:
            radius = min(_FARTHEST, radius * (2.0 if _at_border(point, centre, radius) else 1.0))
            found, centre = Priced(point * scale, bound, answers), point
        else:
            radius /= 2.0
    return _least(together, found, tolerance)


def _least(together: _Parts, found: Priced, tolerance: float) -> Priced:
    """Lower the prices of minima while the bound stays: where all of a part is asked for, any high price will do."""
    for row in np.flatnonzero((together.most < 0) & (found.price > 0.0)).tolist():
        low, high = 0.0, float(found.price[row])
        for _ in range(_HALVINGS):
            price = found.price.copy()
            price[row] = (low + high) / 2
            bound, _, answers = together.ask(price)
            if bound <= found.bound + tolerance * max(abs(found.bound), 1.0) / 10:
                high, found = price[row], Priced(price, min(bound, found.bound), answers)
            else:
                low = price[row]
    return found


def _typical(slope: NDArray[np.float64], together: _Parts) -> NDArray[np.float64]:
    used = together.most - slope
    return np.maximum(np.abs(used) * 1e-3, 1.0)


def _at_border(point: NDArray[np.float64], centre: NDArray[np.float64], radius: float) -> bool:
    return bool((np.abs(point - centre) >= 0.999 * radius).any())


def _next_point(
    cuts: list[tuple[float, NDArray[np.float64]]],
    points: list[NDArray[np.float64]],
    centre: NDArray[np.float64],
    radius: float,
) -> tuple[NDArray[np.float64], float]:
    """Minimise the largest of the known cuts near the best point; the bound lies above them everywhere."""
    from scipy.optimize import linprog

    size = max(abs(cuts[0][0]), 1.0)
    slopes = np.array([slope for _, slope in cuts]) / size
    values = np.array([value for value, _ in cuts]) / size
    offsets = values - (slopes * np.array(points)).sum(axis=1)
    m = len(centre)
    table = np.hstack([slopes, -np.ones((len(cuts), 1))])
    bounds = [(max(0.0, c - radius), c + radius) for c in centre.tolist()] + [(None, None)]
    solved = linprog(np.append(np.zeros(m), 1.0), A_ub=table, b_ub=-offsets, bounds=bounds, method="highs")
    if solved.x is None:
        return centre, float("inf")
    return np.maximum(solved.x[:m], 0.0), float(solved.x[m]) * size


def split(problem: Problem, parts: int) -> tuple[list[Problem], list[NDArray[np.intp]]]:
    """Cut a problem into parts of about the same size, never through a group; return also each part's units."""
    from dataclasses import replace

    edges = np.linspace(0, problem.units, parts + 1).astype(np.intp)
    if problem.group is not None:
        starts = np.append(np.flatnonzero(np.diff(problem.group, prepend=-1)), problem.units)
        edges = starts[np.searchsorted(starts, edges)]
    cuts, rows = [], []
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if low == high:
            continue
        inside = None if problem.group is None else problem.group[low:high]
        cuts.append(replace(problem, gain=problem.gain[low:high], cost=problem.cost[:, low:high], group=inside))
        rows.append(np.arange(low, high))
    return cuts, rows
