"""What does more money, time or work buy? The plans that no other beats, limit by limit."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.routing._allocate import allocate
from hmc_crowd.routing._pools import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["allocation_frontier"]


def allocation_frontier(
    confidence: ArrayLike, *, limit: str, values: Sequence[float], limits: Limits | None = None, **arguments: Any
) -> pd.DataFrame:
    """Plan with one limit at several values, and say which of the plans are worth having.

    Parameters
    ----------
    confidence, **arguments
        As in `allocate`.
    limit : str
        Which field of `Limits` varies, such as "max_money_minor".
    values : sequence of float
        Its values.
    limits : Limits, optional
        The other limits, which stay.

    Returns
    -------
    pandas.DataFrame
        One row per value, rising: ``limit, feasible, human_count, human_s, money_minor, agreement_expected,
        objective, upper_bound, gap_share, price, on_front``. ``price`` is what one more unit of the limit is worth
        there. A row is ``on_front`` where no cheaper row has as good an objective.

    Raises
    ------
    InputError
        As `allocate`; or the limit is unknown, or there are no values.

    Examples
    --------
    >>> from hmc_crowd.routing import Pool
    >>> crowd = Pool(name="crowd", price_minor=10)
    >>> front = allocation_frontier([0.5, 0.7, 1.0], limit="max_money_minor", values=[0, 10, 20, 30], pools=[crowd])
    >>> front["human_count"].tolist(), front["on_front"].tolist()
    ([0, 1, 2, 2], [True, True, True, False])
    """
    import pandas as pd

    known = [each.name for each in fields(Limits)]
    if limit not in known:
        raise InputError(f"limit is {limit!r}; use one of {', '.join(known)}")
    if not len(values):
        raise InputError("values is empty; give the values of the limit to be compared")
    rows: list[dict[str, Any]] = []
    best = float("-inf")
    for value in sorted(values):
        try:
            changed: dict[str, Any] = {limit: value}
            plan = allocate(confidence, limits=replace(limits or Limits(), **changed), **arguments)
        except InfeasibleError:
            rows.append({"limit": value, "feasible": False, "on_front": False})
            continue
        price = next((each.price for each in plan.limits if each.name == limit), 0.0)
        figures = ("human_count", "human_s", "money_minor", "agreement_expected", "objective", "upper_bound")
        row: dict[str, Any] = {"limit": value, "feasible": True, **{name: getattr(plan, name) for name in figures}}
        # Two runs of a search may differ in the last digits: that is no better plan.
        better = plan.objective > best + 1e-9 * max(1.0, abs(best)) if rows else True
        rows.append({**row, "gap_share": plan.gap_share, "price": price, "on_front": better})
        best = max(best, plan.objective)
    columns = ["limit", "feasible", "human_count", "human_s", "money_minor", "agreement_expected", "objective"]
    return pd.DataFrame(rows, columns=[*columns, "upper_bound", "gap_share", "price", "on_front"])
