"""Who holds which qualification, and who asks for one (the requester's side)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import MESSAGE, QUALIFICATION, QUALIFICATION_REQUEST, QUALIFICATION_TYPE
from hmc_crowd_local.mturk_api._paging import page
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist, wrong_state
from hmc_crowd_local.mturk_api._qualification_types import owned_type
from hmc_crowd_local.mturk_api._requirements import is_system

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["QUALIFICATION_OPERATIONS", "grant"]


def grant(call: Call, type_id: str, worker: str, value: int | None) -> None:
    """Give a worker a qualification, or change its value."""
    mine = sa.and_(QUALIFICATION.c.qualification_type_id == type_id, QUALIFICATION.c.worker == worker)
    values = {"value": value, "status": "Granted", "granted_at": call.now, "reason": None}
    changed = call.connection.execute(sa.update(QUALIFICATION).where(mine).values(values))
    if not changed.rowcount:
        row = {"qualification_type_id": type_id, "worker": worker, **values}
        call.connection.execute(sa.insert(QUALIFICATION).values(row))


def associate(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer AssociateQualificationWithWorker; the worker gets a message unless that is declined."""
    row = owned_type(call, request["QualificationTypeId"])
    grant(call, row.qualification_type_id, request["WorkerId"], request.get("IntegerValue", 1))
    if request.get("SendNotification", True):
        _tell(call, request["WorkerId"], f"You have the qualification {row.name}", "")
    return {}


def disassociate(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DisassociateQualificationFromWorker; the worker reads the reason."""
    row = owned_type(call, request["QualificationTypeId"])
    mine = sa.and_(
        QUALIFICATION.c.qualification_type_id == row.qualification_type_id,
        QUALIFICATION.c.worker == request["WorkerId"],
        QUALIFICATION.c.status == "Granted",
    )
    values = {"status": "Revoked", "reason": request.get("Reason")}
    if not call.connection.execute(sa.update(QUALIFICATION).where(mine).values(values)).rowcount:
        raise does_not_exist("Qualification", f"{row.qualification_type_id} of {request['WorkerId']}")
    _tell(call, request["WorkerId"], f"You no longer have the qualification {row.name}", request.get("Reason") or "")
    return {}


def _tell(call: Call, worker: str, subject: str, body: str) -> None:
    row = {"message_id": call.new_id(), "account_id": call.account_id, "worker": worker, "sent_at": call.now}
    call.connection.execute(sa.insert(MESSAGE).values({**row, "subject": subject, "body": body}))


def _view(row: Any) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.qualification_type_id,
        "WorkerId": row.worker,
        "GrantTime": row.granted_at,
        "IntegerValue": row.value,
        "Status": row.status,
    }


def get_qualification_score(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetQualificationScore; what was revoked has no score, whatever it was before."""
    type_id = request["QualificationTypeId"]
    if is_system(type_id):
        raise TurkError("PermissionDeniedException", f"QualificationType {type_id} is a system type; it is not shown")
    row = owned_type(call, type_id)
    held = call.connection.execute(
        sa.select(QUALIFICATION).where(
            QUALIFICATION.c.qualification_type_id == row.qualification_type_id,
            QUALIFICATION.c.worker == request["WorkerId"],
        )
    ).one_or_none()
    if held is None:
        raise does_not_exist("Qualification", f"{type_id} of {request['WorkerId']}")
    if held.status != "Granted":
        raise wrong_state("Qualification", "Granted", held.status)
    return {"Qualification": _view(held)}


def list_workers(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListWorkersWithQualificationType."""
    row = owned_type(call, request["QualificationTypeId"])
    query = sa.select(QUALIFICATION).where(
        QUALIFICATION.c.qualification_type_id == row.qualification_type_id,
        QUALIFICATION.c.status == request.get("Status", "Granted"),
    )
    rows, token = page(call, "ListWorkersWithQualificationType", request, query, [QUALIFICATION.c.worker])
    return {"Qualifications": [_view(each) for each in rows], "NumResults": len(rows), "NextToken": token}


def list_qualification_requests(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListQualificationRequests: those that wait for a decision."""
    query = (
        sa.select(QUALIFICATION_REQUEST, QUALIFICATION_TYPE.c.test)
        .join(QUALIFICATION_TYPE)
        .where(QUALIFICATION_TYPE.c.account_id == call.account_id, QUALIFICATION_REQUEST.c.state == "pending")
    )
    if "QualificationTypeId" in request:
        row = owned_type(call, request["QualificationTypeId"])
        query = query.where(QUALIFICATION_REQUEST.c.qualification_type_id == row.qualification_type_id)
    rows, token = page(call, "ListQualificationRequests", request, query, [QUALIFICATION_REQUEST.c.request_id])
    found = [
        {
            "QualificationRequestId": each.request_id,
            "QualificationTypeId": each.qualification_type_id,
            "WorkerId": each.worker,
            "Test": each.test,
            "Answer": each.answer,
            "SubmitTime": each.submitted_at,
        }
        for each in rows
    ]
    return {"QualificationRequests": found, "NumResults": len(found), "NextToken": token}


def _pending(call: Call, request_id: str) -> Any:
    row = call.connection.execute(
        sa.select(QUALIFICATION_REQUEST)
        .join(QUALIFICATION_TYPE)
        .where(
            QUALIFICATION_REQUEST.c.request_id == request_id,
            QUALIFICATION_TYPE.c.account_id == call.account_id,
            QUALIFICATION_REQUEST.c.state == "pending",
        )
    ).one_or_none()
    if row is None:
        raise does_not_exist("QualificationRequest", request_id[:80])
    return row


def _close(call: Call, request_id: str, **values: Any) -> None:
    mine = QUALIFICATION_REQUEST.c.request_id == request_id
    call.connection.execute(sa.update(QUALIFICATION_REQUEST).where(mine).values(values))


def accept_qualification_request(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer AcceptQualificationRequest."""
    row = _pending(call, request["QualificationRequestId"])
    grant(call, row.qualification_type_id, row.worker, request.get("IntegerValue", 1))
    _close(call, row.request_id, state="granted")
    return {}


def reject_qualification_request(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer RejectQualificationRequest."""
    row = _pending(call, request["QualificationRequestId"])
    _close(call, row.request_id, state="rejected", reason=request.get("Reason"))
    _tell(call, row.worker, "Your request for a qualification was declined", request.get("Reason") or "")
    return {}


QUALIFICATION_OPERATIONS = {
    "AcceptQualificationRequest": accept_qualification_request,
    "AssociateQualificationWithWorker": associate,
    "DisassociateQualificationFromWorker": disassociate,
    "GetQualificationScore": get_qualification_score,
    "ListQualificationRequests": list_qualification_requests,
    "ListWorkersWithQualificationType": list_workers,
    "RejectQualificationRequest": reject_qualification_request,
}
