"""What do the two errors of a gate cost? An expert who was not needed, and a wrong label that nobody looked at."""

from __future__ import annotations

from dataclasses import dataclass

from hmc_crowd.errors import InputError

__all__ = ["GateCosts"]


@dataclass(frozen=True)
class GateCosts:
    """Costs in any one unit, such as minor units of money.

    Parameters
    ----------
    expert : float, default 1
        An expert's judgement of one item.
    error : float, default 10
        A wrong label that goes out.
    expert_error : float, default 0
        How often an expert is wrong, in [0, 1).

    Examples
    --------
    With a judgement for 1 and an error for 10, by experts who err in 5%, an expert pays from a chance of .15 on:

    >>> round(GateCosts(expert_error=0.05).threshold, 3)
    0.15
    """

    expert: float = 1.0
    error: float = 10.0
    expert_error: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.expert < float("inf") or not 0 < self.error < float("inf"):
            raise InputError(f"costs are expert {self.expert} and error {self.error}; give 0 or more, and more than 0")
        if not 0 <= self.expert_error < 1:
            raise InputError(f"expert_error is {self.expert_error}; give a share of at least 0 and below 1")

    @property
    def threshold(self) -> float:
        """The probability of a wrong label from which on an expert is worth it."""
        return min(1.0, self.expert / self.error + self.expert_error)
