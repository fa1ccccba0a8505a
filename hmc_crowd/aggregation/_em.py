"""Expectation maximisation as map, add, share.

Which labels and worker tables explain the answers best?

The answers are cut into blocks of whole tasks. One iteration **maps** every block and the shared `Tables` to posteriors
and `Sums`, **adds** the sums, and turns them into the next `Tables`, which are **shared** again. Only sums and tables
travel: where the blocks lie and what computes on them is a `Session` (`_engine`: this process, threads, a cluster).

Guarantee: the objective (`Sums.log_likelihood` plus `log_prior`) never falls from one iteration to the next, rounding
aside; each task enters it once. Work is in log space with no clipping.

Source: Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from hmc_crowd.aggregation._coding import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers

__all__ = [
    "Block",
    "EmFit",
    "Progress",
    "Session",
    "Sums",
    "Tables",
    "class_counts",
    "count_answers",
    "expect",
    "expectation_maximisation",
    "log_prior",
    "make_blocks",
    "next_tables",
    "share_posteriors",
]

Progress: TypeAlias = "Callable[[str, int, int], object]"

_SPLIT = float(2**20 + 1)

# Answers per block: large enough that a block costs nothing, small enough that its temporaries stay modest.
_BLOCK_ANSWERS = 1 << 20


@dataclass(frozen=True)
class Block:
    """The answers of some tasks.

    Parameters
    ----------
    starts : array of int, shape (n_tasks + 1,)
        Task ``t`` has the answers ``cell[starts[t]:starts[t + 1]]``.
    cell : array of int, shape (n_answers,)
        ``worker * n_labels + answered label``.
    gold : array of int, shape (n_tasks,)
        Code of the known label, or -1.
    n_workers, n_labels : int
        Sizes of the worker table; K is ``n_labels``.
    """

    starts: NDArray[np.integer[Any]]
    cell: NDArray[np.integer[Any]]
    gold: NDArray[np.intp]
    n_workers: int
    n_labels: int

    @property
    def n_tasks(self) -> int:
        """Tasks of the block."""
        return len(self.gold)

    @cached_property
    def cell_counts(self) -> NDArray[np.float64]:
        """How often each cell occurs, shape (n_workers * K,); as floats, since only their products are quick."""
        return counted(self.cell, self.n_workers * self.n_labels).astype(np.float64)

    @cached_property
    def votes(self) -> Any:
        """The answers as scipy.sparse.csr_array, shape (n_tasks, n_workers * K).

        Its product with a table is the E-step, that of its transpose with the posteriors the M-step.
        """
        from scipy.sparse import csr_array

        width = self.n_workers * self.n_labels
        codes = np.int32 if max(width, len(self.cell)) < 2**31 else np.int64
        return csr_array(
            (np.ones(len(self.cell)), self.cell.astype(codes), self.starts.astype(codes)), shape=(self.n_tasks, width)
        )


@dataclass(frozen=True)
class Tables:
    """What the blocks share: ``log_class`` (K,) and ``log_error`` (n_workers * K answered, K true), in logarithms."""

    log_class: NDArray[np.float64]
    log_error: NDArray[np.float64]

    @property
    def errors(self) -> NDArray[np.float64]:
        """P(answered | true) per worker, shape (n_workers, K answered, K true)."""
        k = len(self.log_class)
        return np.exp(self.log_error).reshape(-1, k, k)


@dataclass
class Sums:
    """What a block gives back, to be added: expected counts and the log-likelihood of its tasks."""

    answered: NDArray[np.float64]
    classes: NDArray[np.float64]
    log_likelihood: float

    def add(self, other: Sums) -> None:
        """Add another block's sums in place."""
        self.answered += other.answered
        self.classes += other.classes
        self.log_likelihood += other.log_likelihood


class Session(Protocol):
    """Blocks at rest somewhere, and the three calls that an iteration needs of them."""

    n_tasks: int

    def start(self) -> tuple[Sums, NDArray[np.float64] | None]:
        """Return the sums under the shares of the votes, and the answered counts of tasks with gold (None without)."""
        ...

    def step(self, tables: Tables) -> Sums:
        """Do the E-step under shared tables, and return the added counts and log-likelihood."""
        ...

    def posterior(self) -> NDArray[np.float64]:
        """Return the posteriors (n_tasks, K) of the last step, in the order of the tasks."""
        ...

    def moments(self) -> NDArray[np.float64]:
        """Return by worker the sums of q and q squared, (2, n_workers); q is an answer's probability of being right."""
        ...


@dataclass(frozen=True)
class EmFit:
    """Where the iteration ended: ``posterior`` (n_tasks, K) belongs to ``tables``; ``history`` has one entry a step."""

    posterior: NDArray[np.float64]
    tables: Tables
    sums: Sums
    history: tuple[float, ...]
    converged: bool


def make_blocks(coded: CodedAnswers, *, block_answers: int = _BLOCK_ANSWERS) -> list[Block]:
    """Cut answers into blocks of whole tasks with about ``block_answers`` each; no answer is copied."""
    k, n_workers, n_tasks = len(coded.labels), len(coded.workers), len(coded.tasks)
    ends = coded.starts
    # Blocks narrower than the worker table would spend their time adding tables.
    step = max(block_answers, n_workers * k * k)
    cuts = np.unique(np.concatenate((np.searchsorted(ends, np.arange(0, ends[-1], step)), [n_tasks])))
    return [
        Block(ends[low : high + 1] - ends[low], coded.cell[ends[low] : ends[high]], coded.gold[low:high], n_workers, k)
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]


