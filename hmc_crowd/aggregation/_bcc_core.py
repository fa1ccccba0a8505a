"""Bayesian classifier combination by variational Bayes: independent (one subtype) or with task subtypes.

Sources, in our own words: Kim and Ghahramani (2012), "Bayesian Classifier Combination" (iBCC), a Dirichlet prior on
every row of every error matrix; Li, Rubinstein, Cohn (2019), "Exploiting Worker Correlation for Label Aggregation in
Crowdsourcing" (EBCC), where each true label splits into subtypes and a task's subtype moves all workers together, which
is how their errors come to agree.

The objective is the evidence bound: it never falls. Restarts of the subtype model start from `structural_noise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.aggregation._votes import settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["BccFit", "BccPrior", "bcc"]


@dataclass(frozen=True)
class BccPrior:
    """Dirichlet parameters: ``classes`` of the shares, ``subtypes`` within a label, error rows right and wrong."""

    classes: float = 1.0
    subtypes: float = 0.1
    right: float = 4.0
    wrong: float = 1.0


@dataclass(frozen=True)
class BccFit:
    """``posterior`` (n_tasks, K); ``errors`` (n_workers, K answered, K true), mean of the subtypes by their shares."""

    posterior: NDArray[np.float64]
    errors: NDArray[np.float64]
    class_share: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def _log_mean(counts: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    from scipy.special import digamma

    result: NDArray[np.float64] = digamma(counts) - digamma(counts.sum(axis=axis, keepdims=True))
    return result


def _divergence(counts: NDArray[np.float64], prior: NDArray[np.float64], axis: int) -> float:
    """Return the sum of KL(Dirichlet(counts) || Dirichlet(prior)) along ``axis``."""
    from scipy.special import gammaln

    norm = gammaln(counts.sum(axis=axis)) - gammaln(counts).sum(axis=axis)
    base = gammaln(prior.sum(axis=axis)) - gammaln(prior).sum(axis=axis)
    inner = ((counts - prior) * _log_mean(counts, axis)).sum(axis=axis)
    return float((norm - base + inner).sum())


def _matrix(votes: Votes) -> Any:
    from scipy.sparse import csr_array

    shape = (votes.n_tasks, votes.n_workers * votes.n_labels)
    return csr_array((votes.weight, (votes.task, votes.choice)), shape=shape)


def bcc(
    votes: Votes,
    start: NDArray[np.float64],
    *,
    prior: BccPrior,
    past: NDArray[np.float64] | None,
    n_iter: int,
    tol: float,
    progress: Progress | None = None,
) -> BccFit:
    """Iterate from ``start`` (n_tasks, K, n_subtypes), the first guess at labels and subtypes; adds up to 1 per task.

    ``past`` (n_workers, K answered, K true) counts for every subtype alike.
    """
    n_tasks, k, m = start.shape
    matrix = _matrix(votes)
    error_prior = np.full((k, k), prior.wrong)
    np.fill_diagonal(error_prior, prior.right)
    base = np.repeat(error_prior[None, :, :], votes.n_workers, axis=0)
    if past is not None:
        base = base + past
    base = np.repeat(base[:, :, :, None], m, axis=3)
    class_prior, type_prior = np.full(k, prior.classes), np.full((k, m), prior.subtypes)
    closed = np.ones((n_tasks, k), dtype=bool)
    known = np.flatnonzero(votes.gold >= 0)
    closed[known, votes.gold[known]] = False
    closed[votes.gold < 0] = False
    q = start.reshape(n_tasks, k * m)
    history: list[float] = []
    while True:
        classes = class_prior + q.reshape(-1, k, m).sum(axis=(0, 2))
        types = type_prior + q.reshape(-1, k, m).sum(axis=0)
        counts = base + settle(np.asarray(matrix.T @ q)).reshape(votes.n_workers, k, k, m)
        log_table = _log_mean(counts, 1).reshape(votes.n_workers * k, k * m)
        log_start = _log_mean(classes, 0)[:, None] + (_log_mean(types, 1) if m > 1 else 0.0)
        joint = np.asarray(matrix @ log_table) + log_start.reshape(-1)
        joint.reshape(n_tasks, k, m)[closed] = -np.inf
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        total = weights.sum(axis=1, keepdims=True)
        q = settle(weights / total)
        bound = float(top.sum() + np.log(total).sum())
        bound -= _divergence(counts, base, 1) + _divergence(classes, class_prior, 0)
        bound -= _divergence(types, type_prior, 1) if m > 1 else 0.0
        history.append(bound)
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            share = types / types.sum(axis=1, keepdims=True)
            errors = np.einsum("wakm,km->wak", counts / counts.sum(axis=1, keepdims=True), share)
            posterior = q.reshape(n_tasks, k, m).sum(axis=2)
            return BccFit(posterior, errors, classes / classes.sum(), tuple(history), converged)
