"""What gold is there to show: with its label, how hard it is, and how many people have met it?

How hard: the share of answers that missed it, pulled towards that of all gold as strongly as gold differs. Where nobody
has answered an item yet, its complexity (a column that the items were added with) or else the seconds that it is
expected to take stand for that. The three are not on one scale, so each item gets its place among those that are known
in the same way.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_rows import gold_key, gold_rows
from hmc_crowd.campaign._work import gold_work
from hmc_crowd.quality import pool_prior

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["gold_pool", "gold_shown", "missed_gold"]

# States of HITs whose open places people may still take, or are at work on.
_COMING = ("planned", "open", "stopped")


def gold_pool(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return the gold that can be mixed in, with its costs and ``label, difficulty``, over which it is balanced."""
    gold = gold_work(context, tx)
    if gold.empty:
        return gold
    aspects = {each.name: each for each in tx.campaigns.aspects(context.campaign_id)}
    names = gold["aspect"].astype(str)
    label = [_name(aspects[name], said) for name, said in zip(names, gold["label"], strict=True)]
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "features"], items=gold["item"].tolist())
    told = {item: (each or {}).get("complexity") for item, each in zip(items["item"], items["features"], strict=True)}
    complexity = gold["item"].map(told).to_numpy(dtype=np.float64, na_value=np.nan)
    missed = gold_key(gold["item"], names).map(missed_gold(context, tx)["difficulty"]).to_numpy(dtype=np.float64)
    return gold.assign(
        label=pd.Series(label, index=gold.index, dtype=object),
        difficulty=_placed(missed, complexity, gold["seconds"].to_numpy(dtype=np.float64)),
    )


def missed_gold(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return, by question, how many answers to gold count, how many missed it, and how hard that makes it."""
    columns = ["n", "missed", "difficulty"]
    answers = tx.work.answers(context.campaign_id)
    rows, keys = gold_rows(context, tx, answers[answers["is_gold"].astype(bool)], first_only=True)
    met = rows.merge(keys.rename(columns={"item": "task", "label": "known"}), on="task")
    if met.empty:
        return pd.DataFrame(columns=columns, dtype=float)
    counts = (met["label"] != met["known"]).groupby(met["task"]).agg(["size", "sum"])
    counts.columns = pd.Index(columns[:2])
    right, wrong = pool_prior(counts["n"] - counts["missed"], counts["n"])
    return counts.assign(difficulty=(wrong + counts["missed"]) / (right + wrong + counts["n"]))


def gold_shown(context: Context, tx: Transaction, *, besides: Collection[str] = ()) -> Counter[tuple[str, str]]:
    """Count how many people have met each gold question, or will: everybody who took a HIT, and all its open places.

    ``besides`` are keys of HITs that are not counted.
    """
    submissions = tx.work.submissions(context.campaign_id)
    took = submissions.groupby("hit_key").size().to_dict()
    shown: Counter[tuple[str, str]] = Counter()
    for hit in tx.work.hits(context.campaign_id):
        if hit.key in besides:
            continue
        meets = max(int(took.get(hit.key, 0)), hit.redundancy if hit.state in _COMING else 0)
        for each in hit.items:
            if each.is_gold and meets:
                shown[each.item, each.aspect] += meets
    return shown


def _name(aspect: AspectRecord, label: Any) -> Any:
    """Return the label as drawing takes it: a number on a scale, nothing where texts are all different."""
    if aspect.kind == "text":
        return None
    if aspect.kind == "numeric":
        return float(label)
    if aspect.kind == "ordinal" and label in aspect.labels:
        return float(aspect.labels.index(label))
    return str(label)


def _placed(*measures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each row's place in [0, 1] among those that the same measure, the first one known, speaks of."""
    place = np.full(len(measures[0]), np.nan)
    for values in measures:
        rows = np.isnan(place) & ~np.isnan(values)
        if rows.any():
            place[rows] = pd.Series(values[rows]).rank(pct=True).to_numpy()
    return place
