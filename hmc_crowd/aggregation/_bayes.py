"""Bayesian aggregators: iBCC, EBCC and BWA.

What is the truth, if what is not known of workers is averaged over instead of guessed?

Guarantee: the evidence bound (the objective for `BWA`) never falls; names and order decide nothing, ties aside.
Sources and arithmetic: `_bcc_core`, `_bwa_core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._base import require_room
from hmc_crowd.aggregation._bcc_core import BccFit, BccPrior, bcc
from hmc_crowd.aggregation._bwa_core import bwa
from hmc_crowd.aggregation._mace_core import kinds_of, structural_noise
from hmc_crowd.aggregation._skills import spammer_score
from hmc_crowd.aggregation._vote_base import Learnt, VoteAggregator, require_positive, require_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["BWA", "EBCC", "IBCC"]


class IBCC(VoteAggregator):
    """Independent Bayesian classifier combination: `DawidSkene` with Dirichlet priors, averaged over.

    Parameters
    ----------
    n_iter, tol
        Most steps, and the gain of the evidence bound per task at which to stop.
    prior : BccPrior, optional
        Default ``BccPrior()``: error rows Dirichlet(4 right, 1 each wrong), label shares Dirichlet(1).
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    errors_ : pandas.DataFrame
        Mean P(answered | true) as ``errors_.loc[(worker, answered), true]``.
    priors_ : pandas.Series
        Share of each label. ``workers_`` also has ``spammer_score``; all others as in `VoteAggregator`.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "eve" else 1 - t % 2) for t in range(8) for w in ("ann", "bob", "eve")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> IBCC().fit(answers).labels_.tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    method = "independent Bayesian classifier combination"
    errors_: pd.DataFrame
    priors_: pd.Series[Any]

    def __init__(
        self,
        n_iter: int = 200,
        *,
        tol: float = 1e-6,
        prior: BccPrior | None = None,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")
        self.prior = BccPrior() if prior is None else prior

    def _starts(self, votes: Votes) -> Iterator[NDArray[np.float64]]:
        yield votes.shares()[:, :, None]

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        k = votes.n_labels
        name = type(self).__name__
        require_room(name, cells=votes.n_workers * k * k, shape=f"{votes.n_workers:,} workers x {k:,} x {k:,} labels")
        best: BccFit | None = None
        for start in self._starts(votes):
            # Past tasks take part as tasks of known truth that do not count in the label shares: give them as counts.
            fit = self._one(votes, start, progress)
            if best is None or fit.history[-1] > best.history[-1] + 1e-6 * votes.n_real:
                best = fit
        if best is None:  # cannot be: there is always one start
            return Learnt(votes.shares())
        rows = pd.MultiIndex.from_product([coded.workers, coded.labels], names=["worker", "label"])
        self.errors_ = pd.DataFrame(best.errors.reshape(-1, k), index=rows, columns=coded.labels)
        self.priors_ = pd.Series(best.class_share, index=coded.labels.rename("label"), name="prior")
        posterior = np.concatenate((best.posterior, np.eye(k)[votes.gold[votes.n_real :]]))
        return Learnt(posterior, best.history, best.converged)

    def _one(self, votes: Votes, start: NDArray[np.float64], progress: Progress | None) -> BccFit:
        real, past = split_past(votes)
        return bcc(
            real,
            start[: votes.n_real],
            prior=self.prior,
            past=past,
            n_iter=self.n_iter,
            tol=self.tol,
            progress=progress,
        )

    def _publish_skills(self, coded: CodedAnswers, votes: Votes, posterior: NDArray[np.float64]) -> None:
        super()._publish_skills(coded, votes, posterior)
        k = votes.n_labels
        self.workers_["spammer_score"] = spammer_score(self.errors_.to_numpy().reshape(-1, k, k))

    def _model_assumption(self) -> str:
        return "Given the truth, workers err independently, each by one error matrix with a Dirichlet prior."


class EBCC(IBCC):
    """`IBCC` with task subtypes that move all workers together, so that errors may agree.

    Parameters
    ----------
    n_subtypes : int, default 10
        Subtypes of each label; unneeded ones empty themselves.
    n_restarts : int, default 10
        Random starts of the subtypes; the best evidence bound is kept.
    n_iter, tol, prior, tie, repeats
        As in `IBCC`.
    random_state : int or numpy.random.Generator, default 0
        Seeds the starts; drawn per kind of task, so that names decide nothing.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "eve" else 1 - t % 2) for t in range(8) for w in ("ann", "bob", "eve")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> EBCC(n_subtypes=2).fit(answers).labels_.tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    method = "enhanced Bayesian classifier combination"

    def __init__(
        self,
        n_subtypes: int = 10,
        *,
        n_restarts: int = 10,
        n_iter: int = 200,
        tol: float = 1e-5,
        prior: BccPrior | None = None,
        random_state: int | np.random.Generator = 0,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(n_iter, tol=tol, prior=prior, tie=tie, repeats=repeats)
        self.n_subtypes = require_whole(n_subtypes, name="n_subtypes")
        self.n_restarts = require_whole(n_restarts, name="n_restarts")
        self.random_state = random_state

    def _starts(self, votes: Votes) -> Iterator[NDArray[np.float64]]:
        cells = votes.n_tasks * votes.n_labels * self.n_subtypes
        require_room("EBCC", cells=cells, shape=f"{votes.n_tasks:,} x {votes.n_labels:,} x {self.n_subtypes}")
        rng = np.random.default_rng(self.random_state)
        kinds, shares = kinds_of(task_features(votes)), votes.shares()
        # One at a time: a start is as large as the posterior of all tasks over labels and subtypes.
        for _ in range(self.n_restarts):
            draws = [-np.log1p(-structural_noise(kinds, rng)) + 1e-12 for _ in range(self.n_subtypes)]
            types = np.stack(draws, axis=1)
            types /= types.sum(axis=1, keepdims=True)
            yield shares[:, :, None] * types[:, None, :]

    def _model_assumption(self) -> str:
        return "Given a task's subtype, workers err independently; subtypes let the errors of workers agree."


class BWA(VoteAggregator):
    """Bayesian weighted averaging: each worker has a precision, each task a position between the labels.

    Parameters
    ----------
    n_iter, tol
        Most steps, and the gain per task at which to stop.
    strength : float, default 15.0
        Answers that the prior of a worker's precision is worth.
    pull : float, default 1.0
        Precision of positions around their mean.
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    precisions_ : pandas.Series
        Per worker. ``probabilities_`` are positions: shares of weight, not probabilities of being right. All others as
        in `VoteAggregator`.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "sam" else 0) for t in range(30) for w in ("ann", "bob", "sam")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = BWA().fit(answers)
    >>> bool(model.precisions_["ann"] > model.precisions_["sam"])
    True
    """

    method = "Bayesian weighted averaging"
    precisions_: pd.Series[Any]

    def __init__(
        self,
        n_iter: int = 200,
        *,
        tol: float = 1e-6,
        strength: float = 15.0,
        pull: float = 1.0,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")
        self.strength = require_positive(strength, name="strength", above=True)
        self.pull = require_positive(pull, name="pull", above=True)

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        fit = bwa(votes, strength=self.strength, pull=self.pull, n_iter=self.n_iter, tol=self.tol, progress=progress)
        self.precisions_ = pd.Series(fit.precision, index=coded.workers.rename("worker"), name="precision")
        return Learnt(fit.position, fit.history, fit.converged)

    def _model_assumption(self) -> str:
        return "An answer is its task's position plus the worker's noise; the confidence is a share of weight."


def split_past(votes: Votes) -> tuple[Votes, NDArray[np.float64] | None]:
    """Return the real votes alone, and the past as counts (n_workers, K answered, K true)."""
    from dataclasses import replace

    if votes.n_tasks == votes.n_real:
        return votes, None
    k = votes.n_labels
    real = votes.task < votes.n_real
    past = np.zeros((votes.n_workers, k, k))
    old = ~real
    np.add.at(past, (votes.worker[old], votes.label[old], votes.gold[votes.task[old]]), votes.weight[old])
    parts = {name: getattr(votes, name)[real] for name in ("task", "worker", "label", "weight")}
    return replace(votes, gold=votes.gold[: votes.n_real], **parts), past


def task_features(votes: Votes) -> NDArray[np.float64]:
    """Return what tells tasks apart without names: answers, spread, who answered and how they agree with others."""
    shares = votes.shares()
    ones = np.ones(len(votes.task))
    divide = np.maximum(votes.answered, 1e-300)
    agreement = votes.by_worker(votes.right(shares)) / divide
    return np.stack(
        [
            votes.by_task(ones),
            (shares**2).sum(axis=1),
            votes.by_task(agreement[votes.worker]),
            votes.by_task(agreement[votes.worker] * votes.right(shares)),
            votes.by_task(votes.answered[votes.worker]),
            votes.by_task(votes.answered[votes.worker] ** 0.5 * votes.right(shares)),
        ],
        axis=1,
    )
