"""Where a refit starts when a fitted model exists already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._em import Tables
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from hmc_crowd.aggregation._codes import CodedAnswers
    from hmc_crowd.aggregation._dawid_skene import DawidSkene

__all__ = ["tables_from"]


def tables_from(start: DawidSkene, coded: CodedAnswers) -> Tables:
    """Return the tables of a fitted model, arranged for these answers; a new worker gets the mean matrix of all."""
    if not hasattr(start, "errors_"):
        raise InputError("start is not fitted; call its fit first, or leave start out")
    old_labels = start.priors_.index
    place = old_labels.get_indexer(coded.labels)
    if len(old_labels) != len(coded.labels) or bool((place < 0).any()):
        raise InputError(
            f"start was fitted on the labels {old_labels.tolist()[:20]}, these answers have "
            f"{coded.labels.tolist()[:20]}; pass the same labels to both fits"
        )
    k = len(coded.labels)
    errors = start.errors_.to_numpy().reshape(-1, k, k)[:, place][:, :, place]
    known = start.skills_.index.get_indexer(coded.workers)
    arranged = np.where((known >= 0)[:, None, None], errors[known], errors.mean(axis=0))
    with np.errstate(divide="ignore"):
        return Tables(np.log(start.priors_.to_numpy()[place]), np.log(arranged).reshape(-1, k))
