"""Labels of any kind as positions in a list, and what counts as missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["array_of", "coded", "codes_of", "missing_in"]

# Whole numbers in a range this small are counted by position, which is ten times quicker than sorting them.
_SMALL_RANGE = 65_536


def codes_of(values: NDArray[Any], categories: Sequence[Any] | None = None) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the labels in order and each value's position among them.

    Examples
    --------
    >>> labels, codes = codes_of(np.array([3.0, 1.0, 3.0]))
    >>> labels, codes.tolist()
    ([1.0, 3.0], [1, 0, 1])
    """
    if categories is not None:
        return _declared(values, list(categories))
    if values.dtype.kind in "biuf":
        return _number_codes(values)
    if values.dtype.kind in "US":
        found, codes = np.unique(values, return_inverse=True)
        return found.tolist(), codes.reshape(-1).astype(np.intp)
    listed = values.tolist()
    distinct = dict.fromkeys(listed)
    try:
        labels = sorted(distinct)
    except TypeError:
        labels = sorted(distinct, key=lambda label: (type(label).__name__, str(label)))
    position = {label: place for place, label in enumerate(labels)}
    return labels, np.fromiter((position[each] for each in listed), dtype=np.intp, count=len(listed))


def _number_codes(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    if values.size and values.dtype.kind != "b":
        low, high = float(values.min()), float(values.max())
        if high - low < _SMALL_RANGE and abs(low) < 2**52 and abs(high) < 2**52:
            shifted = values - values.min()
            whole = shifted.astype(np.intp, copy=False)
            if values.dtype.kind != "f" or (low == np.floor(low) and np.array_equal(shifted, whole)):
                seen = np.bincount(whole) > 0
                labels = (np.flatnonzero(seen) + values.min()).tolist()
                return labels, whole if seen.all() else (np.cumsum(seen) - 1)[whole].astype(np.intp)
    found, codes = np.unique(values, return_inverse=True)
    return found.tolist(), codes.reshape(-1).astype(np.intp)


def _declared(values: NDArray[Any], labels: list[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    position = {label: place for place, label in enumerate(labels)}
    if len(position) != len(labels):
        raise InputError(f"categories names a label twice: {labels}; name each once, in order")
    found, codes = codes_of(values)
    unknown = [label for label in found if label not in position]
    if unknown:
        raise InputError(f"ratings holds {unknown[0]!r}, which categories {labels} lacks; add it or correct the rating")
    order = np.array([position[label] for label in found], dtype=np.intp)
    return labels, order[codes] if len(found) else codes


def coded(
    values: NDArray[Any], categories: Sequence[Any] | None
) -> tuple[list[Any], NDArray[np.intp], NDArray[np.float64] | None]:
    """Return the labels, each value's position among them, and the labels as numbers if they are."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"ratings holds infinite numbers: {first_rows(~np.isfinite(values), values)}; correct them")
    if values.dtype == object and all(type(each) in (int, float) for each in set(values.tolist())):
        values = values.astype(np.float64)
    labels, code = codes_of(values, categories)
    numeric = all(isinstance(each, (int, float, np.number)) and not isinstance(each, bool) for each in labels)
    return labels, code, np.array(labels, dtype=np.float64) if numeric else None


def array_of(values: Any) -> NDArray[Any]:
    """Return values as an array; text beside None stays objects."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError("ratings has rows of different lengths; fill the missing ratings with None or NaN") from None
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        # numpy writes None and NaN as text when it meets text: keep the objects.
        array = np.asarray(values, dtype=object)
    return array


def missing_in(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where an array holds None, NaN or pandas' NA."""
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype != object:
        return np.zeros(array.shape, dtype=bool)
    flat = [
        each is None or type(each).__name__ in {"NAType", "NaTType"} or (isinstance(each, float) and each != each)
        for each in array.ravel().tolist()
    ]
    return np.array(flat, dtype=bool).reshape(array.shape)
