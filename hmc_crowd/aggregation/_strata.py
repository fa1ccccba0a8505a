"""Class shares and workers that differ by stratum.

Routed items are the hard ones: labels are shared out differently there, and the same worker is right less often than on
audit items. One prior for all would pull hard items towards the easy ones' labels. In a first fit all strata share
everything; in the second each stratum has its own label shares and each worker an error matrix per stratum, pulled
towards the worker's own matrix of the first fit, and its label shares towards those of all. Both are EM: neither falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._names import sorted_codes
from hmc_crowd.aggregation._weighted_em import weighted_em
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._votes import Votes
    from hmc_crowd.aggregation._weighted_em import WeightedFit

__all__ = ["StratumFit", "by_stratum", "strata_of"]

_SHOWN = 5

# How strongly a stratum is pulled to the whole: for a worker's matrix so many times what a true label's prior is worth,
# for the label shares so many tasks of each label. By simulation (400 tasks, two strata, 3 and 5 answers, hard items
# where a worker keeps .15 to .8 of his edge, label shares near and far apart; no open data): with 1 and 1 strata lost
# .016 of accuracy on average against none, and up to .033; with these they lose nothing on average, win up to .017
# where shares lie far apart, and lose at most .008 where answers to hard items say next to nothing.
_WORKER_PULL = 16.0
_CLASS_PULL = 30.0


@dataclass(frozen=True)
class StratumFit:
    """``class_share`` (n_strata, K), ``errors`` (n_workers, n_strata, K, K true), ``answered`` per cell."""

    posterior: NDArray[np.float64]
    class_share: NDArray[np.float64]
    errors: NDArray[np.float64]
    answered: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def strata_of(
    strata: str | pd.Series[Any] | Mapping[Any, Any], answers: pd.DataFrame, tasks: pd.Index[Any]
) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """Return the stratum's number per task, and the strata's names in sorted order.

    Raises
    ------
    FrameError
        A task has no stratum, or a column of ``answers`` gives it two.
    """
    if isinstance(strata, str):
        if strata not in answers.columns:
            raise FrameError(f"answers lacks the column {strata!r} that strata names; add it, or map tasks to strata")
        pairs = answers[["task", strata]].drop_duplicates()
        twice = pairs["task"].duplicated().to_numpy()
        if twice.any():
            raise FrameError(f"answers puts task {pairs['task'][twice].iloc[0]!r} into several strata; keep one")
        table = pairs.set_index("task")[strata]
    else:
        table = strata if isinstance(strata, pd.Series) else pd.Series(dict(strata))
    if not table.index.is_unique:
        raise FrameError(f"strata names task {table.index[table.index.duplicated()][0]!r} twice; keep one stratum each")
    place = place_in(pd.Index(table.index), tasks)
    values = table.iloc[place[place >= 0]]
    missing = place < 0
    missing[place >= 0] = values.isna().to_numpy()
    if missing.any():
        names = tasks[missing].tolist()
        raise FrameError(f"strata names no stratum for {len(names)} tasks, first {names[:_SHOWN]}; name one for each")
    return sorted_codes(values, name="strata")


def by_stratum(
    votes: Votes,
    stratum: NDArray[np.intp],
    posterior: NDArray[np.float64],
    *,
    pooled: NDArray[np.float64],
    class_share: NDArray[np.float64],
    strength: float,
    n_iter: int,
    tol: float,
) -> StratumFit:
    """Fit strata from a pooled fit's ``posterior`` (n_tasks, K) and error matrices (n_workers, K, K true)."""
    n_strata, k = int(stratum.max()) + 1, votes.n_labels
    inside = replace(votes, worker=votes.worker * n_strata + stratum[votes.task], n_workers=votes.n_workers * n_strata)
    pseudo = np.repeat(_WORKER_PULL * strength * pooled, n_strata, axis=0)
    fit: WeightedFit = weighted_em(
        inside,
        posterior,
        pseudo=pseudo,
        n_iter=n_iter,
        tol=tol,
        stratum=stratum,
        # Pseudo-tasks shared out as in the pooled fit: a small stratum loses no label, a hard one does not drift.
        class_pseudo=np.repeat(class_share[None, :] * (_CLASS_PULL * k), n_strata, axis=0),
    )
    return StratumFit(
        posterior=fit.posterior,
        class_share=fit.class_share,
        errors=fit.errors.reshape(votes.n_workers, n_strata, k, k),
        answered=inside.answered.reshape(votes.n_workers, n_strata),
        history=fit.history,
        converged=fit.converged,
    )
