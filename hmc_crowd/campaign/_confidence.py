"""What are the machine's confidences worth? Learnt from held-out labels, stored, and used by every later plan.

Predictions keep the confidences as they came. A calibration is a map of its own, in the database beside the effort
models; it is laid over them wherever they are read, and a plan may ask for the raw ones (to reproduce a paper, say).
Gold is what it is learnt from by default: its labels are known, and its items are never planned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.evidence import refuse_seeing
from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._roles import gold_apart, use_labels
from hmc_crowd.confidence import Calibrator, calibration_error, load_confidence
from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.io import read_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import ModelRecord, Transaction

__all__ = ["CONFIDENCES", "Calibrated", "calibrate", "calibrated", "calibration_note"]

CONFIDENCES = ("calibrated", "raw")


@dataclass(frozen=True)
class Calibrated:
    """A stored calibration: what it was learnt from, and what it changes.

    ``raw_error`` is the calibration error of the confidences as they came, with its 95 % interval; ``brier`` and
    ``raw_brier`` are mean squared errors, the first cross-validated. ``left_out`` gold items stand in one group
    (dialogue) with items that are no gold and may be audited, so nothing was learnt from them.
    """

    aspect: str
    version: int
    method: str
    items: int
    accuracy: float
    mean_confidence: float
    raw_error: float
    raw_error_low: float
    raw_error_high: float
    raw_brier: float
    brier: float
    left_out: int = 0

    def __str__(self) -> str:
        apart = f"; {self.left_out:,} gold items left out, for others of their groups may be audited"
        return (
            f"calibration {self.version} of {self.aspect!r} by {self.method} on {self.items:,} labels: "
            f"{self.accuracy:.1%} right where the machine said {self.mean_confidence:.1%}; raw calibration error "
            f"{self.raw_error:.4f} [{self.raw_error_low:.4f}, {self.raw_error_high:.4f}], Brier score "
            f"{self.raw_brier:.4f} -> {self.brier:.4f}{apart if self.left_out else ''}"
        )


def calibrate(context: Context, labelled: Any, *, aspect: str | None, method: str) -> Calibrated:
    """Learn the map of an aspect from gold, or from a table ``confidence, correct``, and store it."""
    name = context.aspect(aspect).name
    raw, right, items, left_out = _from_gold(context, name) if labelled is None else (*_from_table(labelled), 0)
    try:
        calibrator = Calibrator(method).fit(raw, right)
    except ModelError as why:
        if not left_out:
            raise
        raise ModelError(
            f"{why}; {left_out:,} gold items were left out, for other items of their group (dialogue) are not gold "
            "and may be audited: make whole groups gold, or give a table confidence, correct of other items"
        ) from None
    error = calibration_error(raw, right)
    known: dict[str, Any] = {
        "aspect": name,
        "method": calibrator.method_,
        "items": len(raw),
        "accuracy": float(right.mean()),
        "mean_confidence": float(raw.mean()),
        "raw_error": error.value,
        "raw_error_low": error.low,
        "raw_error_high": error.high,
        "raw_brier": calibrator.brier_["none"],
        "brier": calibrator.brier_[calibrator.method_],
        "left_out": left_out,
    }
    hashed = digest(raw.tobytes(), right.tobytes())
    with context.begin() as tx:
        newest = tx.models.newest(context.campaign_id, _key(name))
        if newest is not None and (newest.data_hash, newest.scores) == (hashed, known):
            return Calibrated(version=newest.version, **known)  # the same again is not stored again
        saved = tx.models.save(
            context.campaign_id,
            _key(name),
            calibrator.to_bytes(),
            data_hash=hashed,
            scores=known,
            created_at=context.clock.now(),
        )
        use_labels(context, tx, name, "fit", items, purpose=f"calibration {saved.version}")
        context.log(tx, "confidence calibrated", aspect=name, version=saved.version, items=len(raw))
    return Calibrated(version=saved.version, **known)


def calibrated(
    context: Context, tx: Transaction, aspect: str, confidence: NDArray[np.float64], *, which: str = "calibrated"
) -> NDArray[np.float64]:
    """Return the confidences as the newest calibration reads them; as they came where there is none, or if asked."""
    if which not in CONFIDENCES:
        raise InputError(f"confidence is {which!r}; give 'calibrated' or 'raw'")
    stored = None if which == "raw" else _stored(context, tx, aspect)
    if stored is None:
        return confidence
    calibrator: Calibrator = load_confidence(stored.blob)
    return calibrator.transform(confidence)


def calibration_note(context: Context, tx: Transaction, *, which: str) -> list[str]:
    """Say which confidences a plan used, where there is a choice."""
    notes = []
    for aspect in tx.campaigns.aspects(context.campaign_id):
        stored = _stored(context, tx, aspect.name)
        if stored is None:
            continue
        used = f"calibrated by {stored.scores['method']} on {stored.scores['items']:,} labels"
        notes.append(f"confidences of {aspect.name!r}: {used if which == 'calibrated' else 'raw, as asked'}")
    return notes


def _key(aspect: str) -> str:
    return f"confidence:{aspect}"


def _stored(context: Context, tx: Transaction, aspect: str) -> ModelRecord | None:
    return tx.models.latest(context.campaign_id, _key(aspect))


def _from_gold(context: Context, aspect: str) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str], int]:
    with context.store.read() as tx:
        gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect)[["item", "label"]]
        said = tx.frames.read(
            context.campaign_id, "predictions", aspect=aspect, columns=["item", "label", "confidence"]
        )
        gold = gold.assign(is_apart=gold_apart(context, tx, aspect, gold["item"]))
    both = said.merge(gold, on="item", suffixes=("", "_gold"))
    if both.empty:
        raise StateError(
            f"no gold item of aspect {aspect!r} has a prediction; add_gold() and add_predictions() for the same items, "
            "or give a table confidence, correct"
        )
    # One turn of a dialogue tells of the others: what people may be asked about to certify stays apart.
    left_out = int((~both["is_apart"]).sum())
    both = both[both["is_apart"]]
    right = both["label"].astype(str) == both["label_gold"].astype(str)
    found = (both["confidence"].to_numpy(dtype=np.float64), right.to_numpy(dtype=bool), both["item"].tolist())
    return *found, left_out


def _from_table(labelled: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_], list[str]]:
    """Read a table; where it names the items, nothing that certifies may be among them."""
    import pandas as pd

    frame = labelled if isinstance(labelled, pd.DataFrame) else read_frame(labelled, kind=None).frame
    if "evidence" in frame:
        refuse_seeing(frame["evidence"], what="calibrate")
    missing = [name for name in ("confidence", "correct") if name not in frame]
    if missing:
        raise FrameError(
            f"labelled lacks the column {missing[0]}; give confidence (raw, as in the predictions) and correct "
            "(1 or 0) of items with a known label"
        )
    words = {"true": 1, "false": 0}
    right = pd.to_numeric(
        frame["correct"].map(lambda each: words.get(str(each).strip().lower(), each)), errors="coerce"
    )
    bad = ~right.isin([0, 1])
    if bad.any():
        raise FrameError(f"labelled: correct must be 1 or 0; the first other is {frame['correct'][bad].iloc[0]!r}")
    raw = pd.to_numeric(frame["confidence"], errors="coerce").to_numpy(dtype=np.float64)
    return raw, right.to_numpy(dtype=bool), frame["item"].astype(str).tolist() if "item" in frame else []
