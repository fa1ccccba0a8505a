"""By how much does each item move a reliability metric? Influences, from which the intervals are made.

Each function returns, per item, what the estimate minus its target is the sum of (to first order), shape (n,).

Sources: own derivations by the delta method; the AUC after DeLong et al. (1988).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["area_influence", "auc_influence", "macro_cells", "macro_influence", "ratio_influence", "top_influence"]


def macro_cells(table: NDArray[np.intp]) -> dict[str, tuple[float, Floats]]:
    """Return value of macro ``precision, recall, f1`` and ``accuracy``, and the influence of an item in each cell.

    `table`, shape (labels, labels), counts items by true label and given label; an item's influence depends on its
    cell alone.
    """
    counts = table.astype(np.float64)
    hits, said, real, n = np.diag(counts), counts.sum(axis=0), counts.sum(axis=1), counts.sum()
    classes = int(np.count_nonzero((said > 0) | (real > 0)))
    precision, recall = hits / np.maximum(said, 1.0), hits / np.maximum(real, 1.0)
    both = np.maximum(said + real, 1.0)
    f1 = 2.0 * hits / both
    right, share = np.eye(len(counts)), float(hits.sum() / n)
    of_f1 = 2.0 * right / both - (f1 / both)[None, :] - (f1 / both)[:, None]
    return {
        "precision": (float(precision.sum()) / classes, (right - precision) / (np.maximum(said, 1.0) * classes)),
        "recall": (
            float(recall.sum()) / classes,
            (right - recall[:, None]) / (np.maximum(real, 1.0)[:, None] * classes),
        ),
        "f1": (float(f1.sum()) / classes, of_f1 / classes),
        "accuracy": (share, (right - share) / n),
    }


def macro_influence(truth: NDArray[np.intp], guess: NDArray[np.intp], size: int) -> dict[str, tuple[float, Floats]]:
    """Return value and influences, shape (n,), of macro ``precision, recall, f1`` and of ``accuracy``."""
    cell = truth * size + guess
    table = np.bincount(cell, minlength=size * size).reshape(size, size)
    return {name: (value, influence.reshape(-1)[cell]) for name, (value, influence) in macro_cells(table).items()}


def ratio_influence(part: Floats, whole: Floats) -> tuple[float, Floats]:
    """Return sum(part) / sum(whole) and its influences; the whole must not sum to 0."""
    total = float(whole.sum())
    value = float(part.sum()) / total
    return value, (part - value * whole) / total


def auc_influence(score: Floats, right: NDArray[np.bool_]) -> Floats:
    """Return the influences of the AUC: each item's share of the other kind that it beats, less the mean."""
    _, where, counts = np.unique(score, return_inverse=True, return_counts=True)
    good = np.bincount(where, weights=right, minlength=len(counts))
    bad = counts - good
    # Of the wrong ones below (ties half) for the right ones; of the right ones above for the wrong ones.
    beaten = (np.cumsum(bad) - bad / 2.0) / bad.sum()
    above = 1.0 - (np.cumsum(good) - good / 2.0) / good.sum()
    placed = np.where(right, beaten[where], above[where])
    value = float(placed[right].mean())
    return np.asarray((placed - value) / np.where(right, good.sum(), bad.sum()))


def top_influence(score: Floats, right: NDArray[np.bool_], count: int, value: float) -> Floats:
    """Return the influences of the accuracy of the `count` most confident items.

    The border moves too: what it costs is the accuracy near the border, taken over about n^(2/3) neighbours.
    """
    n = len(score)
    order = np.argsort(-score, kind="stable")
    window = max(int(n ** (2.0 / 3.0)) // 2, 1)
    near = order[max(count - window, 0) : min(count + window, n)]
    border = float(right[near].mean())
    inside = np.zeros(n)
    inside[order[:count]] = 1.0
    return (inside * (right - border)) / count + (border - value) / n


def area_influence(risk: Floats, wrong: Floats) -> Floats:
    """Return the influences of the area under risk-coverage; both arrays by falling confidence, shape (n,)."""
    n = len(risk)
    place = np.arange(1, n + 1)
    # The item counts in every risk from its own place on.
    counted = np.cumsum((1.0 / place)[::-1])[::-1]
    already = np.cumsum((risk / place)[::-1])[::-1]
    return np.asarray((risk - risk.mean() + wrong * counted - already) / n)
