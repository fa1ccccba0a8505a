"""A limit on the whole of one call: boto3 limits the wait for the next bytes, never their sum.

The call runs in a thread of its own; when its time is over we go on without it, and what it may have done is unknown,
as after any lost answer.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DeadlineError", "within"]

T = TypeVar("T")


class DeadlineError(Exception):
    """A call took longer than it may."""


def within(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns, or raise what it raises, if that comes in time.

    Raises
    ------
    DeadlineError
        It did not.

    Examples
    --------
    >>> within(lambda: 2 + 2, 5)
    4
    """
    done: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((call(), None))
        except BaseException as error:  # noqa: BLE001 because it is raised where the call was asked for
            done.put((None, error))

    # A daemon: an endpoint that never ends must not keep the program from ending.
    threading.Thread(target=run, name="mturk-call", daemon=True).start()
    try:
        result, error = done.get(timeout=seconds)
    except queue.Empty:
        raise DeadlineError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return cast("T", result)
