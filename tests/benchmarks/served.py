"""What does a served request cost? The processor time of a server's processes, and how busy the machine was meanwhile.

Times on the clock are those of this moment on this machine; processor time hardly depends on what else runs.
"""

from __future__ import annotations

import gc
import os

import numpy as np
import psutil

__all__ = ["Served", "quiet_collector", "waits_row"]


class Served:
    """A server's processes, from the moment this is made.

    Parameters
    ----------
    pid : int
        The process that was started; those it started count too.
    """

    def __init__(self, pid: int) -> None:
        first = psutil.Process(pid)
        self._processes = [first, *first.children(recursive=True)]
        self._begun, self._load = self._used(), os.getloadavg()[0]

    def _used(self) -> list[float]:
        times = [each.cpu_times() for each in self._processes]
        return [each.user + each.system for each in times]

    def spent_s(self) -> list[float]:
        """Return the processor time of each process so far, in seconds."""
        return [now - begun for now, begun in zip(self._used(), self._begun, strict=True)]

    def load_row(self) -> tuple[str, str]:
        """Return how many processes wanted to run, before and at the end, as a row of a table."""
        return "load of the machine", f"{self._load:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} cores"


def quiet_collector() -> None:
    """Keep the collector from looking through all that is imported here: its pauses are not the server's."""
    gc.collect()
    gc.freeze()


def waits_row(what: str, waits_s: list[float]) -> tuple[str, str]:
    """Return how long requests waited as a row of a table."""
    p50, p99, longest = np.quantile(waits_s, [0.5, 0.99, 1.0]) * 1000
    return what, f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {longest:,.0f} ms"
