"""Messages to workers, blocks, and who is told of events (rule R15)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._tables_mturk import BLOCK, HIT_TYPE, MESSAGE
from hmc_crowd_local.mturk_api._hit_types import check_limits
from hmc_crowd_local.mturk_api._money import has_worked
from hmc_crowd_local.mturk_api._paging import page
from hmc_crowd_local.mturk_api._problems import TurkError, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["WORKER_OPERATIONS", "event_message"]

_MOST_WORKERS, _MOST_BLOCKS = 100, 100_000
_VERSIONS = {"2006-05-05", "2014-08-15"}  # the model's prose says the first, current documents the second


def notify_workers(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer NotifyWorkers: puts a message before each worker who worked for this account."""
    check_limits(request, {"Subject": 200, "MessageText": 4096}, {})
    workers = request["WorkerIds"]
    if not 1 <= len(workers) <= _MOST_WORKERS:
        raise invalid(f"WorkerIds has {len(workers)} entries; give 1 to {_MOST_WORKERS}")
    failures = []
    for worker in dict.fromkeys(workers):
        if not has_worked(call, worker):
            failures.append(
                {
                    "NotifyWorkersFailureCode": "HardFailure",
                    "NotifyWorkersFailureMessage": "The worker never worked for this requester.",
                    "WorkerId": worker,
                }
            )
            continue
        row = {"message_id": call.new_id(), "account_id": call.account_id, "worker": worker, "sent_at": call.now}
        row.update(subject=request["Subject"], body=request["MessageText"])
        call.connection.execute(sa.insert(MESSAGE).values(row))
    return {"NotifyWorkersFailureStatuses": failures}


def create_worker_block(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateWorkerBlock; the worker cannot accept this account's HITs any more."""
    mine = sa.and_(BLOCK.c.account_id == call.account_id, BLOCK.c.worker == request["WorkerId"])
    count = call.connection.execute(
        sa.select(sa.func.count()).select_from(BLOCK).where(BLOCK.c.account_id == call.account_id)
    ).scalar_one()
    if count >= _MOST_BLOCKS:
        raise invalid(f"This account has blocked {count} workers, which is the most that is allowed")
    call.connection.execute(sa.delete(BLOCK).where(mine))
    row = {"account_id": call.account_id, "worker": request["WorkerId"], "reason": request["Reason"]}
    call.connection.execute(sa.insert(BLOCK).values(row))
    return {}


def delete_worker_block(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DeleteWorkerBlock; succeeds for a worker who is not blocked."""
    mine = sa.and_(BLOCK.c.account_id == call.account_id, BLOCK.c.worker == request["WorkerId"])
    call.connection.execute(sa.delete(BLOCK).where(mine))
    return {}


def list_worker_blocks(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListWorkerBlocks."""
    query = sa.select(BLOCK).where(BLOCK.c.account_id == call.account_id)
    rows, token = page(call, "ListWorkerBlocks", request, query, [BLOCK.c.worker])
    blocks = [{"WorkerId": row.worker, "Reason": row.reason} for row in rows]
    return {"WorkerBlocks": blocks, "NumResults": len(rows), "NextToken": token}


def _check_notification(call: Call, notification: Mapping[str, Any]) -> None:
    if call.settings.deliver is None:
        raise TurkError(
            "InvalidTransportEndpoint",
            "This workplace delivers no notifications; poll with ListAssignmentsForHIT instead",
        )
    try:
        getattr(call.settings.deliver, "check", lambda _: None)(notification)
    except InputError as error:
        raise TurkError("InvalidTransportEndpoint", str(error)) from None
    if notification["Version"] not in _VERSIONS:
        known = ", ".join(sorted(_VERSIONS))
        raise invalid(f"Version of Notification is {notification['Version'][:40]!r}; use {known}")
    if not notification["EventTypes"]:
        raise invalid("EventTypes of Notification is empty")


def update_notification_settings(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer UpdateNotificationSettings; refused where the workplace cannot deliver, never taken and forgotten."""
    hit_type = call.hit_type(request["HITTypeId"])
    if "Notification" not in request and "Active" not in request:
        raise invalid("Give Notification, Active or both")
    values: dict[str, Any] = {}
    if "Notification" in request:
        _check_notification(call, request["Notification"])
        values["notification"] = json.dumps(request["Notification"])
    if request.get("Active") and "notification" not in values and hit_type.notification is None:
        raise invalid("Active is true, but no Notification was ever given for this HIT type")
    values["is_notifying"] = bool(request.get("Active", hit_type.is_notifying))
    mine = HIT_TYPE.c.hit_type_id == hit_type.hit_type_id
    call.connection.execute(sa.update(HIT_TYPE).where(mine).values(values))
    return {}


def send_test_event_notification(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer SendTestEventNotification."""
    _check_notification(call, request["Notification"])
    message = event_message(call.new_id(), call.account_id, request["TestEventType"], call.now)
    call.outbox.append((request["Notification"], message))
    return {}


def event_message(
    message_id: str,
    account_id: str,
    kind: str,
    at: datetime,
    *,
    hit_type_id: str = "TESTHITTYPE",
    hit_id: str = "TESTHIT",
    assignment_id: str | None = None,
) -> dict[str, Any]:
    """Return the JSON that queues and topics carry."""
    event = {"EventType": kind, "EventTimestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ")}
    event.update(HITTypeId=hit_type_id, HITId=hit_id)
    if assignment_id is not None:
        event["AssignmentId"] = assignment_id
    return {"EventDocVersion": "2014-08-15", "EventDocId": message_id, "CustomerId": account_id, "Events": [event]}


WORKER_OPERATIONS = {
    "CreateWorkerBlock": create_worker_block,
    "DeleteWorkerBlock": delete_worker_block,
    "ListWorkerBlocks": list_worker_blocks,
    "NotifyWorkers": notify_workers,
    "SendTestEventNotification": send_test_event_notification,
    "UpdateNotificationSettings": update_notification_settings,
}
