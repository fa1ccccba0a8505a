"""Which group does each worker belong to? Small groups are put together or left out, never shown.

Attributes are protected: a group is shown from ``least_people`` people on. Smaller ones become "other groups"; where
these are still too few, nobody of them is counted anywhere, so that no subtraction brings them back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import encode  # because repeated and missing answers follow one rule
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers  # because the coded answers are typed there

__all__ = ["NOT_SAID", "OTHERS", "Grouped", "form_groups"]

NOT_SAID, OTHERS = "not said", "other groups"


@dataclass(frozen=True, eq=False)
class Grouped:
    """Answers with the group of each worker.

    Parameters
    ----------
    coded : CodedAnswers
    of_worker : array of int, shape (n_workers,)
        Group of each worker; -1: not counted.
    names : tuple of str
        Of the groups, in order.
    merged, left_out : bool
        Whether small groups were put together, and whether people are not counted because theirs is still too small.
    """

    coded: CodedAnswers
    of_worker: NDArray[np.intp]
    names: tuple[str, ...]
    merged: bool
    left_out: bool

    @cached_property
    def of_answer(self) -> NDArray[np.intp]:
        """Group of each answer's worker."""
        return self.of_worker[self.coded.worker]

    def people(self) -> NDArray[np.intp]:
        """Return how many people each group has, shape (n_groups,)."""
        return np.bincount(self.of_worker[self.of_worker >= 0], minlength=len(self.names)).astype(np.intp)

    def note(self, least_people: int) -> str:
        """Say in a sentence what is not shown; empty if everything is."""
        if self.left_out:
            return f"people of groups of fewer than {least_people} people are not counted, to keep them from being told"
        if self.merged:
            return f'groups of fewer than {least_people} people are put together as "{OTHERS}"'
        return ""


def form_groups(answers: pd.DataFrame, workers: pd.DataFrame, attribute: str, least_people: int) -> Grouped:
    """Put everybody who answered into a group of at least ``least_people`` people."""
    for frame, name, wanted in (
        (answers, "answers", ("task", "worker", "label")),
        (workers, "workers", ("worker", attribute)),
    ):
        missing = [column for column in wanted if column not in frame.columns]
        if missing:
            raise FrameError(f"{name} lacks the column {missing[0]}; it has {', '.join(map(str, frame.columns[:12]))}")
    if workers["worker"].duplicated().any():
        raise FrameError(f"workers has {workers.loc[workers['worker'].duplicated(), 'worker'].iloc[0]!r} twice")
    if isinstance(least_people, bool) or not isinstance(least_people, int | np.integer) or least_people < 1:
        raise InputError(f"least_people is {least_people!r}; give a number of people, at least 1")
    said = workers.set_index("worker")[attribute].astype(object)
    require_one_kind(said.index, answers["worker"], name="workers.worker and answers.worker")
    coded = encode(answers[["task", "worker", "label", *(["submitted"] if "submitted" in answers else [])]])
    found = said.reindex(coded.workers).to_numpy(dtype=object)
    group = np.array([NOT_SAID if pd.isna(each) else str(each) for each in found], dtype=object)
    # Who only gave answers without a label is not here, and counts for no group's size.
    group, merged, left_out = _no_small_ones(group, int(least_people))
    names = tuple(sorted({each for each in group if each is not None}, key=_order))
    place = {name: number for number, name in enumerate(names)}
    of_worker = np.array([place.get(each, -1) for each in group], dtype=np.intp)
    return Grouped(coded, of_worker, names, merged, left_out)


def _no_small_ones(group: NDArray[np.object_], least: int) -> tuple[NDArray[np.object_], bool, bool]:
    sizes = pd.Series(group).value_counts()
    small = set(sizes.index[sizes < least])
    merged = np.array([OTHERS if each in small else each for each in group], dtype=object)
    rest = int((merged == OTHERS).sum())
    if not rest or rest >= least:
        return merged, bool(rest), False
    return np.array([None if each == OTHERS else each for each in merged], dtype=object), True, True


def _order(name: str) -> tuple[bool, str]:
    """Put what is no group of its own last."""
    return name in (OTHERS, NOT_SAID), name
