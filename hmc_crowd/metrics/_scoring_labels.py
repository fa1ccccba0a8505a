"""Are two columns text labels without an order, rather than scores?

Scores may arrive as text ("3", "4.5"), and a stray word among them is a bad score, to be left out and counted. Columns
are labels if neither holds one number, or if something shows that their numbers are names: the caller lists a word
among the labels, both columns use the same word ("1", "2", "unsure"), or a number begins with a zero ("01").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._intervals_clusters import Way, cluster_ways
from hmc_crowd.metrics._validate import as_scores, column_names, is_frame, named_or_given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LabelPairs", "as_labels", "nominal_pairs"]


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Complete pairs of text labels, as codes into `names`."""

    human: NDArray[np.intp]
    system: NDArray[np.intp]
    names: list[str]
    dropped: dict[str, int]
    ways: tuple[Way, ...]
    warnings: tuple[str, ...] = ()


def nominal_pairs(
    human: Any, system: Any, *, clusters: Any = None, listed: Sequence[Any] | None = None, ordered: bool = False
) -> LabelPairs | None:
    """Return pairs of labels, or None if the columns are scores (or unequal, or frames without text columns).

    ``listed`` are the labels that the caller names; ``ordered`` says that the measure needs scores, so that only a
    list may turn columns with numbers in them into labels.
    """
    if is_frame(human):
        if not {"human", "system"} <= set(column_names(human)):
            return None
        clusters = named_or_given(human, clusters)
        human, system = human["human"], human[system if isinstance(system, str) else "system"]
    first, second = _texts(human), _texts(system)
    if first is None or second is None or len(first[0]) != len(second[0]):
        return None
    (left, left_word), (right, right_word) = first, second
    words = set(left[left_word].tolist()), set(right[right_word].tolist())
    numbers = [*_others(left, left_word), *_others(right, right_word)]
    if not numbers and not any(words):
        return None
    mixed = bool(numbers) and not _named(listed)
    if mixed and (ordered or not (words[0] & words[1] or any(map(_zero_first, numbers)))):
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
        ("numbers and words, or numbers that begin with 0, stand side by side: all are taken as labels",)
        if mixed
        else (),
    )


def as_labels(values: Sequence[Any]) -> list[str]:
    """Return labels as `nominal_pairs` names them: 3, 3.0 and "3" are one, "03" is another.

    Examples
    --------
    >>> as_labels([3, "3.0", "03", "low"])
    ['3', '3', '03', 'low']
    """
    column = _texts(np.array([*values, None], dtype=object)[:-1])
    return [] if column is None else [str(each) for each in column[0].tolist()]


def _texts(values: Any) -> tuple[NDArray[np.object_], NDArray[np.bool_]] | None:
    """Return a column as text, None where missing, and where it is no number; None if its kind holds numbers alone."""
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        array = np.array(values, dtype=object)  # numpy writes None and NaN as text when it meets text
    if array.ndim != 1 or array.dtype.kind not in "OUS":
        return None
    numbers, odd = as_scores(array, name="labels")
    word = np.zeros(len(array), dtype=bool) if odd is None else odd
    texts = np.full(len(array), None, dtype=object)
    for row in np.flatnonzero(word | ~np.isnan(numbers)).tolist():
        each, number = array[row], float(numbers[row])
        # "3", "3.0" and 3 are one label; "03" is another.
        plain = number.is_integer() and not _zero_first(str(each))
        texts[row] = str(int(number)) if plain else str(each)
    return texts, word


def _others(texts: NDArray[np.object_], word: NDArray[np.bool_]) -> set[str]:
    """Return the numbers, as text."""
    return {each for each in texts[~word].tolist() if each is not None}


def _zero_first(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _named(listed: Sequence[Any] | None) -> bool:
    """Whether a list of labels holds a word, which no list of scores does."""
    column = None if listed is None else _texts(np.array([*listed, None], dtype=object))
    return column is not None and bool(column[1].any())
