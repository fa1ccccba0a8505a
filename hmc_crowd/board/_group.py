"""How do many small requests share one commit? Those that wait while a transaction runs go into the next one together.

A commit waits for the disk, so one for each request would bound how many there are. One thread runs all transactions:
many threads that wait for one lock would only take the processor from it. Nobody is answered before his commit. Where
one of a group fails, all are undone and each gets a transaction of its own: a job may run twice, and only its last run
counts.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.store import Store, Transaction

    Work = Callable[[Transaction, dict[Any, Any]], Any]

__all__ = ["Group"]

_MOST = 64
# Where a database cannot tell whether others have changed it, what was read is used again for so long.
_LASTS_S = 1.0


class _Job:
    """What somebody wants done, and what came of it."""

    def __init__(self, prepare: Callable[[], Work]) -> None:
        self.prepare = prepare
        self.work: Work | None = None
        self.future: Future[Any] = Future()

    def is_ready(self) -> bool:
        """Prepare the work, outside any transaction; what is refused here disturbs nobody else."""
        if not self.future.set_running_or_notify_cancel():
            return False
        try:
            self.work = self.prepare()
        except BaseException as error:  # noqa: BLE001  # because whoever waits for it raises it
            self.future.set_exception(error)
            return False
        return True


class Group:
    """Runs jobs of many in few transactions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._line = Lock()
        self._waiting: list[_Job] = []
        self._lasting: dict[Any, Any] = {}
        self._version: tuple[int, ...] | None = None
        self._until = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hmc-crowd-door")

    def submit(self, prepare: Callable[[], Work]) -> Future[Any]:
        """Have ``work = prepare()`` and ``work(tx, shared)`` run, the second in a transaction.

        ``shared`` is a dict of that transaction's jobs; ``shared["lasting"]`` outlives it as long as nobody else has
        changed the database (on PostgreSQL, for a second): a job that changes what stands there takes it out. The
        future has the result once it is committed, or what the job or its commit raised.
        """
        job = _Job(prepare)
        with self._line:
            self._waiting.append(job)
        self._thread.submit(self._next)
        return job.future

    def run(self, work: Work) -> Any:
        """Run ``work(tx, shared)`` in a transaction and wait for its commit."""
        return self.submit(lambda: work).result()

    def close(self) -> None:
        """Finish what waits; nothing can be submitted afterwards."""
        self._thread.shutdown(wait=True)

    def _next(self) -> None:
        with self._line:
            jobs, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        ready = [job for job in jobs if job.is_ready()]
        if ready and not self._together(ready):
            for job in ready:
                self._alone(job)

    def _together(self, jobs: list[_Job]) -> bool:
        try:
            with self._store.begin() as tx:
                shared = self._shared(tx)
                results = [job.work(tx, shared) for job in jobs if job.work is not None]
        except Exception:  # noqa: BLE001  # because each job is run again alone, and fails there for its own sender
            self._lasting = {}
            return False
        for job, result in zip(jobs, results, strict=True):
            job.future.set_result(result)
        return True

    def _shared(self, tx: Transaction) -> dict[Any, Any]:
        version = tx.version()
        if not (tx.goes_on_from(self._version) or (version is None and monotonic() < self._until)):
            self._lasting = {}
            self._until = monotonic() + _LASTS_S
        self._version = version
        return {"lasting": self._lasting}

    def _alone(self, job: _Job) -> None:
        self._lasting = {}
        try:
            with self._store.begin() as tx:
                result = None if job.work is None else job.work(tx, self._shared(tx))
        except BaseException as error:  # noqa: BLE001  # because whoever waits for it raises it
            job.future.set_exception(error)
            self._lasting = {}
        else:
            job.future.set_result(result)
