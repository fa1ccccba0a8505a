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

# Numbers of a block of tasks: few enough to stay in the processor's cache from one operation to the next.
_BLOCK = 1 << 15


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


class _Rows:
    """Dirichlet rows along an axis with their prior, of which what never changes is worked out once."""

    def __init__(self, prior: NDArray[np.float64], axis: int) -> None:
        from scipy.special import gammaln

        self.prior, self._axis = prior, axis
        self._base = gammaln(prior.sum(axis=axis)) - gammaln(prior).sum(axis=axis)

    def log_mean(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the logarithm of each share."""
        from scipy.special import digamma

        found: NDArray[np.float64] = digamma(counts)
        found -= digamma(counts.sum(axis=self._axis, keepdims=True))
        return found

    def divergence(self, counts: NDArray[np.float64], log_mean: NDArray[np.float64]) -> float:
        """Return the sum of KL(Dirichlet(counts) || Dirichlet(prior))."""
        from scipy.special import gammaln

        norm = gammaln(counts.sum(axis=self._axis)) - gammaln(counts).sum(axis=self._axis)
        inner = counts - self.prior
        inner *= log_mean
        return float((norm - self._base + inner.sum(axis=self._axis)).sum())


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
    of_errors = _Rows(_error_prior(prior, k, past), 1)
    of_classes, of_types = _Rows(np.full(k, prior.classes), 0), _Rows(np.full((k, m), prior.subtypes), 1)
    blocks = _blocks(votes, matrix, k, m)
    q = start.reshape(n_tasks, k * m).copy()
    history: list[float] = []
    while True:
        classes = of_classes.prior + q.reshape(-1, k, m).sum(axis=(0, 2))
        types = of_types.prior + q.reshape(-1, k, m).sum(axis=0)
        counts = of_errors.prior + settle(np.asarray(matrix.T @ q)).reshape(votes.n_workers, k, k, m)
        log_errors, log_types = of_errors.log_mean(counts), of_types.log_mean(types)
        log_classes = of_classes.log_mean(classes)
        log_start = log_classes[:, None] + (log_types if m > 1 else 0.0)
        bound = _expect(blocks, log_errors.reshape(votes.n_workers * k, k * m), log_start.reshape(-1), q)
        bound -= of_errors.divergence(counts, log_errors) + of_classes.divergence(classes, log_classes)
        bound -= of_types.divergence(types, log_types) if m > 1 else 0.0
        history.append(bound)
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            share = types / types.sum(axis=1, keepdims=True)
            errors = np.einsum("wakm,km->wak", counts / counts.sum(axis=1, keepdims=True), share)
            posterior = q.reshape(n_tasks, k, m).sum(axis=2)
            return BccFit(posterior, errors, classes / classes.sum(), tuple(history), converged)


def _error_prior(prior: BccPrior, k: int, past: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return prior counts of error rows, shape (n_workers or 1, K answered, K true, 1): of all subtypes alike."""
    rows = np.full((k, k), prior.wrong)
    np.fill_diagonal(rows, prior.right)
    whole: NDArray[np.float64] = (rows[None] if past is None else rows + past)[..., None]
    return whole


@dataclass(frozen=True)
class _Block:
    """Some tasks: their rows, their answers, and the labels (with all subtypes) that gold rules out."""

    rows: slice
    answers: Any
    closed: NDArray[np.bool_] | None


def _blocks(votes: Votes, matrix: Any, k: int, m: int) -> list[_Block]:
    """Cut the tasks into blocks of about `_BLOCK` numbers."""
    step = max(1, _BLOCK // (k * m))
    found = []
    for low in range(0, votes.n_tasks, step):
        rows = slice(low, min(low + step, votes.n_tasks))
        gold = votes.gold[rows]
        closed = (gold >= 0)[:, None] & (gold[:, None] != np.arange(k))
        found.append(_Block(rows, matrix[rows], np.repeat(closed, m, axis=1) if closed.any() else None))
    return found


def _expect(
    blocks: list[_Block], log_errors: NDArray[np.float64], log_start: NDArray[np.float64], q: NDArray[np.float64]
) -> float:
    """Put the posterior of labels and subtypes into ``q``; return the log-likelihood."""
    tops: list[NDArray[np.float64]] = []
    totals: list[NDArray[np.float64]] = []
    for block in blocks:
        joint = np.asarray(block.answers @ log_errors)
        joint += log_start
        if block.closed is not None:
            joint[block.closed] = -np.inf
        top = joint.max(axis=1, keepdims=True)
        joint -= top
        np.exp(joint, out=joint)
        total = joint.sum(axis=1, keepdims=True)
        joint /= total
        q[block.rows] = settle(joint)
        tops.append(top)
        totals.append(total)
    return float(np.concatenate(tops).sum() + np.log(np.concatenate(totals)).sum())
