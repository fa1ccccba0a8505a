"""Expectation maximisation as map, add, share.

Which labels and worker tables explain the answers best?

The answers are cut into blocks of whole tasks. One iteration **maps** every block and the shared `Tables` to posteriors
and `Sums`, **adds** the sums, and turns them into the next `Tables`, which are **shared** again. Only sums and tables
travel: any engine (one process here, threads or a cluster elsewhere) plugs in as a `MapBlocks`.

Guarantee: the objective (`Sums.log_likelihood` plus `log_prior`) never falls from one iteration to the next, rounding
aside; each task enters it once. Work is in log space with no clipping: a probability of exactly 0 stays 0.

Source: Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers

__all__ = [
    "Block",
    "EmFit",
    "MapBlocks",
    "Sums",
    "Tables",
    "count_answers",
    "expectation_maximisation",
    "log_prior",
    "make_blocks",
    "map_blocks_serially",
    "next_tables",
    "share_posteriors",
]

_SPLIT = float(2**20 + 1)

# Answers per block: large enough that a block costs nothing, small enough that its temporaries stay modest.
_BLOCK_ANSWERS = 1 << 20


@dataclass(frozen=True)
class Block:
    """The answers of some tasks.

    Parameters
    ----------
    votes : scipy.sparse.csr_array, shape (n_tasks, n_workers * n_labels)
        How often (task, worker * n_labels + answered label) occurs. The sparse product with a table is the E-step, that
        of its transpose with the posteriors the M-step.
    gold : array of int, shape (n_tasks,)
        Code of the known label, or -1.
    n_labels : int
        K.
    """

    votes: Any
    gold: NDArray[np.intp]
    n_labels: int


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


MapBlocks: TypeAlias = Callable[[Sequence[Block], Tables], tuple[list["NDArray[np.float64]"], Sums]]


@dataclass(frozen=True)
class EmFit:
    """Where the iteration ended: ``posterior`` (n_tasks, K) belongs to ``tables``; ``history`` has one entry a step."""

    posterior: NDArray[np.float64]
    tables: Tables
    sums: Sums
    history: tuple[float, ...]
    converged: bool


def make_blocks(coded: CodedAnswers, *, block_answers: int = _BLOCK_ANSWERS) -> list[Block]:
    """Cut answers, sorted by task, into blocks of whole tasks with about ``block_answers`` each."""
    from scipy.sparse import csr_array

    k, n_tasks = len(coded.labels), len(coded.tasks)
    width = len(coded.workers) * k
    codes = np.int32 if max(width, len(coded.cell)) < 2**31 else np.int64
    column = coded.cell.astype(codes)
    ends = coded.starts
    # Blocks narrower than the worker table would spend their time adding tables.
    step = max(block_answers, width * k)
    cuts = np.unique(np.concatenate((np.searchsorted(ends, np.arange(0, ends[-1], step)), [n_tasks])))
    return [
        Block(
            votes=csr_array(
                (np.ones(ends[high] - ends[low]), column[ends[low] : ends[high]], (ends[low : high + 1] - ends[low])),
                shape=(high - low, width),
            ),
            gold=coded.gold[low:high],
            n_labels=k,
        )
        for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    ]


def share_posteriors(block: Block) -> NDArray[np.float64]:
    """Return each task's shares of votes, gold put in its place: where the iteration starts."""
    votes, k = block.votes, block.n_labels
    task = np.repeat(np.arange(votes.shape[0]), np.diff(votes.indptr))
    counts = np.bincount(task * k + votes.indices % k, weights=votes.data, minlength=votes.shape[0] * k)
    votes_of = counts.reshape(-1, k)
    shares: NDArray[np.float64] = votes_of / votes_of.sum(axis=1, keepdims=True)
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


def map_blocks_serially(blocks: Sequence[Block], tables: Tables) -> tuple[list[NDArray[np.float64]], Sums]:
    """One E-step and its counts over all blocks, in this process."""
    posteriors = []
    sums = Sums(np.zeros_like(tables.log_error), np.zeros_like(tables.log_class), 0.0)
    for block in blocks:
        posterior, log_likelihood = expect(block, tables)
        posteriors.append(posterior)
        sums.add(count_answers(block, posterior, log_likelihood=log_likelihood))
    return posteriors, sums


def next_tables(sums: Sums, pseudo: NDArray[np.float64]) -> Tables:
    """M-step: normalise the counts plus the pseudo-counts.

    ``pseudo`` has shape (K answered, K true), or (n_workers, K, K) for workers with a past. A worker without any count
    or pseudo-count for a true label answers it evenly: nothing is known, and the likelihood cannot fall by it.
    """
    k = len(sums.classes)
    counts = sums.answered.reshape(-1, k, k) + pseudo
    total = counts.sum(axis=1, keepdims=True)
    errors = np.full_like(counts, 1.0 / k)
    np.divide(counts, total, out=errors, where=total > 0)
    with np.errstate(divide="ignore"):
        return Tables(np.log(sums.classes / sums.classes.sum()), np.log(errors).reshape(-1, k))


def log_prior(tables: Tables, pseudo: NDArray[np.float64]) -> float:
    """Return the log density of Dirichlet(1 + pseudo) rows at the tables, up to a constant; 0 without pseudo-counts."""
    k = len(tables.log_class)
    log_error = tables.log_error.reshape(-1, k, k)
    return float(np.sum(pseudo * np.where(pseudo > 0, log_error, 0.0)))


def expectation_maximisation(
    blocks: Sequence[Block],
    tables: Tables,
    *,
    pseudo: NDArray[np.float64],
    n_iter: int,
    tol: float,
    map_blocks: MapBlocks = map_blocks_serially,
) -> EmFit:
    """Iterate from ``tables`` until the objective gains at most ``tol`` per task, or ``n_iter`` E-steps are done."""
    n_tasks = sum(len(block.gold) for block in blocks)
    history: list[float] = []
    while True:
        posteriors, sums = map_blocks(blocks, tables)
        history.append(sums.log_likelihood + log_prior(tables, pseudo))
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * n_tasks
        if converged or len(history) >= n_iter:
            return EmFit(np.concatenate(posteriors), tables, sums, tuple(history), converged)
        tables = next_tables(sums, pseudo)
