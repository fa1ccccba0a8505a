"""Calls that say "later": how long to wait, and when to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from hmc_crowd.errors import InputError, PlatformUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from hmc_crowd._base.clock import Clock

__all__ = ["retry_later"]

T = TypeVar("T")


def retry_later(
    call: Callable[[], T],
    *,
    clock: Clock,
    sleep: Callable[[float], object],
    rng: np.random.Generator,
    first_s: float = 2.0,
    most_s: float = 120.0,
    deadline_s: float = 900.0,
) -> T:
    """Call something until it does not say "later" any more; pauses double, with jitter, within a deadline.

    For calls that may be repeated: reads, and approvals of work that the platform does not show yet.

    Parameters
    ----------
    call : callable
        What to call; only `PlatformUnavailableError` is waited out.
    clock, sleep
        The time, and how to wait.
    rng : numpy.random.Generator
        Draws the jitter: between half of a pause and all of it.
    first_s, most_s : float
        First and longest pause, seconds.
    deadline_s : float, default 900
        No pause goes beyond so long after the first call.

    Raises
    ------
    PlatformUnavailableError
        The last one, when the deadline is reached.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> import numpy as np
    >>> from hmc_crowd._base.clock import VirtualClock
    >>> clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> retry_later(lambda: "done", clock=clock, sleep=clock.advance, rng=np.random.default_rng(0))
    'done'
    """
    if not 0 < first_s <= most_s:
        raise InputError(f"first_s is {first_s}, most_s is {most_s}; give 0 < first_s <= most_s")
    start, pause = clock.now(), first_s
    while True:
        try:
            return call()
        except PlatformUnavailableError:
            wait = pause * float(rng.uniform(0.5, 1.0))
            if (clock.now() - start).total_seconds() + wait > deadline_s:
                raise
        sleep(wait)
        pause = min(2.0 * pause, most_s)
