"""What does a wrong label cost? A loss between 0 (right) and 1 (as wrong as can be), as an object.

Certificates bound the mean loss. With `ZeroOne` that is the share of wrong labels; scores are rarely equal to the
digit, so there `BeyondTolerance` counts an error only beyond a stated tolerance, and `Bounded` weighs errors by size.

Guarantee: a loss never leaves [0, 1], which is what the bounds rest on; a value outside is an error, not clipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import label_codes  # because labels are compared as the metrics compare them

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BeyondTolerance", "Bounded", "Loss", "ZeroOne", "losses_of"]


@runtime_checkable
class Loss(Protocol):
    """What every loss has: `binary` says whether it is 0 or 1 only, and calling it gives one value per item."""

    @property
    def binary(self) -> bool: ...

    def __call__(self, truth: Any, machine: Any) -> NDArray[np.float64]:
        """Return the losses, shape (n_items,), in [0, 1]."""
        ...


@dataclass(frozen=True)
class ZeroOne:
    """1 where the labels differ, 0 where they are the same.

    Examples
    --------
    >>> ZeroOne()(["a", "b"], ["a", "a"]).tolist()
    [0.0, 1.0]
    """

    @property
    def binary(self) -> bool:
        """Always True."""
        return True

    def __call__(self, truth: Any, machine: Any) -> NDArray[np.float64]:
        """Compare labels of any kind."""
        _, codes = label_codes(truth=truth, machine=machine)
        require_same_length(list(codes.items()))
        return np.asarray(codes["truth"] != codes["machine"], dtype=np.float64)


@dataclass(frozen=True)
class BeyondTolerance:
    """1 where a score is off by more than `tolerance`, 0 elsewhere.

    Examples
    --------
    >>> BeyondTolerance(0.5)([3, 4, 5], [3.5, 3, 5]).tolist()
    [0.0, 1.0, 0.0]
    """

    tolerance: float

    def __post_init__(self) -> None:
        _positive("tolerance", self.tolerance, zero=True)

    @property
    def binary(self) -> bool:
        """Always True."""
        return True

    def __call__(self, truth: Any, machine: Any) -> NDArray[np.float64]:
        """Compare scores; 1e-9 of slack, so that 3.4 and 2.4 are 1 apart."""
        return np.asarray(_off(truth, machine) > self.tolerance + 1e-9, dtype=np.float64)


@dataclass(frozen=True)
class Bounded:
    """The absolute error of a score divided by `worst`, the largest that the scale allows.

    Examples
    --------
    >>> Bounded(4)([1, 5], [5, 4]).tolist()  # a scale from 1 to 5
    [1.0, 0.25]
    """

    worst: float

    def __post_init__(self) -> None:
        _positive("worst", self.worst)

    @property
    def binary(self) -> bool:
        """Always False."""
        return False

    def __call__(self, truth: Any, machine: Any) -> NDArray[np.float64]:
        """Compare scores; an error beyond `worst` is refused."""
        return _off(truth, machine) / self.worst


def losses_of(loss: Loss, truth: Any, machine: Any) -> NDArray[np.float64]:
    """Return the losses of items, or say which of them leave [0, 1]."""
    if not isinstance(loss, Loss):
        raise InputError(f"loss is {loss!r}; give ZeroOne(), BeyondTolerance(x), Bounded(worst), or your own Loss")
    values = float_vector(loss(truth, machine), name="loss", allow_empty=True)
    require_same_length([("truth", truth), ("loss", values)])
    outside = (values < 0.0) | (values > 1.0 + 1e-12)
    if loss.binary:
        outside |= (values != 0.0) & (values != 1.0)
    if outside.any():
        allowed = "0 or 1" if loss.binary else "between 0 and 1"
        raise InputError(
            f"{loss!r} must give {allowed}: {first_rows(outside, values)}; state the largest error that can occur"
        )
    return np.minimum(values, 1.0)


def _off(truth: Any, machine: Any) -> NDArray[np.float64]:
    given = float_vector(truth, name="truth", allow_empty=True)
    said = float_vector(machine, name="machine", allow_empty=True)
    require_same_length([("truth", given), ("machine", said)])
    return np.abs(given - said)


def _positive(name: str, value: Any, *, zero: bool = False) -> None:
    good = not isinstance(value, (bool, np.bool_)) and isinstance(value, Real) and math.isfinite(value)
    if not good or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} is {value!r}; give a finite number {'of at least' if zero else 'above'} 0")
