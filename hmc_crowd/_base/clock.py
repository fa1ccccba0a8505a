"""Time as something passed in, always aware UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

from hmc_crowd.errors import InputError

__all__ = ["Clock", "SystemClock", "VirtualClock", "as_utc"]


class Clock(Protocol):
    """Anything that tells the time."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        return datetime.now(UTC)


class VirtualClock:
    """A clock that stands still until it is told to advance; for simulations and tests.

    Examples
    --------
    >>> clock = VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
    >>> clock.advance(90.0).isoformat()
    '2026-01-01T00:01:30+00:00'
    """

    def __init__(self, start: datetime) -> None:
        self._now = as_utc(start, name="start")

    def now(self) -> datetime:
        """Return the moment the clock stands at."""
        return self._now

    def advance(self, seconds: float) -> datetime:
        """Move forward by ``seconds`` >= 0 and return the new moment."""
        if not seconds >= 0:
            raise InputError(f"seconds is {seconds}; a clock only moves forward, give 0 or more")
        self._now += timedelta(seconds=seconds)
        return self._now

    def advance_to(self, moment: datetime) -> datetime:
        """Move forward to ``moment``; stay where it is if that has passed already."""
        self._now = max(self._now, as_utc(moment, name="moment"))
        return self._now


def as_utc(moment: datetime, *, name: str) -> datetime:
    """Convert an aware time to UTC; refuse a naive one, whose zone nobody knows.

    Examples
    --------
    >>> as_utc(datetime(2026, 1, 1, tzinfo=UTC), name="start").isoformat()
    '2026-01-01T00:00:00+00:00'
    """
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InputError(f"{name} is {moment.isoformat()} without a time zone; pass an aware time, for example in UTC")
    return moment.astimezone(UTC)
