"""How long will people need? Predicted for every item before the plan.

The model predicts the time of a group (a dialogue) from its features; an item gets the group's time divided by its
turns, as in the HMCEval paper. A model that was trained per item predicts each item from its own. A worker is not known
when a plan is made, so a model with worker features is averaged over the workers of the pool. Without any model,
seconds come from reading speed, and the note says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.campaign._approval import ranking
from hmc_crowd.campaign._test_scores import pool_scores
from hmc_crowd.effort import (
    WORKER_FEATURES,
    EffortModel,
    dialogue_features,
    plan_effort,
    prior_effort,
)
from hmc_crowd.errors import FrameError, StateError
from hmc_crowd.io import read_frame

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["MODEL", "PER", "EffortEstimate", "add_effort", "estimate", "group_table", "learnt_per", "readable_items"]

# Without logged times there is no fastest and slowest dialogue to scale by: the hard cap on one sitting is the scale.
PRIOR_SCALE_S = 600.0
_POOL = 20
MODEL = "effort"
PER = ("group", "item")


@dataclass(frozen=True)
class EffortEstimate:
    """Predicted human time of one person for the whole batch."""

    items: int
    groups: int
    model: str
    total_s: float
    median_item_s: float
    setup_s: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        total = f"{self.total_s / 3600:.1f} h" if self.total_s >= 3600 else f"{self.total_s / 60:.1f} min"
        return (
            f"{self.items:,} item{'s' * (self.items != 1)} in {self.groups:,} group{'s' * (self.groups != 1)}: "
            f"{total} of one person, median {self.median_item_s:.1f} s an item, by {self.model}"
        )


def add_effort(context: Context, source: Any) -> int:
    """Store efforts that come from elsewhere: ``item, seconds[, share, setup_s, p90_s]``, for every item."""
    loaded = read_frame(source, kind="items", name="efforts")
    if "seconds" not in loaded.features:
        raise FrameError("efforts lacks the column seconds; give item and seconds for every item")
    frame = loaded.frame.assign(model_version="given")
    float_vector(frame["seconds"], name="efforts column seconds", low=0.0)
    if "share" not in frame:
        low, high = frame["seconds"].min(), frame["seconds"].max()
        frame["share"] = (frame["seconds"] - low) / (high - low) if high > low else 0.0
    for column, default in (("setup_s", 0.0), ("p90_s", np.nan)):
        if column not in frame:
            frame[column] = default
    columns = ["item", "seconds", "share", "setup_s", "p90_s", "model_version"]
    with context.begin() as tx:
        count = tx.frames.put(context.campaign_id, "efforts", frame[columns])
        _remember(context, tx, given=True)
        context.log(tx, "effort given", items=count)
    return count


def estimate(context: Context, model: EffortModel | None = None) -> EffortEstimate:
    """Predict the time of every item and store it."""
    with context.store.read() as tx:
        items, erased = readable_items(context, tx)
        if items.empty:
            what = "every text was erased; the times predicted before stay" if erased else "first add_items()"
            raise StateError(f"campaign {context.name!r} has no items to look at; {what}")
        record = None if model is not None else tx.models.latest(context.campaign_id, MODEL)
        groups = items["group"].nunique()
        if record is not None:
            items = learnt_per(items, str(record.scores.get("per", PER[0])))
        table = group_table(context, tx, items)
        pool = pool_scores(tx, context.campaign_id)
        rank = ranking(context, tx, pool["worker"].tolist(), context.clock.now())["place"]
        pool = pool.assign(approval=rank.to_numpy(dtype=np.float64))
    if model is None and record is not None:
        model = EffortModel.from_bytes(record.blob)
    if model is None:
        frame, name = _from_reading(items), "reading speed"
        notes: tuple[str, ...] = ("a guess: nobody was timed yet",)
    else:
        setup_s = float(record.scores.get("setup_s") or 0.0) if record is not None else 0.0
        frame, notes = _from_model(model, items, table, pool, setup_s)
        name = f"effort model {record.version}" if record is not None else "a given model"
    frame["model_version"] = name
    if erased:
        notes = (*notes, f"{erased:,} groups whose texts were erased keep the time that was predicted before")
    with context.store.begin() as tx:
        tx.frames.put(context.campaign_id, "efforts", frame)
        _remember(context, tx, given=False)
        context.log(tx, "effort estimated", model=name, total_s=float(frame["seconds"].sum()))
    return EffortEstimate(
        items=len(frame),
        groups=groups,
        model=name,
        total_s=float(frame["seconds"].sum()),
        median_item_s=float(frame["seconds"].median()),
        setup_s=float(frame["setup_s"].median()),
        notes=tuple(notes),
    )


def _remember(context: Context, tx: Transaction, *, given: bool) -> None:
    """Keep whether the efforts are the user's own, so that a run does not replace them."""
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    tx.campaigns.save_settings(context.campaign_id, {**settings, "effort_given": given})


