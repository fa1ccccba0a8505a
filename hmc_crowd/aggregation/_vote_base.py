"""What the estimators over flat votes share: from a table to `Votes`, from posteriors to the published attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._base import CategoricalAggregator, require_room
from hmc_crowd.aggregation._codes import Repeats, encode
from hmc_crowd.aggregation._history import WorkerHistory, past_counts, with_history
from hmc_crowd.aggregation._skills import Accuracy, accuracy_of
from hmc_crowd.aggregation._votes import Votes, answer_weights, votes_of
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._ties import TieRule

__all__ = ["Learnt", "VoteAggregator", "counts_table", "require_positive", "require_whole", "worker_frame"]


@dataclass(frozen=True)
class Learnt:
    """What a model found: ``posterior`` (n_tasks, K), the course of its objective, and whether it settled."""

    posterior: NDArray[np.float64]
    history: tuple[float, ...] = ()
    converged: bool = True


class VoteAggregator(CategoricalAggregator):
    """Base of the estimators whose whole input is `Votes`; subclasses implement ``_learn``.

    Attributes
    ----------
    labels_, probabilities_, tied_, ties_, n_answers_, counts_, tasks_without_label_
        As in `MajorityVote`; ``probabilities_`` are the model's posteriors, not calibrated.
    skills_ : pandas.Series
        Per worker, the expected share of right answers, past answers included.
    workers_ : pandas.DataFrame
        Columns ``worker, n_answers, skill, accuracy, se, low, high``: ``accuracy`` is the expected share of right
        answers, with standard error and 95% interval, no prior in it.
    loss_history_, n_iter_, converged_
        The objective step by step (higher is better), how many steps, and whether it settled within ``tol``.
    """

    skills_: pd.Series[Any]
    loss_history_: list[float]
    n_iter_: int
    converged_: bool

    def __init__(self, *, tie: TieRule = "first_label", repeats: Repeats = "latest") -> None:
        super().__init__(tie=tie)
        self.repeats: Repeats = repeats

    def fit(
        self,
        answers: pd.DataFrame,
        gold: Any = None,
        *,
        labels: Iterable[Any] | None = None,
        history: WorkerHistory | pd.DataFrame | None = None,
        weights: str | ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn labels and workers.

        Parameters
        ----------
        answers : pandas.DataFrame
            Columns ``task, worker, label`` and optionally ``submitted``.
        gold : pandas.DataFrame, pandas.Series or mapping, optional
            Known labels; they stay fixed and teach about the workers in every step.
        labels : iterable, optional
            The whole label set in label order; default the sorted labels met.
        history : WorkerHistory or pandas.DataFrame, optional
            Past counts ``worker, label, truth, count`` of known workers; they count in every step.
        weights : str or array of float, optional
            Weight of each answer, at least 0: a column of ``answers``, or one number a row. Default 1 each.
        progress : callable, optional
            Called after each iteration with what is counted, how many are done, and how many there are at most; a
            method that starts several times counts each time anew.

        Raises
        ------
        FrameError, InputError
            A table is not as described; see the message.
        ModelError
            Tasks times labels would not fit in memory.
        """
        coded = encode(answers, gold, labels=labels, repeats=self.repeats)
        k = len(coded.labels)
        require_room(
            type(self).__name__, cells=len(coded.tasks) * k, shape=f"{len(coded.tasks):,} tasks x {k:,} labels"
        )
        require_room(
            type(self).__name__, cells=len(coded.workers) * k, shape=f"{len(coded.workers):,} workers x {k:,} labels"
        )
        weight = answer_weights(answers, coded, weights)
        past = past_counts(history, coded.workers, coded.labels)
        votes = votes_of(coded, weight=weight, past=past)
        learnt = self._learn(votes, coded, progress)
        self._publish(coded, learnt.posterior[: votes.n_real])
        self.counts_ = with_history(coded.counts, history, coded.workers)
        self._publish_skills(coded, votes, learnt.posterior)
        self.loss_history_ = list(learnt.history)
        self.n_iter_ = len(learnt.history)
        self.converged_ = learnt.converged
        return self

    def _learn(self, votes: Votes, coded: CodedAnswers, progress: Progress | None) -> Learnt:
        raise NotImplementedError

    def _publish_skills(self, coded: CodedAnswers, votes: Votes, posterior: NDArray[np.float64]) -> None:
        found = accuracy_of(votes, posterior)
        self.skills_ = pd.Series(found.value, index=coded.workers.rename("worker"), name="skill")
        self.workers_ = worker_frame(coded, found, skill=found.value)
        self._fitted = (coded, votes, posterior)
        self.__dict__.pop("history_", None)

    @cached_property
    def history_(self) -> WorkerHistory:
        """Expected counts of each worker, past ones included: what the next fit takes as ``history``."""
        return counts_table(*self._fitted)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the result rests on, one sentence each."""
        return (
            self._model_assumption(),
            "Confidence is an uncalibrated posterior, usually too high: calibrate it on gold before using a threshold.",
            *self._shared_assumptions(self.counts_.gold_used),
        )

    def _model_assumption(self) -> str:
        raise NotImplementedError

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes this fit doubtful, one sentence each; empty if nothing was noticed."""
        if self.converged_:
            return ()
        return (f"Not converged after {self.n_iter_} iterations: raise n_iter or tol.",)


def worker_frame(
    coded: CodedAnswers, found: Accuracy, *, skill: NDArray[np.float64], **more: NDArray[np.float64]
) -> pd.DataFrame:
    """Return the table of workers that every estimator publishes, with ``more`` columns of one's own."""
    return pd.DataFrame(
        {
            "worker": coded.workers,
            "n_answers": coded.worker_answers,
            "skill": skill,
            "accuracy": found.value,
            "se": found.se,
            "low": found.low,
            "high": found.high,
            **more,
        }
    )


def counts_table(coded: CodedAnswers, votes: Votes, posterior: NDArray[np.float64]) -> WorkerHistory:
    """Return the expected counts (worker, label, truth) as a table; counts below 1e-6 are left out."""
    # Only the truths that an answer's task may have: with many labels nearly all pairs are empty.
    answer, true = np.nonzero(posterior[votes.task] > 1e-6)
    cell = votes.choice[answer] * votes.n_labels + true
    distinct, place = np.unique(cell, return_inverse=True)
    counts = np.bincount(place, weights=(posterior[votes.task[answer], true] * votes.weight[answer]))
    choice, true = np.divmod(distinct, votes.n_labels)
    who, answered = np.divmod(choice, votes.n_labels)
    table = {"worker": coded.workers.take(who), "label": coded.labels.take(answered), "truth": coded.labels.take(true)}
    return WorkerHistory(pd.DataFrame({**table, "count": counts}))


def require_whole(value: Any, *, name: str, low: int = 1) -> int:
    """Return a whole number of at least ``low``, or say what is wrong."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{name} is {value!r}; give a whole number of at least {low}")
    return int(value)


def require_positive(value: Any, *, name: str, above: bool = False) -> float:
    """Return a finite number of at least 0 (above 0 with ``above``), or say what is wrong."""
    fits = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 <= value < np.inf
    if not fits or (above and value == 0):
        raise InputError(f"{name} is {value!r}; give a number {'above' if above else 'of at least'} 0")
    return float(value)
