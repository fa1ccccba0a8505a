"""Votes with weights.

What do the workers say, if some count more than others?

`WeightedMajorityVote` takes the weights as given (or known from gold and history); `Wawa` weighs each worker by how
often the majority agreed. Guarantee: one answer per worker and task, so that the agreement, the winner's weight over
all weight, lies in [0, 1]; a tied majority gives each tied label an equal part, so names decide nothing.

Source: weighted voting as in the requirements' source, its two faults corrected (weights added to the wrong entry,
agreement above 1); Wawa (worker agreement with aggregate) as known from crowd-kit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._vote_base import Learnt, VoteAggregator, require_positive
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["Wawa", "WeightedMajorityVote"]

_EQUAL = 1e-9


def weighted_shares(votes: Votes, quality: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each task's shares of the weight; where all weights are 0, of the votes."""
    weight = votes.by_cell(quality[votes.worker])
    total = weight.sum(axis=1, keepdims=True)
    shares = votes.shares()
    np.divide(weight, total, out=shares, where=total > 0)
    return votes.clamp(shares)


def known_quality(votes: Votes, default: float) -> NDArray[np.float64]:
    """Return the share of right answers to gold and in the past, pulled to ``default`` by two answers."""
    known = (votes.gold >= 0)[votes.task]
    right = (known & (votes.label == votes.gold[votes.task])).astype(float)
    quality: NDArray[np.float64] = (votes.by_worker(right) + 2 * default) / (votes.by_worker(known.astype(float)) + 2)
    return quality


class WeightedMajorityVote(VoteAggregator):
    """Give each task the label with the largest sum of worker weights.

    Parameters
    ----------
    quality : pandas.Series or mapping, optional
        Weight per worker, at least 0. Default: each worker's share right on gold and history, pulled towards
        ``unknown`` by two answers; with neither, all weigh the same.
    unknown : float, default 0.5
        Weight of workers that ``quality`` does not name.
    tie, repeats
        As in `MajorityVote`.

    Attributes
    ----------
    quality_ : pandas.Series
        The weights used. All others as in `VoteAggregator`; ``probabilities_`` are shares of the weight.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", "yes"), ("a", "w2", "no"), ("a", "w3", "no")], columns=["task", "worker", "label"]
    ... )
    >>> vote = WeightedMajorityVote({"w1": 0.95, "w2": 0.3, "w3": 0.4}).fit(answers)
    >>> vote.labels_["a"], round(float(vote.probabilities_.loc["a", "yes"]), 3)
    ('yes', 0.576)
    """

    method = "weighted majority vote"
    quality_: pd.Series[Any]

    def __init__(
        self,
        quality: pd.Series[Any] | Mapping[Any, float] | None = None,
        *,
        unknown: float = 0.5,
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
    ) -> None:
        super().__init__(tie=tie, repeats=repeats)
        self.quality = quality
        self.unknown = require_positive(unknown, name="unknown")

    def _learn(
        self,
        votes: Votes,
        coded: CodedAnswers,
        progress: Progress | None,  # noqa: ARG002  # because there are no iterations to tell of
    ) -> Learnt:
        if self.quality is None:
            quality = known_quality(votes, self.unknown)
        else:
            quality = np.full(votes.n_workers, self.unknown)
            table = self.quality if isinstance(self.quality, pd.Series) else pd.Series(dict(self.quality), dtype=float)
            if not table.index.is_unique:
                raise FrameError(f"quality names {table.index[table.index.duplicated()][0]!r} twice; keep one weight")
            given = float_vector(table, name="quality", low=0.0, allow_empty=True)
            place = place_in(table.index, coded.workers)
            quality[place >= 0] = given[place[place >= 0]]
        if not (quality > 0).any():
            raise InputError("quality is 0 for every worker; give at least one a weight above 0")
        self.quality_ = pd.Series(quality, index=coded.workers.rename("worker"), name="quality")
        return Learnt(weighted_shares(votes, quality))

    def _model_assumption(self) -> str:
        return "Answers count by the worker's weight; the confidence is a share of weight, not a probability."


class Wawa(VoteAggregator):
    """Weigh each worker by agreement with the majority, then vote again.

    Attributes
    ----------
    quality_ : pandas.Series
        Agreement with the majority, the worker's own vote included. All others as in `VoteAggregator`.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "u", 1), ("a", "v", 1), ("a", "w", 0), ("b", "u", 0), ("b", "w", 1)],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = Wawa().fit(answers)
    >>> model.quality_.to_dict()  # task b is tied: either label is worth one half
    {'u': 0.75, 'v': 1.0, 'w': 0.25}
    >>> model.labels_.to_dict()
    {'a': 1, 'b': 0}
    """

    method = "worker agreement with aggregate"
    quality_: pd.Series[Any]

    def _learn(
        self,
        votes: Votes,
        coded: CodedAnswers,
        progress: Progress | None,  # noqa: ARG002  # because there are no iterations to tell of
    ) -> Learnt:
        shares = votes.shares()
        best = shares >= shares.max(axis=1, keepdims=True) - _EQUAL
        agreement = votes.by_worker(votes.right(best / best.sum(axis=1, keepdims=True)))
        quality = np.full(votes.n_workers, 0.5)
        np.divide(agreement, votes.answered, out=quality, where=votes.answered > 0)
        self.quality_ = pd.Series(quality, index=coded.workers.rename("worker"), name="quality")
        return Learnt(weighted_shares(votes, quality))

    def _model_assumption(self) -> str:
        return "Workers who agree with the majority count more; the confidence is a share of weight, not a probability."
