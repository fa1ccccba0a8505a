"""What an effort model accepts: its parameters, its tables, and the name of its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd._base.ids import digest
from hmc_crowd.effort._frames import as_pandas, number_column, number_matrix
from hmc_crowd.effort._groups import feature_names
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.effort._model import EffortModel

__all__: list[str] = []

MIN_ROWS = 10


def check_params(model: EffortModel, kinds: Iterable[str]) -> None:
    """Refuse parameters that cannot work."""
    if model.kind not in list(kinds):
        raise InputError(f"kind is {model.kind!r}; use {' or '.join(map(repr, kinds))}")
    for name in ("n_estimators", "max_features", "min_samples_leaf"):
        value = getattr(model, name)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} is {value!r}; give a whole number of 1 or more")
    if isinstance(model.seed, bool) or not isinstance(model.seed, (int, np.integer)) or not 0 <= model.seed < 2**31:
        raise InputError(f"seed is {model.seed!r}; give a whole number from 0 to 2147483647")
    if model.n_jobs is not None and (not isinstance(model.n_jobs, (int, np.integer)) or model.n_jobs == 0):
        raise InputError(f"n_jobs is {model.n_jobs!r}; give a number of threads, -1 for all, or None for one")
    check_quantiles(model.quantiles, name="quantiles")


def training_matrix(X: Any, features: str | Sequence[str] | None) -> tuple[tuple[str, ...] | None, NDArray[np.float64]]:
    """Return the columns' names (None for an array) and their values."""
    wanted = None if features is None else feature_names(features)
    if is_array(X):
        if wanted is not None:
            raise InputError("features names columns, but X is an array without names; give X as a table")
        return None, array_matrix(X)
    table = as_pandas(X, name="X")
    names = tuple(str(column) for column in table.columns) if wanted is None else wanted
    table = table.set_axis([str(column) for column in table.columns], axis=1)
    return names, number_matrix(table, names, name="X")


def check_quantiles(quantiles: Any, *, name: str) -> NDArray[np.float64]:
    """Return quantiles as an array, each strictly between 0 and 1."""
    asked = float_vector(list(quantiles), name=name, allow_empty=True)
    bad = asked[(asked <= 0) | (asked >= 1)]
    if bad.size:
        raise InputError(f"{name} holds {bad[0]:g}; a quantile lies between 0 and 1, for example 0.9")
    return asked


def is_array(X: Any) -> bool:
    """Tell a nameless matrix (numpy array, list of rows) from a table."""
    return isinstance(X, (np.ndarray, list, tuple))


def array_matrix(X: Any) -> NDArray[np.float64]:
    """Return a two-dimensional float64 array; missing values stay NaN."""
    matrix = number_column(X, name="X")
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise InputError(f"X has shape {matrix.shape}; give rows and columns, shape (n, n_features)")
    return matrix


def data_hash(names: Sequence[str] | None, matrix: NDArray[np.float64], seconds: NDArray[np.float64]) -> str:
    """Return the SHA-256 that names the training data: same rows in the same order, same hash on any machine."""
    little = [np.ascontiguousarray(each, dtype="<f8").tobytes() for each in (matrix, seconds)]
    return digest("effort-data-1", "\n".join(names or ()), matrix.shape, *little)
