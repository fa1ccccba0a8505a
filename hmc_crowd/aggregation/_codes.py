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
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.aggregation._coding import counted, has_missing, ranked, smallest
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._gold import gold_codes, gold_table
from hmc_crowd.aggregation._names import coded, kind_of, label_index, require_columns, require_one_aspect
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
    """Answers as integers, task by task, in as few bytes as they need.

    Task ``t`` has the answers ``cell[starts[t]:starts[t + 1]]``, at least one; an answer is ``worker * n_labels +
    label`` and the answers of a task ascend. ``starts`` has shape (n_tasks + 1,), ``cell`` (n_answers,). ``gold`` has
    shape (n_tasks,): the code of the known label, or -1. ``task``, ``worker`` and ``label`` are the same as three
    columns, made when asked for: row ``i`` says that ``workers[worker[i]]`` gave ``labels[label[i]]`` to
    ``tasks[task[i]]``.
    """

    starts: NDArray[np.integer[Any]]
    cell: NDArray[np.integer[Any]]
    tasks: pd.Index[Any]
    workers: pd.Index[Any]
    labels: pd.Index[Any]
    gold: NDArray[np.intp]
    counts: AnswerCounts
    tasks_without_label: pd.Index[Any]

    @cached_property
    def task(self) -> NDArray[np.intp]:
        """Task of each answer, shape (n_answers,), ascending."""
        return np.repeat(np.arange(len(self.tasks)), np.diff(self.starts))

    @cached_property
    def worker(self) -> NDArray[np.intp]:
        """Worker of each answer, shape (n_answers,)."""
        return (self.cell // len(self.labels)).astype(np.intp)

    @cached_property
    def label(self) -> NDArray[np.intp]:
        """Label of each answer, shape (n_answers,)."""
        return (self.cell % len(self.labels)).astype(np.intp)

    @property
    def n_answers(self) -> NDArray[np.intp]:
        """Answers per task, shape (n_tasks,)."""
        return np.diff(self.starts).astype(np.intp, copy=False)

    @property
    def worker_answers(self) -> NDArray[np.intp]:
        """Answers per worker, shape (n_workers,)."""
        by_label = counted(self.cell, len(self.workers) * len(self.labels)).reshape(len(self.workers), -1)
        total: NDArray[np.intp] = by_label.sum(axis=1)
        return total


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
    require_one_aspect(answers)
    for column in ("task", "worker"):
        if has_missing(answers[column]):
            missing = answers[column].isna().to_numpy()
            raise FrameError(f"answers has no {column} in {first_rows(missing)}; fill the column or drop these rows")
    used, present = _with_label(answers)
    worker, workers = ranked(used["worker"], name="answers.worker")
    label, label_set = _label_codes(used["label"], labels, present=present)
    if extend_labels and labels is None and gold is not None:
        label, label_set = _with_gold_labels(label, label_set, gold)
    cell = _cells(worker, label, size=len(workers) * len(label_set), n_labels=len(label_set))
    del worker, label
    task, tasks = ranked(used["task"], name="answers.task")
    columns = [task, cell]
    del task, cell  # `_by_task` frees them as soon as it can: they are the largest arrays there are
    width = len(workers) * len(label_set)
    starts, cell = _by_task(columns, n_tasks=len(tasks), width=width)
    if repeats != "all" and _any_repeat(starts, cell, len(label_set)):
        columns = _without_repeats(used, repeats, names=(tasks, workers, label_set))
        starts, cell = _by_task(columns, n_tasks=len(tasks), width=width)
    without = _tasks_without_label(answers, present, tasks)
    gold_of_task, n_gold, n_gold_used = gold_codes(gold, tasks, label_set)
    counts = AnswerCounts(
        rows=len(answers),
        used=len(cell),
        missing_label=len(answers) - len(used),
        repeated=len(used) - len(cell),
        tasks=len(tasks),
        workers=len(workers),
        labels=len(label_set),
        tasks_without_label=len(without),
        gold=n_gold,
        gold_used=n_gold_used,
    )
    return CodedAnswers(starts, cell, tasks, workers, label_set, gold_of_task, counts, without)


def _with_label(answers: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.bool_] | None]:
    """Return the rows with a label, and which these are: None for all."""
    if len(answers) and not has_missing(answers["label"]):
        return answers, None
    present = answers["label"].notna().to_numpy()
    if not present.any():
        raise FrameError(f"answers has {len(answers)} rows and none with a label; collect answers first")
    return answers.loc[present], present


