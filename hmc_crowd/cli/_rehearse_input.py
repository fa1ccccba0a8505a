"""What is rehearsed, and with whom: items with times and confidence, people assumed or on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._arguments import numbers, require_both
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["rehearsed_crowd", "rehearsed_items"]


def rehearsed_items(file: Path) -> dict[str, Any]:
    """Read the items of a rehearsal: what they cost, how sure the machine is and, where known, what is true."""
    import numpy as np

    from hmc_crowd.effort import prior_effort
    from hmc_crowd.io import read_frame

    loaded = read_frame(file, kind="items")
    frame = loaded.frame
    if "confidence" not in frame:
        raise FrameError(f"{file} lacks the column confidence; it needs item, confidence and seconds (or text)")
    if "seconds" in frame:
        seconds: Any = numbers(loaded, "seconds", file)
    elif "text" in frame and (frame["text"] != "").any():
        seconds = prior_effort(frame["text"].tolist()).seconds
    else:
        raise FrameError(f"{file} has neither seconds nor text; add one, so that a time can be reckoned")
    found: dict[str, Any] = {
        "item": frame["item"].astype(str).to_numpy(),
        "confidence": numbers(loaded, "confidence", file, high=1.0),
        "seconds": seconds,
        "groups": frame["group"].astype(str).to_numpy() if "group" in frame else None,
        "truth": None,
        "predicted": None,
        "labels": None,
        "n_labels": 2,
    }
    require_both(frame.columns, file)
    if "target" in frame:
        both = np.concatenate([frame["target"].astype(str).to_numpy(), frame["predicted"].astype(str).to_numpy()])
        labels, codes = np.unique(both, return_inverse=True)
        half = len(frame)
        found |= {"truth": codes[:half], "predicted": codes[half:], "labels": labels, "n_labels": max(2, len(labels))}
    return found


def rehearsed_crowd(
    given: dict[str, Any], fit: Path | None, replay: Path | None, *, accuracy: float, workers: int
) -> Any:
    """Return who answers: people as assumed, fitted to a pilot, or their answers on record."""
    from hmc_crowd.io import read_frame
    from hmc_crowd.rehearsal import AssumedCrowd, fit_assumed_crowd

    if fit is not None and replay is not None:
        raise InputError("--fit and --replay are given; take one: people like those, or their very answers")
    if fit is not None:
        return fit_assumed_crowd(read_frame(fit, kind=None).frame, workers=workers)
    if replay is not None:
        return _recorded(given, replay)
    spread = min(0.07, 0.9 * (accuracy * (1 - accuracy)) ** 0.5) if 0 <= accuracy <= 1 else 0.07
    return AssumedCrowd(accuracy=accuracy, spread=spread, workers=workers)


def _recorded(given: dict[str, Any], replay: Path) -> Any:
    import numpy as np
    import pandas as pd

    from hmc_crowd.io import read_frame
    from hmc_crowd.rehearsal import RecordedAnswers

    if given["labels"] is None:
        raise InputError("--replay needs the columns target and predicted in FILE, to say what the answers are worth")
    frame = read_frame(replay, kind="answers").frame
    item = pd.Index(given["item"]).get_indexer(pd.Index(frame["task"].astype(str)))
    label = pd.Index(given["labels"].astype(str)).get_indexer(pd.Index(frame["label"].astype(str)))
    known = (item >= 0) & (label >= 0)
    if not known.any():
        raise FrameError(f"{replay} has no answer to an item of FILE; the task column holds the items' ids")
    expected = np.asarray(given["seconds"])[item]
    seconds = frame["seconds"].to_numpy(dtype=float) if "seconds" in frame else expected
    worker = pd.factorize(frame["worker"].astype(str))[0]
    return RecordedAnswers(
        item[known], label[known], np.asarray(seconds)[known], worker[known], n_items=len(given["item"])
    )
