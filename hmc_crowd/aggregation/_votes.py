"""Answers as flat arrays with weights, and the few sums that every vote-like model is made of.

Past counts of known workers enter as answers to extra tasks whose truth is known ("past tasks", placed after the real
ones): so every model uses them at every step, in its own way, and no model has to know about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers

__all__ = ["Votes", "answer_weights", "expect", "settle", "votes_of"]

_SPLIT = float(2**20 + 1)


@dataclass(frozen=True)
class Votes:
    """``weight[i]`` answers of ``worker[i]`` say that ``task[i]`` is ``label[i]``.

    ``gold`` (n_tasks,) is the known label or -1. Tasks from ``n_real`` on carry past counts: they have gold, and take
    no part in class shares, in ``n_answers`` or in results.
    """

    task: NDArray[np.intp]
    worker: NDArray[np.intp]
    label: NDArray[np.intp]
    weight: NDArray[np.float64]
    gold: NDArray[np.intp]
    n_real: int
    n_workers: int
    n_labels: int

    @property
    def n_tasks(self) -> int:
        """Real and past tasks together."""
        return len(self.gold)

    @cached_property
    def cell(self) -> NDArray[np.intp]:
        """Place of (task, answered label) in a flat task x label table."""
        return self.task * self.n_labels + self.label

    @cached_property
    def choice(self) -> NDArray[np.intp]:
        """Place of (worker, answered label) in a flat worker x label table."""
        return self.worker * self.n_labels + self.label

    def by_task(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums of a value per answer, shape (n_tasks,)."""
        return _sums(self.task, values * self.weight, self.n_tasks)

    def by_worker(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums of a value per answer, shape (n_workers,)."""
        return _sums(self.worker, values * self.weight, self.n_workers)

    def by_cell(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums of a value per answer over (task, answered label), shape (n_tasks, K)."""
        size = self.n_tasks * self.n_labels
        return _sums(self.cell, values * self.weight, size).reshape(-1, self.n_labels)

    def by_choice(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted sums of a value per answer over (worker, answered label), shape (n_workers, K)."""
        size = self.n_workers * self.n_labels
        return _sums(self.choice, values * self.weight, size).reshape(-1, self.n_labels)

    def right(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that each answer is right, shape (n_answers,)."""
        return posterior.ravel()[self.cell]

    @cached_property
    def answered(self) -> NDArray[np.float64]:
        """Weighted answers per worker, past ones included, shape (n_workers,)."""
        return _sums(self.worker, self.weight, self.n_workers)

    def shares(self) -> NDArray[np.float64]:
        """Each task's weighted shares of votes, gold in its place, shape (n_tasks, K): where models start."""
        votes = self.by_cell(np.ones(len(self.task)))
        total = votes.sum(axis=1, keepdims=True)
        shares = np.full_like(votes, 1.0 / self.n_labels)
        np.divide(votes, total, out=shares, where=total > 0)
        return self.clamp(shares)

    def clamp(self, posterior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put known labels in their place, in ``posterior`` itself."""
        known = np.flatnonzero(self.gold >= 0)
        posterior[known] = 0.0
        posterior[known, self.gold[known]] = 1.0
        return posterior


def _sums(place: NDArray[np.intp], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(place, weights=values, minlength=size).astype(np.float64, copy=False)


def expect(votes: Votes, joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Turn log joints (n_tasks, K) into posteriors, and the log-likelihood of the tasks; known labels stay clamped."""
    known = np.flatnonzero(votes.gold >= 0)
    if len(known):
        right = joint[known, votes.gold[known]]
        joint[known] = -np.inf
        joint[known, votes.gold[known]] = right
    # One row per label: reductions over few columns are slow.
    columns = np.ascontiguousarray(joint.T)
    top = columns.max(axis=0)
    columns -= top
    np.exp(columns, out=columns)
    total = columns.sum(axis=0)
    columns /= total
    return settle(np.ascontiguousarray(columns.T)), float(top.sum() + np.log(total).sum())


def settle(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round in place to 33 bits (a relative 1e-10), by Dekker's splitting, and return ``values``.

    The last bits of a sum depend on the order of its terms, and so on names. Rounded away in each step they cannot grow
    where a model stands on a saddle.
    """
    shifted = values * _SPLIT
    np.subtract(shifted, values, out=values)
    np.subtract(shifted, values, out=values)
    return values


def votes_of(
    coded: CodedAnswers,
    *,
    weight: NDArray[np.float64] | None = None,
    past: NDArray[np.float64] | None = None,
) -> Votes:
    """Join coded answers, their weights (n_answers,) and past counts (n_workers, K answered, K true)."""
    k, n_real = len(coded.labels), len(coded.tasks)
    weight = np.ones(len(coded.task)) if weight is None else weight
    task, worker, label = (np.asarray(codes, dtype=np.intp) for codes in (coded.task, coded.worker, coded.label))
    gold = np.asarray(coded.gold, dtype=np.intp)
    if past is not None and past.any():
        who, answered, true = np.nonzero(past)
        # One past task per true label is enough: its truth is known, so answers to it do not meet.
        task = np.concatenate((task, n_real + true))
        worker, label = np.concatenate((worker, who)), np.concatenate((label, answered))
        weight = np.concatenate((weight, past[who, answered, true]))
        gold = np.concatenate((gold, np.arange(k)))
    return Votes(task, worker, label, weight, gold, n_real, len(coded.workers), k)


def answer_weights(
    answers: pd.DataFrame, coded: CodedAnswers, weights: str | ArrayLike | None
) -> NDArray[np.float64] | None:
    """Return the weight of each coded answer: a column's name, or one number per row of ``answers``.

    Rows that say the same (task, worker, label) share their mean weight, so that row order decides nothing.
    """
    if weights is None:
        return None
    if isinstance(weights, str):
        if weights not in answers.columns:
            raise FrameError(f"answers lacks the column {weights!r} that weights names; add it or leave weights out")
        given = float_vector(answers[weights], name=f"answers.{weights}", low=0.0)
    else:
        given = float_vector(weights, name="weights", low=0.0)
    if len(given) != len(answers):
        raise InputError(f"weights has {len(given)} values but answers has {len(answers)} rows; give one per row")
    present = answers["label"].notna().to_numpy()
    rows = pd.DataFrame({c: answers[c].to_numpy()[present] for c in ("task", "worker", "label")})
    rows["weight"] = given[present]
    sets = (("task", coded.tasks), ("worker", coded.workers), ("label", coded.labels))
    key = [names.get_indexer(pd.Index(rows[column])) for column, names in sets]
    flat = (key[0] * len(coded.workers) + key[1]) * len(coded.labels) + key[2]
    distinct, place, size = np.unique(flat, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=rows["weight"].to_numpy()) / size
    task, worker, label = (np.asarray(codes, dtype=np.intp) for codes in (coded.task, coded.worker, coded.label))
    asked = (task * len(coded.workers) + worker) * len(coded.labels) + label
    found: NDArray[np.float64] = mean[np.searchsorted(distinct, asked)]
    if not found.sum() > 0:
        raise InputError("weights are all 0; give at least one answer a weight above 0")
    return found
