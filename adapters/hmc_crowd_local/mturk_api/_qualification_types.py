"""Qualification types: made, changed, listed, deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import QUALIFICATION_TYPE
from hmc_crowd_local.mturk_api._answer_key import check_answer_key, check_test
from hmc_crowd_local.mturk_api._hit_types import YEAR_S, check_limits
from hmc_crowd_local.mturk_api._paging import page
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["QUALIFICATION_TYPE_OPERATIONS", "owned_type", "qualification_type_view"]

_COLUMNS = {
    "Description": "description",
    "Keywords": "keywords",
    "QualificationTypeStatus": "status",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_duration_s",
    "RetryDelayInSeconds": "retry_delay_s",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


def qualification_type_view(row: Any) -> dict[str, Any]:
    """Return a qualification type as the API shows it."""
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        **{member: getattr(row, column) for member, column in _COLUMNS.items()},
        "IsRequestable": row.status == "Active",
    }


def any_type(call: Call, type_id: str) -> Any:
    """Return the row of a qualification type of any account that is not deleted."""
    row = call.connection.execute(
        sa.select(QUALIFICATION_TYPE).where(
            QUALIFICATION_TYPE.c.qualification_type_id == type_id, QUALIFICATION_TYPE.c.deleted_at.is_(None)
        )
    ).one_or_none()
    if row is None:
        raise does_not_exist("QualificationType", type_id)
    return row


def owned_type(call: Call, type_id: str) -> Any:
    """Return the row of a qualification type of this account."""
    row = any_type(call, type_id)
    if row.account_id != call.account_id:
        raise TurkError("PermissionDeniedException", f"QualificationType {type_id} belongs to another account")
    return row


def _check(values: Mapping[str, Any], settings: Any) -> None:
    """Refuse combinations that contradict one another, over the values that will hold."""
    if values.get("test") is not None:
        if values.get("test_duration_s") is None:
            raise invalid("TestDurationInSeconds is missing; a Test needs it")
        if values.get("auto_granted"):
            raise invalid("AutoGranted is true although there is a Test; leave one of them out")
        check_test(values["test"], settings)
    elif values.get("answer_key") is not None:
        raise invalid("AnswerKey is given without a Test")
    if values.get("answer_key") is not None:
        check_answer_key(values["answer_key"])
    if values.get("auto_granted_value") is not None and not values.get("auto_granted"):
        raise invalid("AutoGrantedValue is given although AutoGranted is not true")
    for member, column, low in (
        ("TestDurationInSeconds", "test_duration_s", 1),
        ("RetryDelayInSeconds", "retry_delay_s", 0),
    ):
        if values.get(column) is not None and not low <= values[column] <= YEAR_S:
            raise invalid(f"{member} is {values[column]}; it must lie between {low} and {YEAR_S}")


def create_qualification_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateQualificationType."""
    name = request["Name"]
    if not 1 <= len(name.strip()) <= 200:
        raise invalid(f"Name has {len(name)} characters; give 1 to 200")
    recent = call.now - timedelta(seconds=call.settings.name_blocked_s)
    held = call.connection.execute(
        sa.select(QUALIFICATION_TYPE).where(
            QUALIFICATION_TYPE.c.account_id == call.account_id,
            QUALIFICATION_TYPE.c.name == name,
            sa.or_(QUALIFICATION_TYPE.c.deleted_at.is_(None), QUALIFICATION_TYPE.c.deleted_at > recent),
        )
    ).first()
    if held is not None:
        # Clients know this sentence, from its first word on.
        told = "You have already created a QualificationType with this name."
        if held.deleted_at is not None:
            free = held.deleted_at + timedelta(seconds=call.settings.name_blocked_s)
            told += f" It was deleted; the name is free again from {free:%Y-%m-%d %H:%M} UTC on."
        raise TurkError("QualificationTypeAlreadyExists", told)
    values = {column: request.get(member) for member, column in _COLUMNS.items()}
    values["auto_granted"] = bool(values["auto_granted"])
    if values["auto_granted"] and values["auto_granted_value"] is None:
        values["auto_granted_value"] = 1
    _check(values, call.settings)
    type_id = call.new_id()
    call.connection.execute(
        sa.insert(QUALIFICATION_TYPE).values(
            **values, qualification_type_id=type_id, account_id=call.account_id, name=name, created_at=call.now
        )
    )
    return {"QualificationType": qualification_type_view(owned_type(call, type_id))}


def get_qualification_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetQualificationType; test and key are shown to their owner only."""
    row = any_type(call, request["QualificationTypeId"])
    view = qualification_type_view(row)
    if row.account_id != call.account_id:
        view.update(Test=None, AnswerKey=None)
    return {"QualificationType": view}


def update_qualification_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer UpdateQualificationType; retries that were allowed cannot be forbidden, which no request can ask for."""
    row = owned_type(call, request["QualificationTypeId"])
    changed = {column: request[member] for member, column in _COLUMNS.items() if member in request}
    values = {**{column: getattr(row, column) for column in _COLUMNS.values()}, **changed}
    if "auto_granted" in changed and not changed["auto_granted"]:
        values["auto_granted_value"] = changed["auto_granted_value"] = None
    _check(values, call.settings)
    if changed:
        mine = QUALIFICATION_TYPE.c.qualification_type_id == row.qualification_type_id
        call.connection.execute(sa.update(QUALIFICATION_TYPE).where(mine).values(changed))
    return {"QualificationType": qualification_type_view(owned_type(call, row.qualification_type_id))}


def delete_qualification_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DeleteQualificationType; the name stays blocked for a while, as it did at the service."""
    row = owned_type(call, request["QualificationTypeId"])
    mine = QUALIFICATION_TYPE.c.qualification_type_id == row.qualification_type_id
    call.connection.execute(sa.update(QUALIFICATION_TYPE).where(mine).values(deleted_at=call.now))
    return {}


def list_qualification_types(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListQualificationTypes."""
    query = sa.select(QUALIFICATION_TYPE).where(QUALIFICATION_TYPE.c.deleted_at.is_(None))
    if request["MustBeRequestable"]:
        query = query.where(QUALIFICATION_TYPE.c.status == "Active")
    if request.get("MustBeOwnedByCaller"):
        query = query.where(QUALIFICATION_TYPE.c.account_id == call.account_id)
    check_limits(request, {"Query": 1_000}, {})
    if request.get("Query"):
        columns = (QUALIFICATION_TYPE.c.name, QUALIFICATION_TYPE.c.description, QUALIFICATION_TYPE.c.keywords)
        query = query.where(sa.or_(*(column.icontains(request["Query"], autoescape=True) for column in columns)))
    keys = [QUALIFICATION_TYPE.c.qualification_type_id]
    rows, token = page(call, "ListQualificationTypes", request, query, keys)
    views = [qualification_type_view(row) for row in rows]
    for row, view in zip(rows, views, strict=True):
        if row.account_id != call.account_id:
            view.update(Test=None, AnswerKey=None)
    return {"QualificationTypes": views, "NumResults": len(rows), "NextToken": token}


QUALIFICATION_TYPE_OPERATIONS = {
    "CreateQualificationType": create_qualification_type,
    "DeleteQualificationType": delete_qualification_type,
    "GetQualificationType": get_qualification_type,
    "ListQualificationTypes": list_qualification_types,
    "UpdateQualificationType": update_qualification_type,
}
