"""Checks of arguments: each names the argument, the first offending rows and the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["first_rows", "float_vector", "require_generator", "require_same_length"]

_SHOWN = 5


def first_rows(bad: NDArray[np.bool_], values: Any = None) -> str:
    """Name the first offending rows, 0-based, with their values: ``rows 3 (nan), 7 (1.2) and 4 more``."""
    where = np.flatnonzero(bad)
    shown = [f"{row}" if values is None else f"{row} ({values[row]})" for row in where[:_SHOWN].tolist()]
    more = f" and {len(where) - _SHOWN} more" if len(where) > _SHOWN else ""
    return f"row{'s' if len(where) > 1 else ''} {', '.join(shown)}{more}"


def float_vector(
    values: ArrayLike,
    *,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    allow_empty: bool = False,
) -> NDArray[np.float64]:
    """Return a one-dimensional float64 array without missing values inside [low, high], or say what is wrong.

    A float64 array that is right already is returned as it is, not copied.

    Raises
    ------
    InputError
        Not numeric, not one-dimensional, empty, or with missing, infinite or out-of-range values.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers: {error}") from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one value per item, shape (n_items,)")
    if array.size == 0:
        if allow_empty:
            return array
        raise InputError(f"{name} is empty; give at least one item")
    # One pass decides; which rows are wrong is worked out only when some are.
    smallest, largest = float(array.min()), float(array.max())
    if not (smallest >= low and largest <= high and np.isfinite(smallest) and np.isfinite(largest)):
        bad = ~np.isfinite(array) | (array < low) | (array > high)
        allowed = f"finite and in [{low:g}, {high:g}]" if np.isfinite(high) else f"finite and at least {low:g}"
        if not np.isfinite(low):
            allowed = "finite"
        raise InputError(f"{name} must be {allowed}: {first_rows(bad, array)}; correct or drop these rows")
    return array


def require_same_length(columns: Sequence[tuple[str, Any]]) -> int:
    """Return the common length of named columns, or name the two that differ."""
    first_name, first = columns[0]
    for name, column in columns[1:]:
        if len(column) != len(first):
            raise InputError(
                f"{name} has {len(column)} rows but {first_name} has {len(first)}; they must describe the same items"
            )
    return len(first)


def require_generator(rng: Any) -> None:
    """Refuse a seed, or anything else that draws nothing, where randomness is passed in.

    Raises
    ------
    InputError
        It is no generator.
    """
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is {rng!r}; give a numpy.random.Generator, such as numpy.random.default_rng(7)")
