"""How high must the price of people's time be so that a stream keeps to its minutes and money per hour?

The policy sends an item to people if what they add exceeds its cost at the current prices. Traffic changes, so the
prices must: after each period each price is multiplied by ``exp(step * (spent / allowed - 1))``. Too much spent makes
people dearer, too little cheaper. The sum of what was overspent is the logarithm of the price over `step`; so as long
as a price stays below `most`,

    average spent per hour <= allowed * (1 + log(most / first price) / (step * hours))

whatever the traffic does: the excess fades as 1 / hours (online dual mirror descent).

Source: Balseiro, Lu, Mirrokni (2020), "Dual mirror descent for online allocation problems".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PriceController"]


@dataclass(frozen=True)
class PriceController:
    """Prices that hold what is spent per hour. Frozen: `after` returns the next one.

    Parameters
    ----------
    allowed : mapping of str to float
        What may be spent per hour, by name: such as ``{"human_s": 18_000, "money_minor": 6_000}``. Above 0.
    prices : mapping of str to float
        Price of one unit of each, in units of confidence; the trade-off of the plan is a good start.
    step : float, default 0.2
        How fast prices move, per hour: smaller is smoother, larger follows faster.
    least, most : float, default 1e-9 and 1e9
        Limits of the prices.
    hours : float
        How long it has run.
    spent : mapping of str to float
        All that was spent.

    Examples
    --------
    >>> controller = PriceController({"human_s": 3600.0}, {"human_s": 0.01})
    >>> after = controller.after({"human_s": 5400.0}, hours=1.0)  # half an hour too much
    >>> round(after.prices["human_s"], 5)
    0.01105
    """

    allowed: Mapping[str, float]
    prices: Mapping[str, float]
    step: float = 0.2
    least: float = 1e-9
    most: float = 1e9
    hours: float = 0.0
    spent: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("allowed", "prices", "spent"):
            put(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.allowed or set(self.allowed) != set(self.prices):
            raise InputError(
                f"prices names {sorted(self.prices)} but allowed {sorted(self.allowed)}; give a first price for each"
            )
        for name in self.allowed:
            _positive(f"allowed[{name!r}]", self.allowed[name])
            _positive(f"prices[{name!r}]", self.prices[name])
        _positive("step", self.step)
        if not 0 < self.least <= self.most:
            raise InputError(f"least is {self.least!r} and most {self.most!r}; give 0 < least <= most")

    def __str__(self) -> str:
        parts = [
            f"{name} {self.spent.get(name, 0.0) / self.hours if self.hours else 0.0:,.4g} of "
            f"{self.allowed[name]:,.4g} per hour at price {self.prices[name]:.4g}"
            for name in self.allowed
        ]
        return f"after {self.hours:,.4g} h: {'; '.join(parts)}"

    def after(self, spent: Mapping[str, float], *, hours: float) -> Self:
        """Return the controller after a period in which so much was spent.

        Parameters
        ----------
        spent : mapping of str to float
            What was spent in the period, by name; a missing one is 0.
        hours : float
            Length of the period, above 0.

        Raises
        ------
        InputError
            A name that nothing is allowed for, or a value that is negative or not finite.
        """
        _positive("hours", hours)
        unknown = sorted(set(spent) - set(self.allowed))
        if unknown:
            raise InputError(f"spent names {unknown[0]!r}, but only {sorted(self.allowed)} are held")
        used = {name: _positive(f"spent[{name!r}]", spent.get(name, 0.0), zero=True) for name in self.allowed}
        prices = {
            name: self._next(name, self.step * (used[name] / self.allowed[name] - hours)) for name in self.allowed
        }
        total = {name: self.spent.get(name, 0.0) + used[name] for name in self.allowed}
        return replace(self, prices=prices, spent=total, hours=self.hours + hours)

    def gain(self, confidence_gap: Any, **cost: Any) -> Any:
        """Return ``confidence_gap - sum(price * cost)``; people judge items for which it is above 0.

        Examples
        --------
        >>> float(PriceController({"human_s": 3600.0}, {"human_s": 0.01}).gain(0.4, human_s=30.0).round(6))
        0.1
        """
        unknown = sorted(set(cost) - set(self.allowed))
        if unknown:
            raise InputError(f"cost names {unknown[0]!r}, but only {sorted(self.allowed)} have a price")
        total = np.asarray(confidence_gap, dtype=np.float64)
        for name, value in cost.items():
            total = total - self.prices[name] * np.asarray(value, dtype=np.float64)
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; ``PriceController(**values)`` makes it again."""
        return {
            "allowed": dict(self.allowed),
            "prices": dict(self.prices),
            "step": self.step,
            "least": self.least,
            "most": self.most,
            "hours": self.hours,
            "spent": dict(self.spent),
        }

    def _next(self, name: str, move: float) -> float:
        # A long idle period must not overflow the exponential.
        return min(max(self.prices[name] * math.exp(min(max(move, -700.0), 700.0)), self.least), self.most)


def _positive(name: str, value: Any, *, zero: bool = False) -> float:
    good = isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and math.isfinite(value)
    if not good or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} is {value!r}; give a finite number {'of at least' if zero else 'above'} 0")
    return float(value)
