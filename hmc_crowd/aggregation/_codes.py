"""A long table of answers as integer arrays, the same for every order of its rows.

Guarantee: tasks, workers and labels are coded in sorted order and the answers are sorted by (task, worker, label), so a
permuted table gives bit for bit the same arrays. Nothing is left out without being counted in `AnswerCounts`.

Rules, stated once for aggregation and quality alike
    missing label       counted and left out; a task with nothing else gets no result.
    missing task/worker refused.
    repeated answer     one worker, one task, several rows: see `REPEAT_RULES`.
    label set           ``labels`` if given (its order is the label order), else the sorted labels of the answers.
    gold                for a task without answers: counted, otherwise ignored; with a label outside the set: refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._gold import gold_codes, gold_table
from hmc_crowd.aggregation._names import coded, kind_of, label_index, require_columns, sorted_codes
from hmc_crowd.aggregation._repeats import REPEAT_RULES, Repeats, drop_repeats
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["CodedAnswers", "Repeats", "encode"]

Column = Literal["task", "worker", "label"]
_COLUMNS: tuple[Column, ...] = ("task", "worker", "label")


@dataclass(frozen=True)
class CodedAnswers:
    """Answers as integers: row ``i`` says that ``workers[worker[i]]`` gave ``labels[label[i]]`` to ``tasks[task[i]]``.

    ``task``, ``worker``, ``label`` have shape (n_answers,) and are sorted by task; every task has an answer. ``gold``
    has shape (n_tasks,): the code of the known label, or -1.
    """

    task: NDArray[np.intp]
    worker: NDArray[np.intp]
    label: NDArray[np.intp]
    tasks: pd.Index[Any]
    workers: pd.Index[Any]
    labels: pd.Index[Any]
    gold: NDArray[np.intp]
    counts: AnswerCounts
    tasks_without_label: pd.Index[Any]

    @property
    def n_answers(self) -> NDArray[np.intp]:
        """Answers per task, shape (n_tasks,)."""
        return np.bincount(self.task, minlength=len(self.tasks))

    @property
    def worker_answers(self) -> NDArray[np.intp]:
        """Answers per worker, shape (n_workers,)."""
        return np.bincount(self.worker, minlength=len(self.workers))


def encode(
    answers: pd.DataFrame,
    gold: Any = None,
    *,
    labels: Iterable[Any] | None = None,
    repeats: Repeats = "latest",
    extend_labels: bool = False,
) -> CodedAnswers:
    """Code a long answer table once; every engine works on the integers.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and, if repeated answers differ, ``submitted``; text, integers or booleans.
    gold : pandas.DataFrame, pandas.Series or mapping, optional
        Known labels: columns ``item`` (or ``task``) and ``label``, or a Series or mapping from task to label.
    labels : iterable, optional
        The whole label set in label order; default the sorted labels of the answers.
    repeats : {"latest", "all", "refuse"}, default "latest"
        What to do with several answers of one worker to one task, see `REPEAT_RULES`.
    extend_labels : bool, default False
        Take gold labels that nobody answered into the label set, where ``labels`` is not given, in place of refusing
        them: right for scoring, where such an item was just missed by all.

    Raises
    ------
    FrameError
        A column is missing, a task or worker is missing, labels are of mixed kinds or outside ``labels``, repeated
        answers cannot be put in order, several aspects are mixed, or no answer has a label.
    """
    if repeats not in REPEAT_RULES:
        raise InputError(f"repeats is {repeats!r}; choose one of {', '.join(map(repr, REPEAT_RULES))}")
    require_columns(answers, _COLUMNS, name="answers")
    _require_one_aspect(answers)
    for column in ("task", "worker"):
        missing = answers[column].isna().to_numpy()
        if missing.any():
            raise FrameError(f"answers has no {column} in {first_rows(missing)}; fill the column or drop these rows")
    present = answers["label"].notna().to_numpy()
    if not present.any():
        raise FrameError(f"answers has {len(answers)} rows and none with a label; collect answers first")
    used = answers if present.all() else answers.loc[present]

    task, tasks = sorted_codes(used["task"], name="answers.task")
    worker, workers = sorted_codes(used["worker"], name="answers.worker")
    label, label_set = _label_codes(used["label"], labels, rows=np.flatnonzero(present))
    if extend_labels and labels is None and gold is not None:
        label, label_set = _with_gold_labels(label, label_set, gold)
    order = _canonical_order(task, worker, label, sizes=(len(tasks), len(workers), len(label_set)))
    times = used["submitted"] if "submitted" in used.columns else None
    keep = drop_repeats(task, worker, label, order=order, times=times, rule=repeats, names=(tasks, workers))
    without = _tasks_without_label(answers, present, tasks)
    gold_of_task, n_gold, n_gold_used = gold_codes(gold, tasks, label_set)
    counts = AnswerCounts(
        rows=len(answers),
        used=len(keep),
        missing_label=int((~present).sum()),
        repeated=len(used) - len(keep),
        tasks=len(tasks),
        workers=len(workers),
        labels=len(label_set),
        tasks_without_label=len(without),
        gold=n_gold,
        gold_used=n_gold_used,
    )
    return CodedAnswers(task[keep], worker[keep], label[keep], tasks, workers, label_set, gold_of_task, counts, without)


def _label_codes(
    column: pd.Series[Any], labels: Iterable[Any] | None, *, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    codes, found = sorted_codes(column, name="answers.label")
    if labels is None:
        return codes, found
    allowed = label_index(labels)
    place = coded(allowed, found)
    unknown = place[codes] < 0
    if unknown.any():
        bad = np.zeros(int(rows.max()) + 1, dtype=bool)
        bad[rows[unknown]] = True
        shown = dict(zip(rows[unknown].tolist(), column.to_numpy()[unknown].tolist(), strict=True))
        kinds = f" (labels are {kind_of(allowed)}, the answers {kind_of(found)})" if len(found) else ""
        raise FrameError(
            f"answers.label is outside labels={allowed.tolist()} in {first_rows(bad, shown)}"
            f"{kinds if kind_of(allowed) != kind_of(found) else ''}; correct these rows or extend labels"
        )
    return place[codes], allowed


def _with_gold_labels(
    codes: NDArray[np.intp], labels: pd.Index[Any], gold: Any
) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    extra = pd.Index(gold_table(gold).unique())
    if kind_of(extra) != kind_of(labels):  # `gold_codes` says what is wrong
        return codes, labels
    union: pd.Index[Any] = labels.union(extra).sort_values()
    return coded(union, labels)[codes], union


def _canonical_order(
    task: NDArray[np.intp], worker: NDArray[np.intp], label: NDArray[np.intp], *, sizes: tuple[int, int, int]
) -> NDArray[np.intp]:
    """Return the order by (task, worker, label): the one order that no permutation of the rows changes."""
    if sizes[0] * sizes[1] * sizes[2] < 2**62:
        key = (task * sizes[1] + worker) * sizes[2] + label
        if bool((key[1:] >= key[:-1]).all()):
            return np.arange(len(key))
        return np.argsort(key)  # rows with equal keys are equal answers: which comes first does not matter
    return np.lexsort((label, worker, task))


def _tasks_without_label(answers: pd.DataFrame, present: NDArray[np.bool_], tasks: pd.Index[Any]) -> pd.Index[Any]:
    if present.all():
        return tasks[:0]
    bare = pd.Index(answers.loc[~present, "task"].unique())
    only_bare: pd.Index[Any] = bare[~bare.isin(tasks)].sort_values()
    return only_bare


def _require_one_aspect(answers: pd.DataFrame) -> None:
    if "aspect" not in answers.columns:
        return
    aspects = answers["aspect"].dropna().unique()
    if len(aspects) > 1:
        names = ", ".join(map(repr, sorted(map(str, aspects))[:5]))
        raise FrameError(f"answers mixes the aspects {names}; aggregate one aspect at a time")
