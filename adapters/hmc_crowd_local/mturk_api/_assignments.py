"""Assignments, as the requester sees them: only those handed in, reviewed once; a rejection can be overridden (R9)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT
from hmc_crowd_local.mturk_api._call import hold, require_funds, spend
from hmc_crowd_local.mturk_api._hit_types import check_limits
from hmc_crowd_local.mturk_api._hit_views import hit_views
from hmc_crowd_local.mturk_api._paging import page
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist, wrong_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["ASSIGNMENT_OPERATIONS", "assignment_view", "decide", "find_assignment"]

_STATUS = {"submitted": "Submitted", "approved": "Approved", "rejected": "Rejected"}


def assignment_view(row: Any) -> dict[str, Any]:
    """Return an assignment as the API shows it; times that were not reached are left out."""
    return {
        "AssignmentId": row.assignment_id,
        "WorkerId": row.worker,
        "HITId": row.hit_id,
        "AssignmentStatus": _STATUS[row.state],
        "AutoApprovalTime": row.auto_approve_at,
        "AcceptTime": row.accepted_at,
        "SubmitTime": row.submitted_at,
        "ApprovalTime": row.approved_at,
        "RejectionTime": row.rejected_at,
        "Deadline": row.deadline_at,
        "Answer": row.answer,
        "RequesterFeedback": row.feedback,
    }


def _readable_until(call: Call) -> datetime:
    """Return the last submit time that can be read yet (rule R16)."""
    return call.now - timedelta(seconds=call.settings.readable_after_s)


def find_assignment(call: Call, assignment_id: str) -> Any:
    """Return the row that an assignment id stands for now: the one with a place, or the last that gave it up."""
    rows = call.connection.execute(
        sa.select(ASSIGNMENT)
        .where(ASSIGNMENT.c.assignment_id == assignment_id, ASSIGNMENT.c.account_id == call.account_id)
        .order_by(ASSIGNMENT.c.state.in_(["returned", "expired"]), ASSIGNMENT.c.accepted_at.desc())
    ).first()
    if rows is None:
        raise does_not_exist("Assignment", assignment_id)
    return rows


def _handed_in(call: Call, assignment_id: str, allowed: str) -> Any:
    row = find_assignment(call, assignment_id)
    if row.state not in _STATUS or row.submitted_at > _readable_until(call):
        raise wrong_state("Assignment", allowed, None)
    return row


def list_assignments(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListAssignmentsForHIT, in the order in which they were handed in."""
    hit = call.hit(request["HITId"])
    wanted = [each.lower() for each in request.get("AssignmentStatuses") or _STATUS.values()]
    query = sa.select(ASSIGNMENT).where(
        ASSIGNMENT.c.hit_id == hit.hit_id,
        ASSIGNMENT.c.state.in_(wanted),
        ASSIGNMENT.c.submitted_at <= _readable_until(call),
    )
    keys = [ASSIGNMENT.c.submitted_at, ASSIGNMENT.c.assignment_id]
    rows, token = page(call, "ListAssignmentsForHIT", request, query, keys)
    return {"Assignments": [assignment_view(row) for row in rows], "NumResults": len(rows), "NextToken": token}


def get_assignment(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetAssignment, with the HIT."""
    row = _handed_in(call, request["AssignmentId"], "Submitted, Approved, Rejected")
    return {"Assignment": assignment_view(row), "HIT": hit_views(call, [call.hit(row.hit_id)])[0]}


def approve_assignment(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ApproveAssignment: reward and fee are paid; a rejection is overridden only when that is asked."""
    _check_feedback(call, request)
    is_override = bool(request.get("OverrideRejection", False))
    row = _handed_in(call, request["AssignmentId"], "Submitted, Rejected" if is_override else "Submitted")
    if row.state == "rejected" and is_override:
        _check_override(call, row)
    elif row.state != "submitted":
        raise wrong_state("Assignment", "Submitted", _STATUS[row.state])
    decide(call, row, is_good=True, feedback=request.get("RequesterFeedback"))
    return {}


def _check_override(call: Call, row: Any) -> None:
    if call.hit(row.hit_id).disposed_at is not None:
        raise wrong_state("Assignment", "Rejected, while the HIT is not deleted", "Rejected")
    if row.submitted_at + timedelta(seconds=call.settings.override_s) < call.now:
        raise wrong_state("Assignment", "Rejected, within 30 days of its submission", "Rejected")


def reject_assignment(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer RejectAssignment: only from Submitted; the place stays taken."""
    _check_feedback(call, request)
    row = _handed_in(call, request["AssignmentId"], "Submitted")
    if row.state != "submitted":
        raise wrong_state("Assignment", "Submitted", _STATUS[row.state])
    decide(call, row, is_good=False, feedback=request["RequesterFeedback"])
    return {}


def decide(call: Call, row: Any, *, is_good: bool, feedback: str | None) -> None:
    """Approve and pay, or reject, an assignment that may be decided."""
    hit = call.hit(row.hit_id)
    if is_good:
        # An override needs money that is no longer held for it.
        if row.state == "rejected":
            require_funds(call, hit.unit_minor)
        spend(call, hit.unit_minor)
    values = (
        {"state": "approved", "approved_at": call.now} if is_good else {"state": "rejected", "rejected_at": call.now}
    )
    mine = sa.and_(ASSIGNMENT.c.assignment_id == row.assignment_id, ASSIGNMENT.c.worker == row.worker)
    call.connection.execute(
        sa.update(ASSIGNMENT).where(mine).values(**values, feedback=feedback if feedback else row.feedback)
    )
    hold(call, hit.hit_id)
    call.tell("AssignmentApproved" if is_good else "AssignmentRejected", hit, row.assignment_id)


def _check_feedback(call: Call, request: Mapping[str, Any]) -> None:
    check_limits(request, {"RequesterFeedback": call.settings.feedback_chars}, {})


def get_file_upload_url(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetFileUploadURL: this workplace takes no files, so there is never one to fetch."""
    _handed_in(call, request["AssignmentId"], "Submitted, Approved, Rejected")
    raise TurkError(
        "InvalidParameterValue",
        f"Question {request['QuestionIdentifier'][:80]} has no uploaded file: this workplace takes none",
    )


ASSIGNMENT_OPERATIONS = {
    "ApproveAssignment": approve_assignment,
    "GetAssignment": get_assignment,
    "GetFileUploadURL": get_file_upload_url,
    "ListAssignmentsForHIT": list_assignments,
    "RejectAssignment": reject_assignment,
}
