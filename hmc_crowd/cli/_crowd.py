"""Simulated workers from a file: the truth they see with errors, or answers that were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError
from hmc_crowd.io import read_frame
from hmc_crowd.simulation import RecordedCrowd, SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd.simulation import Crowd

__all__ = ["read_crowd"]


def read_crowd(path: Path, *, workers: int, accuracy: float, seed: int) -> Crowd:
    """Make a crowd from the truth (``item, label[, aspect]``) or from answers (``task, worker, label[, seconds]``)."""
    columns = set(read_frame(path, kind=None).frame.columns)
    rng = np.random.default_rng(seed)
    if {"task", "worker", "label"} <= columns:
        return RecordedCrowd(read_frame(path, kind="answers").frame, rng=rng)
    if not {"item", "label"} <= columns:
        raise FrameError(
            f"{path} is no crowd: give columns item, label[, aspect] (the truth) or task, worker, label (answers)"
        )
    if "aspect" in columns:
        truth = read_frame(path, kind=None).frame.astype(str)
        keys: list[Any] = list(zip(truth["item"], truth["aspect"], strict=True))
    else:
        truth = read_frame(path, kind="gold").frame
        keys = truth["item"].tolist()
    labels = sorted(truth["label"].unique())
    known = dict(zip(keys, truth["label"], strict=True))
    return SimulatedCrowd(draw_workers(workers, labels, rng=rng, accuracy=accuracy), known, rng=rng)
