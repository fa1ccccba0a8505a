"""Gold: which tasks have a known label, and what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.evidence import BLIND
from hmc_crowd.aggregation._names import coded, require_columns, require_same_kind
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["evidence_of", "gold_codes", "gold_table", "require_gold_kind"]


def evidence_of(labels: Any) -> Any:
    """Return what labels or probabilities rest on, where they say so; of a table the first that is not blind."""
    told = labels.attrs.get("evidence") if isinstance(labels, pd.Series | pd.DataFrame) else None
    if told is not None or isinstance(labels, pd.Series):
        return told
    if isinstance(labels, pd.DataFrame):
        column = labels["evidence"] if "evidence" in labels.columns and "label" in labels.columns else ()
        return next((each for each in column if isinstance(each, str) and each not in BLIND), None)
    return getattr(labels, "evidence", None)


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
    InputError
        The labels carry an evidence that is not blind, such as ``with_model``.
    """
    told = evidence_of(gold)
    if isinstance(told, str) and told not in BLIND:
        raise InputError(f"gold carries the evidence {told!r}; gold use labels that people gave blind")
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
    try:
        pairs = pd.DataFrame({"task": table.index, "label": table.to_numpy()}).drop_duplicates()
    except TypeError:
        raise FrameError("gold holds lists in the place of items or labels; give one label for each item") from None
    twice = pairs["task"].duplicated(keep=False).to_numpy()
    if twice.any():
        first = pairs["task"][twice].iloc[0]
        both = sorted(pairs["label"][pairs["task"] == first].astype(str))
        raise FrameError(f"gold gives {first!r} several labels ({', '.join(both)}); keep one for each item")
    return pairs.set_index("task")["label"]


def require_gold_kind(table: pd.Series[Any], tasks: pd.Index[Any]) -> None:
    """Refuse gold that names items by text where the answers name them by numbers, or the other way round."""
    require_same_kind(pd.Index(table.index), pd.Index(tasks), what="gold names items", others="the answers")


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
    require_gold_kind(table, tasks)
    place = coded(tasks, table.index)
    used = table[place >= 0]
    codes = coded(labels, pd.Index(used))
    unknown = codes < 0
    if unknown.any():
        shown = ", ".join(f"{task!r}: {label!r}" for task, label in list(used[unknown].items())[:5])
        raise FrameError(
            f"gold has labels outside {labels.tolist()[:20]} for {int(unknown.sum())} answered items ({shown}); "
            "correct them, or name the whole label set, labels=[...]"
        )
    known[place[place >= 0]] = codes
    return known, len(table), len(used)
