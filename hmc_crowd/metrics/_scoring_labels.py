"""Are two columns text labels without an order, rather than scores?

Scores may arrive as text ("3", "4.5"), and a single stray word among them is a bad score, to be left out and counted.
Only if neither column holds one number are they labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways
from hmc_crowd.metrics._validate import as_scores, column_names, is_frame, named_or_given

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LabelPairs", "nominal_pairs"]


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Complete pairs of text labels, as codes into `names`."""

    human: NDArray[np.intp]
    system: NDArray[np.intp]
    names: list[str]
    dropped: dict[str, int]
    ways: tuple[Way, ...]


def nominal_pairs(human: Any, system: Any, *, clusters: Any = None) -> LabelPairs | None:
    """Return pairs of labels, or None if the columns are scores (or unequal, or frames without text columns)."""
    if is_frame(human):
        if not {"human", "system"} <= set(column_names(human)):
            return None
        clusters = named_or_given(human, clusters)
        human, system = human["human"], human[system if isinstance(system, str) else "system"]
    left, right = _words(human), _words(system)
    if left is None or right is None or len(left) != len(right):
        return None
    import pandas as pd

    ways = cluster_ways(clusters, len(left))
    no_left, no_right = pd.isna(left), pd.isna(right)
    keep = ~(no_left | no_right)
    code, found = pd.factorize(np.concatenate([left[keep], right[keep]]), sort=True)
    half = int(keep.sum())
    dropped = {
        "human label is missing": int(no_left.sum()),
        "system label is missing": int((no_right & ~no_left).sum()),
    }
    return LabelPairs(
        code[:half].astype(np.intp),
        code[half:].astype(np.intp),
        [str(each) for each in found],
        {why: rows for why, rows in dropped.items() if rows},
        tuple(way.take(keep) for way in ways),
    )


def _words(values: Any) -> NDArray[np.object_] | None:
    """Return a text column as objects, None where missing; None if it holds a number or no word."""
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "OUS":
        return None
    numbers, odd = as_scores(array, name="labels")
    if odd is None or not np.isnan(numbers).all():
        return None
    texts = array.astype(object)
    texts[~odd] = None
    return texts
