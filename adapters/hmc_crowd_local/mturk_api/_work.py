"""The worker's steps: look, accept, hand in, give back (rules R7 and R12).

A worker has a HIT once; a place that was returned or abandoned is free again. Work that comes after its deadline is
kept and flagged, so that a person can pay for it; it is not counted.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._fold import DAY, MOST_EVENTS, MOST_EVENTS_A_DAY, kept_of, today_of
from hmc_crowd_local._spans import MTURK, counted_spans, keep_spans
from hmc_crowd_local._tables_mturk import ASSIGNMENT, BLOCK, HIT_TYPE, LIVE, M_EVENT, M_HIT
from hmc_crowd_local._timing import PageEvent, active_spans, beyond, seconds_of, time_quality, within
from hmc_crowd_local.mturk_api._answer_key import form_fields
from hmc_crowd_local.mturk_api._assignments import find_assignment
from hmc_crowd_local.mturk_api._call import counts_of, hold
from hmc_crowd_local.mturk_api._hit_views import status_of
from hmc_crowd_local.mturk_api._policies import review_assignment, review_hit
from hmc_crowd_local.mturk_api._problems import TurkError, invalid, wrong_state
from hmc_crowd_local.mturk_api._questions import read_question
from hmc_crowd_local.mturk_api._requirements import unmet
from hmc_crowd_local.mturk_api._xml import answers_xml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["accept", "give_back", "record_events", "render", "require_may", "save_draft", "submit", "under_way"]

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"


def require_may(call: Call, hit: Any, worker: str, action: str) -> None:
    """Refuse a worker who is blocked, or lacks a qualification that guards the action."""
    blocked = sa.select(BLOCK.c.reason).where(BLOCK.c.account_id == call.account_id, BLOCK.c.worker == worker)
    if call.connection.execute(blocked).first() is not None:
        raise TurkError("PermissionDeniedException", "This requester does not give you work any more.")
    requirements = call.connection.execute(
        sa.select(HIT_TYPE.c.requirements).where(HIT_TYPE.c.hit_type_id == hit.hit_type_id)
    ).scalar_one()
    reason = unmet(call, json.loads(requirements), worker, action)
    if reason is not None:
        raise TurkError("DoesNotMeetRequirements", reason)


def accept(call: Call, hit_id: str, worker: str) -> Any:
    """Take a place; who has one under way gets that one back."""
    hit = call.hit(hit_id)
    mine = sa.select(ASSIGNMENT).where(
        ASSIGNMENT.c.hit_id == hit_id, ASSIGNMENT.c.worker == worker, ASSIGNMENT.c.state.in_(LIVE)
    )
    held = call.connection.execute(mine).one_or_none()
    if held is not None and held.state == "accepted":
        return held
    if held is not None:
        raise TurkError("ExceedsMaxAssignmentsPerWorker", "You have done this HIT already.")
    status = status_of(hit, counts_of(call.connection, [hit_id])[hit_id], call.now)
    if status != "Assignable":
        raise wrong_state("HIT", "Assignable", status)
    require_may(call, hit, worker, "Accept")
    duration = call.connection.execute(
        sa.select(HIT_TYPE.c.duration_s).where(HIT_TYPE.c.hit_type_id == hit.hit_type_id)
    ).scalar_one()
    row: dict[str, Any] = {
        "assignment_id": _assignment_id(call, hit_id, worker),
        "worker": worker,
        "account_id": call.account_id,
        "hit_id": hit_id,
        "state": "accepted",
        "accepted_at": call.now,
        "deadline_at": call.now + timedelta(seconds=duration),
        "is_auto": False,
        "is_late": False,
        "time_quality": "no_heartbeat",
    }
    call.connection.execute(sa.insert(ASSIGNMENT).values(row))
    call.tell("AssignmentAccepted", hit, row["assignment_id"])
    return call.connection.execute(mine).one()


def _assignment_id(call: Call, hit_id: str, worker: str) -> str:
    """Return a new id, or where that is set one that another worker gave up."""
    if call.settings.reuse_assignment_ids:
        rows = call.connection.execute(sa.select(ASSIGNMENT).where(ASSIGNMENT.c.hit_id == hit_id)).all()
        taken = {row.assignment_id for row in rows if row.state in LIVE or row.worker == worker}
        free = sorted({row.assignment_id for row in rows} - taken)
        if free:
            return str(free[0])
    return call.new_id()


def _mine(row: Any) -> sa.ColumnElement[bool]:
    return sa.and_(ASSIGNMENT.c.assignment_id == row.assignment_id, ASSIGNMENT.c.worker == row.worker)


def own(call: Call, assignment_id: str, worker: str | None) -> Any:
    """Return the row of an assignment; one that another worker has now is not that of this worker."""
    if assignment_id == PREVIEW_ID:
        raise invalid("This is a preview: accept the HIT first, then hand it in.")
    if worker is None:
        return find_assignment(call, assignment_id)
    row = call.connection.execute(
        sa.select(ASSIGNMENT).where(ASSIGNMENT.c.assignment_id == assignment_id, ASSIGNMENT.c.worker == worker)
    ).one_or_none()
    if row is None:
        raise TurkError("AssignmentDoesNotExist", f"Assignment {assignment_id} is not that of worker {worker}.")
    return row


def render(call: Call, row: Any) -> None:
    """Note when the page was first shown."""
    if row.rendered_at is None:
        call.connection.execute(sa.update(ASSIGNMENT).where(_mine(row)).values(rendered_at=call.now))


def submit(call: Call, assignment_id: str, fields: Sequence[tuple[str, str]], worker: str | None = None) -> Any:
    """Hand an assignment in; asked again nothing changes; after the deadline it is kept, flagged and not counted."""
    row = own(call, assignment_id, worker)
    if row.state in {"submitted", "approved", "rejected"} or row.is_late:
        return row
    if row.state == "returned":
        raise wrong_state("Assignment", "Accepted", "Returned")
    if not fields:
        raise invalid("The form has no field besides assignmentId; at least one answer is needed")
    hit = call.hit(row.hit_id)
    kept = _typed(call, hit, fields)
    is_late = row.state == "expired"
    values: dict[str, Any] = {
        "submitted_at": call.now,
        "answer": answers_xml(kept),
        "fields": json.dumps(kept, ensure_ascii=True),
        "draft": None,
        "is_late": is_late,
        **_clocks(call, row),
    }
    if not is_late:
        delay = call.connection.execute(
            sa.select(HIT_TYPE.c.auto_approval_s).where(HIT_TYPE.c.hit_type_id == hit.hit_type_id)
        ).scalar_one()
        values.update(state="submitted", auto_approve_at=call.now + timedelta(seconds=delay))
    call.connection.execute(sa.update(ASSIGNMENT).where(_mine(row)).values(values))
    if not is_late:
        _after_submit(call, hit, row)
    return call.connection.execute(sa.select(ASSIGNMENT).where(_mine(row))).one()


def _after_submit(call: Call, hit: Any, row: Any) -> None:
    call.tell("AssignmentSubmitted", hit, row.assignment_id)
    fresh = call.connection.execute(sa.select(ASSIGNMENT).where(_mine(row))).one()
    review_assignment(call, hit, fresh)
    if status_of(call.hit(hit.hit_id), counts_of(call.connection, [hit.hit_id])[hit.hit_id], call.now) == "Reviewable":
        call.tell("HITReviewable", hit)
    review_hit(call, hit.hit_id)


def _typed(call: Call, hit: Any, fields: Sequence[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return (identifier, kind, value); values of one name that no QuestionForm explains are joined by ``|``."""
    question = read_question(hit.question, call.settings)
    if question.form is not None:
        return form_fields(question.form, fields)
    joined: dict[str, list[str]] = {}
    for name, value in fields:
        joined.setdefault(name, []).append(value)
    return [(name, "FreeText", "|".join(values)) for name, values in joined.items()]


