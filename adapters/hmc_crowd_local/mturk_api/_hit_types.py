"""HIT types: what HITs have in common. The same values are the same type (rule R1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.ids import digest
from hmc_crowd_local._tables_mturk import HIT_TYPE
from hmc_crowd_local.mturk_api._call import minor
from hmc_crowd_local.mturk_api._problems import invalid
from hmc_crowd_local.mturk_api._requirements import check_requirements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["YEAR_S", "check_limits", "create_hit_type", "type_for"]

YEAR_S = 31_536_000
_MONTH_S = 2_592_000
# Limits that stand in the model's prose and in AWS's guides: characters, or the range of a number.
_CHARACTERS = {"Title": 128, "Description": 2_000, "Keywords": 1_000}
_RANGES = {"AssignmentDurationInSeconds": (30, YEAR_S), "AutoApprovalDelayInSeconds": (0, _MONTH_S)}
_OWN = ("Title", "Description", "Keywords", "Reward", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds")


def create_hit_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateHITType."""
    return {"HITTypeId": type_for(call, request).hit_type_id}


def type_for(call: Call, request: Mapping[str, Any]) -> Any:
    """Return the row of the HIT type with these values, made now if nobody made it before."""
    check_limits(request, _CHARACTERS, _RANGES)
    if not request["Title"].strip():
        raise invalid("Title is empty")
    requirements = request.get("QualificationRequirements", [])
    check_requirements(call, requirements)
    row = {
        "title": request["Title"],
        "description": request["Description"],
        "keywords": request.get("Keywords"),
        "reward_minor": minor(request["Reward"], name="Reward"),
        "duration_s": request["AssignmentDurationInSeconds"],
        "auto_approval_s": request.get("AutoApprovalDelayInSeconds", _MONTH_S),
        "requirements": json.dumps(requirements, sort_keys=True),
    }
    content = digest(*(str(row[name]) for name in sorted(row)))
    mine = sa.and_(HIT_TYPE.c.account_id == call.account_id, HIT_TYPE.c.content_hash == content)
    held = call.connection.execute(sa.select(HIT_TYPE).where(mine)).one_or_none()
    if held is not None:
        return held
    new = {"hit_type_id": call.new_id(), "group_id": call.new_id(), "account_id": call.account_id}
    call.connection.execute(sa.insert(HIT_TYPE).values({**row, **new, "content_hash": content, "is_notifying": False}))
    return call.connection.execute(sa.select(HIT_TYPE).where(mine)).one()


def check_limits(
    request: Mapping[str, Any], characters: Mapping[str, int], ranges: Mapping[str, tuple[int, int]]
) -> None:
    """Refuse text that is too long and numbers out of range."""
    for name, most in characters.items():
        if len(request.get(name) or "") > most:
            raise invalid(f"{name} has {len(request[name])} characters, at most {most} are allowed")
    for name, (low, high) in ranges.items():
        value = request.get(name)
        if value is not None and not low <= value <= high:
            raise invalid(f"{name} is {value}; it must lie between {low} and {high}")
