"""A plan with pools and limits as a table of whole numbers: what each choice gains, and what it uses of every limit.

Time is counted in milliseconds, money in thousandths of minor units, chances in millionths, all rounded against the
plan. So sums are exact, a limit that holds here holds, and parts of a batch that are added up on different machines
give the same plan as one run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing._gain import cap_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.routing._gain import Costs
    from hmc_crowd.routing._pools import Limits, Pool, Quota

__all__ = ["Asked", "Problem", "Row", "build"]

Int = np.int64
_MS, _MILLI, _MILLIONTH = 1000, 1000, 1_000_000
_LARGEST = float(2**61)


@dataclass(frozen=True)
class Row:
    """A limit: its name in messages, its right-hand side, and how many of our units make one of the reader's.

    A row with `at_least` is stored with its sign turned, so that all rows read "uses at most". ``offset`` is what is
    used before anything is decided.
    """

    name: str
    most: int
    unit: str
    scale: int = 1
    at_least: bool = False
    offset: int = 0

    def shown(self, used: int) -> float:
        """Return a use of this limit, or its right-hand side, in the reader's unit."""
        return ((-used if self.at_least else used) + self.offset) / self.scale


@dataclass(frozen=True, eq=False)
class Asked:
    """Checked arguments of `allocate`, one row per item."""

    given: Costs
    trade_off: float
    pools: tuple[Pool, ...]
    limits: Limits
    quotas: tuple[Quota, ...]
    seconds: NDArray[np.float64]
    seconds_p90: NDArray[np.float64] | None
    group: NDArray[np.intp] | None
    setup_s: NDArray[np.float64]
    setup_effort: NDArray[np.float64]
    whole_groups: bool


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximise the sum of gains within all rows; each unit takes one pool or none.

    ``gain`` (units, pools) and ``cost`` (rows, units, pools) speak of units: items, or whole groups. Where opening a
    group costs something, ``group`` (units,) is sorted and ``open_gain`` (groups, pools) is what opening takes off the
    gain, ``open_cost`` (rows, groups, pools) what it uses. ``gain_unit`` is the value of one step of a gain.
    """

    rows: tuple[Row, ...]
    gain: NDArray[np.int64]
    gain_unit: float
    cost: NDArray[np.int64]
    group: NDArray[np.intp] | None
    open_gain: NDArray[np.int64]
    open_cost: NDArray[np.int64]

    @property
    def most(self) -> NDArray[np.int64]:
        """The right-hand sides."""
        return np.array([row.most for row in self.rows], dtype=Int)

    @property
    def units(self) -> int:
        """How many things are to be decided."""
        return int(self.gain.shape[0])

    def opened(self, choice: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which (group, pool) pairs a choice opens; pool -1 is the machine."""
        opened = np.zeros(self.open_gain.shape, dtype=bool)
        if self.group is not None:
            asked = choice >= 0
            opened[self.group[asked], choice[asked]] = True
        return opened

    def use(self, choice: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return what a choice uses of every row, exactly."""
        asked = np.flatnonzero(choice >= 0)
        used: NDArray[np.int64] = self.cost[:, asked, choice[asked]].sum(axis=1)
        opened: NDArray[np.int64] = self.open_cost[:, self.opened(choice)].sum(axis=1)
        return used + opened

    def worth(self, choice: NDArray[np.intp]) -> int:
        """Return what a choice gains over leaving all to the machine, in steps of ``gain_unit``."""
        asked = np.flatnonzero(choice >= 0)
        return int(self.gain[asked, choice[asked]].sum()) - int(self.open_gain[self.opened(choice)].sum())

    def holds(self, choice: NDArray[np.intp]) -> bool:
        """Tell whether a choice keeps every row."""
        return bool((self.use(choice) <= self.most).all())


def build(asked: Asked) -> tuple[Problem, NDArray[np.intp]]:
    """Return the problem, and for every item the unit it belongs to."""
    n, pools = asked.given.size, asked.pools
    gain = _gains(asked)
    open_gain = asked.trade_off * np.outer(asked.setup_effort, np.ones(len(pools)))
    total = float(np.abs(gain).max(axis=1).sum() + open_gain.sum())
    unit = math.ldexp(1.0, math.ceil(math.log2(total / _LARGEST))) if total > 0.0 else 1.0
    steps = np.rint(gain / unit).astype(Int)
    open_steps = np.rint(open_gain / unit).astype(Int)
    rows, cost, open_cost = _rows(asked)
    charged = bool(open_steps.any() or open_cost.any())
    if asked.whole_groups and asked.group is not None:
        steps, cost = _summed(steps, asked.group, 0), _summed(cost, asked.group, 1)
        nothing = np.zeros((len(rows), 0, len(pools)), dtype=Int)
        problem = Problem(
            rows, steps - open_steps, unit, cost + open_cost, None, np.zeros((0, len(pools)), dtype=Int), nothing
        )
        return problem, asked.group
    if not charged or asked.group is None:
        nothing = np.zeros((len(rows), 0, len(pools)), dtype=Int)
        return Problem(rows, steps, unit, cost, None, np.zeros((0, len(pools)), dtype=Int), nothing), np.arange(n)
    order = np.argsort(asked.group, kind="stable")
    unit_of = np.empty(n, dtype=np.intp)
    unit_of[order] = np.arange(n)
    return Problem(rows, steps[order], unit, cost[:, order], asked.group[order], open_steps, open_cost), unit_of


def _gains(asked: Asked) -> NDArray[np.float64]:
    """Return what each item wins with each pool: skill over confidence, less the price of its effort."""
    skills = np.array([pool.skill for pool in asked.pools])
    human = np.asarray(asked.given.human_confidence)
    # One pool of skill 1 leaves the number to the caller, as `route` does.
    right = np.broadcast_to(human.reshape(-1, 1), (asked.given.size, len(skills))) * skills
    gain: NDArray[np.float64] = right - asked.given.confidence[:, None]
    if asked.trade_off:
        gain = gain - (asked.trade_off * (asked.given.effort - asked.given.machine_effort))[:, None]
    return gain


def _summed(table: NDArray[np.int64], group: NDArray[np.intp], axis: int) -> NDArray[np.int64]:
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    summed: NDArray[np.int64] = np.add.reduceat(np.take(table, order, axis=axis), starts, axis=axis)
    return summed


def _rows(asked: Asked) -> tuple[tuple[Row, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Return the limits that are set, their costs per item and pool, and per group and pool."""
    n, limits, pools = asked.given.size, asked.limits, asked.pools
    table = _Table(n, len(asked.setup_s), len(pools))
    if limits.max_human is not None:
        table.add(Row("max_human", cap_count(limits.max_human, n), "items"), 1)
    for name, most, seconds in (
        ("max_human_s", limits.max_human_s, asked.seconds),
        ("max_human_s_p90", limits.max_human_s_p90, asked.seconds_p90),
    ):
        if most is None:
            continue
        if seconds is None:
            raise InputError(f"{name} is {most!r}, but seconds_p90 is missing; give the P90 of every item's time")
        table.add(Row(name, math.floor(most * _MS), "s", _MS), _ms(seconds, pools), _ms(asked.setup_s, pools))
    if limits.max_money_minor is not None:
        row = Row("max_money_minor", math.floor(limits.max_money_minor * _MILLI), "minor units", _MILLI)
        table.add(row, _money(asked.seconds, pools, answers=True), _money(asked.setup_s, pools, answers=False))
    for index, pool in enumerate(pools):
        only = np.arange(len(pools)) == index
        if pool.capacity is not None:
            table.add(Row(f"capacity of {pool.name}", pool.capacity, "items"), only.astype(Int))
        if limits.deadline_s is not None and pool.people is not None:
            row = Row(f"deadline for {pool.name}", math.floor(pool.people * limits.deadline_s * _MS), "s", _MS)
            table.add(row, _ms(asked.seconds, pools) * only, _ms(asked.setup_s, pools) * only)
    for quota in asked.quotas:
        _add_quota(table, quota, asked)
    return table.done()


class _Table:
    """Rows as they come."""

    def __init__(self, items: int, groups: int, pools: int) -> None:
        self._items, self._groups = (items, pools), (groups, pools)
        self._rows: list[Row] = []
        self._cost: list[NDArray[np.int64]] = []
        self._open: list[NDArray[np.int64]] = []

    def add(self, row: Row, cost: Any, opening: Any = 0) -> None:
        self._rows.append(row)
        self._cost.append(np.broadcast_to(np.asarray(cost, dtype=Int), self._items))
        self._open.append(np.broadcast_to(np.asarray(opening, dtype=Int), self._groups))

    def done(self) -> tuple[tuple[Row, ...], NDArray[np.int64], NDArray[np.int64]]:
        def stack(parts: list[NDArray[np.int64]], shape: tuple[int, int]) -> NDArray[np.int64]:
            return np.stack(parts) if parts else np.zeros((0, *shape), dtype=Int)

        return tuple(self._rows), stack(self._cost, self._items), stack(self._open, self._groups)


def _ms(seconds: NDArray[np.float64], pools: Sequence[Pool]) -> NDArray[np.int64]:
    """Return milliseconds per row and pool over all answers, rounded up."""
    factor = np.array([pool.redundancy / pool.speed for pool in pools])
    return np.ceil(np.outer(seconds, factor) * _MS - 1e-6).astype(Int)


def _money(seconds: NDArray[np.float64], pools: Sequence[Pool], *, answers: bool) -> NDArray[np.int64]:
    """Return thousandths of minor units per row and pool over all answers, fees included, rounded up."""
    speed = np.array([pool.speed for pool in pools])
    by_time = seconds[:, None] / speed * np.array([pool.minor_per_s for pool in pools])
    by_answer = np.array([pool.minor_per_answer if answers else 0.0 for pool in pools])
    each = np.ceil((by_time + by_answer) * _MILLI - 1e-6).astype(Int)
    answers_each: NDArray[np.int64] = each * np.array([pool.redundancy for pool in pools], dtype=Int)
    return answers_each


def _add_quota(table: _Table, quota: Quota, asked: Asked) -> None:
    if len(quota.rows) != asked.given.size:
        raise InputError(
            f"quota {quota.name!r} has {len(quota.rows)} rows for {asked.given.size} items; give one per item"
        )
    inside = quota.rows.astype(Int)[:, None]
    low, high = quota.counts
    if low is not None:
        table.add(Row(f"quota {quota.name!r} at_least", -low, "items", 1, at_least=True), -inside)
    if high is not None:
        table.add(Row(f"quota {quota.name!r} at_most", high, "items"), inside)
    if quota.error_at_most is not None:
        # Errors kept by the machine are the start; each item given to people changes the sum by its own gain in skill.
        machine = np.ceil((1.0 - asked.given.confidence) * _MILLIONTH).astype(Int)
        human = np.asarray(asked.given.human_confidence).reshape(-1, 1) * np.array([p.skill for p in asked.pools])
        people = np.ceil((1.0 - np.broadcast_to(human, (len(machine), len(asked.pools)))) * _MILLIONTH).astype(Int)
        start = int(machine[quota.rows].sum())
        allowed = math.floor(quota.error_at_most * quota.size * _MILLIONTH)
        row = Row(f"quota {quota.name!r} error_at_most", allowed - start, "wrong labels", _MILLIONTH, offset=start)
        table.add(row, (people - machine[:, None]) * inside)
