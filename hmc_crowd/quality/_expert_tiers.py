"""Which level of expert does an item need, and what does that cost?

Source: requirements D24 and D25. As printed, the source's rule sends an item of high risk and low complexity to the
second tier; here risk decides first and high risk always means the third. The literal rule is a preset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._experts import tiers_of, waiting_order
from hmc_crowd.quality._risk_urgency import RISKS, risk_codes, shares_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["SOURCE_TIERS", "Tier", "place_in_tiers", "tier_of"]


@dataclass(frozen=True)
class Tier:
    """A level of experts.

    Parameters
    ----------
    tier : int
        1 is the lowest.
    people : int
    per_hour : float
        Items that one of them judges in an hour.
    hourly_minor : int
        What one of them costs in an hour, in minor units.

    Examples
    --------
    >>> [tier.item_cost_minor for tier in SOURCE_TIERS], sum(tier.capacity_per_hour for tier in SOURCE_TIERS)
    ([60.0, 300.0, 3000.0], 1325.0)
    """

    tier: int
    people: int
    per_hour: float
    hourly_minor: int

    def __post_init__(self) -> None:
        if self.people < 0 or not 0 < self.per_hour < float("inf") or self.hourly_minor < 0:
            raise InputError(
                f"tier {self.tier} has {self.people} people, {self.per_hour} items an hour and {self.hourly_minor} an "
                "hour; give 0 or more, and more than 0 items"
            )

    @property
    def capacity_per_hour(self) -> float:
        """Items that all of them judge in an hour."""
        return float(self.people * self.per_hour)

    @property
    def item_cost_minor(self) -> float:
        """What an item costs, in minor units."""
        return self.hourly_minor / self.per_hour


SOURCE_TIERS = (Tier(1, 20, 50, 3000), Tier(2, 15, 20, 6000), Tier(3, 5, 5, 15000))


def tier_of(
    risk: ArrayLike, complexity: ArrayLike, *, rule: Literal["risk_first", "literal"] = "risk_first"
) -> NDArray[np.intp]:
    """Return the tier that each item needs, 1 to 3.

    Parameters
    ----------
    risk : array of str
        low, medium or high; not known counts as high.
    complexity : array of float
        In [0, 1]; not known counts as 1.
    rule : {"risk_first", "literal"}, default "risk_first"
        The source's text: low risk and complexity below .3 is tier 1; else medium risk or complexity below .7 is tier
        2; else tier 3. By default high risk is always tier 3, and low or medium risk follows complexity, medium risk
        from tier 2 on.

    Examples
    --------
    >>> tier_of(["low", "low", "low", "medium", "high"], [0.1, 0.5, 0.9, 0.1, 0.1]).tolist()
    [1, 2, 3, 2, 3]
    >>> tier_of(["high", "medium"], [0.1, 0.9], rule="literal").tolist()
    [2, 2]
    """
    level, hard = risk_codes(risk), shares_of(complexity, name="complexity")
    if level.shape != hard.shape:
        raise InputError(f"risk has {len(level)} values and complexity {len(hard)}; give one of each per item")
    low, medium, high = (level == RISKS.index(name) for name in RISKS)
    first = low & (hard < 0.3)
    if rule == "literal":
        return np.where(first, 1, np.where(medium | (hard < 0.7), 2, 3)).astype(np.intp)
    if rule != "risk_first":
        raise InputError(f"rule is {rule!r}; give 'risk_first' or 'literal'")
    third = high | np.isnan(level) | ~(hard < 0.7)
    return np.where(third, 3, np.where(first, 1, 2)).astype(np.intp)


def place_in_tiers(
    items: pd.DataFrame,
    tiers: Sequence[Tier] = SOURCE_TIERS,
    *,
    hours: float = 1.0,
    full: Literal["higher", "queue"] = "higher",
    patience_s: float = 3600.0,
) -> pd.DataFrame:
    """Give items to tiers as far as their capacity goes.

    Parameters
    ----------
    items : pandas.DataFrame
        Columns ``item, tier`` (the tier it needs, see `tier_of`), optionally ``urgency, deadline_s, waited_s``.
    tiers : sequence of Tier
    hours : float, default 1
        Capacity that is handed out.
    full : {"higher", "queue"}, default "higher"
        What becomes of an item whose tier is full: the next higher tier in which its own items have left room, at its
        price, or the queue.
    patience_s : float, default 3600
        Waiting so long counts like one more step of urgency.

    Returns
    -------
    pandas.DataFrame
        One row per item in the given order: ``item, wanted, tier, state, cost_minor``; ``state`` is ``placed``,
        ``moved_up`` or ``queued`` (then ``tier`` is 0 and ``cost_minor`` 0).

    Examples
    --------
    >>> items = pd.DataFrame({"item": ["a", "b", "c"], "tier": [1, 1, 3]})
    >>> tiers = [Tier(1, 1, 1, 3000), Tier(2, 1, 1, 6000), Tier(3, 0, 5, 15000)]
    >>> place_in_tiers(items, tiers)[["tier", "state"]].to_numpy().tolist()
    [[1, 'placed'], [2, 'moved_up'], [0, 'queued']]
    """
    if full not in ("higher", "queue"):
        raise InputError(f"full is {full!r}; give 'higher' or 'queue'")
    missing = [column for column in ("item", "tier") if column not in items.columns]
    if missing:
        raise FrameError(f"items lacks the column {missing[0]}; give item and tier")
    if not 0 < hours < np.inf:
        raise InputError(f"hours is {hours!r}; give a number of hours above 0")
    levels = sorted(tiers, key=lambda one: one.tier)
    room = {one.tier: int(np.floor(one.capacity_per_hour * hours + 1e-9)) for one in levels}
    price = {one.tier: one.item_cost_minor for one in levels}
    wanted = tiers_of(items).astype(np.intp)
    got = np.zeros(len(items), dtype=np.intp)
    order = waiting_order(items, patience_s=patience_s).tolist()
    for row in order:
        if room.get(int(wanted[row]), 0) > 0:
            got[row] = wanted[row]
            room[int(wanted[row])] -= 1
    # What moves up takes what is left: it must not keep those waiting who can go nowhere else.
    for row in [row for row in order if not got[row] and full == "higher"]:
        got[row] = next((level for level in room if level > wanted[row] and room[level] > 0), 0)
        if got[row]:
            room[int(got[row])] -= 1
    state = np.where(got == 0, "queued", np.where(got == wanted, "placed", "moved_up"))
    cost = np.array([round(price.get(int(level), 0)) for level in got], dtype=np.int64)
    return pd.DataFrame(
        {"item": items["item"].to_numpy(), "wanted": wanted, "tier": got, "state": state, "cost_minor": cost}
    )
