"""The three clocks of a submission, stopped when it is handed in, given back or out of time.

The platform's clock is accept to end and is read from the record; page time runs from first render to end, both
on our server; active time comes from the page's events, together with the times at which each question was shown and
answered. It lies within the platform's clock, and what was counted for another HIT of the same worker is not counted
again: whoever hands a HIT in first has that time, and the clocks of the other are marked ``overlap_adjusted``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd_local._timing import (
    PageEvent,
    active_spans,
    beyond,
    clocks_disagree,
    seconds_of,
    time_quality,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd_local._records import AnswerRecord, HitRecord, SubmissionRecord
    from hmc_crowd_local._timing import Span

__all__ = ["stop_clocks"]


def stop_clocks(
    record: SubmissionRecord,
    hit: HitRecord,
    answers: Iterable[AnswerRecord],
    events: Iterable[PageEvent],
    *,
    at: datetime,
    counted: Iterable[Span] = (),
) -> list[Span]:
    """Fill page time, active time and their quality into a record whose work has just ended, handed in or not.

    ``counted`` are the spans that were counted for the worker's other HITs; returned are those counted for this one.
    """
    if record.rendered_at is not None:
        record.page_elapsed_s = (at - record.rendered_at).total_seconds()
    seen = [*events, *_answer_events(answers)]
    claimed, was_cut = active_spans(seen, hit.allowances_s())
    record.time_quality = time_quality(
        platform_s=(at - record.accepted_at).total_seconds(),
        page_s=record.page_elapsed_s,
        active_s=seconds_of(claimed) if seen else None,
        was_cut=was_cut,
    )
    if clocks_disagree(seen):
        record.time_quality = "clock_suspect"
    if not seen:
        return []
    own = within(claimed, record.accepted_at, at)
    spans = beyond(own, counted)
    record.active_s = seconds_of(spans)
    if record.active_s < seconds_of(own) and record.time_quality in {"ok", "capped"}:
        record.time_quality = "overlap_adjusted"
    return spans


def _answer_events(answers: Iterable[AnswerRecord]) -> list[PageEvent]:
    """Return shown and answered as the answers have it; where the page reported the same they add nothing."""
    events = []
    for answer in answers:
        if answer.shown_at is not None and answer.answered_at is not None:
            events.append(PageEvent("shown", answer.shown_at, answer.item))
            events.append(PageEvent("answer", answer.answered_at, answer.item))
    return events
