"""Threads that ask, and that an interruption does not wait for, but for the answers that are being paid for.

The threads are daemons: a process that is told to stop does not hang on a pause that a server asked for. Before they
are left, calls under way get a short time to come back, because their answers cost money whoever reads them.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd.judges._ask import Request

__all__ = ["Crew"]

Result = TypeVar("Result")
_LOOK_S = 0.05


class Crew(Generic[Result]):
    """A number of threads that turn requests into results.

    Parameters
    ----------
    many : int
        Threads, started as they are needed.
    work : callable (request, crew) -> result
        Runs in a thread; asks `is_stopped` before it begins anything new, and holds `calling` while it costs money.
    """

    def __init__(self, many: int, work: Callable[[Request, Crew[Result]], Result]) -> None:
        self._many, self._work = many, work
        self._given: SimpleQueue[tuple[int, Request] | None] = SimpleQueue()
        self._taken: SimpleQueue[tuple[int, Result | None, BaseException | None]] = SimpleQueue()
        self._started, self._calls = 0, 0
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self.under_way: set[int] = set()

    @property
    def is_stopped(self) -> bool:
        """Whether nothing new may begin."""
        return self._stopped.is_set()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Count a call that costs money; it is waited for, for a while, even when all else stops."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1

    def give(self, place: int, request: Request) -> None:
        """Hand a request to whichever thread is free next."""
        if self._started < self._many:
            self._started += 1
            threading.Thread(target=self._run, name=f"judge-{self._started}", daemon=True).start()
        self.under_way.add(place)
        self._given.put((place, request))

    def take(self) -> tuple[int, Result]:
        """Return the next result, in whatever order; raise what a thread raised."""
        return self._next(None)

    def leave(self, patience_s: float) -> Iterator[tuple[int, Result]]:
        """Stop, and yield what still comes from calls under way; nothing that is merely queued or pausing."""
        self._stopped.set()
        deadline = time.monotonic() + patience_s
        while self.under_way:
            with self._lock:
                waits = self._calls > 0 and time.monotonic() < deadline
            try:
                yield self._next(_LOOK_S)  # also after the last call: its result may be a moment behind it
            except Empty:
                if not waits:
                    break
            except Exception:  # noqa: BLE001, S112  # because one error is on its way to the caller already
                continue
        for _ in range(self._started):
            self._given.put(None)

    def _next(self, timeout: float | None) -> tuple[int, Any]:
        place, result, error = self._taken.get(timeout=timeout)
        self.under_way.discard(place)
        if error is not None:
            raise error
        return place, result

    def _run(self) -> None:
        while True:
            given = self._given.get()
            if given is None or self.is_stopped:
                return
            place, request = given
            try:
                self._taken.put((place, self._work(request, self), None))
            except BaseException as error:  # noqa: BLE001  # because whatever it is, the caller must hear of it
                self._taken.put((place, None, error))