def _without_repeats(
    used: pd.DataFrame, repeats: Repeats, *, names: tuple[pd.Index[Any], pd.Index[Any], pd.Index[Any]]
) -> list[NDArray[Any]]:
    """Code the rows once more, this time to say which of them count; return their tasks and cells."""
    tasks, workers, labels = names
    task: NDArray[Any] = ranked(used["task"], name="answers.task")[0].astype(np.intp)
    worker: NDArray[Any] = ranked(used["worker"], name="answers.worker")[0].astype(np.intp)
    label: NDArray[Any] = labels.get_indexer(pd.Index(used["label"])).astype(np.intp)
    times = used["submitted"] if "submitted" in used.columns else None
    order = np.lexsort((label, worker, task))
    keep = drop_repeats(task, worker, label, order=order, times=times, rule=repeats, names=(tasks, workers))
    return [task[keep].astype(np.int32), worker[keep] * len(labels) + label[keep]]


def _cells(worker: NDArray[np.int32], label: NDArray[np.int32], *, size: int, n_labels: int) -> NDArray[Any]:
    """Return ``worker * n_labels + label``, in the place of ``worker`` where that can hold it."""
    if size >= 1 << 31:
        return worker.astype(np.int64) * n_labels + label
    worker *= np.int32(n_labels)
    worker += label
    return worker


def _by_task(
    columns: list[NDArray[Any]], *, n_tasks: int, width: int
) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
    """Return where each task starts and its cells, ascending: the one order that no permutation of the rows changes.

    ``columns`` holds task and cell of each answer; it is emptied.
    """
    cell, task = columns.pop(), columns.pop()
    if max(width, len(task)) >= 1 << 31:
        order = np.lexsort((cell, task))
        return np.concatenate(([0], np.cumsum(np.bincount(task, minlength=n_tasks)))), cell[order]
    from scipy.sparse import coo_array

    table = coo_array((np.ones(len(task), dtype=np.int8), (task, cell)), shape=(n_tasks, width))
    del task, cell
    # Two counting sorts, by cell and then by task, in place of a sort; equal answers must not be added up.
    table.has_canonical_format = True
    by_cell = table.tocsc()
    del table
    rows = by_cell.tocsr()
    del by_cell
    return rows.indptr, rows.indices.astype(smallest(width), copy=False)


def _any_repeat(starts: NDArray[np.integer[Any]], cell: NDArray[np.integer[Any]], n_labels: int) -> bool:
    """Whether a worker stands twice in a task; in pieces, so that no wide copy is made."""
    step = 1 << 20
    for low in range(0, len(cell), step):
        worker = cell[low : low + step + 1] // n_labels
        same = np.flatnonzero(worker[1:] == worker[:-1])
        if len(same):
            after = same + low + 1
            if bool((starts[np.searchsorted(starts, after)] != after).any()):
                return True
    return False


def _label_codes(
    column: pd.Series[Any], labels: Iterable[Any] | None, *, present: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    codes, found = ranked(column, name="answers.label")
    if labels is None:
        return codes, found
    allowed = label_index(labels)
    place = coded(allowed, found).astype(np.int32)
    unknown = place[codes] < 0
    if unknown.any():
        rows = np.arange(len(codes)) if present is None else np.flatnonzero(present)
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
    codes: NDArray[np.int32], labels: pd.Index[Any], gold: Any
) -> tuple[NDArray[np.int32], pd.Index[Any]]:
    extra = pd.Index(gold_table(gold).unique())
    if kind_of(extra) != kind_of(labels):  # `gold_codes` says what is wrong
        return codes, labels
    union: pd.Index[Any] = labels.union(extra).sort_values()
    return coded(union, labels).astype(np.int32)[codes], union


def _tasks_without_label(
    answers: pd.DataFrame, present: NDArray[np.bool_] | None, tasks: pd.Index[Any]
) -> pd.Index[Any]:
    if present is None:
        return tasks[:0]
    bare = pd.Index(answers.loc[~present, "task"].unique())
    only_bare: pd.Index[Any] = bare[~bare.isin(tasks)].sort_values()
    return only_bare
