"""Majority vote.

What do most workers say?

Guarantee: the result depends on the counts of answers alone; ties are resolved by a stated rule and flagged, because at
three to five answers a task they are common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._base import CategoricalAggregator, require_room
from hmc_crowd.aggregation._codes import Repeats, encode
from hmc_crowd.aggregation._votes import answer_weights, votes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from hmc_crowd.aggregation._ties import TieRule

__all__ = ["MajorityVote"]


class MajorityVote(CategoricalAggregator):
    """Give each task the label that most of its workers chose.

    Parameters
    ----------
    tie : {"first_label", "most_common"}, default "first_label"
        Which of several equally frequent labels is given: the first in label order (sorted, or as ``labels`` lists
        them), or the one with the largest total over all tasks. Tied tasks are flagged in ``tied_`` either way.
    repeats : {"latest", "all", "refuse"}, default "latest"
        Several answers of one worker to one task: the latest by the column ``submitted`` counts (repeats that agree
        need no times); each counts; or they are an error.

    Attributes
    ----------
    labels_ : pandas.Series
        Label per task, index ``task``, sorted.
    probabilities_ : pandas.DataFrame
        Share of the answers, task x label. A share is no probability of being right.
    tied_ : pandas.Series of bool
        Whether several labels were equally good; ``ties_`` counts them.
    n_answers_ : pandas.Series of int
        Answers per task.
    skills_ : pandas.Series
        Per worker, the share of answers that equal the task's label. The worker's own vote helped to choose it.
    workers_ : pandas.DataFrame
        Columns ``worker, n_answers, skill``.
    counts_ : AnswerCounts
        Rows given, used, left out and why. ``tasks_without_label_`` names tasks that got no result.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", "yes"), ("a", "w2", "yes"), ("a", "w3", "no"), ("b", "w1", "no"), ("b", "w2", "yes")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> vote = MajorityVote()
    >>> vote.fit_predict(answers).to_dict()
    {'a': 'yes', 'b': 'no'}
    >>> vote.tied_.to_dict()
    {'a': False, 'b': True}
    """

    method = "majority vote"

    skills_: pd.Series[Any]

    def __init__(self, *, tie: TieRule = "first_label", repeats: Repeats = "latest") -> None:
        super().__init__(tie=tie)
        self.repeats: Repeats = repeats

    def fit(
        self,
        answers: pd.DataFrame,
        gold: Any = None,
        *,
        labels: Iterable[Any] | None = None,
        weights: str | ArrayLike | None = None,
    ) -> Self:
        """Count the votes.

        Parameters
        ----------
        answers : pandas.DataFrame
            Columns ``task, worker, label`` and optionally ``submitted``.
        gold : pandas.DataFrame, pandas.Series or mapping, optional
            Known labels; such a task gets its gold label with share 1.
        labels : iterable, optional
            The whole label set in label order; default the sorted labels met.
        weights : str or array of float, optional
            Weight of each answer, at least 0: a column of ``answers``, or one number a row. Default 1 each.

        Raises
        ------
        FrameError
            The table is not as described; see the message.
        ModelError
            Tasks times labels would not fit in memory.
        """
        coded = encode(answers, gold, labels=labels, repeats=self.repeats)
        n_tasks, k = len(coded.tasks), len(coded.labels)
        require_room("MajorityVote", cells=n_tasks * k, shape=f"{n_tasks:,} tasks x {k:,} labels")
        shares = votes_of(coded, weight=answer_weights(answers, coded, weights)).shares()
        self._publish(coded, shares)
        chosen = coded.labels.get_indexer(pd.Index(self.labels_))
        right = np.bincount(coded.worker, weights=chosen[coded.task] == coded.label, minlength=len(coded.workers))
        answered = coded.worker_answers
        self.skills_ = pd.Series(right / answered, index=coded.workers.rename("worker"), name="skill")
        self.workers_ = pd.DataFrame({"worker": coded.workers, "n_answers": answered, "skill": right / answered})
        return self

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the result rests on, one sentence each."""
        return (
            "Every worker counts the same; the confidence is the share of votes, not a probability of being right.",
            *self._shared_assumptions(self.counts_.gold_used),
        )
