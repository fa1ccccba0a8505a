"""Routes of participant groups, filters, messages and webhooks."""

# ruff: noqa: TC001 because FastAPI reads the annotations at run time

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._filters import FILTERS, count_eligible
from hmc_crowd_prolific.standin._hooks import EVENT_TYPES, confirm, new_secret, subscribe
from hmc_crowd_prolific.standin._schemas import (
    BulkMessage,
    NewGroup,
    NewMessage,
    NewSubscription,
    ParticipantIds,
    Secret,
    WorkspaceRef,
)
from hmc_crowd_prolific.standin._world import Group, Hook, World, stamp

__all__ = ["people_routes"]


def people_routes(world: World) -> APIRouter:
    """Return the routes over a world."""
    router = APIRouter()
    _groups(router, world)
    _filters(router, world)
    _messages(router, world)
    _hooks(router, world)
    return router


def _members(group: Group) -> dict[str, Any]:
    return {"results": [{"participant_id": who, "datetime_created": stamp(at)} for who, at in group.members.items()]}


def _group_row(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": group.name,
        "workspace_id": group.workspace,
        "participant_count": len(group.members),
        "is_deleted": False,
        "feeder_studies": [],
    }


def _groups(router: APIRouter, world: World) -> None:
    def find(identity: str) -> Group:
        if identity not in world.groups:
            raise Refusal(404, "No such group.", title="Not found")
        return world.groups[identity]

    @router.get("/participant-groups/")
    def groups() -> dict[str, Any]:
        return {"results": [_group_row(each) for each in world.groups.values()]}

    @router.post("/participant-groups/", status_code=201)
    def new_group(body: NewGroup) -> dict[str, Any]:
        if (body.workspace_id is None) == (body.organisation_id is None):
            raise Refusal(400, "Give either workspace_id or organisation_id.")
        with world.lock:
            group = Group(world.new_id("group"), body.name, body.workspace_id or "")
            group.members = dict.fromkeys(body.participant_ids, world.now())
            world.groups[group.id] = group
        return _group_row(group)

    @router.get("/participant-groups/{identity}/participants/")
    def members(identity: str) -> dict[str, Any]:
        return _members(find(identity))

    @router.post("/participant-groups/{identity}/participants/")
    def add(identity: str, body: ParticipantIds) -> dict[str, Any]:
        with world.lock:
            for each in body.participant_ids:
                find(identity).members.setdefault(each, world.now())
            return _members(find(identity))

    @router.delete("/participant-groups/{identity}/participants/")
    def remove(identity: str, body: ParticipantIds) -> dict[str, Any]:
        with world.lock:
            for each in body.participant_ids:
                find(identity).members.pop(each, None)
            return _members(find(identity))


def _filters(router: APIRouter, world: World) -> None:
    @router.get("/filters/")
    def filters() -> dict[str, Any]:
        return {"results": FILTERS, "_links": {"next": {"href": None}}, "meta": {"count": len(FILTERS)}}

    @router.post("/eligibility-count/")
    def eligible(body: Annotated[dict[str, Any], Body()]) -> dict[str, int]:
        if "filters" not in body:
            raise Refusal(400, {"filters": ["This field is required."]})
        with world.lock:
            return {"count": count_eligible(world, body["filters"])}


def _messages(router: APIRouter, world: World) -> None:
    def keep(recipient: str, body: str, study: str) -> None:
        world.study(study)
        world.messages.append(
            {
                "id": world.new_id("message"),
                "sender_id": "researcher",
                "body": body,
                "sent_at": stamp(world.now()),
                "channel_id": recipient,
                "data": {"study_id": study},
            }
        )

    @router.get("/messages/")
    def messages(request: Request) -> dict[str, Any]:
        since = request.query_params.get("created_after", "")
        return {"results": [each for each in world.messages if each["sent_at"] >= since]}

    @router.post("/messages/", status_code=204)
    def send(body: NewMessage) -> None:
        with world.lock:
            keep(body.recipient_id, body.body, body.study_id)

    @router.post("/messages/bulk/", status_code=204)
    def send_all(body: BulkMessage) -> None:
        with world.lock:
            for each in body.ids:
                keep(each, body.body, body.study_id)


def _hook_row(hook: Hook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event_type": hook.event_type,
        "target_url": hook.target_url,
        "is_enabled": hook.enabled,
        "workspace_id": hook.workspace,
    }


def _hooks(router: APIRouter, world: World) -> None:
    @router.get("/hooks/event-types/")
    def event_types() -> dict[str, Any]:
        return {"results": [{"event_type": each, "description": each} for each in EVENT_TYPES]}

    @router.get("/hooks/secrets/")
    def secrets() -> dict[str, Any]:
        held = [] if world.secret is None else [world.secret]
        return {"results": [{"id": "1", "value": each, "workspace_id": world.workspace} for each in held]}

    @router.post("/hooks/secrets/", status_code=201)
    def secret(body: WorkspaceRef) -> dict[str, Any]:
        with world.lock:
            return {"id": "1", "value": new_secret(world), "workspace_id": body.workspace_id}

    @router.get("/hooks/subscriptions/")
    def subscriptions() -> dict[str, Any]:
        return {"results": [_hook_row(each) for each in world.hooks.values()]}

    @router.post("/hooks/subscriptions/", status_code=201)
    def new_subscription(body: NewSubscription, response: Response) -> dict[str, Any]:
        with world.lock:
            hook = subscribe(world, body.event_type, body.target_url, body.workspace_id)
        response.headers["X-Hook-Secret"] = hook.hook_secret
        return {"results": [_hook_row(hook)]}

    @router.post("/hooks/subscriptions/{identity}/")
    def confirmed(identity: str, body: Secret) -> dict[str, Any]:
        with world.lock:
            return _hook_row(confirm(world, identity, body.secret))

    @router.delete("/hooks/subscriptions/{identity}/", status_code=204)
    def delete(identity: str) -> None:
        with world.lock:
            if world.hooks.pop(identity, None) is None:
                raise Refusal(404, "No such subscription.", title="Not found")

    @router.get("/hooks/subscriptions/{identity}/events/")
    def events(identity: str, limit: int = 100, offset: int = 0) -> dict[str, Any]:
        with world.lock:
            own = [each for each in world.deliveries if each.hook == identity]
        rows = [
            {
                "id": each.event_id,
                "datetime_created": stamp(each.created),
                "event_type": each.payload["event_type"],
                "resource_id": each.payload["resource_id"],
                "status": each.status,
                "payload": each.payload,
            }
            for each in own[offset : offset + limit]
        ]
        return {"results": rows}
