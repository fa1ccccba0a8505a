"""Dawid and Skene's EM on weighted votes, with class shares that may differ by stratum.

The fast engines count answers; this one multiplies them by weights and keeps one row of class shares per stratum. Same
objective, same guarantee: it never falls. For the plain case use `_em`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._em import Sums, log_prior, next_tables
from hmc_crowd.aggregation._votes import expect, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._votes import Votes

__all__ = ["WeightedFit", "weighted_em"]


@dataclass(frozen=True)
class WeightedFit:
    """``posterior`` (n_tasks, K) belongs to ``class_share`` (n_strata, K) and ``errors`` (n_workers, K, K true)."""

    posterior: NDArray[np.float64]
    class_share: NDArray[np.float64]
    errors: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def weighted_em(
    votes: Votes,
    posterior: NDArray[np.float64],
    *,
    pseudo: NDArray[np.float64],
    n_iter: int,
    tol: float,
    stratum: NDArray[np.intp] | None = None,
    class_pseudo: NDArray[np.float64] | None = None,
) -> WeightedFit:
    """Iterate from ``posterior`` (n_tasks, K).

    ``pseudo`` is (K answered, K true) or (n_workers, K, K); ``stratum`` (n_tasks,) numbers the strata from 0;
    ``class_pseudo`` (n_strata, K) is added to each stratum's label counts.
    """
    from scipy.sparse import csr_array

    k = votes.n_labels
    counts = votes.weight > 0
    place = (votes.task[counts], votes.choice[counts])
    matrix = csr_array((votes.weight[counts], place), shape=(votes.n_tasks, votes.n_workers * k))
    stratum = np.zeros(votes.n_tasks, dtype=np.intp) if stratum is None else stratum
    n_strata = int(stratum.max()) + 1
    class_pseudo = np.zeros((n_strata, k)) if class_pseudo is None else class_pseudo
    history: list[float] = []
    while True:
        classes = class_pseudo + _stratum_counts(posterior, stratum, n_strata)
        share = np.full_like(classes, 1.0 / k)
        total = classes.sum(axis=1, keepdims=True)
        np.divide(classes, total, out=share, where=total > 0)
        answered = settle(np.asarray(matrix.T @ posterior))
        tables = next_tables(Sums(answered, classes.sum(axis=0), 0.0), pseudo)
        with np.errstate(divide="ignore"):
            log_share = np.log(share)
        posterior, likelihood = expect(votes, np.asarray(matrix @ tables.log_error) + log_share[stratum])
        prior = np.sum(class_pseudo * np.where(class_pseudo > 0, log_share, 0.0))
        history.append(likelihood + log_prior(tables, pseudo) + float(prior))
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            return WeightedFit(posterior, share, tables.errors, tuple(history), converged)


def _stratum_counts(posterior: NDArray[np.float64], stratum: NDArray[np.intp], n_strata: int) -> NDArray[np.float64]:
    columns = [np.bincount(stratum, weights=column, minlength=n_strata) for column in posterior.T]
    return np.stack(columns, axis=1)
