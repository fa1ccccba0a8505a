"""Webhooks of the stand-in: subscriptions, signed deliveries, retries by the clock (rule S14)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._world import Hook, StudyRecord, SubmissionRecord, World, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["EVENT_TYPES", "Delivery", "confirm", "deliver_due", "new_secret", "sign", "study_changed", "subscribe"]

EVENT_TYPES = (
    "submission.status.change",
    "study.status.change",
    "study.progress.change",
    "study.has_high_return_rate",
)
# One attempt and eleven more over 24 hours; without jitter here, so that tests can count them.
_PAUSES_S = (60, 120, 300, 600, 1200, 2400, 4800, 9600, 19_200, 24_000, 24_120)
_DISABLED_AFTER = timedelta(days=5)


@dataclass
class Delivery:
    """One event for one subscription."""

    event_id: str
    hook: str
    payload: dict[str, Any]
    created: datetime
    due: datetime
    attempts: int = 0
    status: str = "PENDING"
    answers: list[int] = field(default_factory=list)


def new_secret(world: World) -> str:
    """Make a secret; it replaces the one before."""
    world.secret = digest("secret", world.new_id("secret"))
    return world.secret


def subscribe(world: World, event_type: str, target_url: str, workspace: str) -> Hook:
    """Make a subscription; nothing is delivered before it is confirmed."""
    if event_type not in EVENT_TYPES:
        raise Refusal(400, {"event_type": [f"{event_type!r} is not a valid choice."]})
    if world.secret is None:
        raise Refusal(400, "Make a secret for the workspace first.")
    identity = world.new_id("hook")
    hook = Hook(identity, event_type, target_url, workspace, digest("hook", identity))
    world.hooks[identity] = hook
    return hook


def confirm(world: World, hook_id: str, secret: str) -> Hook:
    """Confirm a subscription with the secret of the 201's header."""
    hook = world.hooks.get(hook_id)
    if hook is None:
        raise Refusal(404, "No such subscription.", title="Not found")
    if not hmac.compare_digest(hook.hook_secret, secret):
        raise Refusal(400, {"secret": ["It does not match X-Hook-Secret."]})
    hook.confirmed = True
    return hook


def submission_changed(world: World, record: SubmissionRecord) -> None:
    """Tell subscribers that a submission changed its status."""
    _emit(
        world,
        "submission.status.change",
        {"resource_id": record.id, "participant_id": record.participant, "status": record.status},
    )


def study_changed(world: World, record: StudyRecord) -> None:
    """Tell subscribers that a study changed its status."""
    payload = {"resource_id": record.id, "metadata": record.body.metadata, "status": record.status}
    _emit(world, "study.status.change", payload)


def _emit(world: World, event_type: str, payload: dict[str, Any]) -> None:
    for hook in world.hooks.values():
        if hook.event_type == event_type and hook.confirmed and hook.enabled:
            event_id = world.new_id("event")
            now = world.now()
            world.deliveries.append(Delivery(event_id, hook.id, {"event_type": event_type, **payload}, now, now))


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return base64 of HMAC-SHA256(secret, timestamp + body)."""
    return base64.b64encode(hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()).decode()


def deliver_due(world: World, post: Callable[[str, bytes, Mapping[str, str]], int]) -> int:
    """Send what is due, outside the lock, so that the receiver may ask the API meanwhile; return the attempts.

    Parameters
    ----------
    post : callable
        ``post(url, body, headers) -> status``; a failure to connect counts as status 0.
    """
    with world.lock:
        due = [each for each in world.deliveries if each.status == "PENDING" and world.now() >= each.due]
    for each in due:
        with world.lock:
            hook, secret, now = world.hooks[each.hook], world.secret or "", world.now()
        body = json.dumps(each.payload).encode()
        timestamp = str(int(now.timestamp()))
        headers = {
            "content-type": "application/json",
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": sign(secret, timestamp, body),
            "X-Event-ID": each.event_id,
            "X-Timestamp": stamp(each.created) or "",
        }
        status = post(hook.target_url, body, headers)
        with world.lock:
            _note(world, each, hook, status)
    return len(due)


def _note(world: World, delivery: Delivery, hook: Hook, status: int) -> None:
    delivery.attempts += 1
    delivery.answers.append(status)
    if 200 <= status < 300:
        delivery.status, hook.failing_since = "SUCCEEDED", None
        return
    hook.failing_since = hook.failing_since or world.now()
    if delivery.attempts > len(_PAUSES_S):
        delivery.status = "FAILED"
    else:
        delivery.due = world.now() + timedelta(seconds=_PAUSES_S[delivery.attempts - 1])
    if world.now() - hook.failing_since >= _DISABLED_AFTER:
        hook.enabled = False
