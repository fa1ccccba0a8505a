"""How do many small requests share one commit? Those that wait while a transaction runs go into the next one together.

A commit waits for the disk, so one for each request would bound how many there are. Nobody is answered before his
commit. Where one of a group fails, all are undone and each gets a transaction of its own: a job may run twice, and
only its last run counts.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.store import Store, Transaction

    Work = Callable[[Transaction, dict[Any, Any]], Any]

__all__ = ["Group"]

_MOST = 64


class _Job:
    """What one thread wants done, and what came of it."""

    def __init__(self, work: Work) -> None:
        self.work, self.is_done = work, False
        self.result: Any = None
        self.error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.is_done = result, error, True


class Group:
    """Runs jobs of many threads in few transactions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn, self._line = Lock(), Lock()
        self._waiting: list[_Job] = []

    def run(self, work: Work) -> Any:
        """Run ``work(tx, shared)`` in a transaction; ``shared`` is a dict of that transaction's jobs.

        Raises
        ------
        HmcCrowdError
            What the job, or its commit, raised.
        """
        job = _Job(work)
        with self._line:
            self._waiting.append(job)
        with self._turn:
            while not job.is_done:
                self._next()
        if job.error is not None:
            raise job.error
        return job.result

    def _next(self) -> None:
        with self._line:
            jobs, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        if not self._together(jobs):
            for job in jobs:
                self._alone(job)

    def _together(self, jobs: list[_Job]) -> bool:
        shared: dict[Any, Any] = {}
        try:
            with self._store.begin() as tx:
                results = [job.work(tx, shared) for job in jobs]
        except Exception:  # noqa: BLE001  # because each job is run again alone, and raises there for its own thread
            return False
        for job, result in zip(jobs, results, strict=True):
            job.end(result)
        return True

    def _alone(self, job: _Job) -> None:
        try:
            with self._store.begin() as tx:
                result = job.work(tx, {})
        except BaseException as error:  # noqa: BLE001  # because the thread that waits for it raises it
            job.end(error=error)
        else:
            job.end(result)
