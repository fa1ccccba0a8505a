"""Aggregation on a Dask cluster: past the memory of one machine.

How are more answers aggregated than one machine holds? Answers lie in partitions (files of a Parquet data set); each
Dask worker reads and codes its own, and per iteration only the worker table and the added counts travel. Nobody ever
holds all answers; this process holds the names and labels, one row per task.

Guarantee: the same labels as in one process, and posteriors equal to 1e-9. If a task's answers are spread over
partitions they are brought together first. A block is made anew from its file if its Dask worker is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.extras import require
from hmc_crowd.aggregation._codes import CodedAnswers, encode
from hmc_crowd.aggregation._coding import ranked
from hmc_crowd.aggregation._em import make_blocks
from hmc_crowd.aggregation._engine import LocalEngine
from hmc_crowd.aggregation._names import require_one_aspect
from hmc_crowd.aggregation._partitions import (
    added_counts,
    code_partition,
    cut,
    files_of,
    joined_names,
    label_set,
    read_partition,
    survey,
)
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats
    from hmc_crowd.aggregation._em import Block, Session, Sums, Tables
    from hmc_crowd.aggregation._partitions import Part, Survey

__all__ = ["DaskEngine"]


class DaskEngine:
    """Compute on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client or str, optional
        A client, or the address of a scheduler such as ``"tcp://10.0.0.7:8786"``. Default: the client that this process
        has open already. A client opened here, from an address, is closed by `close` or by ``with``.
    kernel : {"auto", "numpy", "numba"}, default "auto"
        What the Dask workers compute with, as in `LocalEngine`; this package must be installed there.

    Notes
    -----
    ``fit`` then also takes the path of a Parquet file, or of a folder of them that every Dask worker can read, or a
    Dask frame; each file is a partition. What needs the answers themselves in this process (weights, strata) cannot be
    had for them. An iteration costs some tens of milliseconds beside the arithmetic, so
    below some 10^7 answers one process is quicker.

    Raises
    ------
    MissingExtraError
        Dask is not installed.
    InputError
        No client is given or open, or the scheduler does not answer.

    Examples
    --------
    >>> from hmc_crowd.aggregation import DawidSkene
    >>> with DaskEngine("tcp://10.0.0.7:8786") as engine:  # doctest: +SKIP
    ...     DawidSkene(engine=engine).fit("answers/").labels_
    """

    def __init__(self, client: Any = None, *, kernel: str = "auto") -> None:
        self.kernel = LocalEngine(kernel)
        self._given = client
        self._own: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the client if it was opened here."""
        if self._own is not None:
            self._own.close()
            self._own = None

    def prepare(
        self, answers: Any, gold: Any, *, labels: Iterable[Any] | None, repeats: Repeats
    ) -> tuple[CodedAnswers, Session]:
        """Code answers where they lie; see `Engine`."""
        client = self._client()
        if isinstance(answers, pd.DataFrame):
            coded = encode(answers, gold, labels=labels, repeats=repeats)
            blocks = client.scatter(make_blocks(coded, block_answers=_share(client, len(coded.cell))))
            return coded, _DaskSession(client, blocks, kernel=self._kernel(len(coded.cell)), n_tasks=len(coded.tasks))
        frames = _frames(client, answers)
        found: list[Survey] = client.gather(client.map(survey, frames, pure=False))
        require_one_aspect(pd.DataFrame({"aspect": [name for one in found for name in one.aspects]}))
        if _overlap(found):
            frames = _regrouped(client, frames)
        workers = joined_names([one.workers for one in found], name="answers.worker")
        known = label_set(found, labels)
        code = partial(code_partition, workers=workers, labels=known, gold=gold, repeats=repeats)
        pairs = client.map(code, frames, pure=False)
        blocks = client.map(_first, pairs, pure=False)
        parts: list[Part] = client.gather(client.map(_second, pairs, pure=False))
        joined, order = _joined(parts, workers, known, gold)
        kernel = self._kernel(joined.counts.used)
        return joined, _DaskSession(client, blocks, kernel=kernel, n_tasks=len(joined.tasks), order=order)

    def _kernel(self, n_answers: int) -> str:
        return "numba" if self.kernel.compiles(n_answers) else "numpy"

    def _client(self) -> Any:
        distributed = require("distributed", extra="dask", purpose="engine='dask'")
        if self._given is None:
            try:
                return distributed.get_client()
            except ValueError:
                raise InputError(
                    "engine='dask' finds no open Dask client; open one, or name the scheduler: "
                    "DaskEngine('tcp://HOST:8786')"
                ) from None
        if not isinstance(self._given, str):
            return self._given
        if self._own is None:
            try:
                self._own = distributed.Client(self._given, set_as_default=False)
            except (OSError, ValueError) as error:
                raise InputError(
                    f"no Dask scheduler answers at {self._given!r} ({error}); check the address and that it runs"
                ) from None
        return self._own


