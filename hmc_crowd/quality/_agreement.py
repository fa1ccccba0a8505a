"""Percent agreement.

How often do two workers who answered the same task give the same label?

Plain percent agreement over all pairs of answers; it does not correct for chance (the coefficients that do are in
`hmc_crowd.metrics`) and says nothing about who is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import Repeats, encode  # because repeated and missing answers follow one rule
from hmc_crowd.errors import InputError
from hmc_crowd.quality._votes import count_votes

if TYPE_CHECKING:
    from hmc_crowd.aggregation import AnswerCounts  # because the counts of left-out rows are typed there

__all__ = ["AgreementRates", "agreement_rates"]


@dataclass(frozen=True)
class AgreementRates:
    """Percent agreement between workers.

    Parameters
    ----------
    value : float or None
        Share of pairs of answers to one task, by different workers, that agree; None if no task has two answers.
    pairs : int
        Number of such pairs.
    workers : pandas.DataFrame
        Columns ``worker, agreed, compared, rate``: pairs that the worker is part of; ``rate`` is NaN without any.
    counts : AnswerCounts
        Rows used and left out.
    reason : str
        Why ``value`` is None; empty otherwise.
    """

    value: float | None
    pairs: int
    workers: pd.DataFrame
    counts: AnswerCounts
    reason: str = ""

    def __float__(self) -> float:
        return float("nan") if self.value is None else self.value

    def __str__(self) -> str:
        return self.reason if self.value is None else f"{self.value:.1%} of {self.pairs:,} pairs of answers agree"

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the worker table."""
        return self.workers.copy()


def agreement_rates(answers: pd.DataFrame, *, repeats: Repeats = "latest") -> AgreementRates:
    """Compare the answers of different workers to the same tasks, in time linear in the answers.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``.
    repeats : {"latest", "refuse"}, default "latest"
        Which of several answers of one worker to one task counts. Here ``"all"`` would pair a worker with themselves:
        it is refused.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", 1), ("a", "w2", 1), ("a", "w3", 0), ("b", "w1", 0)], columns=["task", "worker", "label"]
    ... )
    >>> print(agreement_rates(answers))  # of the pairs w1-w2, w1-w3, w2-w3 one agrees
    33.3% of 3 pairs of answers agree
    """
    if repeats == "all":
        raise InputError("repeats is 'all', which would compare workers with themselves; choose 'latest' or 'refuse'")
    coded = encode(answers, repeats=repeats)
    votes, n_workers = count_votes(coded), len(coded.workers)
    agreed = votes.count[votes.of_answer] - 1
    compared = coded.n_answers[coded.task] - 1
    worker_agreed = np.bincount(coded.worker, weights=agreed, minlength=n_workers).astype(np.int64)
    worker_compared = np.bincount(coded.worker, weights=compared, minlength=n_workers).astype(np.int64)
    rate = np.full(n_workers, np.nan)
    np.divide(worker_agreed, worker_compared, out=rate, where=worker_compared > 0)
    workers = pd.DataFrame(
        {"worker": coded.workers, "agreed": worker_agreed, "compared": worker_compared, "rate": rate}
    )
    pairs = int(compared.sum()) // 2
    if not pairs:
        return AgreementRates(None, 0, workers, coded.counts, "no task has answers of two workers: nothing to compare")
    return AgreementRates(float(agreed.sum() / compared.sum()), pairs, workers, coded.counts)
