"""What is there to plan? Every item that is not gold, by the campaign's first aspect, and what was asked before."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._confidence import calibrated
from hmc_crowd.errors import StateError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["Before", "Units", "asked_before", "batch_of", "coded", "machine_version", "read_units"]


class Before(IntEnum):
    """What earlier rounds did with a unit."""

    FREE = 0
    PEOPLE = 1  # given to people by plan: stays there and counts against the cap
    AUDIT = 2  # drawn for the audit of the round before
    OLD_AUDIT = 3  # drawn for an audit that a later plan put aside: people labelled it, outside the cap


@dataclass(frozen=True)
class Units:
    """Items to be planned by the first aspect, as columns; a column of texts may be backed by Arrow."""

    frame: pd.DataFrame
    confidence: NDArray[np.float64]
    share: NDArray[np.float64]
    seconds: NDArray[np.float64]
    model_version: str


def read_units(context: Context, tx: Transaction, *, confidence: str = "calibrated") -> Units:
    """Return everything that can be planned, its confidences calibrated or raw, or say what is missing."""
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "group"])
    if items.empty:
        raise StateError(f"campaign {context.name!r} has no items; first add_items() and add_predictions()")
    efforts = tx.frames.read(context.campaign_id, "efforts", columns=["item", "seconds", "share", "model_version"])
    if len(efforts) != len(items):
        raise StateError(f"{len(items) - len(efforts):,} items have no effort yet; first call estimate_effort()")
    # Who sees an item is asked all about it, so one aspect decides who sees what.
    first = tx.campaigns.aspects(context.campaign_id)[0].name
    frame = _aspect_units(context, tx, items, efforts, first, confidence)
    if frame is None:
        raise StateError(f"campaign {context.name!r} has no predictions of {first!r}; first call add_predictions()")
    version = str(efforts["model_version"].iloc[0])
    values = {name: frame.pop(name).to_numpy(dtype=np.float64) for name in ("confidence", "share", "seconds")}
    return Units(frame, values["confidence"], values["share"], values["seconds"], version)


def _aspect_units(
    context: Context, tx: Transaction, items: pd.DataFrame, efforts: pd.DataFrame, aspect: str, confidence: str
) -> pd.DataFrame | None:
    predictions = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["item", "confidence"])
    if predictions.empty:
        return None
    if len(predictions) != len(items):
        missing = items["item"][~items["item"].isin(predictions["item"])]
        gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"]
        missing = missing[~missing.isin(gold)]
        if len(missing):
            raise StateError(
                f"{len(missing):,} items have no prediction for aspect {aspect!r} (first {missing.iloc[0]!r}); "
                "add_predictions() for all of them"
            )
        kept = items["item"].isin(predictions["item"]).to_numpy()
        items, efforts = items[kept], efforts[kept]
    frame = pd.DataFrame(
        {
            "item": items["item"].array,
            "group": items["group"].array,
            "aspect": coded(np.zeros(len(items), dtype=np.int8), (aspect,)),
            "confidence": calibrated(context, tx, aspect, predictions["confidence"].to_numpy(), which=confidence),
            "share": efforts["share"].to_numpy(),
            "seconds": efforts["seconds"].to_numpy(),
        }
    )
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"]
    return frame if gold.empty else frame[~frame["item"].isin(gold)].reset_index(drop=True)


def machine_version(context: Context, tx: Transaction) -> int:
    """Return how often labels of the machine that were there already were replaced by others."""
    return int(tx.campaigns.get(context.name).settings.get("machine_version", 0))


def batch_of(context: Context, tx: Transaction, frame: pd.DataFrame) -> dict[str, int]:
    """Return what an audit was drawn from; it is the same as before only if units and machine labels are the same.

    Items and predictions are only ever added, and gold only takes units away: equal counts mean equal units.
    """
    first = tx.campaigns.aspects(context.campaign_id)[0].name
    return {
        "units": len(frame),
        "predictions": tx.frames.count(context.campaign_id, "predictions", aspect=first),
        "machine_version": machine_version(context, tx),
    }


def asked_before(context: Context, tx: Transaction, frame: pd.DataFrame, round_: int) -> NDArray[np.int8]:
    """Return the `Before` of every unit, read from the plan of the round before.

    An audit that was drawn from another batch is put aside: it is no random sample of this one, or the machine's labels
    may have been made with its answers in view.
    """
    before = np.zeros(len(frame), dtype=np.int8)
    earlier = tx.plans.latest(context.campaign_id, round=round_ - 1) if round_ > 1 else None
    if earlier is None:
        return before
    touched = tx.plans.read(earlier.id, people_only=True, columns=["item", "aspect", "destination", "reason"])
    keys = pd.MultiIndex.from_frame(frame[["item", "aspect"]].astype(str))
    where = keys.get_indexer(pd.MultiIndex.from_frame(touched[["item", "aspect"]].astype(str)))
    was = np.where(touched["destination"].astype(str) == "audit", Before.AUDIT, Before.PEOPLE)
    if earlier.header["made_from"].get("batch") != batch_of(context, tx, frame):
        was = np.where(was == Before.AUDIT, Before.OLD_AUDIT, was)
    was = np.where(touched["reason"].astype(str) == "audited_before", Before.OLD_AUDIT, was)
    before[where[where >= 0]] = was[where >= 0]
    return before


def coded(codes: NDArray[Any], categories: tuple[str, ...]) -> pd.Categorical[Any]:
    """Return a column of few different words: one byte a row, whatever the size of the batch."""
    return pd.Categorical.from_codes(codes.astype(np.int8), categories=pd.Index(categories))
