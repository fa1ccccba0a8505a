"""Which label is given when several are equally good, and how one is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TIE_RULES", "TieRule", "decide"]

TieRule = Literal["first_label", "most_common"]

TIE_RULES = {
    "first_label": "the tied label that comes first in label order",
    "most_common": "the tied label with the largest total over all tasks, then label order",
}

# Scores closer than this are equal: rounding must not decide.
_EQUAL = 1e-9


def decide(scores: NDArray[np.float64], *, rule: TieRule) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the chosen label and whether it was tied, per task; ``scores`` has shape (n_tasks, n_labels)."""
    best = scores >= scores.max(axis=1, keepdims=True) - _EQUAL
    tied = best.sum(axis=1) > 1
    if rule == "first_label":
        return best.argmax(axis=1), tied
    # A stable sort keeps label order among labels with the same total.
    preference = np.argsort(-np.round(scores.sum(axis=0), 6), kind="stable")
    return preference[best[:, preference].argmax(axis=1)], tied
