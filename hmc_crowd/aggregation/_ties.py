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
    best, n_best = _best(scores)
    tied = n_best > 1
    if rule == "first_label":
        return _first(best), tied
    # A stable sort keeps label order among labels with the same total.
    preference = np.argsort(-np.round(scores.sum(axis=0), 6), kind="stable")
    return preference[_first([best[label] for label in preference.tolist()])], tied


def _best(scores: NDArray[np.float64]) -> tuple[list[NDArray[np.bool_]], NDArray[np.intp]]:
    """Return, label by label, where it is among the best, and how many are: numpy is slow along a short last axis."""
    columns = list(np.ascontiguousarray(scores.T))
    floor = columns[0].copy()
    for column in columns[1:]:
        np.maximum(floor, column, out=floor)
    floor -= _EQUAL
    best = [column >= floor for column in columns]
    n_best = np.zeros(len(scores), dtype=np.intp)
    for one in best:
        n_best += one
    return best, n_best


def _first(best: list[NDArray[np.bool_]]) -> NDArray[np.intp]:
    chosen = np.zeros(len(best[0]), dtype=np.intp)
    for label in range(len(best) - 1, 0, -1):
        chosen[best[label]] = label
    chosen[best[0]] = 0
    return chosen