@dataclass(frozen=True)
class _RemoteAnswers(CodedAnswers):
    """Names and counts of answers that lie elsewhere: ``cell`` is empty here."""

    answers_of_worker: NDArray[np.intp]

    @property
    def worker_answers(self) -> NDArray[np.intp]:
        return self.answers_of_worker


class _DaskSession:
    def __init__(
        self, client: Any, blocks: list[Any], *, kernel: str, n_tasks: int, order: NDArray[np.intp] | None = None
    ) -> None:
        distributed = require("distributed", extra="dask", purpose="engine='dask'")
        with client.as_current():
            distributed.wait(blocks)
        self.n_tasks = n_tasks
        self._client = client
        self._blocks = blocks
        self._kernel = kernel
        self._order = order
        self._tables: Any = None
        self._groups = _groups(client, blocks)

    def start(self) -> tuple[Sums, NDArray[np.float64] | None]:
        """Add the starting sums of all groups of blocks."""
        futures = [self._submit(_start, group) for group in self._groups]
        return _added(self._client.gather(futures))

    def step(self, tables: Tables) -> Sums:
        """Send the tables, and add what comes back, in the order of the groups."""
        self._tables = self._client.scatter(tables, broadcast=True, hash=False)
        results = self._client.gather([self._submit(_step, group, self._tables) for group in self._groups])
        total: Sums = results[0]
        for one in results[1:]:
            total.add(one)
        return total

    def posterior(self) -> NDArray[np.float64]:
        """Compute the last step's posteriors once more, and bring them here."""
        futures = [
            self._client.submit(_posterior, self._kernel, self._tables, block, pure=False) for block in self._blocks
        ]
        found: NDArray[np.float64] = np.concatenate(self._client.gather(futures))
        return found if self._order is None else found[self._order]

    def moments(self) -> NDArray[np.float64]:
        """Compute the sums of q and q squared with the last step's tables."""
        found = self._client.gather([self._submit(_moments, group, self._tables) for group in self._groups])
        total: NDArray[np.float64] = np.sum(found, axis=0)
        return total

    def _submit(self, work: Any, group: list[Any], *shared: Any) -> Any:
        # Blocks of a group lie on one Dask worker, so the task goes there; it may go elsewhere if that one is lost.
        return self._client.submit(work, self._kernel, *shared, *group, pure=False)


def _frames(client: Any, answers: Any) -> list[Any]:
    """Return the partitions as futures of frames."""
    if isinstance(answers, str | Path):
        files: list[Any] = client.map(read_partition, files_of(answers), pure=False)
        return files
    if hasattr(answers, "to_delayed"):
        delayed: list[Any] = client.compute(list(answers.to_delayed()))
        return delayed
    raise FrameError(
        f"answers is a {type(answers).__name__}; give a frame, a Dask frame, or the path of a Parquet file or folder"
    )


def _overlap(found: Sequence[Survey]) -> bool:
    """Whether a task has answers in several partitions."""
    total = sum(len(one.tasks) for one in found)
    if all(_apart(one, other) for one, other in combinations(found, 2)):
        return False
    distinct = int(pd.Index(np.concatenate([one.tasks.to_numpy() for one in found])).nunique())
    return distinct < total


