"""HITs: made, shown, listed, extended, expired, reviewed, deleted (rules R2 to R7, R10, R11)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import HIT_TYPE, LAYOUT, M_HIT
from hmc_crowd_local.mturk_api._call import counts_of, hold, require_funds
from hmc_crowd_local.mturk_api._extend import MOST_ASSIGNMENTS, extend
from hmc_crowd_local.mturk_api._form_check import check_form
from hmc_crowd_local.mturk_api._hit_types import check_limits, type_for
from hmc_crowd_local.mturk_api._hit_views import hit_views, status_of
from hmc_crowd_local.mturk_api._lazy import dispose
from hmc_crowd_local.mturk_api._paging import page, page_of_list
from hmc_crowd_local.mturk_api._policies import check_policies
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist, invalid, wrong_state
from hmc_crowd_local.mturk_api._questions import fill_layout, read_question

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["HIT_OPERATIONS"]

_RANGES = {"LifetimeInSeconds": (30, 31_536_000), "MaxAssignments": (1, MOST_ASSIGNMENTS)}


def create_hit(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateHIT."""
    _refuse_repeat(call, request)
    return _create(call, request, type_for(call, request))


def create_hit_with_hit_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateHITWithHITType."""
    _refuse_repeat(call, request)
    return _create(call, request, call.hit_type(request["HITTypeId"]))


def _refuse_repeat(call: Call, request: Mapping[str, Any]) -> None:
    # Both operations make HITs, and one token is good for one HIT.
    made = call.token("CreateHIT", request.get("UniqueRequestToken"))
    if made is not None:
        raise TurkError("HitAlreadyExists", f'The HIT with ID "{made}" already exists for this UniqueRequestToken.')


def _create(call: Call, request: Mapping[str, Any], hit_type: Any) -> dict[str, Any]:
    check_limits(request, {"RequesterAnnotation": 255}, _RANGES)
    check_policies(request)
    question, layout_id = _question_of(call, request)
    inputs = {each["Name"]: each["Value"] for each in request.get("HITLayoutParameters", [])}
    form = read_question(question, call.settings).form
    if form is not None:
        check_form(form, name="Question")
    places = request.get("MaxAssignments", 1)
    unit = hit_type.reward_minor + call.settings.fees.fee_minor(hit_type.reward_minor, redundancy=places)
    require_funds(call, unit * places)
    hit_id = call.new_id()
    row = {
        "hit_id": hit_id,
        "account_id": call.account_id,
        "hit_type_id": hit_type.hit_type_id,
        "question": question,
        "layout_id": layout_id,
        "inputs": _json(inputs or None),
        "annotation": request.get("RequesterAnnotation"),
        "max_assignments": places,
        "unit_minor": unit,
        "held_minor": unit * places,
        "created_at": call.now,
        "expires_at": call.now + timedelta(seconds=request["LifetimeInSeconds"]),
        "is_reviewing": False,
        "is_expiry_settled": False,
        "is_policy_done": False,
        "assignment_policy": _json(request.get("AssignmentReviewPolicy")),
        "hit_policy": _json(request.get("HITReviewPolicy")),
    }
    call.connection.execute(sa.insert(M_HIT).values(row))
    call.keep_token("CreateHIT", request.get("UniqueRequestToken"), hit_id)
    hit = call.hit(hit_id)
    call.tell("HITCreated", hit)
    return {"HIT": hit_views(call, [hit])[0]}


def _question_of(call: Call, request: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the question and the layout it came from: exactly one of the two is given (rule R4)."""
    question, layout_id = request.get("Question"), request.get("HITLayoutId")
    if (question is None) == (layout_id is None):
        raise invalid("Give exactly one of Question and HITLayoutId")
    if question is not None:
        if request.get("HITLayoutParameters"):
            raise invalid("HITLayoutParameters belong to a HITLayoutId, not to a Question")
        return question, None
    layout = call.connection.execute(sa.select(LAYOUT.c.html).where(LAYOUT.c.layout_id == layout_id)).scalar()
    if layout is None:
        raise does_not_exist("HITLayout", str(layout_id))
    pairs = [(each["Name"], each["Value"]) for each in request.get("HITLayoutParameters", [])]
    return fill_layout(layout, pairs), layout_id


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True)


# Reading.


