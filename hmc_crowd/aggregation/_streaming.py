"""Answers that keep coming.

What do we know now, one answer later? The posterior of a touched task changes at once, under the worker tables at hand;
the tables themselves change in a refit, which may run in a thread (`AnswerStream.start_refit`) while answers go on.

Guarantee: after any sequence of updates every posterior equals one E-step over all answers under the present tables;
after `refit` everything equals a fit of all answers from those tables. A repeated answer replaces the worker's former
one. State is plain lists and numbers, for JSON or SQL.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd.aggregation._base import require_room
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._em import Sums, next_tables
from hmc_crowd.aggregation._history import WorkerHistory, past_counts
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._names import label_index, require_same_kind
from hmc_crowd.aggregation._prior import prior_counts
from hmc_crowd.aggregation._stream_parts import FORMAT, InBackground, read_state
from hmc_crowd.aggregation._ties import decide
from hmc_crowd.aggregation._vote_base import require_positive
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers

__all__ = ["AnswerStream"]


class AnswerStream:
    """Dawid-Skene on a stream of answers.

    Parameters
    ----------
    labels : iterable
        The whole label set, in label order.
    estimator : DawidSkene, optional
        What `refit` uses; default ``DawidSkene()``.

    Attributes
    ----------
    n_answers, n_since_refit : int
        Answers that count, and rows taken since the last refit.

    Examples
    --------
    >>> first = pd.DataFrame(
    ...     [(t, w, t % 2) for t in range(6) for w in ("ann", "bob")], columns=["task", "worker", "label"]
    ... )
    >>> stream = AnswerStream([0, 1])
    >>> _ = stream.update(first)
    >>> stream.refit()
    >>> touched = stream.update(pd.DataFrame([(9, "ann", 1)], columns=["task", "worker", "label"]))
    >>> touched[["task", "label", "n_answers"]].to_dict("records")
    [{'task': 9, 'label': 1, 'n_answers': 1}]
    """

    def __init__(self, labels: Iterable[Any], *, estimator: DawidSkene | None = None) -> None:
        self.labels = label_index(labels)
        self.estimator = DawidSkene() if estimator is None else estimator
        k = len(self.labels)
        require_room("AnswerStream", cells=k * k, shape=f"{k:,} x {k:,} labels for each worker")
        self._tables: dict[Any, NDArray[np.float64]] = {}
        self._log_class = np.full(k, -np.log(k))
        # A stranger is right two times out of three until a refit knows better.
        self._stranger = _log_matrix(
            np.full((k, k), 1 / (3 * max(k - 1, 1))) + np.eye(k) * (2 / 3 - 1 / (3 * max(k - 1, 1)))
        )
        self._joint: dict[Any, NDArray[np.float64]] = {}
        self._given: dict[Any, dict[Any, int]] = {}
        self.n_answers = 0
        self.n_since_refit = 0
        self._model: DawidSkene | None = None
        self._refit: InBackground[DawidSkene] | None = None
        self._since_snapshot = 0

    def update(self, new_answers: pd.DataFrame) -> pd.DataFrame:
        """Take new answers and return the touched tasks.

        Parameters
        ----------
        new_answers : pandas.DataFrame
            Columns ``task, worker, label``; rows without a label are left out. A worker's second answer to a task
            replaces the first; two in one call need ``submitted``.

        Returns
        -------
        pandas.DataFrame
            One row per touched task: ``task, label, confidence, n_answers, tied`` and ``p_<label>``; the confidence is
            not calibrated.

        Raises
        ------
        FrameError
            As in ``fit``; the stream is unchanged then.
        """
        coded = encode(new_answers, labels=self.labels, repeats="latest")
        self._require_known_kinds(coded)
        self.finish_refit(wait=False)
        tasks, workers = coded.tasks.tolist(), coded.workers.tolist()
        for task, worker, label in zip(coded.task.tolist(), coded.worker.tolist(), coded.label.tolist(), strict=True):
            self._take(tasks[task], workers[worker], label)
        self.n_since_refit += len(coded.cell)
        self._since_snapshot += len(coded.cell)
        return self._frame(coded.tasks)

    def _require_known_kinds(self, coded: CodedAnswers) -> None:
        """Refuse names of another kind than before: the task "1" would be another one than the task 1."""
        task, given = next(iter(self._given.items()), (None, {}))
        before = (([] if task is None else [task], coded.tasks, "tasks"), (list(given)[:1], coded.workers, "workers"))
        for names, new, what in before:
            require_same_kind(new, pd.Index(names), what=f"the new answers name {what}", others="the former ones")

    def _take(self, task: Any, worker: Any, label: int) -> None:
        given = self._given.setdefault(task, {})
        joint = self._joint.setdefault(task, self._log_class.copy())
        table = self._tables.get(worker, self._stranger)
        if worker in given:
            given[worker] = label
            self._joint[task] = self._joint_of(given)  # anew: subtracting would leave rounding behind
            return
        given[worker] = label
        joint += table[label]
        self.n_answers += 1

    def _joint_of(self, given: Mapping[Any, int]) -> NDArray[np.float64]:
        joint = self._log_class.copy()
        for worker, label in given.items():
            joint += self._tables.get(worker, self._stranger)[label]
        return joint

    def snapshot(self) -> pd.DataFrame:
        """Return all answers that count, for a refit elsewhere (a thread, a process, another machine)."""
        rows = [
            (task, worker, self.labels[label]) for task, given in self._given.items() for worker, label in given.items()
        ]
        return pd.DataFrame(rows, columns=["task", "worker", "label"])

    def fit_snapshot(self, answers: pd.DataFrame, gold: Any = None) -> DawidSkene:
        """Fit a snapshot from the tables of the last refit; changes nothing here, so it may run anywhere."""
        return copy(self.estimator).fit(answers, gold, labels=self.labels, start=self._model)

    def adopt(self, model: DawidSkene) -> None:
        """Take the worker tables of a fitted model, and bring every task up to date under them.

        Raises
        ------
        InputError
            The model was fitted on another label set.
        """
        if not hasattr(model, "errors_"):
            raise StateError("the model is not fitted; call its fit first")
        if model.priors_.index.tolist() != self.labels.tolist():
            raise InputError(f"the model knows the labels {model.priors_.index.tolist()[:20]}, the stream others")
        k = len(self.labels)
        matrices = model.errors_.to_numpy().reshape(-1, k, k)
        self._set(model.skills_.index.tolist(), matrices, model.priors_.to_numpy())
        self._model = model
        self.n_since_refit = 0

    def _set(
        self,
        workers: list[Any],
        matrices: NDArray[np.float64],
        share: NDArray[np.float64],
        *,
        stranger: NDArray[np.float64] | None = None,
    ) -> None:
        logs = _log_matrix(matrices)
        self._tables = dict(zip(workers, logs, strict=True))
        if stranger is None and len(workers):
            stranger = matrices.mean(axis=0)
        if stranger is not None:
            self._stranger = _log_matrix(stranger)
        self._log_class = _log_matrix(share)
        self._joint = {task: self._joint_of(given) for task, given in self._given.items()}

    def refit(self, gold: Any = None) -> None:
        """Learn the tables anew from all answers, starting from the present ones.

        Raises
        ------
        StateError
            There are no answers yet, or a refit is under way.
        """
        self._require_ready()
        self.adopt(self.fit_snapshot(self.snapshot(), gold))

    def start_refit(self, gold: Any = None) -> None:
        """Begin a refit of the answers so far in a thread of its own; updates go on under the present tables meanwhile.

        The first `update` or `result` after its end takes the new tables; `finish_refit` waits for them.

        Raises
        ------
        StateError
            There are no answers yet, or a refit is under way.
        """
        self._require_ready()
        self._since_snapshot = 0
        self._refit = InBackground(self.fit_snapshot, self.snapshot(), gold)

    def _require_ready(self) -> None:
        if self.n_answers == 0:
            raise StateError("the stream has no answers yet; call update first")
        if self._refit is not None:
            raise StateError("a refit is under way; call finish_refit first")

    @property
    def refitting(self) -> bool:
        """Whether a refit was started whose tables are not in use yet."""
        return self._refit is not None

    def finish_refit(self, *, wait: bool = True) -> bool:
        """Take the tables of a refit that was started; return whether there were any.

        Parameters
        ----------
        wait : bool, default True
            Wait for its end; otherwise an unfinished refit goes on, and False comes back.

        Raises
        ------
        HmcCrowdError
            The refit failed; its error is raised here, and the former tables stay.
        """
        refit = self._refit
        if refit is None or not (wait or refit.done):
            return False
        self._refit = None
        model = refit.result()
        since = self._since_snapshot
        self.adopt(model)
        self.n_since_refit = since
        return True

    def result(self) -> pd.DataFrame:
        """Return all tasks, as `update` returns the touched ones."""
        self.finish_refit(wait=False)
        if not self._given:
            raise StateError("the stream has no answers yet; call update first")
        return self._frame(pd.Index(list(self._given)).sort_values())

    def _frame(self, tasks: pd.Index[Any]) -> pd.DataFrame:
        joint = np.stack([self._joint[task] for task in tasks.tolist()])
        values = np.exp(joint - joint.max(axis=1, keepdims=True))
        values /= values.sum(axis=1, keepdims=True)
        chosen, tied = decide(values, rule="first_label")
        frame = pd.DataFrame(
            {
                "task": tasks,
                "label": self.labels.take(chosen).to_numpy(),
                "confidence": values.max(axis=1),
                "n_answers": [len(self._given[task]) for task in tasks.tolist()],
                "tied": tied,
            }
        )
        return pd.concat([frame, pd.DataFrame(values, columns=[f"p_{label}" for label in self.labels])], axis=1)

    def worker_table(self) -> pd.DataFrame:
        """Return the worker tables in long form: ``worker, label, truth, probability``, one row each, for SQL."""
        k = len(self.labels)
        names = self.labels.tolist()
        rows = [
            (worker, names[answered], names[true], float(np.exp(table[answered, true])))
            for worker, table in self._tables.items()
            for answered in range(k)
            for true in range(k)
        ]
        return pd.DataFrame(rows, columns=["worker", "label", "truth", "probability"])

    def to_state(self) -> dict[str, Any]:
        """Return the whole stream as plain lists and numbers."""
        return {
            "format": FORMAT,
            "labels": self.labels.tolist(),
            "class_share": np.exp(self._log_class).tolist(),
            "workers": self.worker_table().to_dict("list"),
            "stranger": np.exp(self._stranger).tolist(),
            "answers": self.snapshot().to_dict("list"),
            "n_since_refit": self.n_since_refit,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, estimator: DawidSkene | None = None) -> Self:
        """Read what `to_state` wrote.

        Raises
        ------
        InputError
            The state is of another format or incomplete.
        """
        read = read_state(state)
        stream = cls(read.labels, estimator=estimator)
        place = place_in(stream.labels, pd.Index(read.answers["label"])).tolist() if len(read.answers) else []
        for task, worker, label in zip(read.answers["task"], read.answers["worker"], place, strict=True):
            stream._given.setdefault(task, {})[worker] = label
        stream.n_answers = len(place)
        stream._set(read.workers, read.matrices, read.class_share, stranger=read.stranger)
        stream.n_since_refit = read.n_since_refit
        return stream

    @classmethod
    def from_counts(
        cls,
        labels: Iterable[Any],
        counts: WorkerHistory | pd.DataFrame,
        *,
        class_share: ArrayLike,
        prior: float,
        estimator: DawidSkene | None = None,
    ) -> Self:
        """Make a stream without answers from worker tables as SQL holds them.

        Parameters
        ----------
        labels : iterable
            The whole label set, in label order.
        counts : WorkerHistory or pandas.DataFrame
            ``worker, label, truth, count``, such as ``DawidSkene.history_``.
        class_share : array of float, shape (K,)
            Share of each label, such as ``DawidSkene.priors_``.
        prior : float
            Strength of the prior, such as ``DawidSkene.prior_used_``.
        estimator : DawidSkene, optional
            As in the class.
        """
        stream = cls(labels, estimator=estimator)
        table = counts if isinstance(counts, WorkerHistory) else WorkerHistory(counts)
        workers: pd.Index[Any] = pd.Index(table.table["worker"].unique()).sort_values()
        k = len(stream.labels)
        share = float_vector(class_share, name="class_share", low=0.0, high=1.0)
        if len(share) != k:
            raise InputError(f"class_share has {len(share)} values for {k} labels; give one for each")
        given = past_counts(table, workers, stream.labels)
        pseudo = prior_counts(k, strength=require_positive(prior, name="prior"))
        if given is not None and len(workers):
            sums = Sums(given.reshape(-1, k), share, 0.0)
            stream._set(workers.tolist(), next_tables(sums, pseudo).errors, share)
        return stream


def _log_matrix(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms, 0 as a finite number, so that two impossible labels still compare."""
    result: NDArray[np.float64] = np.log(np.maximum(values, 1e-300))
    return result
