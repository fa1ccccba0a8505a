"""Events that the platform puts into a queue: hints that something happened, never the truth about it.

They may come twice, late and before the assignment can be read; so they are told apart by their document's id, and
what they speak of is read again from the API.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Event", "Notification", "read_notification", "receive_notifications"]


@dataclass(frozen=True)
class Event:
    """One event; a kind that nobody knows is kept as it came."""

    kind: str
    at: datetime | None
    hit_id: str | None
    assignment_id: str | None


@dataclass(frozen=True)
class Notification:
    """A document of events; ``document_id`` is the same when it is delivered again."""

    document_id: str
    events: tuple[Event, ...]


def read_notification(body: str) -> Notification:
    """Read a message of SQS, or of SNS inside SQS.

    Raises
    ------
    InputError
        It is no such document.
    """
    try:
        document = json.loads(body)
        if isinstance(document, dict) and document.get("Type") == "Notification" and "Message" in document:
            document = json.loads(document["Message"])
        events = tuple(_event(each) for each in document["Events"])
        return Notification(str(document["EventDocId"]), events)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(f"the message is no document of MTurk events: {body[:80]!r}") from None


def _event(row: dict[str, Any]) -> Event:
    stamp = row.get("EventTimestamp")
    try:
        at = datetime.fromisoformat(str(stamp).replace("Z", "+00:00")) if stamp else None
    except ValueError:
        at = None
    if at is not None and at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return Event(str(row["EventType"]), at, row.get("HITId"), row.get("AssignmentId"))


def receive_notifications(
    sqs: Any, queue_url: str, keep: Callable[[Notification], None], *, wait_s: int = 0, most: int = 10
) -> int:
    """Take messages from a queue: kept first, deleted afterwards, so that none is lost.

    Parameters
    ----------
    sqs : boto3 client for SQS
        Its keys and region are the queue's own.
    queue_url : str
        The queue.
    keep : callable
        Stores a notification; must take one that comes twice (same ``document_id``). What it raises leaves the message
        in the queue.
    wait_s : int, default 0
        How long to wait for a first message, at most 20.
    most : int, default 10
        How many to take, at most 10.

    Returns
    -------
    int
        How many were kept. A message that is no notification is left in the queue for its dead-letter rule.
    """
    answer = sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=most, WaitTimeSeconds=wait_s)
    kept = 0
    for message in answer.get("Messages", []):
        try:
            notification = read_notification(message["Body"])
        except InputError:
            continue
        keep(notification)
        sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
        kept += 1
    return kept
