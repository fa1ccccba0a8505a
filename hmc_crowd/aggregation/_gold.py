"""Gold: which tasks have a known label, and what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.aggregation._names import coded, kind_of, require_columns
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["gold_codes", "gold_table"]


def gold_table(gold: Any) -> pd.Series[Any]:
    """Return gold as a Series from task to label, one row per task.

    Parameters
    ----------
    gold : pandas.DataFrame, pandas.Series or mapping
        A frame with ``item`` (or ``task``) and ``label``; a Series indexed by task; or a mapping from task to label.

    Raises
    ------
    FrameError
        A column or a value is missing, or a task has two different gold labels.
    """
    if isinstance(gold, Mapping):
        gold = pd.Series(dict(gold))
    if isinstance(gold, pd.Series):
        table = gold.rename("label")
    else:
        key = "task" if isinstance(gold, pd.DataFrame) and "task" in gold.columns else "item"
        require_columns(gold, (key, "label"), name="gold")
        table = gold.set_index(key)["label"]
    missing = table.isna().to_numpy() | table.index.isna()
    if missing.any():
        raise FrameError(f"gold misses an item or a label in {first_rows(missing)}; gold is what is known, drop these")
    pairs = pd.DataFrame({"task": table.index, "label": table.to_numpy()}).drop_duplicates()
    twice = pairs["task"].duplicated(keep=False).to_numpy()
    if twice.any():
        first = pairs["task"][twice].iloc[0]
        both = sorted(pairs["label"][pairs["task"] == first].astype(str))
        raise FrameError(f"gold gives {first!r} several labels ({', '.join(both)}); keep one for each item")
    return pairs.set_index("task")["label"]


def gold_codes(gold: Any, tasks: pd.Index[Any], labels: pd.Index[Any]) -> tuple[NDArray[np.intp], int, int]:
    """Return the gold label's code per task (-1 where unknown), the gold items given and those that have answers.

    Raises
    ------
    FrameError
        Gold of an answered task is outside the label set, or task names are of different kinds (text and numbers), so
        that no gold item could ever meet its answers.
    """
    known = np.full(len(tasks), -1, dtype=np.intp)
    if gold is None:
        return known, 0, 0
    table = gold_table(gold)
    if len(table) == 0:
        return known, 0, 0
    if kind_of(table.index) != kind_of(tasks):
        raise FrameError(
            f"gold names items by {kind_of(table.index)}, the answers by {kind_of(tasks)}; convert one of them"
        )
    place = coded(tasks, table.index)
    used = table[place >= 0]
    codes = coded(labels, pd.Index(used))
    unknown = codes < 0
    if unknown.any():
        shown = ", ".join(f"{task!r}: {label!r}" for task, label in list(used[unknown].items())[:5])
        raise FrameError(
            f"gold has labels outside {labels.tolist()[:20]} for {int(unknown.sum())} answered items ({shown}); "
            "correct them, or name the whole label set in labels"
        )
    known[place[place >= 0]] = codes
    return known, len(table), len(used)