def _apart(one: Survey, other: Survey) -> bool:
    if len(one.tasks) == 0 or len(other.tasks) == 0:
        return True
    try:
        return bool(one.tasks.max() < other.tasks.min() or other.tasks.max() < one.tasks.min())
    except TypeError:
        return False


def _regrouped(client: Any, frames: list[Any]) -> list[Any]:
    """Deal all rows anew so that a task's answers lie together."""
    pieces = len(frames)
    dealt = client.map(partial(cut, pieces=pieces), frames, pure=False)
    return [client.submit(_piece, number, *dealt, pure=False) for number in range(pieces)]


def _piece(number: int, *dealt: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([pieces[number] for pieces in dealt], ignore_index=True)


def _first(pair: tuple[Block, Part]) -> Block:
    return pair[0]


def _second(pair: tuple[Block, Part]) -> Part:
    return pair[1]


def _joined(
    parts: Sequence[Part], workers: pd.Index[Any], labels: pd.Index[Any], gold: Any
) -> tuple[_RemoteAnswers, NDArray[np.intp]]:
    """Return the names and counts of all parts, tasks sorted, and the order that sorts them."""
    filled = [part for part in parts if len(part.tasks)]
    if not filled:
        raise FrameError("answers has no row with a label; collect answers first")
    names = pd.Series(np.concatenate([part.tasks.to_numpy() for part in filled])).astype(filled[0].tasks.dtype)
    rank, tasks = ranked(names, name="answers.task")
    order = np.empty(len(rank), dtype=np.intp)
    order[rank] = np.arange(len(rank))
    n_answers = np.concatenate([part.n_answers for part in parts])[order]
    without = [part.without.to_numpy() for part in parts if len(part.without)]
    bare: pd.Index[Any] = pd.Index(np.concatenate(without)).sort_values() if without else tasks[:0]
    remote = _RemoteAnswers(
        starts=np.concatenate(([0], np.cumsum(n_answers))),
        cell=np.zeros(0, dtype=np.int32),
        tasks=tasks,
        workers=workers,
        labels=labels,
        gold=np.concatenate([part.gold for part in parts])[order],
        counts=added_counts(parts, workers=len(workers), labels=len(labels), gold=gold),
        tasks_without_label=bare,
        answers_of_worker=np.sum([part.worker_answers for part in parts], axis=0),
    )
    return remote, order


def _groups(client: Any, blocks: list[Any]) -> list[list[Any]]:
    """Return the blocks by the Dask worker that holds them, as many groups for each as it has threads."""
    threads, holders = client.nthreads(), client.who_has(blocks)
    held: dict[str, list[Any]] = {}
    for block in blocks:
        where = sorted(holders[block.key])
        held.setdefault(where[0] if where else "", []).append(block)
    return [mine[part :: threads.get(address, 1)] for address, mine in sorted(held.items())
            for part in range(min(threads.get(address, 1), len(mine)))]  # fmt: skip


def _share(client: Any, n_answers: int) -> int:
    """Return answers per block so that every thread of the cluster has one."""
    threads = int(sum(client.nthreads().values()))
    return -(-n_answers // max(threads, 1))


def _start(kernel: str, *blocks: Block) -> tuple[Sums, NDArray[np.float64] | None]:
    return LocalEngine(kernel, threads=1).open(blocks).start()


def _step(kernel: str, tables: Tables, *blocks: Block) -> Sums:
    return LocalEngine(kernel, threads=1).open(blocks).step(tables)


def _posterior(kernel: str, tables: Tables, block: Block) -> NDArray[np.float64]:
    session = LocalEngine(kernel, threads=1).open([block])
    session.step(tables)
    return session.posterior()


def _moments(kernel: str, tables: Tables, *blocks: Block) -> NDArray[np.float64]:
    session = LocalEngine(kernel, threads=1).open(blocks)
    session.step(tables)
    return session.moments()


def _added(results: Sequence[tuple[Sums, NDArray[np.float64] | None]]) -> tuple[Sums, NDArray[np.float64] | None]:
    total, known = results[0]
    for sums, mine in results[1:]:
        total.add(sums)
        if mine is not None:
            known = mine if known is None else known + mine
    return total, known
