"""Which answers prove something of their worker? Blind ones under the guideline in force, with the known labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_marking import gold_rules
from hmc_crowd.campaign._guideline import Versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gold_marking import GoldRule, Meaning
    from hmc_crowd.store import Transaction

__all__ = ["gold_key", "gold_rows"]

_BETWEEN = "\x1f"


def gold_key(items: pd.Series, aspects: pd.Series) -> pd.Series:
    """Return the name of each question in the tables of `gold_rows`."""
    return items.astype(str) + _BETWEEN + aspects.astype(str)


def _counted(context: Context, tx: Transaction, answers: pd.DataFrame, *, first_only: bool) -> pd.DataFrame:
    """Return the answers that prove something: who was told the label, or read an earlier guideline, proves nothing."""
    counted = answers[(answers["mode"] == "blind") & ~Versions(context, tx).stale(answers)]
    if first_only and len(counted):
        counted = counted.sort_values("submitted", kind="stable").drop_duplicates(["task", "aspect", "worker"])
    return counted


def gold_rows(
    context: Context,
    tx: Transaction,
    answers: pd.DataFrame,
    *,
    first_only: bool = False,
    exact: bool = False,
    meaning: Meaning | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers that count, and the known labels as ``item, label``; a task is an item and an aspect.

    An answer that is right by its aspect's rule, such as a rating one step off, is given as the known label: whoever
    compares the two compares by the rule.

    Parameters
    ----------
    answers : pandas.DataFrame
        As the store gives them.
    first_only : bool, default False
        Leave out what a worker said of a question once more: who meets gold again may know it.
    exact : bool, default False
        Only the known label is right, and numbers and texts are left out: what a label is worth, not a worker.
    meaning : Meaning, optional
        How texts are compared; without it they are left out.
    """
    rules = gold_rules(context, tx)
    left_out = {"numeric", "text"} if exact else {"text"} if meaning is None else set()
    used = [name for name, rule in rules.items() if rule.kind not in left_out]
    gold = tx.frames.read(context.campaign_id, "gold")
    known = gold.loc[gold["aspect"].astype(str).isin(used), ["item", "aspect", "label"]]
    counted = _counted(context, tx, answers, first_only=first_only)
    keyed = counted.assign(item=counted["task"], task=gold_key(counted["task"], counted["aspect"]))
    keys = pd.DataFrame({"item": gold_key(known["item"], known["aspect"]), "label": known["label"]})
    if not exact and len(keyed) and len(keys):
        keyed = keyed.assign(label=_by_rule(rules, keyed, keyed["task"].map(keys.set_index("item")["label"]), meaning))
    return keyed, keys.reset_index(drop=True)


def _by_rule(
    rules: Mapping[str, GoldRule], answers: pd.DataFrame, known: pd.Series, meaning: Meaning | None
) -> NDArray[np.object_]:
    """Return the labels of answers, the known label for those that are right by the rule of their aspect."""
    labels = answers["label"].to_numpy(dtype=object, copy=True)
    is_off = (known.notna() & (known != answers["label"])).to_numpy()
    aspects = answers["aspect"].astype(str).to_numpy()
    for name in np.unique(aspects[is_off]):
        rows = is_off & (aspects == name)
        truth = known[rows].to_numpy(dtype=object)
        right = rules[name].is_right(labels[rows].tolist(), truth.tolist(), meaning)
        labels[rows] = np.where(right, truth, labels[rows])
    return labels
