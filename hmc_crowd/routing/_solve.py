"""Which method solves this problem? The exact selection where it applies, prices and a small search elsewhere.

1. Every unit takes its best pool; if that keeps all limits it is the optimum. If only the cap on items is broken, the
   best so many are the optimum, provided they keep the rest: `route`'s selection, proven.
2. Otherwise all limits get prices; the units that are almost indifferent at these prices are decided by branch and
   bound, more of them until the gap to the bound is small enough.
3. Small problems go on to the whole branch and bound while there is time.

Whatever comes out keeps every limit, and says how far above it the optimum can lie.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from hmc_crowd.routing._core import core_units, solve
from hmc_crowd.routing._priced import Answer, Priced, best_prices, split

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.routing._rows import Problem

__all__ = ["Found", "Method", "search"]

Method: TypeAlias = Literal["auto", "selection", "priced", "milp"]
_SELECTION = "exact selection"
_PRICED = "priced selection, the doubtful units by branch and bound"
_MILP = "branch and bound (HiGHS)"
_FIRST_CORE = 500
_WHOLE = 60_000


@dataclass(frozen=True, eq=False)
class Found:
    """A choice with its proof; `choice` is None where no plan keeps all limits."""

    choice: NDArray[np.intp] | None
    bound: float
    price: NDArray[np.float64]
    method: str

    def gap(self, problem: Problem) -> float:
        """Return how far above this choice the optimum can lie, in steps of gain."""
        if self.choice is None:
            return float("inf")
        return max(0.0, self.bound - problem.worth(self.choice))


def search(
    problem: Problem,
    *,
    method: Method,
    time_limit_s: float,
    gap: float,
    shards: int,
    run: Callable[..., object],
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """Solve a problem; `gap` is the share of the gain at which the search may stop."""
    ends = clock() + time_limit_s
    if method in {"auto", "selection"}:
        found = _selection(problem)
        if found is not None or method == "selection":
            return found or Found(None, float("inf"), np.zeros(len(problem.rows)), _SELECTION)
    parts, rows = split(problem, shards)
    priced = best_prices(parts, tolerance=min(gap / 10, 1e-4), run=run)
    merged = _merged(problem, priced, rows)
    found = Found(None, priced.bound, priced.price, _PRICED)
    found = _by_cores(problem, merged, found, gap, lambda: ends - clock())
    enough = found.choice is not None and found.gap(problem) <= gap * max(problem.worth(found.choice), 1)
    if method == "milp" or (method == "auto" and not enough and problem.gain.size <= _WHOLE):
        found = _whole(problem, merged, found, ends - clock(), 0.0 if method == "milp" else gap)
    return found


def _selection(problem: Problem) -> Found | None:
    """Return the optimum where sorting finds it, else None."""
    if problem.group is not None and (problem.open_gain.any() or not _free_is_enough(problem)):
        return None
    nothing = np.zeros(len(problem.rows))
    best = np.argmax(problem.gain, axis=1)
    worth = problem.gain[np.arange(problem.units), best]
    choice = np.where(worth > 0, best, -1)
    if problem.holds(choice):
        return Found(choice, float(problem.worth(choice)), nothing, _SELECTION)
    broken = np.flatnonzero(problem.use(choice) > problem.most).tolist()
    caps = [row for row in broken if problem.rows[row].name == "max_human" and (problem.cost[row] == 1).all()]
    if len(caps) != 1:
        return None
    count = problem.rows[caps[0]].most
    border = 0.0
    if count < problem.units:
        order = np.argsort(-worth, kind="stable")
        choice[order[count:]] = -1
        border = float(max(worth[order[count - 1]] if count else worth.max(), 0))
    if not problem.holds(choice):
        return None
    nothing[caps[0]] = border
    return Found(choice, float(problem.worth(choice)), nothing, _SELECTION)


def _free_is_enough(problem: Problem) -> bool:
    """Tell whether opening whatever one likes keeps all limits."""
    best = np.argmax(problem.gain, axis=1)
    worth = problem.gain[np.arange(problem.units), best]
    return problem.holds(np.where(worth > 0, best, -1))


def _merged(problem: Problem, priced: Priced, rows: list[NDArray[np.intp]]) -> Answer:
    """Put the parts' answers together: as one run would have answered."""
    choice = np.empty(problem.units, dtype=np.intp)
    margin = np.empty(problem.units)
    for each, where in zip(priced.answers, rows, strict=True):
        choice[where], margin[where] = each.choice, each.margin
    return Answer(choice, margin, sum(each.gain for each in priced.answers), problem.use(choice))


def _by_cores(problem: Problem, merged: Answer, found: Found, gap: float, left: Callable[[], float]) -> Found:
    """Decide the doubtful units by branch and bound, ever more of them."""
    size, start = _FIRST_CORE, merged.choice
    best = start if problem.holds(start) else None
    while True:
        found = Found(best, found.bound, found.price, found.method)
        if best is not None and found.gap(problem) <= gap * max(problem.worth(best), 1):
            return found
        if left() <= 0 or size > max(8 * _FIRST_CORE, problem.units if best is None else 0):
            return found
        units = core_units(problem, merged.margin, size)
        solved = solve(problem, start, units, seconds=min(left(), 10.0), tolerance=gap / 4)
        if solved.choice is not None and (best is None or problem.worth(solved.choice) > problem.worth(best)):
            best = solved.choice
        if len(units) == problem.units:
            return Found(best, min(found.bound, solved.bound), found.price, found.method)
        size *= 4


def _whole(problem: Problem, merged: Answer, found: Found, left: float, tolerance: float) -> Found:
    solved = solve(problem, merged.choice, np.arange(problem.units), seconds=left, tolerance=tolerance)
    choice, bound = found.choice, min(found.bound, solved.bound)
    if solved.choice is not None and (choice is None or problem.worth(solved.choice) > problem.worth(choice)):
        choice = solved.choice
    if solved.infeasible:
        return Found(None, float("inf"), found.price, _MILP)
    return Found(choice, bound, found.price, _MILP)
