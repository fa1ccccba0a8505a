"""What may be a label, what does a frozen encoder's head look like, and which training run is this?"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.confidence.text._train import Recipe

__all__ = ["class_codes", "logistic_head", "run_hash"]


def class_codes(labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted labels and each text's place among them; text, whole numbers and truth values serve."""
    given = np.asarray(labels)
    if given.ndim != 1 or given.size == 0:
        raise InputError(f"labels has shape {given.shape}; give one label per text")
    if given.dtype == object:
        kinds = {type(each) for each in given.tolist()}
        if kinds != {str}:
            shown = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InputError(f"labels mixes kinds or has missing values ({shown}); give text, or whole numbers")
        given = given.astype(str)
    if given.dtype.kind not in "Uiub":
        raise InputError(f"labels are of type {given.dtype}; give text, whole numbers or truth values")
    classes, targets = np.unique(given, return_inverse=True)
    return classes, targets.astype(np.int64)


def logistic_head(
    features: NDArray[np.float32], targets: NDArray[np.int64], C: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weight and bias of a logistic regression, one row per class."""
    from sklearn.linear_model import LogisticRegression

    head = LogisticRegression(C=C, max_iter=2000).fit(features, targets)
    weight, bias = head.coef_.astype(np.float64), head.intercept_.astype(np.float64)
    if len(head.classes_) == 2:
        # One row for two classes: softmax of (0, z) is the logistic of z.
        weight, bias = np.vstack([np.zeros_like(weight), weight]), np.concatenate([[0.0], bias])
    return weight, bias


def run_hash(print_: str, recipe: Recipe, ids: list[NDArray[np.int32]], targets: NDArray[np.int64]) -> str:
    """Return what tells one training run from another."""
    digest = hashlib.sha256(json.dumps([print_, vars(recipe)], sort_keys=True).encode())
    for each in ids:
        digest.update(len(each).to_bytes(4, "little") + each.tobytes())
    digest.update(targets.tobytes())
    return digest.hexdigest()
