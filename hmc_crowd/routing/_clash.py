"""Which limits clash, and what is the nearest plan that can be had? Asked when no plan keeps them all.

Two programmes: one drops limits one by one until what is left cannot lose another without becoming feasible (a
smallest set that clashes), the other lets every limit of that set stretch, each at the same relative price, and says by
how much they must. Where several clashes stand side by side all limits may stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.routing._core import scaled, table_of

if TYPE_CHECKING:
    from hmc_crowd.routing._core import Table
    from hmc_crowd.routing._rows import Problem

__all__ = ["Clash", "clash_of", "stretched"]


@dataclass(frozen=True)
class Clash:
    """Limits that cannot hold together, and how far each must be stretched so that a plan exists (its own units)."""

    names: tuple[str, ...]
    needed: dict[str, int]


def clash_of(problem: Problem) -> Clash:
    """Return the clash of a problem that no choice solves; nothing is needed where a choice exists after all."""
    table = table_of(problem, np.arange(problem.units), problem.most)
    count = len(problem.rows)
    every = list(range(count))
    # Halves of items may keep limits that whole ones cannot.
    whole = _possible(table, every, count, whole=False)
    if whole and _possible(table, every, count, whole=True):
        return Clash((), {})
    clashing = every
    for row in range(count):
        rest = [each for each in clashing if each != row]
        if not _possible(table, rest, count, whole=whole):
            clashing = rest
    # Another clash may stand beside this one: then stretching these limits is not enough.
    needed = _stretch(table, problem, clashing) or _stretch(table, problem, every)
    names = {problem.rows[row].name for row in clashing} | set(needed)
    return Clash(tuple(row.name for row in problem.rows if row.name in names), needed)


def _possible(table: Table, rows: list[int], count: int, *, whole: bool) -> bool:
    """Say whether some plan may keep these rows, of whole items or of parts of them; in doubt it may."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    keep = np.array([*rows, *range(count, table.upper.shape[0])])
    upper, most, _ = scaled(table.upper[keep], table.most[keep])
    limits = [LinearConstraint(upper, -np.inf, most)]
    if table.links is not None:
        limits.append(LinearConstraint(table.links, -np.inf, 0.0))
    columns = len(table.objective)
    solved = milp(
        np.zeros(columns),
        constraints=limits,
        integrality=np.full(columns, int(whole)),
        bounds=Bounds(0, 1),
        options={"time_limit": 5.0},
    )
    return bool(solved.status != 2)


def _stretch(table: Table, problem: Problem, rows: list[int]) -> dict[str, int]:
    """Return by how much each of these rows must give way at least, in its own units, whole choices only."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    columns = len(table.objective)
    upper, most, size = scaled(table.upper, table.most)
    ones = np.ones(len(rows))
    slack = sparse.csr_matrix((-ones, (rows, np.arange(len(rows)))), shape=(upper.shape[0], len(rows)))
    limits: list[Any] = [LinearConstraint(sparse.hstack([upper, slack], format="csr"), -np.inf, most)]
    if table.links is not None:
        nothing = sparse.csr_matrix((table.links.shape[0], len(rows)))
        limits.append(LinearConstraint(sparse.hstack([table.links, nothing], format="csr"), -np.inf, 0.0))
    solved = milp(
        np.append(np.zeros(columns), np.ones(len(rows))),
        constraints=limits,
        integrality=np.append(np.ones(columns, dtype=np.int8), np.zeros(len(rows), dtype=np.int8)),
        bounds=Bounds(0, np.append(np.ones(columns), np.full(len(rows), np.inf))),
        options={"time_limit": 20.0, "mip_rel_gap": 0.01},
    )
    if solved.x is None:
        return {}
    gaps = solved.x[columns:] * size[rows]
    return {
        problem.rows[row].name: int(np.ceil(gap * (1 - 1e-9) - 1e-3))
        for row, gap in zip(rows, gaps, strict=True)
        if gap > 1e-2
    }


def stretched(problem: Problem, needed: dict[str, int]) -> Problem:
    """Return the same problem with its limits stretched."""
    from dataclasses import replace

    rows = tuple(replace(row, most=row.most + needed.get(row.name, 0)) for row in problem.rows)
    return replace(problem, rows=rows)
