"""What computes: numpy or compiled loops, in one thread or several.

Which way gives the labels soonest? Guarantee: every engine gives the same labels, and posteriors equal to 1e-9; the
number of threads changes no bit. A small job never waits for a compiler.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._em import Sums, count_answers, expect, make_blocks, share_posteriors
from hmc_crowd.aggregation._jit import compiled, has_numba
from hmc_crowd.aggregation._kernels import make_start, make_step, moments, step_two
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._em import Block, Session, Tables

__all__ = ["ENGINES", "Engine", "EngineName", "LocalEngine", "engine_of", "log_ratios", "moments_of"]

EngineName: TypeAlias = Literal["auto", "numpy", "numba", "dask"]

ENGINES = {
    "auto": "numba and all processors from two million answers on, where it is installed; else numpy",
    "numpy": "numpy and scipy, one thread",
    "numba": "compiled loops for the number of labels, all processors",
}

# Compiled code saves some 5 ns an answer and iteration, and costs up to 2 s to load or make.
_WORTH_COMPILING = 2_000_000
# Machine code is made for each number of labels up to this; beyond, one for all.
_SPECIALISED = 8
# Stands for the logarithm of 0 where ratios are taken: exp(-1000) is 0, and two of them cancel without becoming NaN.
_LOG_ZERO = -1000.0


@runtime_checkable
class Engine(Protocol):
    """Codes a table of answers and holds it in blocks, ready for the iteration."""

    def prepare(
        self, answers: Any, gold: Any, *, labels: Iterable[Any] | None, repeats: Repeats
    ) -> tuple[CodedAnswers, Session]:
        """Return the names, sizes and counts of the answers, and a session over their blocks."""
        ...


class LocalEngine:
    """Compute in this process.

    Parameters
    ----------
    name : {"auto", "numpy", "numba"}, default "auto"
        See `ENGINES`.
    threads : int, optional
        Most threads; default as many as this process may use processors. numpy uses one.

    Raises
    ------
    InputError
        An unknown name, or fewer threads than one.
    """

    def __init__(self, name: str = "auto", *, threads: int | None = None) -> None:
        if name not in ENGINES:
            raise InputError(
                f"engine is {name!r}; choose one of {', '.join(map(repr, (*ENGINES, 'dask')))}, or pass an engine"
            )
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise InputError(f"threads is {threads!r}; give a whole number of at least 1")
        self.name = name
        self.threads = threads

    def __repr__(self) -> str:
        return f"LocalEngine({self.name!r}, threads={self.threads})"

    def prepare(
        self, answers: Any, gold: Any, *, labels: Iterable[Any] | None, repeats: Repeats
    ) -> tuple[CodedAnswers, Session]:
        """Code a frame of answers; see `Engine`."""
        coded = encode(answers, gold, labels=labels, repeats=repeats)
        return coded, self.open(make_blocks(coded))

    def open(self, blocks: Sequence[Block]) -> Session:
        """Hold blocks for the iteration."""
        if not self.compiles(sum(len(block.cell) for block in blocks)):
            return _NumpySession(blocks)
        return _NumbaSession(blocks, threads=min(self.threads or _processors(), len(blocks)))

    def compiles(self, n_answers: int) -> bool:
        """Whether so many answers are worth compiled loops."""
        return self.name == "numba" or (self.name == "auto" and n_answers >= _WORTH_COMPILING and has_numba())


def engine_of(engine: str | Engine) -> Engine:
    """Return the engine that a name or an engine means."""
    if isinstance(engine, str):
        if engine == "dask":
            from hmc_crowd.aggregation._dask import DaskEngine

            dask: Engine = DaskEngine()
            return dask
        return LocalEngine(engine)
    if isinstance(engine, type) or not isinstance(engine, Engine):
        raise InputError(f"engine is {engine!r}; give a name such as 'auto', or an engine such as LocalEngine('numpy')")
    return engine


def log_ratios(tables: Tables) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return what kernels read: log ratios to label 0 of cells (n_cells, K - 1) and classes (K - 1,), and its log."""
    log_error = np.maximum(tables.log_error, _LOG_ZERO)
    log_class = np.maximum(tables.log_class, _LOG_ZERO)
    ratio = np.ascontiguousarray(log_error[:, 1:] - log_error[:, :1])
    return ratio, log_class[1:] - log_class[0], np.ascontiguousarray(log_error[:, 0])


def moments_of(held: Block | CodedAnswers, posterior: NDArray[np.float64], *, n_workers: int) -> NDArray[np.float64]:
    """Return `Session.moments` of answers under any posterior (n_tasks, K)."""
    n_tasks, k = posterior.shape
    worker, label = np.divmod(held.cell.astype(np.intp), k)
    q = posterior[np.repeat(np.arange(n_tasks), np.diff(held.starts)), label]
    return np.stack([np.bincount(worker, weights=each, minlength=n_workers) for each in (q, q * q)])