def readable_items(context: Context, tx: Transaction) -> tuple[pd.DataFrame, int]:
    """Return the items of groups that have all their texts, and how many groups have lost some."""
    columns = ["item", "group", "text", "features", "erased_at", "response_a", "response_b"]
    items = tx.frames.read(context.campaign_id, "items", columns=columns)
    # Of a pair both responses are read as well.
    for name in ("response_a", "response_b"):
        responses = items.pop(name)
        if responses.notna().any():
            items["text"] = items["text"] + (" " + responses).fillna("")
    erased = items.loc[items["erased_at"].notna(), "group"].unique()
    if len(erased):
        items = items[~items["group"].isin(erased)].reset_index(drop=True)
    return items.drop(columns="erased_at"), len(erased)


def learnt_per(items: pd.DataFrame, per: str) -> pd.DataFrame:
    """Return the items with what is timed as one in ``group``: their groups, or each item by itself."""
    return items if per == "group" else items.assign(group=items["item"])


def group_table(context: Context, tx: Transaction, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row of features per group: from texts and machine labels, the user's columns above all."""
    given = _given_features(items)
    positive = context.settings().get("positive_labels", [])
    labels = None
    if positive:
        aspect = context.aspects()[0].name
        labels = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["item", "label"])
        labels = labels if len(labels) == len(items) else labels[labels["item"].isin(items["item"])]
        labels = labels if len(labels) == len(items) else None
    table = dialogue_features(
        items[["item", "group", "text"]],
        labels,
        positive_labels=positive if labels is not None else None,
        columns=given,
        text_features=True,
    ).frame
    return table.assign(judged_items=table["turns"])


def _given_features(items: pd.DataFrame) -> pd.DataFrame | None:
    """Return the user's numeric columns, one row per group: the first item's values stand for the group."""
    first = items.drop_duplicates("group")
    rows = [value if isinstance(value, dict) else {} for value in first["features"]]
    if not any(rows):
        return None
    return pd.DataFrame(rows, index=pd.Index(first["group"], name="group"))


def _from_reading(items: pd.DataFrame) -> pd.DataFrame:
    seconds = prior_effort(items["text"].tolist()).seconds
    codes = pd.factorize(items["group"])[0]
    group_s, turns = np.bincount(codes, weights=seconds)[codes], np.bincount(codes)[codes]
    return pd.DataFrame(
        {
            "item": items["item"].array,
            "seconds": seconds,
            "share": np.minimum(1.0, group_s / PRIOR_SCALE_S) / turns,
            "setup_s": 0.0,
            "p90_s": np.nan,
        }
    )


def _from_model(
    model: EffortModel, items: pd.DataFrame, table: pd.DataFrame, pool: pd.DataFrame, setup_s: float
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Predict group times, averaged over the pool where the model looks at workers, and share them among the items."""
    known = set(map(str, model.feature_names_in_))
    X = table if "first_submission" in table or "first_submission" not in known else table.assign(first_submission=0.0)
    workers = None
    if known & set(WORKER_FEATURES):
        # The worker is not known when planning: the expectation over the pool stands for whoever will come.
        some = pool[["score", "approval"]].head(_POOL) if len(pool) else pd.DataFrame({"score": [np.nan]})
        workers = some.reindex(columns=["score", "approval"]).astype(np.float64)
        workers.columns = pd.Index(["worker_test_score", "approval_ranking"])
        workers = workers[[name for name in workers if name in known]]
    lacking = sorted(known - {str(name) for name in X} - set(WORKER_FEATURES))
    if lacking:
        raise StateError(
            f"the effort model looks at {', '.join(lacking)}, which the items lack; add numeric columns of these names "
            "to the items, or train a model without them"
        )
    made = plan_effort(model, X, items[["item", "group"]], pool=workers)
    median = X if workers is None else X.assign(**{str(name): value for name, value in workers.median().items()})
    p90 = pd.Series(np.ravel(model.predict_quantile(median, 0.9)), index=X.index)
    frame = pd.DataFrame(
        {
            "item": items["item"].array,
            "seconds": made["effort_s"].to_numpy(),
            "share": made["effort_share"].to_numpy(),
            "setup_s": np.minimum(setup_s, (made["effort_s"] * made["turns"]).to_numpy()),
            "p90_s": p90.loc[items["group"]].to_numpy() / made["turns"].to_numpy(),
        }
    )
    notes = (f"expectation over {len(workers)} workers of the pool",) if workers is not None and len(pool) else ()
    return frame, notes
