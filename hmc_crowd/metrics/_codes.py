"""Labels of any kind as small integers that several columns share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, float_vector
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["bool_vector", "label_codes"]


def bool_vector(values: ArrayLike, *, name: str) -> NDArray[np.bool_]:
    """Return a one-dimensional bool array, or say what is wrong; 0 and 1 are taken as False and True.

    Raises
    ------
    InputError
        Not one-dimensional, or holding anything but True, False, 1, 0.
    """
    array = np.asarray(values)
    if array.dtype != bool:
        numbers = float_vector(values, name=name, low=0.0, high=1.0, allow_empty=True)
        odd = (numbers != 0.0) & (numbers != 1.0)
        if odd.any():
            raise InputError(f"{name} must hold only True and False (or 1 and 0): {first_rows(odd, numbers)}")
        array = numbers == 1.0
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one value per item, shape (n_items,)")
    return array


def label_codes(**columns: ArrayLike) -> tuple[list[Any], dict[str, NDArray[np.intp]]]:
    """Give numbers to the labels of several columns over the same items.

    Parameters
    ----------
    **columns : array of labels, shape (n_items,)
        Text, numbers or booleans; under the names that an error message should use.

    Returns
    -------
    labels : list
        The distinct labels, sorted (by their text, if they are of several types).
    codes : dict of array of int
        Each column as positions in `labels`.

    Raises
    ------
    InputError
        A column is empty, not one-dimensional, as long as no other, or has missing labels.

    Examples
    --------
    >>> labels, codes = label_codes(target=["b", "a"], predicted=["b", "c"])
    >>> labels, codes["predicted"].tolist()
    (['a', 'b', 'c'], [1, 2])
    """
    arrays = {name: _label_array(name, values) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length ({told} rows); they must describe the same items")
    # Numbers stay numbers, text stays text; only a mix of both is compared as Python objects.
    kinds = {
        "text" if array.dtype.kind in "US" else "object" if array.dtype == object else "number"
        for array in arrays.values()
    }
    if len(kinds) > 1:
        arrays = {name: array.astype(object) for name, array in arrays.items()}
    joined = np.concatenate(list(arrays.values()))
    if joined.dtype == object:
        labels, flat = _object_codes(joined)
    else:
        found, flat = np.unique(joined, return_inverse=True)
        labels = found.tolist()
    ends = np.cumsum([len(array) for array in arrays.values()])[:-1]
    parts = np.split(flat.reshape(-1).astype(np.intp), ends)
    return labels, dict(zip(arrays, parts, strict=True))


def _label_array(name: str, values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one label per item, shape (n_items,)")
    if array.size == 0:
        raise InputError(f"{name} is empty; give at least one item")
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    elif array.dtype == object:
        missing = np.array([_is_missing(each) for each in array.tolist()], dtype=bool)
    elif array.dtype.kind in "biuUS":
        return array
    else:
        raise InputError(f"{name} holds {array.dtype}; labels are text, numbers or booleans")
    if missing.any():
        raise InputError(f"{name} has missing labels: {first_rows(missing)}; drop these rows or give them labels")
    return array


def _is_missing(label: Any) -> bool:
    # pandas' marks are known by name, so that pandas need not be imported; comparing pd.NA gives no bool.
    return (
        label is None or type(label).__name__ in {"NAType", "NaTType"} or (isinstance(label, float) and label != label)
    )


def _object_codes(joined: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Give numbers to labels that numpy cannot sort."""
    values = joined.tolist()
    distinct = dict.fromkeys(values)
    try:
        labels = sorted(distinct)
    except TypeError:
        labels = sorted(distinct, key=lambda label: (type(label).__name__, str(label)))
    position = {label: code for code, label in enumerate(labels)}
    return labels, np.fromiter((position[value] for value in values), dtype=np.intp, count=len(values))
