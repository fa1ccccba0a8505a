"""At which prices do about as many items want a taker as it has places? A start for the exact repair, no more.

The prices minimise the dual of the transport problem with its corners rounded off, by Newton's method, less and less
so; then each price in turn is put exactly where wishes meet places, which matters where many scores are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["near_prices"]

# Scores differ by up to 1: rounded off strongly at first, in the end by less than neighbouring items differ.
_TEMPERATURES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
_STEPS, _SHORTEST_STEP = 8, 1e-4


def near_prices(
    score: NDArray[np.float64], size: NDArray[np.intp], bonus: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return prices at which about as many items want a taker as it has places.

    They minimise the dual of the problem with its corners rounded off, less and less so, by Newton's method.
    """
    places = np.full((len(bonus), max(map(len, bonus))), -np.inf)
    for j, each in enumerate(bonus):
        places[j, : len(each)] = each
    prices = np.zeros(len(bonus))
    for temperature in _TEMPERATURES:
        dual = _Dual(score, size, places, temperature)
        value = dual.value(prices)
        for _ in range(_STEPS):
            step = dual.step(prices)
            length = 1.0
            while (better := dual.value(prices - length * step)) > value and length > _SHORTEST_STEP:
                length /= 4
            if better > value:
                break
            prices, value = prices - length * step, better
            if length * np.abs(step).max() < temperature / 10:
                break
    return _snapped(score, size, bonus, prices)


def _snapped(
    score: NDArray[np.float64], size: NDArray[np.intp], bonus: list[NDArray[np.float64]], prices: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each price, one after the other, at which wishes meet places: exactly where many scores are equal."""
    for j in np.flatnonzero([len(each) > 0 for each in bonus]):
        value = score - prices
        value[:, j] = -np.inf
        # What a kind of item gains by taker j at price 0; at price p those with more than p come.
        with np.errstate(invalid="ignore"):
            wish = score[:, j] - value.max(axis=1)
        order = np.argsort(-wish, kind="stable")
        new = _crossing(np.repeat(wish[order], size[order]), -bonus[j])
        prices[j] = new if np.isfinite(new) else prices[j]
    return prices


def _crossing(wish: NDArray[np.float64], ask: NDArray[np.float64]) -> float:
    """Return the price at which falling wishes meet rising asks."""
    k = min(len(wish), len(ask))
    filled = int((wish[:k] > ask[:k]).sum())
    lower = max(wish[filled] if filled < len(wish) else -np.inf, ask[filled - 1] if filled else -np.inf)
    upper = min(wish[filled - 1] if filled else np.inf, ask[filled] if filled < len(ask) else np.inf)
    if np.isfinite(lower) and np.isfinite(upper):
        return float((lower + upper) / 2)
    return float(upper if np.isfinite(upper) else lower)


@dataclass(frozen=True, eq=False)
class _Dual:
    """The rounded dual: items take by a soft maximum, places are in use by a soft threshold."""

    score: NDArray[np.float64]
    size: NDArray[np.intp]
    places: NDArray[np.float64]
    temperature: float

    def value(self, prices: NDArray[np.float64]) -> float:
        net = (self.score - prices) / self.temperature
        top = net.max(axis=1)
        items = top + np.log(np.exp(net - top[:, None]).sum(axis=1))
        used = np.logaddexp(0.0, (self.places + prices[:, None]) / self.temperature)
        return self.temperature * float(items @ self.size + used.sum())

    def step(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Newton's step."""
        net = (self.score - prices) / self.temperature
        share = np.exp(net - net.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        wanted = self.size @ share
        used = 1 / (1 + np.exp(np.clip(-(self.places + prices[:, None]) / self.temperature, -700, 700)))
        bend = np.diag(wanted + (used * (1 - used)).sum(axis=1)) - share.T @ (share * self.size[:, None])
        bend = bend / self.temperature + 1e-6 * self.size.sum() * np.eye(len(prices))
        return np.linalg.solve(bend, used.sum(axis=1) - wanted)
