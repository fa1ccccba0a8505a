"""What did a plan with pools and limits decide, what did it use, and what would a little more buy?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Allocation", "LimitUse"]


@dataclass(frozen=True)
class LimitUse:
    """How much of a limit a plan uses.

    Parameters
    ----------
    name, unit : str
        Which limit, and what its figures count.
    used, limit : float
        In that unit; the limit is a minimum where `at_least`.
    at_least : bool
        Whether the limit asks for that much rather than allows it.
    price : float
        Shadow price: what the objective would win by one more unit (one less, for a minimum), near this plan.
    binds : bool
        Whether it shaped the plan.
    """

    name: str
    unit: str
    used: float
    limit: float
    at_least: bool
    price: float
    binds: bool

    def __str__(self) -> str:
        word = "at least" if self.at_least else "at most"
        more = f"; one {'less' if self.at_least else 'more'} is worth {self.price:.3g}" if self.binds else ""
        return f"{self.name}: {self.used:,.6g} of {word} {self.limit:,.6g} {self.unit}{more}"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Allocation:
    """Who judges each item, with pools, budgets and quotas. Frozen; made by `allocate`.

    Parameters
    ----------
    pool : array of int, shape (n_items,)
        Which pool judges the item, -1 where the machine does. Read-only.
    pools : tuple of str
        Names of the pools.
    objective, upper_bound : float
        Sum over the items of the confidence of whoever judges them, less the price of the effort; and what no plan
        within the limits exceeds.
    machine_objective : float
        The same if the machine judged everything.
    gap, gap_share : float
        ``upper_bound - objective``, and as a share of what the best plan could win over the machine alone (at most).
    agreement_expected : float
        Mean confidence over the finished batch.
    human_s, human_s_p90 : float
        Seconds of people over all answers; P90 as in `Limits`, NaN where no P90 was given.
    money_minor : int
        What the answers cost, fees included, rounded up.
    opened_groups : int or None
        Groups of which people see at least one item, where groups were given; each pool counts its own.
    limits : tuple of LimitUse
        Every limit that was set, in order.
    method : str
        "exact selection", or how else it was found.
    notes, assumptions : tuple of str
        What a reader would wonder about; and what must hold.
    """

    pool: NDArray[np.intp]
    pools: tuple[str, ...]
    objective: float
    upper_bound: float
    machine_objective: float
    gap: float
    gap_share: float
    agreement_expected: float
    human_s: float
    human_s_p90: float
    money_minor: int
    opened_groups: int | None
    limits: tuple[LimitUse, ...]
    method: str
    notes: tuple[str, ...]
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        self.pool.setflags(write=False)

    @property
    def to_human(self) -> NDArray[np.bool_]:
        """True where people judge the item."""
        return self.pool >= 0

    @property
    def human_count(self) -> int:
        """Items that people judge."""
        return int(np.count_nonzero(self.pool >= 0))

    @property
    def counts(self) -> dict[str, int]:
        """Items by pool."""
        return {name: int(np.count_nonzero(self.pool == code)) for code, name in enumerate(self.pools)}

    @property
    def binding(self) -> tuple[str, ...]:
        """Names of the limits that shaped the plan."""
        return tuple(each.name for each in self.limits if each.binds)

    def __len__(self) -> int:
        return len(self.pool)

    def __str__(self) -> str:
        people = ", ".join(f"{count:,} to {name}" for name, count in self.counts.items())
        shaped = f"{' and '.join(self.binding)} bind" if self.binding else "no limit binds"
        proof = "proven optimal" if self.gap <= 0 else f"within {self.gap_share:.2%} of the bound"
        return (
            f"Allocation of {len(self):,} items: {people}; {self.human_s / 3600:,.1f} hours, "
            f"{self.money_minor:,} minor units, expected agreement {self.agreement_expected:.4f}; "
            f"{shaped}; {proof} ({self.method})"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = ("objective", "upper_bound", "gap_share", "agreement_expected", "human_s", "money_minor", "method")
        rows: list[tuple[str, Any]] = [("items", len(self)), *self.counts.items()]
        rows += [(name, getattr(self, name)) for name in shown]
        return html_table("Allocation", [*rows, *((each.name, str(each)) for each in self.limits)])

    def to_frame(self, items: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return one row per item: ``item, pool`` (the pool's name, or "machine")."""
        import pandas as pd

        names: Any = np.arange(len(self)) if items is None else items
        require_same_length([("pool", self.pool), ("items", names)])
        return pd.DataFrame({"item": names, "pool": np.array([*self.pools, "machine"], dtype=object)[self.pool]})

    def limits_frame(self) -> pd.DataFrame:
        """Return one row per limit: ``name, unit, used, limit, at_least, price, binds``."""
        import pandas as pd

        return pd.DataFrame(
            [each.__dict__ for each in self.limits],
            columns=["name", "unit", "used", "limit", "at_least", "price", "binds"],
        )
