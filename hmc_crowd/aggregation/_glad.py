"""GLAD: able workers and easy tasks.

What is the truth if tasks differ in difficulty, and workers in ability?

Guarantee: the objective never falls; names and order decide nothing, ties aside. Source and arithmetic: `_glad_core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._glad_core import glad
from hmc_crowd.aggregation._vote_base import Learnt, VoteAggregator, require_positive, require_whole

if TYPE_CHECKING:
    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["GLAD"]


class GLAD(VoteAggregator):
    """Learn abilities, difficulties and labels.

    Parameters
    ----------
    n_iter, tol
        Most EM steps, and the gain per task at which to stop.
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    alphas_ : pandas.Series
        Ability per worker; 0 is chance, below 0 the opposite is more likely. Prior N(1, 1).
    betas_ : pandas.Series
        Ease per task, above 0; ``difficulty_`` is its inverse. Prior on the logarithm N(1, 1).
    All others as in `VoteAggregator`.

    Notes
    -----
    P(right) = sigmoid(alpha * beta); labels are equally likely beforehand, as in the source.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [(t, w, t % 2 if w != "eve" else 1 - t % 2) for t in range(8) for w in ("ann", "bob", "eve")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = GLAD().fit(answers)
    >>> model.labels_.tolist(), bool(model.alphas_["eve"] < 0 < model.alphas_["ann"])
    ([0, 1, 0, 1, 0, 1, 0, 1], True)
    """

    method = "GLAD"
    alphas_: pd.Series[Any]
    betas_: pd.Series[Any]
    difficulty_: pd.Series[Any]

    def __init__(
        self, n_iter: int = 200, *, tol: float = 1e-6, tie: TieRule = "first_label", repeats: Repeats = "latest"
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        self.n_iter = require_whole(n_iter, name="n_iter")
        self.tol = require_positive(tol, name="tol")

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        fit = glad(votes, n_iter=self.n_iter, tol=self.tol, progress=progress)
        self.alphas_ = pd.Series(fit.ability, index=coded.workers.rename("worker"), name="alpha")
        ease = np.exp(fit.log_ease[: votes.n_real])
        self.betas_ = pd.Series(ease, index=coded.tasks.rename("task"), name="beta")
        self.difficulty_ = pd.Series(1 / ease, index=coded.tasks.rename("task"), name="difficulty")
        return Learnt(fit.posterior, fit.history, fit.converged)

    def _model_assumption(self) -> str:
        return (
            "A worker is right with probability sigmoid(ability x ease of the task), and errs evenly and independently."
        )
