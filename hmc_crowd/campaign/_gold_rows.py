"""Which answers prove something of their worker? Blind ones under the guideline in force, with the known labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._guideline import Versions

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["gold_rows"]

_BETWEEN = "\x1f"


def gold_rows(
    context: Context, tx: Transaction, answers: pd.DataFrame, *, first_only: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers that count, and the known labels as ``item, label``; a task is an item and an aspect.

    Parameters
    ----------
    answers : pandas.DataFrame
        As the store gives them.
    first_only : bool, default False
        Leave out what a worker said of a question once more: who meets gold again may know it.
    """
    gold = tx.frames.read(context.campaign_id, "gold")
    # A value that is near enough has no right or wrong, and who was told the answer proves nothing.
    exact = [each.name for each in tx.campaigns.aspects(context.campaign_id) if each.kind not in {"numeric", "text"}]
    known = gold.loc[gold["aspect"].isin(exact), ["item", "aspect", "label"]]
    counted = answers[(answers["mode"] == "blind") & ~Versions(context, tx).stale(answers)]
    if first_only and len(counted):
        counted = counted.sort_values("submitted", kind="stable").drop_duplicates(["task", "aspect", "worker"])
    keyed = counted.assign(item=counted["task"], task=counted["task"] + _BETWEEN + counted["aspect"].astype(str))
    keys = pd.DataFrame({"item": known["item"] + _BETWEEN + known["aspect"].astype(str), "label": known["label"]})
    return keyed, keys.reset_index(drop=True)
