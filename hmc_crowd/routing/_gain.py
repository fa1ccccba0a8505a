"""What is an item worth to the objective, and how many may people get? What all parts compute alike.

The gain of an item is ``(b - a) - trade_off * (l - k)``: what the objective wins when a person judges it instead of the
machine. Every caller computes it by the same operations in the same order, so that a plan, its policy and a sweep agree
bit for bit.

Source: Zhang, Ren, de Rijke (2021), eq. 3-4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Cap", "Costs", "FloatOrVector", "as_cap", "cap_count", "costs", "gains", "trade_off_value"]

Cap: TypeAlias = Literal["at_most", "exactly"]
FloatOrVector: TypeAlias = "float | NDArray[np.float64]"


@dataclass(frozen=True, eq=False)
class Costs:
    """Checked inputs of a plan: a, l per item; b and k per item or one number for all."""

    confidence: NDArray[np.float64]
    effort: NDArray[np.float64]
    human_confidence: FloatOrVector
    machine_effort: FloatOrVector

    @property
    def size(self) -> int:
        """Number of items."""
        return len(self.confidence)


def costs(
    confidence: ArrayLike,
    effort: ArrayLike,
    *,
    human_confidence: ArrayLike = 1.0,
    machine_effort: ArrayLike = 0.0,
) -> Costs:
    """Check the four inputs; arrays that are right already are not copied."""
    a = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    effort_ = float_vector(effort, name="effort", low=0.0)
    require_same_length([("confidence", a), ("effort", effort_)])
    return Costs(
        a,
        effort_,
        _per_item(human_confidence, name="human_confidence", n_items=len(a), high=1.0),
        _per_item(machine_effort, name="machine_effort", n_items=len(a)),
    )


def _per_item(values: ArrayLike, *, name: str, n_items: int, high: float = np.inf) -> FloatOrVector:
    """Check an argument that is one number for all items, or one for each."""
    if np.ndim(values) == 0:
        return float(float_vector(np.reshape(np.asarray(values), 1), name=name, low=0.0, high=high)[0])
    vector = float_vector(values, name=name, low=0.0, high=high)
    if len(vector) != n_items:
        raise InputError(f"{name} has {len(vector)} rows for {n_items} items; give one number for all, or one per item")
    return vector


def as_cap(cap: str) -> Cap:
    """Check the cap's mode."""
    if cap == "at_most":
        return "at_most"
    if cap == "exactly":
        return "exactly"
    raise InputError(f"cap is {cap!r}; use 'at_most' (people get no more) or 'exactly' (people get just as many)")


def cap_count(max_human: Any, n_items: int, *, name: str = "max_human") -> int:
    """Turn a cap into a number of items: an int counts, a float is a share (rounded down), None is no cap.

    The share is rounded down with a small slack, so that a grid such as ``i * 0.05`` never loses an item to binary
    fractions: 0.15 of 20 is 3 items although ``0.15 * 20`` may fall just below.
    """
    if max_human is None:
        return n_items
    if isinstance(max_human, np.ndarray) and max_human.ndim == 0:
        max_human = max_human[()]
    if isinstance(max_human, (bool, np.bool_)):
        raise InputError(f"{name} is {max_human}; give an int (items), a float (share of the items) or None (no cap)")
    if isinstance(max_human, Integral):
        if not 0 <= int(max_human) <= n_items:
            raise InputError(
                f"{name} is {int(max_human)} items; it must lie between 0 and {n_items}, or be a share such as 0.5"
            )
        return int(max_human)
    if isinstance(max_human, Real):
        share = float(max_human)
        if not 0.0 <= share <= 1.0:
            raise InputError(
                f"{name} is {share!r}; a share must lie in [0, 1], and a number of items must be an int such as 100"
            )
        return min(n_items, math.floor(share * n_items + 1e-9 + 1e-14 * n_items))
    raise InputError(f"{name} is {max_human!r}; give an int (items), a float (share of the items) or None (no cap)")


def trade_off_value(trade_off: Any, cap: Cap, max_human: Any) -> float:
    """Check the price of effort, and that it goes with the cap's mode."""
    if isinstance(trade_off, (bool, np.bool_)) or not isinstance(trade_off, Real):
        raise InputError(f"trade_off is {trade_off!r}; give a number, at least 0")
    price = float(trade_off)
    if not price >= 0.0:
        raise InputError(f"trade_off is {price!r}; the price of effort must be at least 0")
    if cap == "exactly" and max_human is None:
        raise InputError("cap='exactly' needs max_human; say how many items people get, as an int or a share")
    if math.isinf(price) and cap != "exactly":
        raise InputError(
            "trade_off is inf with cap='at_most', where people would get nothing; use cap='exactly' with max_human"
        )
    return price


def gains(given: Costs, trade_off: float) -> NDArray[np.float64]:
    """Return what each item wins when people judge it; at an infinite price only the saved effort counts."""
    extra: Any = given.effort if _is_zero(given.machine_effort) else given.effort - given.machine_effort
    if math.isinf(trade_off):
        saved: NDArray[np.float64] = np.negative(extra)
        return saved
    gain: NDArray[np.float64] = np.subtract(given.human_confidence, given.confidence)
    if trade_off != 0.0:
        largest = max(abs(float(extra.max())), abs(float(extra.min())))
        if not math.isfinite(trade_off * largest * len(gain)):
            raise InputError(f"trade_off * effort overflows ({trade_off:g} * {largest:g}); give effort in larger units")
        gain -= trade_off * extra
    return gain


def _is_zero(value: FloatOrVector) -> bool:
    return isinstance(value, float) and value == 0.0
