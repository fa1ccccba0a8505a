"""MACE: who knows, and who spams?

What is the truth if a worker either knows it or answers by habit?

Guarantee: the objective never falls; the best of several restarts that truly differ is kept, by its objective; renaming
changes nothing, since restarts are drawn per kind of worker and not per name. Source and arithmetic: `_mace_core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._mace_core import MaceFit, MacePrior, kinds_of, mace, structural_noise
from hmc_crowd.aggregation._vote_base import Learnt, VoteAggregator, require_positive, require_whole
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["MACE"]


class MACE(VoteAggregator):
    """Learn each worker's trust, habit and the labels.

    Parameters
    ----------
    n_restarts : int, default 10
        Starts; the first trusts all alike, the others draw a trust for every kind of worker.
    n_iter, tol
        Most steps of each start, and the gain per task at which to stop.
    method : {"vb", "em"}, default "vb"
        Variational Bayes, or EM with the same numbers as pseudo-counts.
    prior : MacePrior, optional
        Default ``MacePrior()``: 0.5 and 0.5 on trust, 10 on each label of the habit, as in the source.
    random_state : int or numpy.random.Generator, default 0
        Seeds the restarts.
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    trust_ : pandas.Series
        Probability that the worker knows the answer; ``spamming_`` is 1 minus it.
    habits_ : pandas.DataFrame
        What the worker answers when spamming, worker x label.
    objectives_ : list of float
        The objective at the end of each start. All others as in `VoteAggregator`.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "sam" else 0) for t in range(30) for w in ("ann", "bob", "sam")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = MACE().fit(answers)
    >>> bool(model.trust_["ann"] > 0.9 > 0.1 > model.trust_["sam"])
    True
    """

    method = "MACE"
    _kept_as = {"method": "inference"}  # noqa: RUF012
    trust_: pd.Series[Any]
    spamming_: pd.Series[Any]
    habits_: pd.DataFrame
    objectives_: list[float]

    def __init__(
        self,
        n_restarts: int = 10,
        *,
        n_iter: int = 200,
        tol: float = 1e-6,
        method: Literal["vb", "em"] = "vb",
        prior: MacePrior | None = None,
        random_state: int | np.random.Generator = 0,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        if method not in ("vb", "em"):
            raise InputError(f"method is {method!r}; choose 'vb' or 'em'")
        self.n_restarts = require_whole(n_restarts, name="n_restarts")
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")
        self.inference: Literal["vb", "em"] = method
        self.prior = MacePrior() if prior is None else prior
        self.random_state = random_state

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        rng = np.random.default_rng(self.random_state)
        kinds = kinds_of(worker_features(votes))
        best: MaceFit | None = None
        self.objectives_ = []
        for restart in range(self.n_restarts):
            trust = np.full(votes.n_workers, 0.5) if restart == 0 else structural_noise(kinds, rng)
            fit = mace(
                votes,
                trust,
                prior=self.prior,
                n_iter=self.n_iter,
                tol=self.tol,
                progress=progress,
                method=self.inference,
            )
            self.objectives_.append(fit.history[-1])
            # A later start must be clearly better: rounding decides nothing.
            if best is None or fit.history[-1] > best.history[-1] + 1e-6 * votes.n_real:
                best = fit
        if best is None:  # cannot be: n_restarts is at least 1
            raise InputError("n_restarts is 0; give a whole number of at least 1")
        self.trust_ = pd.Series(best.trust, index=coded.workers.rename("worker"), name="trust")
        self.spamming_ = (1 - self.trust_).rename("spamming")
        self.habits_ = pd.DataFrame(best.habit, index=coded.workers.rename("worker"), columns=coded.labels)
        return Learnt(best.posterior, best.history, best.converged)

    def _model_assumption(self) -> str:
        return (
            "A worker knows the truth or answers by habit, independently for each task; all labels are equally likely."
        )


def worker_features(votes: Votes) -> NDArray[np.float64]:
    """Return what tells workers apart without names: answers, agreement with the votes, company, spread of labels."""
    shares = votes.shares()
    crowd = votes.by_task(np.ones(len(votes.task)))
    divide = np.maximum(votes.answered, 1e-300)
    own = votes.by_choice(np.ones(len(votes.task)))
    return np.stack(
        [
            votes.answered,
            votes.by_worker(votes.right(shares)) / divide,
            votes.by_worker(votes.right(shares) ** 2) / divide,
            votes.by_worker(crowd[votes.task]) / divide,
            votes.by_worker((shares**2).sum(axis=1)[votes.task]) / divide,
            (own**2).sum(axis=1),
        ],
        axis=1,
    )
