"""How long did a person really work? Active time from what the page saw, apart from the two clocks of the server.

Active time is the sum of the gaps between events while the page was visible, each gap cut at a reading allowance for
the item that is shown: at least a minute, more for long texts, at most ten minutes. Heartbeats say that the page is
open, not that anybody is there, and count for nothing. Raw events are kept, so another rule can be applied later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["EVENT_KINDS", "PageEvent", "active_seconds", "reading_allowance_s", "time_quality"]

EVENT_KINDS = ("shown", "visible", "hidden", "focus", "blur", "input", "answer", "submit", "heartbeat")
_LEAST_S, _MOST_S = 60.0, 600.0


@dataclass(frozen=True)
class PageEvent:
    """Something the page saw, at a time that our server stamped.

    Parameters
    ----------
    kind : str
        One of shown, visible, hidden, focus, blur, input, answer, submit, heartbeat.
    at : datetime
        Aware.
    item : str, optional
        The item that was shown or answered.
    """

    kind: str
    at: datetime
    item: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in EVENT_KINDS:
            raise InputError(f"kind of a page event is {self.kind!r}; use one of {', '.join(EVENT_KINDS)}")


def reading_allowance_s(n_words: int) -> float:
    """Return the longest gap without a sign of life that still counts as reading this many words.

    >>> reading_allowance_s(10), reading_allowance_s(100), reading_allowance_s(5000)
    (60.0, 90.0, 600.0)
    """
    return min(_MOST_S, max(_LEAST_S, 60.0 * n_words / 100.0 + 30.0))


def active_seconds(events: Iterable[PageEvent], allowance_s: Mapping[str, float]) -> tuple[float, bool]:
    """Return seconds of activity and whether any gap was cut.

    Parameters
    ----------
    events : iterable of PageEvent
        In any order; equal times keep the order given.
    allowance_s : mapping of str to float
        Longest gap that counts, by item shown; a minute where none is known.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> seen = [("shown", 0), ("hidden", 10), ("visible", 500), ("answer", 505)]
    >>> active_seconds([PageEvent(kind, start + timedelta(seconds=s)) for kind, s in seen], {})
    (15.0, False)
    """
    total, was_cut, is_visible = 0.0, False, True
    shown: str | None = None
    last: datetime | None = None
    for event in sorted(events, key=lambda event: event.at):
        if event.kind == "heartbeat":
            continue
        if last is not None and is_visible:
            gap = (event.at - last).total_seconds()
            cap = allowance_s.get(shown or "", _LEAST_S)
            total += min(gap, cap)
            was_cut = was_cut or gap > cap
        last = event.at
        if event.kind in {"hidden", "blur"}:
            is_visible = False
        elif event.kind in {"visible", "focus", "input", "shown", "answer"}:
            # Recent input counts as focus: inside a frame, blur fires for the page around it too.
            is_visible = True
        if event.kind == "shown":
            shown = event.item
    return total, was_cut


def time_quality(*, platform_s: float, page_s: float | None, active_s: float | None, was_cut: bool) -> str:
    """Say what the clocks of a submission are worth: ok, capped, no_heartbeat or clock_suspect."""
    if active_s is None:
        return "no_heartbeat"
    page = platform_s if page_s is None else page_s
    if not (active_s <= page + 2 and page + 2 <= platform_s + 5):
        return "clock_suspect"
    return "capped" if was_cut else "ok"
