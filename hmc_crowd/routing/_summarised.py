"""A choice of pools, told to the reader: totals in his units, every limit with its use and price."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.routing._allocation import Allocation, LimitUse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.routing._rows import Asked, Problem
    from hmc_crowd.routing._solve import Found

__all__ = ["summarised"]

_ASSUMPTIONS = (
    "confidence and skill are calibrated probabilities of being right, whoever else is asked",
    "times and prices are expectations; the P90 limit assumes that all items may run slow together",
    "a pool's capacity and people are there for this batch alone",
)


def summarised(asked: Asked, problem: Problem, unit_of: NDArray[np.intp], found: Found) -> Allocation:
    """Say what a choice means for the items."""
    choice: Any = found.choice
    pool = choice[unit_of]
    given, people = asked.given, pool >= 0
    skills = np.array([each.skill for each in asked.pools])
    right = np.where(people, np.asarray(given.human_confidence) * skills[pool], given.confidence)
    effort_of_machine = float(np.sum(np.broadcast_to(np.asarray(given.machine_effort), (given.size,))))
    machine = float(given.confidence.sum()) - asked.trade_off * effort_of_machine
    gap = found.gap(problem) * problem.gain_unit
    # The bound is a sum of rounded floats: a few last digits are no gap.
    gap = 0.0 if gap <= 1e-9 * max(1.0, abs(machine)) else gap
    won = problem.worth(choice) * problem.gain_unit
    used = problem.use(choice)
    return Allocation(
        pool=pool,
        pools=tuple(each.name for each in asked.pools),
        objective=machine + won,
        upper_bound=machine + won + gap,
        machine_objective=machine,
        gap=gap,
        gap_share=gap / (won + gap) if won + gap > 0.0 else 0.0,
        agreement_expected=float(right.mean()),
        human_s=_total(asked, pool, asked.seconds, money=False),
        human_s_p90=math.nan if asked.seconds_p90 is None else _total(asked, pool, asked.seconds_p90, money=False),
        money_minor=math.ceil(_total(asked, pool, asked.seconds, money=True) - 1e-6),
        opened_groups=None if asked.group is None else len(np.unique(_pairs(asked, pool))),
        limits=tuple(
            LimitUse(
                row.name,
                row.unit,
                row.shown(int(use)),
                row.shown(row.most),
                row.at_least,
                float(price) * problem.gain_unit * row.scale,
                bool(price > 0.0),
            )
            for row, use, price in zip(problem.rows, used, found.price, strict=True)
        ),
        method=found.method,
        notes=_notes(problem, asked),
        assumptions=_ASSUMPTIONS,
    )


def _pairs(asked: Asked, pool: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return (group, pool) pairs that are opened, as one number each."""
    group: Any = asked.group
    people = pool >= 0
    pairs: NDArray[np.intp] = group[people] * len(asked.pools) + pool[people]
    return pairs


def _total(asked: Asked, pool: NDArray[np.intp], seconds: NDArray[np.float64], *, money: bool) -> float:
    """Return seconds, or minor units, over all answers, set-up included."""
    speed = np.array([each.speed for each in asked.pools])
    answers = np.array([each.redundancy for each in asked.pools])
    per_s = np.array([each.minor_per_s for each in asked.pools]) if money else np.ones(len(asked.pools))
    fixed = np.array([each.minor_per_answer for each in asked.pools]) if money else np.zeros(len(asked.pools))
    people = pool >= 0
    who = pool[people]
    total = float(((seconds[people] / speed[who] * per_s[who] + fixed[who]) * answers[who]).sum())
    if asked.group is not None and asked.setup_s.any():
        pairs = np.unique(_pairs(asked, pool))
        opened, by = np.divmod(pairs, len(asked.pools))
        total += float((asked.setup_s[opened] / speed[by] * per_s[by] * answers[by]).sum())
    return total


def _notes(problem: Problem, asked: Asked) -> tuple[str, ...]:
    """Say what can never be chosen: groups (or items) that are larger than a whole limit."""
    notes = []
    for number, row in enumerate(problem.rows):
        if row.most < 0 or not row.name.startswith("max_"):
            continue
        alone = problem.cost[number].copy()
        if problem.group is not None:
            alone = alone + problem.open_cost[number][problem.group]
        too_large = int((alone.min(axis=1) > row.most).sum())
        if too_large:
            what = ("group" if asked.whole_groups else "item") + ("" if too_large == 1 else "s")
            notes.append(f"{too_large:,} {what} alone would need more than {row.name} allows: left to the machine")
    return tuple(notes)
