"""What was decided, and how could a reader check it? The plan of one batch.

A `Plan` says for every item whether people judge it, what that is worth (`gain`), and where the choice was arbitrary
(`ties`). It knows enough of its rule to freeze it as a `Policy` for items that come later.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.errors import StateError
from hmc_crowd.routing._policy import DEFAULT_KEY, Policy, make_policy
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.routing._gain import Cap

__all__ = ["Border", "Plan"]


@dataclass(frozen=True)
class Border:
    """Where a plan cuts: people get gains above `gain`, and the first `to_people` of `total` items that equal it."""

    gain: float
    to_people: int = 0
    total: int = 0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Plan:
    """Who judges each item of one batch. Frozen; its arrays are read-only.

    Parameters
    ----------
    to_human : array of bool, shape (n_items,)
        True where people judge the item.
    gain : array of float, shape (n_items,)
        What the objective wins when people judge the item, in units of confidence (of effort at an infinite trade-off).
    ties : array of int
        Rows that have the gain at which the cap cuts, where it cuts between them: those with the smaller row number
        went to people and the others did not, so the choice among them was arbitrary. Empty if the cut is clean.
    confidence_total : float
        Sum over the items of the confidence of whoever judges them (first part of the objective).
    effort_total : float
        Sum of the effort of whoever judges them (second part).
    objective : float
        ``confidence_total - trade_off * effort_total``; ``-effort_total`` at an infinite trade-off.
    human_count, human_share : int, float
        Items that people get, and their share of all items.
    effort_share : float
        People's effort on their items / people's effort if they judged all; NaN if no item costs any effort.
    trade_off, cap, max_human
        As given to `route`.
    cap_count : int
        `max_human` as a number of items.
    border : Border
        Where the plan cuts.
    human_confidence, machine_effort : float or None
        The one number used for all items; None where each item had its own.
    method : str
        How the plan was found.
    assumptions : tuple of str
        What must hold for the numbers to mean what they say.
    """

    to_human: NDArray[np.bool_]
    gain: NDArray[np.float64]
    ties: NDArray[np.intp]
    confidence_total: float
    effort_total: float
    objective: float
    human_count: int
    human_share: float
    effort_share: float
    trade_off: float
    cap: Cap
    max_human: int | float | None
    cap_count: int
    border: Border
    human_confidence: float | None
    machine_effort: float | None
    method: str
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.to_human, self.gain, self.ties):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.to_human)

    def __str__(self) -> str:
        limit = "no cap" if self.max_human is None else f"{self.cap.replace('_', ' ')} {self.cap_count:,}"
        ties = f", {len(self.ties):,} tied at the border" if len(self.ties) else ""
        return (
            f"Plan: {self.human_count:,} of {len(self):,} items to people ({self.human_share:.1%}), "
            f"effort share {self.effort_share:.4f}, objective {self.objective:.6f} "
            f"(trade_off {self.trade_off:g}, {limit}{ties})"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = ("human_count", "human_share", "effort_share", "objective", "confidence_total", "effort_total")
        settings = ("trade_off", "cap", "max_human", "method", "assumptions")
        rows: list[tuple[str, Any]] = [("items", len(self))]
        rows += [(name, getattr(self, name)) for name in shown]
        rows += [("ties", len(self.ties)), *((name, getattr(self, name)) for name in settings)]
        return html_table("Plan", rows)

    def to_frame(self, items: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return one row per item: ``item, to_human, gain, tied``.

        Parameters
        ----------
        items : sequence, optional
            Item ids in the order in which the plan was made; row numbers when absent.

        Raises
        ------
        InputError
            `items` has another length than the plan.
        """
        import pandas as pd

        names: Any = np.arange(len(self)) if items is None else items
        require_same_length([("to_human", self.to_human), ("items", names)])
        tied = np.zeros(len(self), dtype=bool)
        tied[self.ties] = True
        return pd.DataFrame({"item": names, "to_human": self.to_human, "gain": self.gain, "tied": tied})

    def policy(self, *, audit_probability: float = 0.0, key: bytes = DEFAULT_KEY, version: str | None = None) -> Policy:
        """Freeze the plan's rule for items that come one by one or in later batches.

        Parameters
        ----------
        audit_probability : float, default 0
            Probability with which people also look at an item that the machine keeps.
        key : bytes
            Secret of the draws. Who knows it can foresee which items are audited, so give one of your own whenever
            the draw must not be foreseen; the default is public.
        version : str, optional
            Name of the rule, logged with every decision. By default a hash of all that the rule depends on, so that
            equal rules have equal names.

        Returns
        -------
        Policy
            On this batch `Policy.decide_batch` gives this plan again, ties included.

        Raises
        ------
        InputError
            `audit_probability` is outside [0, 1], or `key` is empty.
        StateError
            The plan does not follow from gains and a cut (a random plan, a plan shaped by a budget).

        Examples
        --------
        >>> from hmc_crowd.routing import route
        >>> plan = route([0.95, 0.6, 0.5], [0.2, 0.1, 0.9], max_human=1, trade_off=0.5)
        >>> plan.policy().decide("new", confidence=0.2, effort=0.3).destination
        'people'
        """
        if math.isnan(self.border.gain):
            raise StateError(f"a plan made by {self.method} has no rule for new items; make one with route() first")
        return make_policy(
            trade_off=self.trade_off,
            cap=self.cap,
            max_human=self.max_human,
            threshold=self.border.gain,
            border_to_people=self.border.to_people,
            border_total=self.border.total,
            human_confidence=self.human_confidence,
            machine_effort=self.machine_effort,
            audit_probability=audit_probability,
            key=key,
            version=version,
        )