def _clocks(call: Call, row: Any) -> dict[str, Any]:
    """Stop page time and active time; the platform's clock is read from accept and submit."""
    page_s = None if row.rendered_at is None else (call.now - row.rendered_at).total_seconds()
    rows = call.connection.execute(
        sa.select(M_EVENT)
        .where(M_EVENT.c.assignment_id == row.assignment_id, M_EVENT.c.worker == row.worker)
        .order_by(M_EVENT.c.seq)
    )
    events = [PageEvent(each.kind, each.at, each.item) for each in rows]
    claimed, was_cut = active_spans(events, {})
    claimed_s = seconds_of(claimed) if events else None
    platform_s = (call.now - row.accepted_at).total_seconds()
    quality = time_quality(platform_s=platform_s, page_s=page_s, active_s=claimed_s, was_cut=was_cut)
    if not events:
        return {"page_elapsed_s": page_s, "active_s": None, "time_quality": quality}
    # What a page claims is cut at our own clock, and no second of a worker counts in two HITs.
    own = within(claimed, row.accepted_at, call.now)
    counted = counted_spans(call.connection, MTURK, row.worker, since=row.accepted_at)
    others = [span for name, spans in counted.items() if name != row.assignment_id for span in spans]
    spans = beyond(own, others)
    keep_spans(call.connection, MTURK, {(row.assignment_id, row.worker): spans})
    active_s = seconds_of(spans)
    if active_s < seconds_of(own) and quality in {"ok", "capped"}:
        quality = "overlap_adjusted"
    return {"page_elapsed_s": page_s, "active_s": active_s, "time_quality": quality}


