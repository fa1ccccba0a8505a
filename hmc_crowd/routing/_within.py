"""What is the best plan that minutes and money can pay for? Selection under budgets, with a proven bound.

While no budget binds, the plan is `route`'s, exact. Where one binds the problem is a knapsack: then every second
and every unit of money gets a price, chosen so that the priced problem (which a selection solves exactly) gives the
least upper bound on the objective; items are taken in the order of their priced gains, and what is left of the
budgets is filled up. The result never exceeds a budget and carries the bound and the gap to it: what the best plan
could gain at most beyond this one. The bound equals that of the linear relaxation, so with B binding limits the gap
is about B items' gains, whatever the number of items.

Sources: Zhang, Ren, de Rijke (2021), eq. 3-4, for the objective; Fisher (1981), "The Lagrangian relaxation method
for solving integer programming problems", for bound and prices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd.errors import InputError
from hmc_crowd.routing._gain import cap_count, costs, gains, trade_off_value
from hmc_crowd.routing._knapsack import Limit, Problem, fill, prices
from hmc_crowd.routing._plan import Border, Plan
from hmc_crowd.routing._render import html_table
from hmc_crowd.routing._route import build_plan, select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BudgetPlan", "route_within"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BudgetPlan(Plan):
    """A `Plan` under budgets. Made by `route_within`.

    Parameters
    ----------
    human_s : float or None
        Seconds that people need for their items.
    money_minor : int or None
        Money that their answers cost, in minor units.
    upper_bound : float
        No plan within the limits has an objective above this.
    gap : float
        ``upper_bound - objective``, at least 0; 0 where the plan is proven optimal.
    binding : tuple of str
        Which budgets shaped the plan: "seconds", "money", or none.
    price_per_s, price_per_minor : float
        What the objective would win by one more second, or minor unit, near this plan; 0 where a budget does not bind.
    """

    human_s: float | None
    money_minor: int | None
    upper_bound: float
    gap: float
    binding: tuple[str, ...]
    price_per_s: float
    price_per_minor: float

    def __str__(self) -> str:
        used = "" if self.human_s is None else f"; {self.human_s:,.0f} s"
        used += "" if self.money_minor is None else f"; {self.money_minor:,} minor units"
        bound = (
            f"; {' and '.join(self.binding)} bind, gap {self.gap:.3g}" if self.binding else "; no budget binds, exact"
        )
        return super().__str__() + used + bound

    __repr__ = __str__

    def _repr_html_(self) -> str:
        own = ("human_s", "money_minor", "upper_bound", "gap", "binding", "price_per_s", "price_per_minor")
        return super()._repr_html_() + html_table("Budgets", ((name, getattr(self, name)) for name in own))


def route_within(
    confidence: ArrayLike,
    effort: ArrayLike,
    *,
    seconds: ArrayLike | None = None,
    max_human: int | float | None = None,
    max_human_s: float | None = None,
    money_minor: ArrayLike | None = None,
    max_money_minor: int | None = None,
    trade_off: float = 0.0,
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
) -> BudgetPlan:
    """Choose the items that people should judge, within limits of items, working time and money.

    Parameters
    ----------
    confidence, effort, max_human, trade_off, human_confidence, machine_effort
        As in `route`, with ``cap="at_most"``.
    seconds : float or array of float, shape (n_items,), optional
        Working time of people per item, >= 0, over all answers that the item gets. Needed by `max_human_s`.
    max_human_s : float, optional
        Most seconds that people may work.
    money_minor : int or array of int, shape (n_items,), optional
        Money per item in minor units, >= 0, over all its answers, fees included. Needed by `max_money_minor`.
    max_money_minor : int, optional
        Most money to spend, in minor units of the same currency.

    Returns
    -------
    BudgetPlan
        Never above a limit. Exact if no budget binds; otherwise with an upper bound and the gap to it.

    Raises
    ------
    InputError
        As `route`; a limit is negative, or lacks the costs per item that it limits.

    Notes
    -----
    One budget: linear time per step, some hundred steps. Two budgets that bind together: their prices come from a
    linear programme (HiGHS), seconds at 10^5 items.

    Examples
    --------
    >>> plan = route_within([0.1, 0.3, 0.2], [0.0, 0.0, 0.0], seconds=[60.0, 20.0, 30.0], max_human_s=60.0)
    >>> plan.to_human.tolist(), plan.human_s, plan.binding
    ([False, True, True], 50.0, ('seconds',))
    """
    price = trade_off_value(trade_off, "at_most", max_human)
    given = costs(confidence, effort, human_confidence=human_confidence, machine_effort=machine_effort)
    count = cap_count(max_human, given.size)
    time = _per_item_cost(seconds, "seconds", given.size)
    money = _per_item_cost(money_minor, "money_minor", given.size)
    if money is not None and (money != np.floor(money)).any():
        odd = first_rows(money != np.floor(money), money)
        raise InputError(f"money_minor must hold whole minor units (cents): {odd}; round these up")
    limits = [
        _limit("seconds", time, max_human_s, "max_human_s", "seconds"),
        _limit("money", money, max_money_minor, "max_money_minor", "money_minor"),
    ]
    gain = gains(given, price)
    found = _solve(gain, count, [limit for limit in limits if limit is not None])
    settings: dict[str, Any] = {"trade_off": price, "cap": "at_most", "max_human": max_human, "count": count}
    plan = build_plan(
        given, gain, found.to_human, ties=found.ties, border=found.border, method=found.method, **settings
    )
    bound = max(plan.objective, plan.objective + found.slack)
    return BudgetPlan(
        **{each.name: getattr(plan, each.name) for each in fields(Plan)},
        human_s=None if time is None else math.fsum(time[found.to_human].tolist()),
        money_minor=None if money is None else int(money[found.to_human].sum()),
        upper_bound=bound,
        gap=bound - plan.objective,
        binding=found.binding,
        price_per_s=found.prices.get("seconds", 0.0),
        price_per_minor=found.prices.get("money", 0.0),
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """A selection with its proof: how far above it the optimum can lie."""

    to_human: NDArray[np.bool_]
    ties: NDArray[np.intp]
    border: Border
    slack: float
    binding: tuple[str, ...]
    prices: dict[str, float]
    method: str


def _solve(gain: NDArray[np.float64], count: int, limits: list[Limit]) -> _Found:
    chosen, ties, border = select(gain, count, "at_most")
    broken = [limit for limit in limits if not limit.holds(chosen)]
    if not broken:
        return _Found(chosen, ties, border, 0.0, (), {}, "exact selection")
    # Only items worth something can be chosen, so the problem is theirs alone.
    rows = np.flatnonzero(gain > 0.0)
    problem = Problem(gain[rows], count, [limit.of(rows) for limit in limits])
    price, bound = prices(problem)
    taken = fill(problem, price)
    to_human = np.zeros(len(gain), dtype=bool)
    to_human[rows[taken]] = True
    slack = max(0.0, bound - math.fsum(problem.gain[taken].tolist()))
    names = tuple(limit.name for limit, each in zip(limits, price, strict=True) if each > 0.0)
    return _Found(
        to_human,
        np.empty(0, dtype=np.intp),
        Border(math.nan),
        slack,
        names or tuple(limit.name for limit in broken),
        {limit.name: each for limit, each in zip(limits, price, strict=True)},
        "priced selection with an upper bound",
    )


def _per_item_cost(values: ArrayLike | None, name: str, n_items: int) -> NDArray[np.float64] | None:
    if values is None:
        return None
    if np.ndim(values) == 0:
        return np.full(n_items, float_vector(np.reshape(np.asarray(values), 1), name=name, low=0.0)[0])
    vector = float_vector(values, name=name, low=0.0)
    if len(vector) != n_items:
        raise InputError(f"{name} has {len(vector)} rows for {n_items} items; give one number for all, or one per item")
    return vector


def _limit(name: str, cost: NDArray[np.float64] | None, most: Any, limit_name: str, cost_name: str) -> Limit | None:
    if most is None:
        return None
    if cost is None:
        raise InputError(f"{limit_name} is {most!r}, but {cost_name} is missing; give what each item costs")
    if isinstance(most, (bool, np.bool_)):
        raise InputError(f"{limit_name} is {most!r}; give a number, at least 0")
    try:
        value = float(most)
    except (TypeError, ValueError):
        raise InputError(f"{limit_name} is {most!r}; give a number, at least 0") from None
    if not 0.0 <= value < math.inf:
        raise InputError(f"{limit_name} is {most!r}; give a finite number, at least 0, or None for no limit")
    return Limit(name, cost, value)
