"""The one-coin model.

What is the truth if each worker is right with one probability, whatever the truth?

Guarantee: the objective never falls; names and order decide nothing, ties aside. It wins where workers answer few
items, and loses where workers lean to one label: `DawidSkene` sees that, this model cannot.

Source: the one-coin case of Dawid and Skene (1979).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.aggregation._one_coin_core import one_coin
from hmc_crowd.aggregation._prior import RIGHT_SHARE
from hmc_crowd.aggregation._vote_base import Learnt, VoteAggregator, require_positive, require_whole

if TYPE_CHECKING:
    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["OneCoinDawidSkene"]


class OneCoinDawidSkene(VoteAggregator):
    """Learn one accuracy per worker and, with it, the labels.

    Parameters
    ----------
    n_iter, tol
        Most steps, and the gain per task at which to stop.
    prior : float, default 3.0
        Pseudo-answers of each worker, two thirds of them right; 0 is maximum likelihood.
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    accuracies_ : pandas.Series
        The model's accuracy per worker, prior included; ``skills_`` is the expected share right without it.
    priors_ : pandas.Series
        Share of each label among the tasks. All others as in `VoteAggregator`.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "eve" else 1 - t % 2) for t in range(8) for w in ("ann", "bob", "eve")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> OneCoinDawidSkene(prior=0).fit(answers).skills_.round(3).to_dict()
    {'ann': 1.0, 'bob': 1.0, 'eve': 0.0}
    """

    method = "one-coin Dawid-Skene"
    accuracies_: pd.Series[Any]
    priors_: pd.Series[Any]

    def __init__(
        self,
        n_iter: int = 200,
        *,
        tol: float = 1e-7,
        prior: float = 3.0,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")
        self.prior = require_positive(prior, name="prior")

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        pseudo = (self.prior * RIGHT_SHARE, self.prior * (1 - RIGHT_SHARE))
        fit = one_coin(votes, prior=pseudo, n_iter=self.n_iter, tol=self.tol, progress=progress)
        self.accuracies_ = pd.Series(fit.accuracy, index=coded.workers.rename("worker"), name="accuracy")
        self.priors_ = pd.Series(fit.class_share, index=coded.labels.rename("label"), name="prior")
        return Learnt(fit.posterior, fit.history, fit.converged)

    def _model_assumption(self) -> str:
        return "Each worker is right with one probability, the same for every truth, and errs evenly and independently."
