"""The three clocks of a submission, stopped when it is handed in, given back or out of time.

The platform's clock is accept to end and is read from the record; page time runs from first render to end, both
on our server; active time comes from the page's events, together with the times at which each question was shown and
answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd_local._timing import PageEvent, active_seconds, clocks_disagree, time_quality

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd_local._records import AnswerRecord, HitRecord, SubmissionRecord

__all__ = ["stop_clocks"]


def stop_clocks(
    record: SubmissionRecord,
    hit: HitRecord,
    answers: Iterable[AnswerRecord],
    events: Iterable[PageEvent],
    *,
    at: datetime,
) -> None:
    """Fill page time, active time and their quality into a record whose work has just ended, handed in or not."""
    if record.rendered_at is not None:
        record.page_elapsed_s = (at - record.rendered_at).total_seconds()
    seen = [*events, *_answer_events(answers)]
    was_cut = False
    if seen:
        record.active_s, was_cut = active_seconds(seen, hit.allowances_s())
    record.time_quality = time_quality(
        platform_s=(at - record.accepted_at).total_seconds(),
        page_s=record.page_elapsed_s,
        active_s=record.active_s,
        was_cut=was_cut,
    )
    if clocks_disagree(seen):
        record.time_quality = "clock_suspect"


def _answer_events(answers: Iterable[AnswerRecord]) -> list[PageEvent]:
    """Return shown and answered as the answers have it; where the page reported the same they add nothing."""
    events = []
    for answer in answers:
        if answer.shown_at is not None and answer.answered_at is not None:
            events.append(PageEvent("shown", answer.shown_at, answer.item))
            events.append(PageEvent("answer", answer.answered_at, answer.item))
    return events
