"""Where is the bottleneck, and what would one more expert change?

Waiting follows from Erlang's formula for a queue with several servers (arrivals at random, times exponential): the
chance to wait, and the mean wait. Above full load there is no wait to tell: the backlog grows, and how fast is said.

Source: Erlang (1917); requirements D2 (never present an infeasible load as reachable), D24 and D25.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality._expert_tiers import SOURCE_TIERS, Tier
from hmc_crowd.quality._experts import Expert, require_experts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["CapacityPlan", "expert_workload", "people_needed", "what_if"]


@dataclass(frozen=True)
class CapacityPlan:
    """What so many people do with so many items.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per tier: ``tier, people, arrivals_per_hour, capacity_per_hour, utilisation, wait_s, backlog_per_hour,
        cost_per_hour_minor``; ``wait_s`` is infinite above full load.
    bottleneck : int
        The tier with the highest utilisation.
    feasible : bool
        Whether every tier keeps up.
    """

    table: pd.DataFrame
    bottleneck: int
    feasible: bool

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def __str__(self) -> str:
        row = self.table.set_index("tier").loc[self.bottleneck]
        if not self.feasible:
            return (
                f"not feasible: tier {self.bottleneck} falls behind by {row['backlog_per_hour']:,.0f} items an hour "
                f"(load {row['utilisation']:.0%})"
            )
        busy = f"load {row['utilisation']:.0%}, wait {row['wait_s']:,.0f} s"
        return f"feasible; tier {self.bottleneck} is the busiest: {busy}"


def what_if(
    arrivals_per_hour: Mapping[int, float],
    tiers: Sequence[Tier] = SOURCE_TIERS,
    *,
    people: Mapping[int, int] | None = None,
) -> CapacityPlan:
    """Work out load, waiting and cost of each tier for a number of people.

    Parameters
    ----------
    arrivals_per_hour : mapping of int to float
        Items that come to each tier.
    tiers : sequence of Tier
        Today's tiers; the source's by default.
    people : mapping of int to int, optional
        Other numbers of people, by tier.

    Examples
    --------
    The third tier of the source judges 25 items an hour:

    >>> print(what_if({1: 500, 2: 200, 3: 30}))
    not feasible: tier 3 falls behind by 5 items an hour (load 120%)
    >>> what_if({1: 500, 2: 200, 3: 30}, people={3: 8}).feasible
    True
    """
    known = {one.tier for one in tiers}
    if not known:
        raise InputError("tiers is empty: there is no expert to work with; give at least one tier, if with 0 people")
    strange = [tier for tier in {*arrivals_per_hour, *(people or {})} if tier not in known]
    if strange:
        raise InputError(f"tier {strange[0]!r} is not among the tiers {sorted(known)}; correct it")
    bad = [value for value in arrivals_per_hour.values() if not 0 <= value < float("inf")]
    if bad:
        raise InputError(f"arrivals_per_hour holds {bad[0]!r}; give items an hour, 0 or more")
    rows = []
    for one in sorted(tiers, key=lambda each: each.tier):
        now = Tier(one.tier, (people or {}).get(one.tier, one.people), one.per_hour, one.hourly_minor)
        come = float(arrivals_per_hour.get(one.tier, 0.0))
        load = come / now.capacity_per_hour if now.people else (float("inf") if come else 0.0)
        wait = _erlang_wait_s(come, now.per_hour, now.people)
        backlog = max(0.0, come - now.capacity_per_hour)
        cost = now.people * now.hourly_minor
        rows.append((one.tier, now.people, come, now.capacity_per_hour, load, wait, backlog, cost))
    table = pd.DataFrame(
        rows,
        columns=[
            *("tier", "people", "arrivals_per_hour", "capacity_per_hour", "utilisation", "wait_s"),
            *("backlog_per_hour", "cost_per_hour_minor"),
        ],
    )
    worst = int(table["utilisation"].to_numpy().argmax())
    return CapacityPlan(table, int(table["tier"].iloc[worst]), bool((table["utilisation"] < 1).all()))


def people_needed(arrivals_per_hour: float, per_hour: float, *, wait_s: float) -> int:
    """Return the fewest people with whom items wait no longer than this on average.

    Examples
    --------
    >>> people_needed(30, 5, wait_s=600)
    7
    """
    if not per_hour > 0 or not arrivals_per_hour >= 0 or not wait_s > 0:
        raise InputError(
            f"arrivals_per_hour is {arrivals_per_hour}, per_hour {per_hour}, wait_s {wait_s}; give numbers above 0"
        )
    offered = arrivals_per_hour / per_hour
    return next(n for n, wait in enumerate(_waits_s(offered, per_hour)) if wait <= wait_s)


def expert_workload(
    experts: Sequence[Expert], assigned: pd.DataFrame | None = None, *, hours: float = 1.0
) -> pd.DataFrame:
    """Return the load of each expert, the busiest first.

    Parameters
    ----------
    experts : sequence of Expert
    assigned : pandas.DataFrame, optional
        Column ``expert``: items given since, such as `Allocation.frame`.
    hours : float, default 1
        What fits into so many hours is full.

    Returns
    -------
    pandas.DataFrame
        Columns ``expert, tier, load, per_hour, utilisation, clear_s``: items waiting, and the seconds until the last of
        them is judged.

    Examples
    --------
    >>> expert_workload([Expert("ann", load=5), Expert("bob", load=15)])[["expert", "utilisation"]].to_numpy().tolist()
    [['bob', 0.75], ['ann', 0.25]]
    """
    if not 0 < hours < float("inf"):
        raise InputError(f"hours is {hours!r}; give a number of hours above 0")
    people = require_experts(experts)
    columns = ["expert", "tier", "load", "per_hour", "utilisation", "clear_s"]
    given = {} if assigned is None else assigned["expert"].value_counts().to_dict()
    rows = []
    for one in people:
        load = one.load + int(given.get(one.expert, 0))
        rows.append(
            (one.expert, one.tier, load, one.per_hour, load / (one.per_hour * hours), load * 3600 / one.per_hour)
        )
    found = pd.DataFrame(rows, columns=columns)
    return found.sort_values(["utilisation", "expert"], ascending=[False, True], ignore_index=True)


def _erlang_wait_s(arrivals: float, per_hour: float, people: int) -> float:
    """Return the mean wait before an expert begins; infinite where they do not keep up."""
    return next(islice(_waits_s(arrivals / per_hour, per_hour), people, None))


def _waits_s(offered: float, per_hour: float) -> Iterator[float]:
    """Yield the mean wait with 0, 1, 2, ... people."""
    # Erlang B by its recursion, which stays in range for any number of people; C follows from it.
    blocked = 1.0
    for people in count():
        if people:
            blocked = offered * blocked / (people + offered * blocked)
        if offered == 0:
            yield 0.0
        elif offered >= people:
            yield float("inf")
        else:
            waits = blocked / (1 - offered / people * (1 - blocked))
            yield waits * 3600 / ((people - offered) * per_hour)