def share_posteriors(block: Block) -> NDArray[np.float64]:
    """Return each task's shares of votes, gold put in its place: where the iteration starts."""
    k = block.n_labels
    task = np.repeat(np.arange(block.n_tasks), np.diff(block.starts))
    counts = np.bincount(task * k + block.cell % k, minlength=block.n_tasks * k)
    votes_of = counts.reshape(-1, k)
    shares: NDArray[np.float64] = votes_of / np.diff(block.starts)[:, None]
    known = np.flatnonzero(block.gold >= 0)
    shares[known] = 0.0
    shares[known, block.gold[known]] = 1.0
    return shares


def count_answers(block: Block, posterior: NDArray[np.float64], *, log_likelihood: float = 0.0) -> Sums:
    """Return the expected counts under the posteriors (what the M-step adds up)."""
    return Sums(
        answered=np.asarray(block.votes.T @ posterior),
        classes=np.array([column.sum() for column in posterior.T]),
        log_likelihood=log_likelihood,
    )


def expect(block: Block, tables: Tables) -> tuple[NDArray[np.float64], float]:
    """Return the posteriors (n_tasks, K) and the log-likelihood of the block's tasks; known labels stay clamped."""
    # One row per label: numpy reduces along the long axis many times faster than over a few columns.
    joint = np.ascontiguousarray((block.votes @ tables.log_error).T)
    joint += tables.log_class[:, None]
    known = np.flatnonzero(block.gold >= 0)
    if len(known):
        right = joint[block.gold[known], known]
        joint[:, known] = -np.inf
        joint[block.gold[known], known] = right
    top = joint.max(axis=0)
    joint -= top
    np.exp(joint, out=joint)
    total = joint.sum(axis=0)
    joint /= total
    _round_mantissa(joint)
    return np.ascontiguousarray(joint.T), float(top.sum() + np.log(total).sum())


def _round_mantissa(values: NDArray[np.float64]) -> None:
    """Round in place to 33 bits (a relative 1e-10), by Dekker's splitting.

    Where answers are symmetric the iteration stands on a saddle, and EM would multiply the last bits, which depend on
    the order of summation and so on names, until they decide labels. Rounded away in each step, they never grow.
    """
    shifted = values * _SPLIT
    np.subtract(shifted, values, out=values)
    np.subtract(shifted, values, out=values)


def class_counts(sums: Sums, each: float) -> NDArray[np.float64]:
    """Return ``each`` pseudo-task for every label that anybody gave or gold has; the others keep probability 0."""
    k = len(sums.classes)
    given = (sums.answered.reshape(-1, k, k).sum(axis=(0, 2)) > 0) | (sums.classes > 0)
    return np.where(given, each, 0.0)


def next_tables(
    sums: Sums,
    pseudo: NDArray[np.float64],
    *,
    class_pseudo: NDArray[np.float64] | None = None,
    trace: float = 0.0,
) -> Tables:
    """M-step: normalise the counts plus the pseudo-counts.

    ``pseudo`` has shape (K answered, K true), or (n_workers, K, K) for workers with a past; ``class_pseudo`` (K,)
    tasks of each label count beside the real ones. A worker without any count
    or pseudo-count for a true label gives each label ever given by this worker equally often there: nothing else is
    known, the likelihood cannot fall by it, and who only ever gives one label says nothing by giving it.

    ``trace`` is for comparisons with implementations that clip counts: a label that a worker ever gave then counts at
    least so many answers for every true label.
    """
    k = len(sums.classes)
    counts = sums.answered.reshape(-1, k, k) + pseudo
    if trace:
        np.maximum(counts, trace * (counts.max(axis=2, keepdims=True) > 0), out=counts)
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        if total.all():
            counts /= total
        else:
            given = counts.sum(axis=2, keepdims=True) > 0
            n_given = given.sum(axis=1, keepdims=True)
            even = np.where(n_given > 0, given / np.maximum(n_given, 1), 1.0 / k)
            counts = np.where(total > 0, counts / np.where(total > 0, total, 1.0), even)
        np.log(counts, out=counts)
        classes = sums.classes if class_pseudo is None else sums.classes + class_pseudo
        return Tables(np.log(classes / classes.sum()), counts.reshape(-1, k))


def log_prior(tables: Tables, pseudo: NDArray[np.float64], *, class_pseudo: NDArray[np.float64] | None = None) -> float:
    """Return the log density of Dirichlet(1 + pseudo) at the tables, up to a constant; 0 without pseudo-counts."""
    of_classes = 0.0
    if class_pseudo is not None:
        counts = class_pseudo > 0
        of_classes = float(class_pseudo[counts] @ tables.log_class[counts])
    if not pseudo.any():
        return of_classes
    k = len(tables.log_class)
    log_error = tables.log_error.reshape(-1, k, k)
    return of_classes + float(np.sum(pseudo * np.where(pseudo > 0, log_error, 0.0)))


def expectation_maximisation(
    session: Session,
    tables: Tables,
    *,
    pseudo: NDArray[np.float64],
    class_pseudo: float = 0.0,
    n_iter: int,
    tol: float,
    progress: Progress | None = None,
    trace: float = 0.0,
) -> EmFit:
    """Iterate from ``tables`` until the objective gains at most ``tol`` per task, or ``n_iter`` E-steps are done.

    ``class_pseudo`` as in `class_counts`, ``trace`` as in `next_tables`.
    """
    history: list[float] = []
    of_classes: NDArray[np.float64] | None = None
    while True:
        sums = session.step(tables)
        if class_pseudo and of_classes is None:
            of_classes = class_counts(sums, class_pseudo)
        history.append(sums.log_likelihood + log_prior(tables, pseudo, class_pseudo=of_classes))
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * session.n_tasks
        if converged or len(history) >= n_iter:
            return EmFit(session.posterior(), tables, sums, tuple(history), converged)
        tables = next_tables(sums, pseudo, class_pseudo=of_classes, trace=trace)
