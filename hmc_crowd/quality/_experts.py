"""Who could judge this? Experts with what they know, what they have to do, and what they cost.

Score of an expert for an item: .7 x how well the expertise matches + .3 x (1 - load / 10), the second part kept in
[0, 1] (requirement D23). All candidates are scored; the source takes the least loaded first and scores afterwards, so
that expertise never decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._risk_urgency import urgency_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Expert", "load_bonus", "match_table", "require_experts"]

SKILL_WEIGHT, LOAD_WEIGHT, LOAD_SCALE = 0.7, 0.3, 10.0


@dataclass(frozen=True)
class Expert:
    """An expert.

    Parameters
    ----------
    expert : str
        Name or pseudonym.
    skills : mapping of str to float
        How well an area is known, in [0, 1]; what is not named is 0. Items without an area match everybody fully.
    load : int, default 0
        Items that wait for this expert.
    per_hour : float, default 20
        Items judged in an hour, more than 0.
    tier : int, default 1
        Level: higher ones may judge what lower ones may.
    cost_minor : int, default 0
        Price of an item, in minor units.

    Examples
    --------
    >>> Expert("ann", {"law": 0.9}, load=3).room(hours=1)
    17
    """

    expert: str
    skills: Mapping[str, float] = field(default_factory=dict)
    load: int = 0
    per_hour: float = 20.0
    tier: int = 1
    cost_minor: int = 0

    def __post_init__(self) -> None:
        if not self.expert.strip():
            raise InputError(f"expert is {self.expert!r}; give each expert a name")
        if not self.load >= 0 or not 0 < self.per_hour < float("inf"):
            raise InputError(
                f"expert {self.expert!r} has load {self.load} and per_hour {self.per_hour}; give 0 or more, and more "
                "than 0"
            )
        bad = [area for area, skill in self.skills.items() if not 0 <= skill <= 1]
        if bad:
            raise InputError(f"expert {self.expert!r} has a skill outside [0, 1] in {bad[0]!r}; correct it")

    def match(self, area: str | None) -> float:
        """Return how well this expert knows an area; 1 where none is asked for."""
        return 1.0 if area is None else float(self.skills.get(area, 0.0))

    def room(self, *, hours: float) -> int:
        """Return how many more items fit into so many hours."""
        return max(0, int(np.floor(self.per_hour * hours + 1e-9)) - self.load)

    def wait_s(self, ahead: int = 0) -> float:
        """Return the seconds until one more item is judged, behind the load and ``ahead`` further items."""
        return (self.load + ahead + 1) * 3600 / self.per_hour


def load_bonus(load: NDArray[Any] | float) -> NDArray[np.float64]:
    """Return the part of the score that load decides: .3 x (1 - load / 10), within [0, .3]."""
    return np.asarray(LOAD_WEIGHT * np.clip(1 - np.asarray(load, dtype=np.float64) / LOAD_SCALE, 0, 1))


def match_table(areas: Sequence[str | None], experts: Sequence[Expert]) -> NDArray[np.float64]:
    """Return how well each expert knows each item's area, shape (n_items, n_experts)."""
    codes, names = pd.factorize(np.array([*areas, None], dtype=object)[:-1])
    by_area = np.array([[expert.match(name) for expert in experts] for name in names] or [[1.0] * len(experts)])
    table = by_area[np.maximum(codes, 0)]
    table[codes < 0] = 1.0
    return np.asarray(table, dtype=np.float64).reshape(len(codes), len(experts))


def require_experts(experts: Sequence[Expert]) -> list[Expert]:
    """Return the experts if no name comes twice."""
    names = [expert.expert for expert in experts]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"experts holds {twice[0]!r} twice; give each expert once")
    return list(experts)


def waiting_order(items: pd.DataFrame, *, patience_s: float) -> NDArray[np.intp]:
    """Return the rows in the order in which they should be served.

    First what is most urgent, where waiting ``patience_s`` counts like one more step of urgency, so that nothing waits
    for ever; then the earlier deadline, the longer wait, and the item's name.
    """
    if not patience_s > 0:
        raise InputError(f"patience_s is {patience_s!r}; give seconds, more than 0")
    n = len(items)
    urgency = urgency_of(items["urgency"]) if "urgency" in items.columns else np.full(n, np.nan)
    waited, deadline = column_or(items, "waited_s", 0.0), column_or(items, "deadline_s", np.inf)
    pressing = np.where(np.isnan(urgency), 1.0, urgency) + waited / patience_s
    _, name = np.unique(items["item"].astype(str).to_numpy(), return_inverse=True)
    return np.lexsort((name, -waited, deadline, -pressing))


def column_or(items: pd.DataFrame, name: str, default: float) -> NDArray[np.float64]:
    """Return a column of numbers of 0 or more, the default where it is missing."""
    if name not in items.columns:
        return np.full(len(items), default)
    values = np.asarray(pd.to_numeric(items[name], errors="coerce"), dtype=np.float64)
    bad = items[name].notna().to_numpy() & ~(values >= 0)
    if bad.any():
        raise FrameError(f"{name} must be a number of 0 or more, not so in {first_rows(bad, items[name].to_numpy())}")
    return np.where(np.isnan(values), default, values)


def tiers_of(items: pd.DataFrame) -> NDArray[np.float64]:
    """Return the lowest tier that may judge each item; a tier that is not known is no reason to take the lowest."""
    if "tier" not in items.columns:
        return np.ones(len(items))
    unknown = items["tier"].isna().to_numpy()
    if unknown.any():
        raise FrameError(f"tier is missing in {first_rows(unknown)}; give each item its tier, such as tier_of")
    return column_or(items, "tier", 1.0)