def get_hit(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer GetHIT; a HIT that was disposed of can still be read by its id."""
    return {"HIT": hit_views(call, [call.hit(request["HITId"])])[0]}


def _listed(call: Call) -> sa.Select[Any]:
    return sa.select(M_HIT).where(M_HIT.c.account_id == call.account_id, M_HIT.c.disposed_at.is_(None))


def list_hits(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListHITs: all that are not disposed of."""
    rows, token = page(call, "ListHITs", request, _listed(call), [M_HIT.c.hit_id])
    return {"HITs": hit_views(call, rows), "NumResults": len(rows), "NextToken": token}


def list_reviewable_hits(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListReviewableHITs."""
    query = _listed(call).order_by(M_HIT.c.hit_id)
    if "HITTypeId" in request:
        query = query.where(M_HIT.c.hit_type_id == call.hit_type(request["HITTypeId"]).hit_type_id)
    rows = call.connection.execute(query).all()
    counts = counts_of(call.connection, [row.hit_id for row in rows])
    wanted = request.get("Status", "Reviewable")
    found = [row for row in rows if status_of(row, counts[row.hit_id], call.now) == wanted]
    shown, token = page_of_list(call, "ListReviewableHITs", request, found)
    return {"HITs": hit_views(call, shown), "NumResults": len(shown), "NextToken": token}


def list_hits_for_qualification_type(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListHITsForQualificationType."""
    wanted = request["QualificationTypeId"]
    types = call.connection.execute(sa.select(HIT_TYPE).where(HIT_TYPE.c.account_id == call.account_id)).all()
    asking = [
        row.hit_type_id
        for row in types
        if any(each["QualificationTypeId"] == wanted for each in json.loads(row.requirements))
    ]
    query = _listed(call).where(M_HIT.c.hit_type_id.in_(asking))
    rows, token = page(call, "ListHITsForQualificationType", request, query, [M_HIT.c.hit_id])
    return {"HITs": hit_views(call, rows), "NumResults": len(rows), "NextToken": token}


# What the requester does with a HIT.


def _alive(call: Call, request: Mapping[str, Any]) -> tuple[Any, dict[str, int], str]:
    """Return a HIT that is not disposed of, its counts and its status."""
    hit = call.hit(request["HITId"])
    counts = counts_of(call.connection, [hit.hit_id])[hit.hit_id]
    status = status_of(hit, counts, call.now)
    if status == "Disposed":
        raise wrong_state("HIT", "Assignable, Unassignable, Reviewable, Reviewing", status)
    return hit, counts, status


def update_expiration_for_hit(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer UpdateExpirationForHIT; a past date expires the HIT at once, work under way may be finished."""
    hit, _, _ = _alive(call, request)
    expires = max(request["ExpireAt"], hit.created_at)
    if expires > call.now + timedelta(days=365):
        raise invalid(f"ExpireAt is {expires.isoformat()}, more than 365 days ahead")
    is_over = expires <= call.now
    call.update_hit(
        hit.hit_id,
        expires_at=min(expires, call.now) if is_over else expires,
        is_expiry_settled=False,
        is_reviewing=hit.is_reviewing and is_over,
    )
    hold(call, hit.hit_id, check=True)
    if not is_over:
        call.tell("HITExtended", hit)
    return {}


def update_hit_review_status(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer UpdateHITReviewStatus: Reviewable to Reviewing, and back with Revert."""
    hit, _, status = _alive(call, request)
    is_back = bool(request.get("Revert", False))
    needed = "Reviewing" if is_back else "Reviewable"
    if status != needed:
        raise wrong_state("HIT", needed, status)
    call.update_hit(hit.hit_id, is_reviewing=not is_back)
    return {}


def update_hit_type_of_hit(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer UpdateHITTypeOfHIT; what it holds changes with the reward."""
    hit, _, _ = _alive(call, request)
    hit_type = call.hit_type(request["HITTypeId"])
    unit = hit_type.reward_minor + call.settings.fees.fee_minor(hit_type.reward_minor, redundancy=hit.max_assignments)
    call.update_hit(hit.hit_id, hit_type_id=hit_type.hit_type_id, unit_minor=unit)
    hold(call, hit.hit_id, check=True)
    return {}


def create_additional_assignments(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer CreateAdditionalAssignmentsForHIT; fewer than ten places may not become ten or more (rule R10)."""
    token = request.get("UniqueRequestToken")
    if call.token("CreateAdditionalAssignmentsForHIT", token) is not None:
        raise TurkError("RequestAlreadyProcessed", f"The request token {token} has been used already.")
    hit, _, _ = _alive(call, request)
    extend(call, hit, request["NumberOfAdditionalAssignments"])
    call.keep_token("CreateAdditionalAssignmentsForHIT", token, hit.hit_id)
    return {}


def delete_hit(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer DeleteHIT: only when it can be reviewed and everything handed in is reviewed (rule R11)."""
    hit, counts, status = _alive(call, request)
    if status not in {"Reviewable", "Reviewing"} or counts["submitted"] or counts["accepted"]:
        raise wrong_state("HIT", "Reviewable, with every assignment approved or rejected", status)
    dispose(call, hit, at=call.now)
    return {}


HIT_OPERATIONS = {
    "CreateAdditionalAssignmentsForHIT": create_additional_assignments,
    "CreateHIT": create_hit,
    "CreateHITWithHITType": create_hit_with_hit_type,
    "DeleteHIT": delete_hit,
    "GetHIT": get_hit,
    "ListHITs": list_hits,
    "ListHITsForQualificationType": list_hits_for_qualification_type,
    "ListReviewableHITs": list_reviewable_hits,
    "UpdateExpirationForHIT": update_expiration_for_hit,
    "UpdateHITReviewStatus": update_hit_review_status,
    "UpdateHITTypeOfHIT": update_hit_type_of_hit,
}
