"""Who judges what, when people come in pools and budgets are not a count?

`route` knows one limit, the number of items, and one kind of people. Here people come in pools with a price, a skill
and a capacity; time, money and deadlines are limited; opening a dialogue costs its reading; quotas protect categories,
subgroups and what is of high risk. While nothing but the cap on items binds the plan is `route`'s selection, proven
equal; otherwise limits get prices and the doubtful items are decided by branch and bound. Every plan keeps every limit
and carries an upper bound; where no plan keeps them, the error says which clash and what the nearest plan would be.

Sources: Zhang, Ren, de Rijke (2021), eq. 3-4; Fisher (1981), "The Lagrangian relaxation method for solving integer
programming problems"; requirements F2, F3, F14, D34.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing._clash import clash_of, stretched
from hmc_crowd.routing._gain import costs, trade_off_value
from hmc_crowd.routing._pools import Limits, Pool, Quota
from hmc_crowd.routing._rows import Asked, Problem, build
from hmc_crowd.routing._solve import Method, search
from hmc_crowd.routing._summarised import summarised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.routing._allocation import Allocation

__all__ = ["allocate"]

_EVERYBODY = Pool(name="people")
_MOST_POOLS_TO_OPEN = 6


def allocate(
    confidence: ArrayLike,
    effort: ArrayLike | None = None,
    *,
    pools: Sequence[Pool] | None = None,
    limits: Limits | None = None,
    quotas: Sequence[Quota] = (),
    seconds: ArrayLike | None = None,
    seconds_p90: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    setup_s: ArrayLike = 0.0,
    setup_effort: ArrayLike = 0.0,
    whole_groups: bool = False,
    trade_off: float = 0.0,
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
    method: Method = "auto",
    gap: float = 1e-3,
    time_limit_s: float = 30.0,
    shards: int = 1,
    run: Callable[..., object] = map,
) -> Allocation:
    """Choose for every item the machine or one of several pools, within limits and quotas.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        Calibrated probability that the machine's label is right.
    effort : array of float, shape (n_items,), optional
        What `trade_off` prices, in any unit; the seconds when absent.
    pools : sequence of Pool, optional
        Who can be asked; one pool of perfect people, free of charge, when absent.
    limits : Limits, optional
        Most items, time, money; a deadline.
    quotas : sequence of Quota
        What categories, subgroups or risky items must get.
    seconds, seconds_p90 : array of float, shape (n_items,), optional
        Time of one person for one answer, expected and its P90.
    groups : array, shape (n_items,), optional
        The dialogue of each item.
    setup_s, setup_effort : float or array of float, shape (n_groups,), default 0
        Time (effort) of getting into a group, once for each pool that judges an item of it; per group in the order of
        their first items.
    whole_groups : bool, default False
        Whether a group goes to one pool, or to the machine, as a whole.
    trade_off, human_confidence, machine_effort
        As in `route`; a pool's ``skill`` multiplies `human_confidence`.
    method : {"auto", "selection", "priced", "milp"}
        "auto" takes the exact selection where it applies, then prices, and for up to 60,000 (item, pool) pairs the
        whole branch and bound if the gap is still too large. The others insist on one.
    gap : float, default 0.001
        The search may stop when the optimum can win at most this share more over the machine alone.
    time_limit_s : float, default 30
        The branch and bound stops then, with the best plan found and its gap.
    shards : int, default 1
        Parts into which the batch is cut; they meet only in prices and sums, and the plan is the same for any number.
    run : callable, default map
        Asks the shards; an executor's ``map`` asks them in other processes.

    Returns
    -------
    Allocation

    Raises
    ------
    InfeasibleError
        No plan keeps all limits. The message names those that clash; ``nearest`` is the plan that stretches them least.
    InputError
        Lengths differ, or a value is missing or out of range.

    Notes
    -----
    Sums are of whole milliseconds and thousandths of minor units, rounded against the plan, so a limit is never
    exceeded by rounding. The bound holds whatever the search did.

    Examples
    --------
    >>> experts = Pool(name="experts", pay_per_hour_minor=6000)
    >>> crowd = Pool(name="crowd", skill=0.9, redundancy=3, pay_per_hour_minor=1200)
    >>> plan = allocate(
    ...     [0.55, 0.8, 0.99], seconds=[60.0, 60.0, 60.0], pools=[crowd, experts], limits=Limits(max_money_minor=170)
    ... )
    >>> plan.to_frame()["pool"].tolist(), plan.money_minor
    (['experts', 'crowd', 'machine'], 160)
    """
    asked = _asked(
        confidence, effort, pools, limits, quotas, seconds, seconds_p90, groups, setup_s, setup_effort,
        whole_groups, trade_off, human_confidence, machine_effort,
    )  # fmt: skip
    _check_search(method, gap, time_limit_s, shards)
    problem, unit_of = build(asked)
    settings: dict[str, Any] = {"time_limit_s": time_limit_s, "gap": gap, "shards": shards, "run": run}
    found = search(problem, method=method, **settings)
    if found.choice is not None:
        return summarised(asked, problem, unit_of, found)
    if method == "selection":
        raise InputError("method is 'selection', but more than the cap on items binds; use method='auto'")
    raise _refusal(asked, problem, unit_of, settings)


def _refusal(asked: Asked, problem: Problem, unit_of: NDArray[np.intp], settings: dict[str, Any]) -> InfeasibleError:
    """Say which limits clash, and hand over the plan that stretches them least."""
    clash = clash_of(problem)
    if not clash.needed:
        return InfeasibleError(
            f"no plan was found within {settings['time_limit_s']:g} s that keeps all limits, and none was ruled out; "
            "raise time_limit_s, or loosen a quota"
        )
    loose = stretched(problem, clash.needed)
    found = search(loose, method="auto", **settings)
    nearest = None if found.choice is None else summarised(asked, loose, unit_of, found)
    changes = [
        f"{row.name} {row.shown(row.most):,.6g} -> {row.shown(row.most + clash.needed[row.name]):,.6g} {row.unit}"
        for row in problem.rows
        if row.name in clash.needed
    ]
    together = (
        f"{' and '.join(clash.names)} cannot hold together"
        if len(clash.names) > 1
        else (f"{clash.names[0]} cannot be reached by any plan")
    )
    return InfeasibleError(
        f"{together}; the nearest plan that exists needs {', '.join(changes)}",
        clashing=clash.names,
        nearest=nearest,
    )


def _check_search(method: Any, gap: Any, time_limit_s: Any, shards: Any) -> None:
    if method not in get_args(Method):
        raise InputError(f"method is {method!r}; use one of {', '.join(get_args(Method))}")
    if not 0.0 <= gap < 1.0:
        raise InputError(f"gap is {gap!r}; give a share in [0, 1), such as 0.001")
    if not 0.0 < time_limit_s < math.inf:
        raise InputError(f"time_limit_s is {time_limit_s!r}; give a number of seconds above 0")
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise InputError(f"shards is {shards!r}; give a whole number, at least 1")


def _asked(
    confidence: Any, effort: Any, pools: Any, limits: Any, quotas: Any, seconds: Any, seconds_p90: Any, groups: Any,
    setup_s: Any, setup_effort: Any, whole_groups: bool, trade_off: Any, human_confidence: Any, machine_effort: Any,
) -> Asked:  # fmt: skip
    """Check every argument, in the order of the signature."""
    n = len(float_vector(confidence, name="confidence", low=0.0, high=1.0))
    times = _column(seconds, "seconds", n)
    price = trade_off_value(trade_off, "at_most", None)
    given = costs(
        confidence,
        times if effort is None else effort,
        human_confidence=human_confidence,
        machine_effort=machine_effort,
    )
    group = None
    if groups is not None:
        group = _codes(groups, n)
    elif whole_groups or np.any(np.asarray(setup_s)) or np.any(np.asarray(setup_effort)):
        raise InputError("groups is missing; whole_groups, setup_s and setup_effort need the group of each item")
    several = tuple(pools) if pools is not None else (_EVERYBODY,)
    names = [pool.name for pool in several]
    if not names or len(set(names)) != len(names):
        raise InputError(f"pools are named {', '.join(names) or 'nothing'}; give at least one, each with its own name")
    n_groups = 0 if group is None else int(group.max()) + 1
    asked = Asked(
        given=given,
        trade_off=price,
        pools=several,
        limits=limits if limits is not None else Limits(),
        quotas=tuple(quotas),
        seconds=times,
        seconds_p90=None if seconds_p90 is None else _column(seconds_p90, "seconds_p90", n),
        group=group,
        setup_s=_column(setup_s, "setup_s", n_groups),
        setup_effort=_column(setup_effort, "setup_effort", n_groups),
        whole_groups=whole_groups,
    )
    _check_time(asked, seconds)
    return asked


def _check_time(asked: Asked, seconds: Any) -> None:
    """Refuse limits that speak of time or money where no time is known: they would never bind."""
    limits, by_time = asked.limits, any(pool.minor_per_s for pool in asked.pools)
    needs = [
        ("max_human_s", limits.max_human_s is not None),
        ("deadline_s", limits.deadline_s is not None),
        ("max_money_minor", limits.max_money_minor is not None and by_time),
    ]
    for name, needed in needs:
        if needed and seconds is None:
            raise InputError(f"{name} is set, but seconds is missing; give the time of one person for each item")
    if limits.max_money_minor is not None and not by_time and not any(pool.minor_per_answer for pool in asked.pools):
        raise InputError("max_money_minor is set, but no pool has a price; give pay_per_hour_minor or price_minor")
    if limits.deadline_s is not None and all(pool.people is None for pool in asked.pools):
        raise InputError("deadline_s is set, but no pool says how many people it has; give people to a Pool")
    if asked.group is not None and not asked.whole_groups and len(asked.pools) > _MOST_POOLS_TO_OPEN:
        raise InputError(
            f"pools are {len(asked.pools)} with groups to be opened; use at most {_MOST_POOLS_TO_OPEN}, or whole_groups"
        )


def _column(values: Any, name: str, n: int) -> NDArray[np.float64]:
    if values is None:
        return np.zeros(n)
    if np.ndim(values) == 0:
        return np.full(n, float_vector(np.reshape(np.asarray(values), 1), name=name, low=0.0)[0])
    vector = float_vector(values, name=name, low=0.0)
    if len(vector) != n:
        raise InputError(f"{name} has {len(vector)} rows, {n} are needed; give one number for all, or one each")
    return vector


def _codes(groups: Any, n: int) -> NDArray[np.intp]:
    """Return the number of each item's group, in the order of their first items."""
    values = np.asarray(groups)
    if values.shape != (n,):
        raise InputError(f"groups has shape {values.shape} for {n} items; give the group of each item")
    _, first, codes = np.unique(values if values.dtype != object else values.astype(str), return_index=True,
                                return_inverse=True)  # fmt: skip
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[codes]
