"""What a policy answers: for one item, and for a column of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Decision", "Decisions", "Destination", "make_decision"]

Destination: TypeAlias = Literal["people", "machine", "audit"]


@dataclass(frozen=True)
class Decision:
    """Where one item goes, and why.

    Parameters
    ----------
    item : str
        The item's id.
    destination : {"people", "machine", "audit"}
        "audit": the machine keeps it, and people look at it too.
    gain : float
        What the objective wins when people judge it.
    reason : str
        One readable clause.
    inclusion_probability : float
        Probability, over the keyed draws, with which people see the item; for weighting later.
    policy_version : str
        The rule that decided.
    """

    item: str
    destination: Destination
    gain: float
    reason: str
    inclusion_probability: float
    policy_version: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Decisions:
    """Where each item of a batch goes. Frozen; its arrays are read-only.

    Parameters
    ----------
    items : tuple of str, or None
        The ids, if they were given.
    to_human, audited : array of bool, shape (n_items,)
        Items that people judge; items that the machine keeps and people look at too.
    gain, inclusion_probability : array of float, shape (n_items,)
        As in `Decision`.
    threshold, policy_version : float, str
        The rule that decided.
    """

    items: tuple[str, ...] | None
    to_human: NDArray[np.bool_]
    audited: NDArray[np.bool_]
    gain: NDArray[np.float64]
    inclusion_probability: NDArray[np.float64]
    threshold: float
    policy_version: str

    def __post_init__(self) -> None:
        for array in (self.to_human, self.audited, self.gain, self.inclusion_probability):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.to_human)

    def __str__(self) -> str:
        people, audited = int(self.to_human.sum()), int(self.audited.sum())
        return (
            f"Decisions: {people:,} of {len(self):,} items to people, {audited:,} of the others audited "
            f"(policy {self.policy_version})"
        )

    __repr__ = __str__

    @property
    def destination(self) -> NDArray[np.str_]:
        """Where each item goes, as text."""
        names = np.array(["machine", "people", "audit"])
        chosen: NDArray[np.str_] = names[self.to_human.astype(np.int8) + 2 * self.audited.astype(np.int8)]
        return chosen

    def __getitem__(self, row: int) -> Decision:
        """Return one row as a `Decision`."""
        return make_decision(
            str(row) if self.items is None else self.items[row],
            float(self.gain[row]),
            self.threshold,
            bool(self.to_human[row]),
            bool(self.audited[row]),
            float(self.inclusion_probability[row]),
            self.policy_version,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per item: ``item, destination, gain, inclusion_probability``."""
        import pandas as pd

        names = np.arange(len(self)) if self.items is None else list(self.items)
        return pd.DataFrame(
            {
                "item": names,
                "destination": self.destination,
                "gain": self.gain,
                "inclusion_probability": self.inclusion_probability,
            }
        )


def make_decision(
    item: str, gain: float, threshold: float, to_human: bool, audited: bool, inclusion: float, version: str
) -> Decision:
    """Put a decision into words."""
    side = "above" if gain > threshold else "at" if gain == threshold else "below"
    place = f"gain {gain:.6g} is {side} the threshold {threshold:.6g}"
    destination: Destination = "people" if to_human else "audit" if audited else "machine"
    clause = {
        "people": "people judge it",
        "machine": "the machine judges it",
        "audit": "the machine judges it and the audit draw took it",
    }[destination]
    return Decision(item, destination, gain, f"{place}, so {clause}", inclusion, version)
