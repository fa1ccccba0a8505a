"""Where the iteration starts: from the votes, from gold, or from a model fitted before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._em import Tables, class_counts, next_tables
from hmc_crowd.aggregation._prior import prior_counts
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers
    from hmc_crowd.aggregation._dawid_skene import DawidSkene
    from hmc_crowd.aggregation._em import Session

__all__ = ["first_tables", "tables_from"]

# What a worker counts as where only gold speaks: see `prior_counts`; also where the model itself has no prior.
_START_STRENGTH = 6.0


def first_tables(
    session: Session, pseudo: NDArray[np.float64], *, class_pseudo: float = 0.0, trace: float = 0.0
) -> Tables:
    """Return tables to start from: one M-step from the shares of the votes, or, if there is gold, from gold alone.

    With gold, a worker is first known by the gold items answered plus a weak prior (a stranger is right two times out
    of three). The votes of a lying majority would otherwise outweigh it, and EM would stay at the wrong optimum.
    """
    sums, known = session.start()
    of_classes = class_counts(sums, class_pseudo) if class_pseudo else None
    tables = next_tables(sums, pseudo, class_pseudo=of_classes, trace=trace)
    if known is None:
        return tables
    sums.answered = known
    stranger = prior_counts(len(sums.classes), strength=_START_STRENGTH)
    # Past counts (pseudo per worker) are as good as gold.
    at_first = stranger if pseudo.ndim == 2 else np.maximum(stranger, pseudo)
    return Tables(tables.log_class, next_tables(sums, at_first).log_error)


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
