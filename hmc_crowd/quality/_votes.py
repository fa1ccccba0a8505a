"""How many answers does each label of a task have?

Only the pairs that occur are kept: free text has as many labels as answers, and a table of tasks by labels would not
fit anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers  # because the coded answers are typed there

__all__ = ["Votes", "count_votes", "votes_of"]


@dataclass(frozen=True, eq=False)
class Votes:
    """Pairs of task and label that occur, ordered by both.

    Parameters
    ----------
    task, label, count : arrays of int, shape (n_pairs,)
        ``count`` answers of ``task`` gave ``label``.
    of_answer : array of int, shape (n_answers,)
        The pair of each answer.
    """

    task: NDArray[np.intp]
    label: NDArray[np.intp]
    count: NDArray[np.intp]
    of_answer: NDArray[np.intp]

    def highest(self, n_tasks: int, place: int) -> NDArray[np.intp]:
        """Return the count of the label in first (0), second (1), ... place of each task; 0 where there is none."""
        order = np.lexsort((-self.count, self.task))
        first = np.searchsorted(self.task, np.arange(n_tasks))
        at = first + place
        inside = at < np.append(first[1:], len(order))
        found = np.zeros(n_tasks, dtype=np.intp)
        found[inside] = self.count[order[at[inside]]]
        return found

    def agreeing_pairs(self, n_tasks: int) -> NDArray[np.intp]:
        """Return how many pairs of answers to each task give the same label."""
        found = np.zeros(n_tasks, dtype=np.intp)
        np.add.at(found, self.task, self.count * (self.count - 1) // 2)
        return found


def count_votes(coded: CodedAnswers) -> Votes:
    """Count the answers that are coded."""
    return votes_of(coded.task, coded.label, len(coded.labels))


def votes_of(task: NDArray[np.intp], label: NDArray[np.intp], n_labels: int) -> Votes:
    """Count answers by task and label.

    Examples
    --------
    >>> votes = votes_of(np.array([0, 0, 2]), np.array([1, 1, 0]), 2)
    >>> votes.count.tolist(), votes.highest(3, 0).tolist()
    ([2, 1], [2, 0, 1])
    """
    cell, of_answer, count = np.unique(task * n_labels + label, return_inverse=True, return_counts=True)
    return Votes(cell // n_labels, cell % n_labels, count, of_answer)
