"""Checks that the estimators share: features, probabilities and labels, each named where it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, require_same_length
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__: list[str] = []

# What a confidence may lack of 0 or 1 before its log-odds are taken.
_EDGE = 1e-6


def matrix(values: ArrayLike, *, name: str, columns: int | None = None) -> NDArray[np.float64]:
    """Return a finite float64 matrix, one row an item, with so many columns as there were when it was fitted."""
    if hasattr(values, "toarray"):
        values = values.toarray()
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers: {error}") from None
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"{name} has shape {array.shape}; give one row an item, shape (n_items, n_columns)")
    if columns is not None and array.shape[1] != columns:
        raise InputError(f"{name} has {array.shape[1]} columns but {columns} when it was fitted; give the same ones")
    if not np.isfinite(array.sum()):
        bad: NDArray[np.bool_] = np.asarray(~np.isfinite(array).all(axis=1))
        if bad.any():
            raise InputError(f"{name} holds values that are missing or infinite: {first_rows(bad)}; drop these rows")
    return np.ascontiguousarray(array)


def probability_matrix(values: ArrayLike, *, n_classes: int | None = None) -> NDArray[np.float64]:
    """Return class probabilities, shape (n_items, n_classes), whose rows sum to 1 up to rounding."""
    array = matrix(values, name="probabilities", columns=n_classes)
    bad = (array < 0).any(axis=1) | (np.abs(array.sum(axis=1) - 1) > 1e-3)
    if bad.any():
        raise InputError(
            f"probabilities must be at least 0 and sum to 1 in every row: {first_rows(bad, array.sum(axis=1))}; "
            "give what predict_proba returns"
        )
    return array


def label_vector(values: Any, *, name: str) -> NDArray[Any]:
    """Return labels of any kind, shape (n_items,), none of them missing."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give one label an item, shape (n_items,)")
    if array.dtype == object:
        missing = np.array([each is None or each != each for each in array.tolist()])
    else:
        missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if missing.any():
        raise InputError(f"{name} has no label in {first_rows(missing)}; drop these rows")
    return array


def classes_of(y: NDArray[Any], classes: Any = None) -> NDArray[Any]:
    """Return the classes in the order of the columns: as given, else those of y, sorted."""
    found = np.unique(y)
    if classes is None:
        return found
    known = np.asarray(classes)
    if len(np.unique(known)) != len(known):
        raise InputError(f"classes repeats a label: {known.tolist()}; name each once, in the order of the columns")
    return known


def codes_of(labels: NDArray[Any], classes: NDArray[Any], *, name: str) -> NDArray[np.intp]:
    """Return the place of each label among the classes, or name the first labels that are none of them."""
    order = np.argsort(classes, kind="stable")
    try:
        place = np.searchsorted(classes, labels, sorter=order).clip(0, len(classes) - 1)
        codes: NDArray[np.intp] = order[place]
        wrong = classes[codes] != labels
    except TypeError:
        raise InputError(f"{name} holds labels of another kind than the classes {classes.tolist()}") from None
    if wrong.any():
        raise InputError(
            f"{name} holds labels that are none of the classes {classes.tolist()}: {first_rows(wrong, labels)}"
        )
    return codes


def same_items(*columns: tuple[str, Any]) -> int:
    """Return the number of items that all columns describe."""
    return require_same_length(columns)


def require_fitted(model: Any, attribute: str, first: str = "fit") -> None:
    """Say which call must come first."""
    if not hasattr(model, attribute):
        raise StateError(f"{type(model).__name__} is not ready; first call {first}()")


def log_odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(p / (1 - p)) of shares, those at 0 and 1 moved inside by a millionth."""
    inside = np.clip(share, _EDGE, 1 - _EDGE)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def expit(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-x)) without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(0.5 * value)))


def bool_vector(values: ArrayLike, *, name: str) -> NDArray[np.bool_]:
    """Return a vector of bool; 0 and 1 count as such."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; give True or False for every item, shape (n_items,)")
    if array.dtype.kind != "b":
        bad = ~np.isin(array, (0, 1))
        if bad.any():
            raise InputError(f"{name} must hold True and False, or 1 and 0: {first_rows(bad, array)}")
    return array.astype(bool)
