"""What every aggregator of categories shares: the manners of fit, and the attributes it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.parameters import Parameters
from hmc_crowd.aggregation._ties import TIE_RULES, TieRule, decide
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers
    from hmc_crowd.aggregation._counts import AnswerCounts

__all__ = ["CategoricalAggregator", "require_room", "worker_label_index"]

# 2**28 doubles are 2 GiB: beyond that a dense table is a mistake more often than a wish.
_MOST_CELLS = 1 << 28


class CategoricalAggregator(Parameters):
    """Base of aggregators over a fixed set of labels; subclasses implement ``fit``."""

    labels_: pd.Series[Any]
    probabilities_: pd.DataFrame
    tied_: pd.Series[bool]
    ties_: int
    n_answers_: pd.Series[int]
    workers_: pd.DataFrame
    counts_: AnswerCounts
    gold_tasks_: pd.Index[Any]
    tasks_without_label_: pd.Index[Any]

    def __init__(self, *, tie: TieRule) -> None:
        if tie not in TIE_RULES:
            raise InputError(f"tie is {tie!r}; choose one of {', '.join(map(repr, TIE_RULES))}")
        self.tie: TieRule = tie

    def fit(self, answers: pd.DataFrame, gold: Any = None, *, labels: Iterable[Any] | None = None) -> Self:
        """Learn labels, and what belongs to them, from a long answer table."""
        raise NotImplementedError

    def fit_predict(
        self, answers: pd.DataFrame, gold: Any = None, *, labels: Iterable[Any] | None = None, **more: Any
    ) -> pd.Series[Any]:
        """Fit and return ``labels_``: one label per task, index ``task``; ``more`` goes to ``fit``."""
        return self.fit(answers, gold, labels=labels, **more).labels_

    def fit_predict_proba(
        self, answers: pd.DataFrame, gold: Any = None, *, labels: Iterable[Any] | None = None, **more: Any
    ) -> pd.DataFrame:
        """Fit and return ``probabilities_``: one row a task, one column a label, rows add up to 1."""
        return self.fit(answers, gold, labels=labels, **more).probabilities_

    def _publish(self, coded: CodedAnswers, probabilities: NDArray[np.float64]) -> None:
        index = coded.tasks.rename("task")
        chosen, tied = decide(probabilities, rule=self.tie)
        self.labels_ = pd.Series(
            coded.labels.take(chosen).to_numpy(), index=index, name="label", dtype=coded.labels.dtype
        )
        self.probabilities_ = pd.DataFrame(probabilities, index=index, columns=coded.labels, copy=False)
        self.tied_ = pd.Series(tied, index=index, name="tied")
        self.ties_ = int(tied.sum())
        self.n_answers_ = pd.Series(coded.n_answers, index=index, name="n_answers")
        self.gold_tasks_ = coded.tasks[coded.gold >= 0]
        self.counts_ = coded.counts
        self.tasks_without_label_ = coded.tasks_without_label

    def _shared_assumptions(self, coded_gold: int) -> tuple[str, ...]:
        tie = (
            f"Ties go to {TIE_RULES[self.tie]}, and are flagged; with a tie, renaming the labels can change the label."
        )
        gold = f"{coded_gold} tasks have gold: their label is the gold label, with probability 1."
        return (tie, gold) if coded_gold else (tie,)


def require_room(method: str, *, cells: int, shape: str) -> None:
    """Refuse a dense table that would not fit, before it is allocated."""
    if cells > _MOST_CELLS:
        raise ModelError(
            f"{method} needs a table of {shape} = {cells:,} numbers ({cells * 8 / 2**30:,.0f} GiB); check the label "
            "column, merge rare labels, or aggregate parts of the tasks"
        )


def worker_label_index(workers: pd.Index[Any], labels: pd.Index[Any]) -> pd.MultiIndex:
    """Return the index of every worker with every label, from what is sorted and distinct already."""
    levels: Any = [workers, labels]
    codes: Any = [np.repeat(np.arange(len(workers)), len(labels)), np.tile(np.arange(len(labels)), len(workers))]
    return pd.MultiIndex(levels, codes, names=["worker", "label"], verify_integrity=False)
