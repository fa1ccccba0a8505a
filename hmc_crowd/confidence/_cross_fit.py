"""What does an estimator say of items that it has not learnt from? Each fold is judged by a fit on the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []


def stratified_folds(codes: NDArray[np.intp], folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the rows of each fold; every class is spread evenly, in random order."""
    if folds < 2 or folds > len(codes):
        raise InputError(f"folds is {folds} for {len(codes)} items; give at least 2, and no more than there are items")
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) % folds
    return [np.flatnonzero(place == fold) for fold in range(folds)]
