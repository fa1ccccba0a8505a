"""How do several processes answer on one port? Each inherits the socket; one that dies is replaced.

The first process only watches: it has no database open and no thread, so it can become two at any time. A signal to it
ends all of them, and what they are answering is finished first. A process that ends before it served is a fault of the
settings, which no further try would mend: its words become ours.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any, NoReturn

from hmc_crowd.errors import HmcCrowdError, InputError, PlatformError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Tell = Callable[[list[tuple[str, str]], str], None]

__all__ = ["supervise"]

_MOST_DEATHS = 20
_WITHIN_S = 60.0


def supervise(work: Callable[[Tell], bool], workers: int, *, tell: Tell) -> bool:
    """Work in this process, or in several that this one watches; return whether Ctrl-C ended it.

    Parameters
    ----------
    work : callable
        ``work(tell)`` serves until it is told to stop, calls ``tell`` once it answers, and returns whether Ctrl-C ended
        it.
    workers : int
        How many processes.
    tell : callable
        Says what is served; called once, by whoever answers first.

    Raises
    ------
    InputError
        Several processes are asked for where the system cannot split one.
    PlatformError
        They end again and again.
    """
    if workers == 1:
        return work(tell)
    if not hasattr(os, "fork"):
        raise InputError(f"--workers is {workers}, which this system cannot; serve one process")
    return _Watch(work, workers, tell).run()


class _Watch:
    """The process that watches the others."""

    def __init__(self, work: Callable[[Tell], bool], workers: int, tell: Tell) -> None:
        self._work, self._workers, self._tell = work, workers, tell
        self._alive: set[int] = set()
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS)
        self._stopped_by: int | None = None
        self._has_told = False
        # Nothing is ever written: its end tells the others that this process is gone.
        self._lifeline = os.pipe()

    def run(self) -> bool:
        """Start them, replace those that die, and wait for all of them at the end."""
        before = {each: signal.signal(each, self._stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            while self._stopped_by is None:
                if len(self._alive) < self._workers:
                    self._start()
                else:
                    self._wait()
        finally:
            self._end_all()
            for each, handler in before.items():
                signal.signal(each, handler)
        return self._stopped_by == signal.SIGINT

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._stopped_by = number
        for process in self._alive:
            os.kill(process, signal.SIGTERM)

    def _end_all(self) -> None:
        for process in self._alive:
            os.kill(process, signal.SIGTERM)
        while self._alive:
            self._alive.discard(os.wait()[0])

    def _start(self) -> None:
        """Start one and wait until it serves; raise what kept it from serving."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        process = os.fork()
        if process == 0:
            os.close(reading)
            self._answer(writing)
        os.close(writing)
        self._alive.add(process)
        if self._stopped_by is not None:  # the signal came just before
            os.kill(process, signal.SIGTERM)
        with os.fdopen(reading, "rb") as told:
            said = json.loads(told.readline() or b"{}")
        if "served" in said:
            if not self._has_told:
                self._tell([(what, url) for what, url in said["served"]], said["where"])
                self._has_told = True
        elif "message" in said:
            raise (PlatformError if said["exit_code"] == PlatformError.exit_code else InputError)(said["message"])

    def _wait(self) -> None:
        self._alive.discard(os.wait()[0])
        self._deaths.append(time.monotonic())
        if len(self._deaths) == _MOST_DEATHS and self._deaths[-1] - self._deaths[0] < _WITHIN_S:
            raise PlatformError(f"{_MOST_DEATHS} serving processes ended within a minute; look above for why")

    def _answer(self, writing: int) -> NoReturn:
        """Be one of them, and never come back."""
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        # A terminal's Ctrl-C reaches the whole group; the watching process passes it on in its own words.
        os.setpgid(0, 0)
        os.close(self._lifeline[1])
        threading.Thread(target=self._end_with_the_first, name="lifeline", daemon=True).start()

        def say(**what: Any) -> None:
            os.write(writing, json.dumps(what).encode() + b"\n")

        code = 0
        try:
            self._work(lambda shown, where: say(served=shown, where=where))
        except HmcCrowdError as error:
            code = error.exit_code
            say(message=str(error), exit_code=code)
        except BaseException:  # noqa: BLE001 because nothing may go on in what is a copy of the watching process
            code = 2
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def _end_with_the_first(self) -> None:
        os.read(self._lifeline[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)
