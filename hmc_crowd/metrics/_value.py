"""One number that may be undefined: then it says why, and never pretends."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Value"]


@dataclass(frozen=True)
class Value:
    """The value of a metric.

    Parameters
    ----------
    value : float or None
        The number; None if it is undefined.
    n : int
        Items it was computed from.
    method : str
        The formula by name.
    reason : str
        Why there is no number, empty otherwise.
    low, high : float or None
        Ends of the interval; None where there is none.
    level : float
        Coverage of the interval.

    Examples
    --------
    >>> print(Value(0.8246, 5673, "AUC"))
    0.8246 (AUC, n = 5,673)
    >>> float(Value(None, 3, "AUC", "every label is right"))
    nan
    """

    value: float | None
    n: int
    method: str
    reason: str = ""
    low: float | None = None
    high: float | None = None
    level: float = 0.95

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __str__(self) -> str:
        text = f"undefined: {self.reason}" if self.value is None else f"{self.value:.4f}"
        if self.value is not None and self.low is not None and self.high is not None:
            text += f" [{self.low:.4f}, {self.high:.4f}]"
        return f"{text} ({self.method}, n = {self.n:,})"