def give_back(call: Call, assignment_id: str, worker: str) -> Any:
    """Return the HIT without handing it in; its place is free again."""
    row = own(call, assignment_id, worker)
    if row.state != "accepted":
        raise wrong_state("Assignment", "Accepted", row.state.title())
    call.connection.execute(sa.update(ASSIGNMENT).where(_mine(row)).values(state="returned"))
    hold(call, row.hit_id)
    call.tell("AssignmentReturned", call.hit(row.hit_id), assignment_id)
    return call.connection.execute(sa.select(ASSIGNMENT).where(_mine(row))).one()


def save_draft(call: Call, assignment_id: str, worker: str, draft: Sequence[tuple[str, str]]) -> None:
    """Keep what was filled in so far; the page fills it in again when it is opened anew."""
    row = own(call, assignment_id, worker)
    if row.state not in {"accepted", "expired"} or row.is_late:
        raise wrong_state("Assignment", "Accepted", row.state.title())
    call.connection.execute(sa.update(ASSIGNMENT).where(_mine(row)).values(draft=json.dumps(list(draft))))


def record_events(
    call: Call, assignment_id: str, worker: str, events: Sequence[tuple[int, PageEvent, float | None]]
) -> None:
    """Keep what the page saw under the numbers that it gave; one that came twice is kept once."""
    row = own(call, assignment_id, worker)
    known = set(
        call.connection.execute(
            sa.select(M_EVENT.c.seq).where(M_EVENT.c.assignment_id == row.assignment_id, M_EVENT.c.worker == worker)
        ).scalars()
    )
    some = {seq: (event, page_ms) for seq, event, page_ms in events if seq not in known}
    today = today_of(call.connection, ASSIGNMENT, M_EVENT, "assignment_id", worker, since=call.now - DAY)
    limits = {"stored": len(known), "today": today, "most": MOST_EVENTS, "most_a_day": MOST_EVENTS_A_DAY}
    left = {id(each) for each in kept_of([event for event, _ in some.values()], **limits)}
    new = {seq: pair for seq, pair in some.items() if id(pair[0]) in left}
    rows = [
        {
            "assignment_id": row.assignment_id,
            "worker": worker,
            "seq": seq,
            "kind": event.kind,
            "at": event.at,
            "page_ms": page_ms,
            "item": event.item,
        }
        for seq, (event, page_ms) in new.items()
    ]
    if rows:
        call.connection.execute(sa.insert(M_EVENT), rows)


def under_way(call: Call, worker: str) -> list[Any]:
    """Return the assignments of this account that a worker has accepted and not handed in, the most urgent first."""
    query = sa.select(ASSIGNMENT).where(
        ASSIGNMENT.c.account_id == call.account_id, ASSIGNMENT.c.worker == worker, ASSIGNMENT.c.state == "accepted"
    )
    return list(call.connection.execute(query.order_by(ASSIGNMENT.c.deadline_at, ASSIGNMENT.c.assignment_id)))


def open_hits(call: Call, worker: str, now: datetime) -> list[Any]:
    """Return the HITs of this account that a worker may discover now, oldest first."""
    query = sa.select(M_HIT).where(
        M_HIT.c.account_id == call.account_id, M_HIT.c.disposed_at.is_(None), M_HIT.c.expires_at > now
    )
    rows = call.connection.execute(query.order_by(M_HIT.c.hit_id)).all()
    counts = counts_of(call.connection, [row.hit_id for row in rows])
    had = set(
        call.connection.execute(
            sa.select(ASSIGNMENT.c.hit_id).where(ASSIGNMENT.c.worker == worker, ASSIGNMENT.c.state.in_(LIVE))
        ).scalars()
    )
    found = []
    for row in rows:
        if row.hit_id in had or status_of(row, counts[row.hit_id], now) != "Assignable":
            continue
        try:
            require_may(call, row, worker, "Discover")
        except TurkError:
            continue
        found.append(row)
    return found
