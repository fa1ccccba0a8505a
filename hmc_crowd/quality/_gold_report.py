"""Is the gold right? An item that good workers miss is a suspect, not they.

A worker's goodness is measured on the *other* gold items, so that a wrong key cannot hide by making those who saw the
truth look bad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality._gold_scores import gold_answers
from hmc_crowd.quality._votes import votes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats  # because repeated answers follow one rule

__all__ = ["gold_report"]

# Fewer other gold items than this say too little about a worker.
_OTHERS = 3


def gold_report(
    answers: pd.DataFrame,
    gold: Any,
    *,
    good: float = 0.7,
    at_least: int = 3,
    repeats: Repeats = "latest",
) -> pd.DataFrame:
    """Report each gold item: how often it is met, and whether its key should be looked at.

    Parameters
    ----------
    answers, gold, repeats
        As in `gold_scores`.
    good : float, default 0.7
        A worker is good for an item who is right on at least this share of the other gold items (at least 3 of them).
    at_least : int, default 3
        Good workers that an item needs before it can be a suspect.

    Returns
    -------
    pandas.DataFrame
        One row per gold item with answers, sorted: ``item, label, n, right, share, good_n, good_right, top_label,
        top_n, suspect, reason``. ``top_label`` is the label that most of its answers gave (the first of equals), with
        its count ``top_n``. An item is a ``suspect`` if more than half of its good workers miss it; ``reason`` says so.

    Examples
    --------
    >>> rows = [(f"g{i}", w, "yes") for i in range(4) for w in ("ann", "bob", "cy")]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> report = gold_report(answers, {"g0": "yes", "g1": "yes", "g2": "yes", "g3": "no"})
    >>> report.loc[report["suspect"], ["item", "good_n", "good_right", "top_label"]].to_dict("records")
    [{'item': 'g3', 'good_n': 3, 'good_right': 0, 'top_label': 'yes'}]
    """
    if not 0 <= good <= 1:
        raise InputError(f"good is {good!r}; give a share between 0 and 1")
    if isinstance(at_least, bool) or at_least < 1:
        raise InputError(f"at_least is {at_least!r}; give a whole number of at least 1")
    coded, row = gold_answers(answers, gold, repeats=repeats)
    task, worker, label = coded.task[row], coded.worker[row], coded.label[row]
    right = label == coded.gold[task]
    is_good = _good_on_the_others(worker, right, good)
    n_tasks, items = len(coded.tasks), np.flatnonzero(coded.gold >= 0)
    n = np.bincount(task, minlength=n_tasks)[items]
    n_right = np.bincount(task[right], minlength=n_tasks)[items]
    good_n = np.bincount(task[is_good], minlength=n_tasks)[items]
    good_right = np.bincount(task[is_good & right], minlength=n_tasks)[items]
    top_label, top_n = _most_given(np.searchsorted(items, task), label, len(items), len(coded.labels))
    suspect = (good_n >= at_least) & (2 * good_right < good_n)
    reasons = [
        f"{missed} of {total} workers who are good on other gold miss it" if flagged else ""
        for flagged, missed, total in zip(suspect, (good_n - good_right).tolist(), good_n.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "item": coded.tasks[items],
            "label": coded.labels[coded.gold[items]],
            "n": n,
            "right": n_right,
            "share": n_right / n,
            "good_n": good_n,
            "good_right": good_right,
            "top_label": coded.labels[top_label],
            "top_n": top_n,
            "suspect": suspect,
            "reason": reasons,
        }
    )


def _good_on_the_others(worker: NDArray[np.intp], right: NDArray[np.bool_], good: float) -> NDArray[np.bool_]:
    """Return of each answer whether its worker is right often enough on the other gold items."""
    others = np.bincount(worker)[worker] - 1
    others_right = np.bincount(worker, weights=right)[worker] - right
    found: NDArray[np.bool_] = (others >= _OTHERS) & (others_right >= good * others - 1e-12)
    return found


def _most_given(
    place: NDArray[np.intp], label: NDArray[np.intp], n: int, n_labels: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the label that most answers to each item gave, the first of equals, and how many."""
    votes = votes_of(place, label, n_labels)
    most = votes.highest(n, 0)
    top = np.flatnonzero(votes.count == most[votes.task])
    _, first = np.unique(votes.task[top], return_index=True)
    return votes.label[top[first]], most
