"""What happens when a simulated crowd takes the open places? The same steps a person takes, at simulated times.

A worker does one HIT after another on a time line of his own; a place that was given back or ran out can be taken again
from that moment on. Every step goes through the worker's door of the `Desk`, so a rehearsal obeys every rule and stamps
every clock that real work does.
"""

from __future__ import annotations

import heapq
from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd.platform import SubmissionState
from hmc_crowd.simulation import Question
from hmc_crowd_local._arms import is_swapped, mode_of
from hmc_crowd_local._records import AnswerRecord
from hmc_crowd_local._timing import PageEvent

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd.platform import Hit
    from hmc_crowd.simulation import Crowd, SimulatedAnswer, SimulatedWork
    from hmc_crowd_local._desk import Desk
    from hmc_crowd_local._records import SubmissionRecord

__all__ = ["rehearse_desk"]

# A page reports input once a second at most; one sign of life per half minute is enough to never be cut as absence.
_INPUT_EVERY_S = 30.0


def rehearse_desk(
    desk: Desk,
    crowd: Crowd,
    hit_ids: Iterable[str],
    *,
    start: datetime,
    busy_until: dict[str, datetime] | None = None,
    max_submissions: int | None = None,
    arms: bytes = b"",
) -> int:
    """Let the crowd work on these HITs until no place is free or nobody wants one; return how many were handed in.

    Parameters
    ----------
    desk : Desk
        Holds the HITs, their submissions, and the claims on their questions.
    crowd : Crowd
        Who works.
    hit_ids : iterable of str
        In the order in which they are offered.
    start : datetime
        Nobody starts before.
    busy_until : dict of str to datetime, optional
        When each worker is free; brought up to date in place.
    max_submissions : int, optional
        Stop after so many.
    arms : bytes
        Draws who is shown the machine's suggestions; simulated workers take no notice of them.
    """
    timeline = {} if busy_until is None else busy_until
    total = 0
    for hit_id in hit_ids:
        left = None if max_submissions is None else max_submissions - total
        if left is not None and left <= 0:
            break
        total += _fill_places(desk, crowd, hit_id, start, timeline, left, arms)
    return total


def _fill_places(
    desk: Desk,
    crowd: Crowd,
    hit_id: str,
    start: datetime,
    timeline: dict[str, datetime],
    left: int | None,
    arms: bytes,
) -> int:
    record = desk.hit(hit_id)
    desk.sweep(hit_id, at=start)
    if not record.is_offered(start):
        return 0
    free_at = [start] * len(desk.free_places(hit_id))
    questions = _questions(record.hit)
    too_late: set[str] = set()
    done = 0
    while free_at and (left is None or done < left):
        work = crowd.work(record.hit.key, questions, desk.barred(hit_id) | too_late)
        if work is None:
            break
        begin = max(free_at[0], timeline.get(work.worker, start)) + timedelta(seconds=work.starts_after_s)
        if begin >= record.closes_at:
            # He would come when the HIT is offered no more; another one may be sooner.
            too_late.add(work.worker)
            continue
        heapq.heappop(free_at)
        submission = desk.accept(hit_id, work.worker, at=begin)
        timeline[work.worker] = _do(desk, submission, work, begin, arms)
        if submission.state is SubmissionState.SUBMITTED:
            done += 1
        elif submission.ended_at is not None:
            heapq.heappush(free_at, submission.ended_at)
    return done


def _do(desk: Desk, submission: SubmissionRecord, work: SimulatedWork, begin: datetime, arms: bytes) -> datetime:
    """Do the work through the door; return when the worker is free again."""
    name, worker = submission.submission_id, submission.worker
    hit = desk.hit(submission.hit_id).hit
    pairs = {(each.item, each.aspect) for each in hit.items if each.kind == "pair"}
    desk.render(name, worker, at=begin)
    now = begin
    for answer in work.answers:
        events, done_at = _page(answer, now)
        desk.record_events(name, worker, events)
        swapped = is_swapped(name, answer.item) if (answer.item, answer.aspect) in pairs else None
        mode = mode_of(arms, hit, worker, answer.item)
        record = AnswerRecord(answer.item, answer.aspect, answer.label, now, done_at, swapped, mode)
        desk.save(name, worker, record, at=done_at)
        now = done_at
    if work.outcome == "submit":
        desk.submit(name, worker, at=now)
    elif work.outcome == "return" and now <= submission.deadline_at:
        desk.give_back(name, worker, at=now)
    elif submission.state is SubmissionState.ACCEPTED:
        desk.lapse(name)
    return now


def _page(answer: SimulatedAnswer, shown_at: datetime) -> tuple[list[PageEvent], datetime]:
    """Return what the page would report between showing a question and its answer, and when that comes."""
    work_s = answer.setup_s + answer.seconds
    events = [
        PageEvent("input", shown_at + timedelta(seconds=(i + 1) * _INPUT_EVERY_S), answer.item)
        for i in range(int(work_s // _INPUT_EVERY_S))
    ]
    left_at = shown_at + timedelta(seconds=work_s)
    done_at = left_at + timedelta(seconds=answer.idle_s)
    if answer.idle_s > 0:
        events += [PageEvent("hidden", left_at), PageEvent("visible", done_at)]
    return events, done_at


def _questions(hit: Hit) -> tuple[Question, ...]:
    """Return the questions as a simulated worker sees them; the context is read once, with a group's first question."""
    seen: set[str] = set()
    questions = []
    for each in hit.items:
        texts = [each.text] if each.group in seen else [*each.context, each.text]
        seen.add(each.group)
        n_words = sum(len(text.split()) for text in texts)
        # Of numbers, sets and texts the labels are not the answers: a simulated worker gives what he knows.
        labels = each.labels if each.kind in {"nominal", "ordinal", "pair"} else ()
        questions.append(Question(each.item, each.aspect, each.group, n_words, labels))
    return tuple(questions)
