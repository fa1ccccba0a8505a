"""The last few doubtful units, or all of them, decided together by branch and bound (HiGHS, through scipy).

Prices settle nearly every unit; what is left is a small problem of the units that are all but indifferent. With all
units in it, this is the whole problem, and the solver's bound holds for it.

Source: Zhang, Ren, de Rijke (2021), eq. 3-4, with the further rows of requirement F3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.routing._rows import Problem

__all__ = ["Solved", "Table", "core_units", "scaled", "solve", "table_of"]


@dataclass(frozen=True, eq=False)
class Solved:
    """A choice, if one was found, and an upper bound on the gain of any (in steps of gain)."""

    choice: NDArray[np.intp] | None
    bound: float
    infeasible: bool


@dataclass(frozen=True, eq=False)
class Table:
    """The sub-problem as matrices: columns are (unit, pool) pairs, then the (group, pool) pairs that they may open."""

    objective: NDArray[np.float64]
    upper: Any
    most: NDArray[np.float64]
    links: Any
    columns: int
    openings: int


def core_units(problem: Problem, margin: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Return the units whose choice is least firm: about `size`, with all the units of their groups."""
    if size >= problem.units:
        return np.arange(problem.units)
    if problem.group is None:
        return np.sort(np.argsort(margin, kind="stable")[:size])
    starts = np.flatnonzero(np.diff(problem.group, prepend=-1))
    firmness = np.minimum.reduceat(margin, starts)
    order = np.argsort(firmness, kind="stable")
    lengths = np.diff(np.append(starts, problem.units))
    enough = int(np.searchsorted(np.cumsum(lengths[order]), size)) + 1
    wanted = np.zeros(len(starts), dtype=bool)
    wanted[order[:enough]] = True
    return np.flatnonzero(np.repeat(wanted, lengths))


def table_of(problem: Problem, units: NDArray[np.intp], room: NDArray[np.int64]) -> Table:
    """Write down these units' problem with what the others leave of every row."""
    from scipy import sparse

    pools, k = problem.gain.shape[1], len(units)
    gain = problem.gain[units].ravel().astype(np.float64)
    cost = problem.cost[:, units].reshape(len(problem.rows), k * pools).astype(np.float64)
    one_pool = sparse.kron(sparse.eye(k), np.ones((1, pools)), format="csr")
    if problem.group is None:
        upper = sparse.vstack([sparse.csr_matrix(cost), one_pool], format="csr")
        most = np.concatenate([room.astype(np.float64), np.ones(k)])
        return Table(gain, upper, most, None, k * pools, 0)
    groups, place = np.unique(problem.group[units], return_inverse=True)
    opening = problem.open_cost[:, groups].reshape(len(problem.rows), len(groups) * pools).astype(np.float64)
    g = len(groups) * pools
    empty = sparse.csr_matrix((k, g))
    upper = sparse.vstack(
        [sparse.csr_matrix(np.hstack([cost, opening])), sparse.hstack([one_pool, empty])], format="csr"
    )
    most = np.concatenate([room.astype(np.float64), np.ones(k)])
    # Choosing a pool for an item opens it for the item's group.
    pair = np.arange(k * pools)
    opens = (place[:, None] * pools + np.arange(pools)).ravel()
    ones = np.ones(k * pools)
    links = sparse.hstack(
        [
            sparse.csr_matrix((ones, (pair, pair)), shape=(k * pools, k * pools)),
            sparse.csr_matrix((-ones, (pair, opens)), shape=(k * pools, g)),
        ],
        format="csr",
    )
    objective = np.concatenate([gain, -problem.open_gain[groups].ravel().astype(np.float64)])
    return Table(objective, upper, most, links, k * pools, g)


def solve(
    problem: Problem, start: NDArray[np.intp], units: NDArray[np.intp], *, seconds: float, tolerance: float
) -> Solved:
    """Decide these units anew, the others staying as in `start`.

    Parameters
    ----------
    problem : Problem
        The whole.
    start : array of int
        A choice for every unit; need not keep the rows.
    units : array of int
        Units to be decided; where groups can be opened, all units of theirs.
    seconds : float
        Time limit of the solver.
    tolerance : float
        Relative gap at which it may stop.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    fixed = start.copy()
    fixed[units] = -1
    table = table_of(problem, units, problem.most - problem.use(fixed))
    size = max(float(np.abs(table.objective).max(initial=0.0)), 1.0)
    upper, most, _ = scaled(table.upper, table.most)
    limits = [LinearConstraint(upper, -np.inf, most)]
    if table.links is not None:
        limits.append(LinearConstraint(table.links, -np.inf, 0.0))
    found = milp(
        -table.objective / size,
        constraints=limits,
        integrality=np.ones(len(table.objective), dtype=np.int8),
        bounds=Bounds(0, 1),
        options={"time_limit": max(seconds, 0.05), "mip_rel_gap": tolerance},
    )
    outside = float(problem.worth(fixed))
    bound = float("inf") if found.mip_dual_bound is None else outside - float(found.mip_dual_bound) * size
    if found.x is None:
        return Solved(None, bound, found.status == 2)
    pools = problem.gain.shape[1]
    taken = found.x[: table.columns].reshape(-1, pools)
    choice = fixed.copy()
    choice[units] = np.where(taken.max(axis=1) > 0.5, np.argmax(taken, axis=1), -1)
    return Solved(_kept(problem, choice), bound, False)


def scaled(upper: Any, most: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Divide each row by its size, which comes third: the solver's absolute tolerance is then a millionth of a limit.

    Without it, rounding its nearly whole numbers breaks large limits, and the solver says so on standard output.
    """
    from scipy import sparse

    size = np.maximum(np.maximum(abs(upper).max(axis=1).toarray().ravel(), np.abs(most)), 1.0)
    return sparse.diags(1.0 / size) @ upper, most / size, size


def _kept(problem: Problem, choice: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Repair what the solver's tolerance let through: give back the choices of least gain until all rows hold."""
    while not problem.holds(choice):
        over = problem.use(choice) > problem.most
        asked = np.flatnonzero(choice >= 0)
        helps = (problem.cost[:, asked, choice[asked]][over] > 0).any(axis=0)
        if not helps.any():
            return None
        rows = asked[helps]
        choice[rows[np.argmin(problem.gain[rows, choice[rows]])]] = -1
    return choice
