"""The control plane under ``/_ctl/``, for tests and demos only: time, participants, faults, what was seen."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._submissions import complete, detail_row, give_back, pass_time, put, take
from hmc_crowd_prolific.standin._world import SubmissionRecord, World, stamp

__all__ = ["address_for", "control_routes"]

_PAGE_FAULTS = ("skip", "repeat", "shuffle", "empty")


def address_for(world: World, record: SubmissionRecord) -> str:
    """Return the study's address with the placeholders filled, as a participant's browser gets it."""
    url = world.study(record.study).body.external_study_url or ""
    filled = {"PROLIFIC_PID": record.participant, "STUDY_ID": record.study, "SESSION_ID": record.id}
    return re.sub(r"\{\{%(\w+)%\}\}", lambda found: filled.get(found[1], ""), url)


def control_routes(world: World) -> APIRouter:
    """Return the routes over a world."""
    router = APIRouter(prefix="/_ctl")
    _time(router, world)
    _participants(router, world)
    _looking(router, world)
    return router


def _time(router: APIRouter, world: World) -> None:
    @router.get("/clock")
    def clock() -> dict[str, Any]:
        return {"now": stamp(world.now())}

    @router.post("/clock/advance")
    def advance(seconds: Annotated[float, Body(embed=True)]) -> dict[str, Any]:
        if not isinstance(world.clock, VirtualClock):
            raise Refusal(400, "The clock is the machine's and cannot be moved.")
        with world.lock:
            world.clock.advance(seconds)
            pass_time(world)
        return {"now": stamp(world.now())}


def _participants(router: APIRouter, world: World) -> None:
    @router.post("/participants/{participant}/take")
    def take_(participant: str, study: Annotated[str, Query()]) -> dict[str, Any]:
        with world.lock:
            record = take(world, participant, study)
            return {**detail_row(world, record), "location": address_for(world, record)}

    @router.post("/participants/{participant}/traits")
    def traits_(participant: str, answers: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        """Say what a participant told Prolific: by filter, the id of a choice, or a number."""
        with world.lock:
            world.traits.setdefault(participant, {}).update(answers)
            return world.traits[participant]

    @router.post("/submissions/{identity}/complete")
    def complete_(identity: str, cc: str | None = None) -> dict[str, Any]:
        with world.lock:
            return detail_row(world, complete(world, identity, cc))

    @router.post("/submissions/{identity}/return")
    def return_(identity: str) -> dict[str, Any]:
        with world.lock:
            return detail_row(world, give_back(world, identity))

    @router.post("/submissions/{identity}/put")
    def put_(identity: str, status: Annotated[str, Query()]) -> dict[str, Any]:
        with world.lock:
            return detail_row(world, put(world, identity, status))


def _looking(router: APIRouter, world: World) -> None:
    @router.post("/faults/pages")
    def page_faults(kinds: Annotated[list[str], Body()]) -> dict[str, Any]:
        unknown = [each for each in kinds if each and each not in _PAGE_FAULTS]
        if unknown:
            raise Refusal(400, f"Unknown kinds: {unknown}.")
        world.page_faults = list(kinds)
        return {}

    @router.post("/faults/status")
    def status_fault(status: Annotated[str | None, Body(embed=True)] = None) -> dict[str, Any]:
        world.status_fault = status
        return {}

    @router.get("/calls")
    def calls() -> dict[str, Any]:
        return {"calls": world.calls}

    @router.get("/state")
    def state() -> dict[str, Any]:
        with world.lock:
            return {
                "spent_minor": world.spent_minor,
                "available_minor": world.available_minor,
                "studies": {key: each.status for key, each in world.studies.items()},
                "submissions": {key: each.status for key, each in world.submissions.items()},
                "bonuses": {key: each.times_paid + len(each.pays) for key, each in world.bonuses.items()},
                "groups": {key: sorted(each.members) for key, each in world.groups.items()},
            }