class _LocalSession:
    """Blocks in this process; posteriors are written into one array, block below block."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.n_tasks = sum(block.n_tasks for block in blocks)
        self._n_labels = blocks[0].n_labels
        self._n_workers = blocks[0].n_workers
        self._n_cells = blocks[0].n_workers * blocks[0].n_labels
        self._has_gold = any(bool((block.gold >= 0).any()) for block in blocks)

    @cached_property
    def _posterior(self) -> NDArray[np.float64]:
        return np.empty((self.n_tasks, self._n_labels))

    @cached_property
    def _rooms(self) -> list[NDArray[np.float64]]:
        ends = np.cumsum([0, *(block.n_tasks for block in self.blocks)]).tolist()
        return [self._posterior[low:high] for low, high in pairwise(ends)]

    def _zero(self) -> Sums:
        return Sums(np.zeros((self._n_cells, self._n_labels)), np.zeros(self._n_labels), 0.0)

    def posterior(self) -> NDArray[np.float64]:
        """Return the posteriors of the last step."""
        return self._posterior


class _NumpySession(_LocalSession):
    def start(self) -> tuple[Sums, NDArray[np.float64] | None]:
        sums = self._zero()
        known = np.zeros_like(sums.answered) if self._has_gold else None
        for block in self.blocks:
            shares = share_posteriors(block)
            sums.add(count_answers(block, shares))
            if known is not None:
                known += block.votes.T @ (shares * (block.gold >= 0)[:, None])
        return sums, known

    def step(self, tables: Tables) -> Sums:
        sums = self._zero()
        for block, room in zip(self.blocks, self._rooms, strict=True):
            posterior, log_likelihood = expect(block, tables)
            room[:] = posterior
            sums.add(count_answers(block, room, log_likelihood=log_likelihood))
        return sums

    def moments(self) -> NDArray[np.float64]:
        total = np.zeros((2, self._n_workers))
        for block, room in zip(self.blocks, self._rooms, strict=True):
            total += moments_of(block, room, n_workers=self._n_workers)
        return total


class _NumbaSession(_LocalSession):
    def __init__(self, blocks: Sequence[Block], *, threads: int) -> None:
        super().__init__(blocks)
        self._threads = threads
        k = self._n_labels
        special = k if k <= _SPECIALISED else 0
        self._start = compiled(make_start, special)
        self._step = compiled(step_two) if k == 2 else compiled(make_step, special)

    def start(self) -> tuple[Sums, NDArray[np.float64] | None]:
        known = np.zeros((self._n_cells if self._has_gold else 0, self._n_labels))

        def one(number: int) -> tuple[Sums, NDArray[np.float64]]:
            sums, mine = self._zero(), np.zeros_like(known)
            block = self.blocks[number]
            self._start(block.starts, block.cell, block.gold, sums.answered, sums.classes, mine)
            return sums, mine

        total = self._zero()
        for sums, mine in self._map(one):
            total.add(sums)
            known += mine
        return total, known if self._has_gold else None

    def step(self, tables: Tables) -> Sums:
        ratio, class_ratio, base = log_ratios(tables)
        base_class = max(float(tables.log_class[0]), _LOG_ZERO)

        def one(number: int) -> Sums:
            sums, block = self._zero(), self.blocks[number]
            room = self._rooms[number]
            excess = self._step(
                block.starts, block.cell, block.gold, ratio, class_ratio, room, sums.answered, sums.classes
            )
            # Not a dot product: that would wake the threads of the linear algebra for a few microseconds of work.
            of_label_0 = float(np.multiply(block.cell_counts, base).sum())
            sums.log_likelihood = excess + of_label_0 + base_class * block.n_tasks
            return sums

        total: Sums | None = None
        for sums in self._map(one):
            if total is None:
                total = sums
            else:
                total.add(sums)
        return self._zero() if total is None else total

    def moments(self) -> NDArray[np.float64]:
        work = compiled(moments)

        def one(number: int) -> NDArray[np.float64]:
            block, mine = self.blocks[number], np.zeros((2, self._n_workers))
            work(block.starts, block.cell, self._rooms[number], mine[0], mine[1])
            return mine

        total = np.zeros((2, self._n_workers))
        for mine in self._map(one):
            total += mine
        return total

    def _map(self, one: Callable[[int], Any]) -> Iterable[Any]:
        """Give each block's result in the order of the blocks, so that the threads decide nothing."""
        if self._threads == 1:
            return map(one, range(len(self.blocks)))
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(one, range(len(self.blocks))))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
