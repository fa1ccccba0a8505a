"""What did real workers answer, and how long did they take? Replay it through a new HIT layout.

Labels and times are those on record; only who comes first is drawn. A worker takes a HIT if he once answered every
question of it, unless answers may be borrowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.simulation._crowd import SimulatedAnswer, SimulatedWork
from hmc_crowd.simulation._frames import columns_of
from hmc_crowd.simulation._streams import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.simulation._crowd import Question

__all__ = ["RecordedCrowd"]


class RecordedCrowd:
    """A crowd that gives the answers on record.

    Parameters
    ----------
    answers : frame
        Columns ``task, worker, label`` and, if known, ``aspect`` and ``seconds`` (all time of the answer, set-up
        included). One answer per (task, aspect, worker).
    rng : numpy.random.Generator
        Used once, for the seed of the order in which workers come.
    aspect : str, default "label"
        The aspect of all answers where the frame has no such column.
    seconds_per_item : float, default 10
        Time of an answer where the frame has no ``seconds``.
    pause_mean_s : float, default 60
        Mean of the exponential pause before a worker accepts a HIT; records hold no such thing.
    borrow : bool, default False
        Let a worker who answered some questions of a HIT take the other answers from other workers' records (never one
        that was given out for that question before). Labels and times stay real, but what is said about single
        workers is not.

    Raises
    ------
    FrameError
        A column is missing, a time negative, or an answer recorded twice.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from hmc_crowd.simulation import Question
    >>> log = pd.DataFrame({"task": ["i1", "i2"], "worker": "ann", "label": ["yes", "no"], "seconds": [8.0, 5.5]})
    >>> crowd = RecordedCrowd(log, rng=np.random.default_rng(0))
    >>> work = crowd.work("hit", [Question("i1"), Question("i2")], frozenset())
    >>> work.worker, [answer.label for answer in work.answers], work.active_s
    ('ann', ['yes', 'no'], 13.5)
    >>> crowd.work("hit", [Question("i1"), Question("i2")], frozenset({"ann"})) is None
    True
    """

    def __init__(
        self,
        answers: Any,
        *,
        rng: np.random.Generator,
        aspect: str = "label",
        seconds_per_item: float = 10.0,
        pause_mean_s: float = 60.0,
        borrow: bool = False,
    ) -> None:
        require_generator(rng)
        if not seconds_per_item >= 0 or not pause_mean_s >= 0:
            raise InputError(f"seconds_per_item is {seconds_per_item}, pause_mean_s {pause_mean_s}; give 0 or more")
        self._pause_mean_s = pause_mean_s
        self._borrow = borrow
        self._streams = Streams(rng)
        self._records = _records(answers, aspect, seconds_per_item)
        self._given: dict[tuple[str, str], set[str]] = {question: set() for question in self._records}

    def work(self, hit_key: str, items: Sequence[Question], already: frozenset[str]) -> SimulatedWork | None:
        """Return the recorded answers of the next worker, or None when no record is left for this HIT."""
        records = [self._records.get((question.item, question.aspect), {}) for question in items]
        if not records or not all(records):
            return None
        candidates = sorted(self._candidates(records) - already)
        order = self._streams.order(np.ones(len(candidates)), "order", hit_key, *candidates).tolist()
        for worker in (candidates[position] for position in order):
            sources = self._sources(worker, items, records, hit_key)
            if sources is not None:
                break
        else:
            return None
        rng = self._streams.generator("work", hit_key, worker)
        answers = []
        for question, record, source in zip(items, records, sources, strict=True):
            label, seconds = record[source]
            answers.append(SimulatedAnswer(question.item, question.aspect, label, seconds=seconds))
            self._given[question.item, question.aspect].add(source)
        return SimulatedWork(worker, float(rng.exponential(self._pause_mean_s)), "submit", tuple(answers))

    def _candidates(self, records: list[dict[str, tuple[str, float]]]) -> set[str]:
        sets = [set(record) for record in records]
        return set.union(*sets) if self._borrow else set.intersection(*sets)

    def _sources(
        self, worker: str, items: Sequence[Question], records: list[dict[str, tuple[str, float]]], hit_key: str
    ) -> list[str] | None:
        """Whose record answers each question, or None where nobody's is left."""
        rng = self._streams.generator("borrow", hit_key, worker)
        sources = []
        for question, record in zip(items, records, strict=True):
            given = self._given[question.item, question.aspect]
            free = sorted(set(record) - given)
            if worker in record and (not self._borrow or worker not in given):
                sources.append(worker)
            elif free:
                sources.append(free[int(rng.integers(len(free)))])
            else:
                return None
        return sources


def _records(answers: Any, aspect: str, seconds_per_item: float) -> dict[tuple[str, str], dict[str, tuple[str, float]]]:
    """(item, aspect) -> worker -> (label, seconds)."""
    columns = columns_of(answers, name="answers", required=("task", "worker", "label"), optional=("aspect", "seconds"))
    n = len(columns["task"])
    aspects = columns.get("aspect", [aspect] * n)
    seconds = [float(value) for value in columns.get("seconds", [seconds_per_item] * n)]
    records: dict[tuple[str, str], dict[str, tuple[str, float]]] = {}
    for row, (task, worker, label) in enumerate(zip(columns["task"], columns["worker"], columns["label"], strict=True)):
        if not 0 <= seconds[row] < np.inf:
            raise FrameError(f"answers column 'seconds' is {seconds[row]} in row {row}; it must be 0 or more")
        by_worker = records.setdefault((str(task), str(aspects[row])), {})
        if str(worker) in by_worker:
            raise FrameError(f"answers row {row} is the second answer of worker {worker!r} to task {task!r}; keep one")
        by_worker[str(worker)] = (str(label), seconds[row])
    return records
