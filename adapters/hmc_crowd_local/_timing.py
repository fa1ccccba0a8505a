"""How long did a person really work? Active time from what the page saw, apart from the two clocks of the server.

Active time is the sum of the gaps between events while the page was visible, each gap cut at a reading allowance for
the item that is shown: at least a minute, more for long texts, at most ten minutes. Heartbeats say that the page is
open, not that anybody is there, and count for nothing. Raw events are kept, so another rule can be applied later.

A person has one clock: a second counts once, in however many pages and HITs it was spent (`beyond`), and none outside
the time that our server saw the work take (`within`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "EVENT_KINDS",
    "PageEvent",
    "Span",
    "active_seconds",
    "active_spans",
    "beyond",
    "clocks_disagree",
    "reading_allowance_s",
    "seconds_of",
    "time_quality",
    "within",
]

Span = tuple[datetime, datetime]

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
    page : str, optional
        Which opening of the page saw it: two tabs are two pages.
    page_ms, epoch_ms : float, optional
        The page's own clocks, as sent: since the page opened, and of the device.
    """

    kind: str
    at: datetime
    item: str | None = None
    page: str | None = None
    page_ms: float | None = None
    epoch_ms: float | None = None

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

    Each opening of a page is a time line of its own; where two overlap (tabs), a second counts once.

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
    spans, was_cut = active_spans(events, allowance_s)
    return seconds_of(spans), was_cut


def active_spans(events: Iterable[PageEvent], allowance_s: Mapping[str, float]) -> tuple[list[Span], bool]:
    """Return when somebody was active, as spans in order that do not overlap, and whether any gap was cut."""
    pages: dict[str | None, list[PageEvent]] = {}
    for event in sorted(events, key=lambda event: event.at):
        if event.kind != "heartbeat":
            pages.setdefault(event.page, []).append(event)
    spans: list[Span] = []
    was_cut = False
    for seen in pages.values():
        found, cut = _active_spans(seen, allowance_s)
        spans += found
        was_cut = was_cut or cut
    return _union(spans), was_cut


def within(spans: Iterable[Span], begin: datetime, end: datetime) -> list[Span]:
    """Return the parts of spans that lie between two moments."""
    cut = [(max(first, begin), min(last, end)) for first, last in spans]
    return [(first, last) for first, last in cut if last > first]


def beyond(spans: Iterable[Span], counted: Iterable[Span]) -> list[Span]:
    """Return the parts of spans that were not counted before.

    >>> from datetime import UTC, datetime, timedelta
    >>> at = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=s) for s in range(100)]
    >>> seconds_of(beyond([(at[0], at[50]), (at[60], at[70])], [(at[10], at[20]), (at[40], at[65])]))
    35.0
    """
    left = _union(spans)
    for first, last in _union(counted):
        kept = []
        for begin, end in left:
            if end <= first or begin >= last:
                kept.append((begin, end))
                continue
            kept += [each for each in ((begin, first), (last, end)) if each[1] > each[0]]
        left = kept
    return left


def _active_spans(seen: list[PageEvent], allowance_s: Mapping[str, float]) -> tuple[list[Span], bool]:
    """Return when one page was visible and used, each gap cut at its allowance, and whether one was cut."""
    spans, was_cut, is_visible = [], False, True
    shown: str | None = None
    last: datetime | None = None
    for event in seen:
        if last is not None and is_visible:
            end = min(event.at, last + timedelta(seconds=allowance_s.get(shown or "", _LEAST_S)))
            was_cut = was_cut or end < event.at
            spans.append((last, end))
        last = event.at
        if event.kind in {"hidden", "blur"}:
            is_visible = False
        elif event.kind in {"visible", "focus", "input", "shown", "answer"}:
            # Recent input counts as focus: inside a frame, blur fires for the page around it too.
            is_visible = True
        if event.kind == "shown":
            shown = event.item
    return spans, was_cut


def _union(spans: Iterable[Span]) -> list[Span]:
    """Return what lies in at least one of the spans, in order."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def seconds_of(spans: Iterable[Span]) -> float:
    """Return the seconds that lie in at least one of the spans."""
    return sum((end - begin for begin, end in _union(spans)), timedelta()).total_seconds()


def clocks_disagree(events: Iterable[PageEvent], *, most_s: float = 2.0) -> bool:
    """Say whether, on some page, the page's clock and the device's ran apart: one was set, or the device slept.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> clocks_disagree([PageEvent("shown", now, None, "p", 0.0, 9e5), PageEvent("submit", now, None, "p", 5e3, 9.7e5)])
    True
    """
    offsets: dict[str, list[float]] = {}
    for event in events:
        if event.page is not None and event.page_ms is not None and event.epoch_ms is not None:
            offsets.setdefault(event.page, []).append(event.epoch_ms - event.page_ms)
    return any(max(each) - min(each) > most_s * 1000 for each in offsets.values())


def time_quality(*, platform_s: float, page_s: float | None, active_s: float | None, was_cut: bool) -> str:
    """Say what the clocks of a submission are worth: ok, capped, no_heartbeat or clock_suspect."""
    if active_s is None:
        return "no_heartbeat"
    page = platform_s if page_s is None else page_s
    if not (active_s <= page + 2 and page + 2 <= platform_s + 5):
        return "clock_suspect"
    return "capped" if was_cut else "ok"
