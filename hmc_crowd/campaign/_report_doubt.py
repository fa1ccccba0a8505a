"""What does the report show of the doubt in people's labels? How good workers were, and confidence against gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.aggregation import aggregate
from hmc_crowd.campaign._aggregate_kinds import aggregate_numbers

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.store import Transaction

__all__ = ["gold_confidence", "worker_quality"]


def worker_quality(tx: Transaction, campaign: int, aspect: str) -> pd.DataFrame | None:
    """Return how good each worker was in the newest aggregation, None if it does not tell."""
    workers = tx.aggregations.workers(campaign, aspect)
    return workers if workers["accuracy"].notna().any() else None


def gold_confidence(tx: Transaction, campaign: int, aspect: str, answers: pd.DataFrame) -> pd.DataFrame | None:
    """Return ``confidence, right`` of answered gold items, aggregated once more as if their labels were not known."""
    record = tx.aggregations.latest(campaign, aspect)
    gold = tx.frames.read(campaign, "gold", aspect=aspect)
    if record is None or answers.empty:
        return None
    rows = answers[(answers["aspect"].astype(str) == aspect) & answers["excluded"].isna()]
    known = gold[gold["item"].isin(rows["task"])]
    if known.empty:
        return None
    if record.method == "numeric":
        asked = next(each for each in tx.campaigns.aspects(campaign) if each.name == aspect)
        if asked.kind != "ordinal":
            return None  # a number has an interval, and no confidence to be held against gold
        found, _ = aggregate_numbers(rows, levels=asked.labels, gold=None)
    else:
        # What was chosen by gold cannot be told from here; the default stands for it.
        method = "dawid_skene" if record.method == "choose" else record.method
        found = aggregate(rows[["task", "worker", "label"]], method=method, labels=record.labels).frame
    both = found.merge(known[["item", "label"]], on="item", suffixes=("", "_gold"))
    return both.assign(right=(both["label"] == both["label_gold"]).astype(float))[["confidence", "right"]]
