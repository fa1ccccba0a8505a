"""The server's log: what strangers send can neither fill it nor forge a line of it.

A line is cut, its control characters are escaped, and the same line of code writes only so often in a minute: what was
left out is counted and said. Of what failed inside, the first traceback of each kind in a minute is kept.
"""

from __future__ import annotations

import logging
import traceback
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from hmc_crowd._base.printable import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["BoundedHandler", "bounded_log"]

_LONGEST = 1_000
_LONGEST_TRACEBACK = 4_000
_MOST_KINDS = 1_000


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes records in lines of bounded length, each kind so many times in a minute.

    Parameters
    ----------
    stream : text file, optional
        Where to; standard error by default.
    per_minute : int, default 5
        How often one line of code may write in a minute.
    clock : callable
        Seconds, for tests.
    """

    def __init__(
        self, stream: TextIO | None = None, *, per_minute: int = 5, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(stream)
        self._most, self._clock = per_minute, clock
        self._written: dict[tuple[str, str, int], list[float]] = {}  # kind -> [since, written, left out]

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        kind = _kind(record)
        now = self._clock()
        since, written, left_out = self._written.pop(kind, [now, 0, 0])
        if now - since >= 60:
            self._say_left_out(kind, left_out)
            since, written, left_out = now, 0, 0
        if written < self._most:
            self._write(_line(record, with_traceback=written == 0))
            written += 1
        else:
            left_out += 1
        self._written[kind] = [since, written, left_out]
        if len(self._written) > _MOST_KINDS:
            oldest = next(iter(self._written))
            self._say_left_out(oldest, self._written.pop(oldest)[2])

    def close(self) -> None:
        """Say what was left out, at the end."""
        for kind, (_, _, left_out) in self._written.items():
            self._say_left_out(kind, left_out)
        self._written.clear()
        super().close()

    def _say_left_out(self, kind: tuple[str, str, int], count: float) -> None:
        if count:
            self._write(f"WARNING {kind[0]}: {int(count):,} more like the last of {kind[1]}:{kind[2]} were left out")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text + self.terminator)
            self.flush()
        except (OSError, ValueError):  # a closed terminal; there is nobody to be told
            return


def _kind(record: logging.LogRecord) -> tuple[str, str, int]:
    """Return what a record is counted under: the line that wrote it, or where what it tells of was raised."""
    error = record.exc_info[1] if record.exc_info else None
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    if frames:
        return record.name, frames[-1].filename.rpartition("/")[2], frames[-1].lineno or 0
    return record.name, record.filename, record.lineno


def _line(record: logging.LogRecord, *, with_traceback: bool) -> str:
    try:
        said = record.getMessage()
    except (TypeError, ValueError):
        said = str(record.msg)
    line = f"{record.levelname} {record.name}: {_cut(escaped(said.rstrip()), _LONGEST)}"
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return line
    if not with_traceback:
        return f"{line}: {_cut(escaped(f'{type(error).__name__}: {error}'), 200)}"
    told = "".join(traceback.format_exception(error))
    told = told if len(told) <= _LONGEST_TRACEBACK else "..." + told[-_LONGEST_TRACEBACK:]
    # Indented, so that nothing inside can pass for a line of its own.
    return "\n".join([line, *(f"    {escaped(each)}" for each in told.splitlines())])


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


@contextmanager
def bounded_log() -> Iterator[BoundedHandler]:
    """Let everything that is logged meanwhile be written by a `BoundedHandler`, from warnings on."""
    root, handler = logging.getLogger(), BoundedHandler()
    root.addHandler(handler)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
        handler.close()
