"""What the review policies found and did, for the requester."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import REVIEW
from hmc_crowd_local.mturk_api._paging import page_of_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["REVIEW_OPERATIONS"]


def list_review_policy_results(call: Call, request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer ListReviewPolicyResultsForHIT."""
    hit = call.hit(request["HITId"])
    levels = request.get("PolicyLevels") or ["Assignment", "HIT"]
    kinds = [kind for kind in ("result", "action") if request.get(f"Retrieve{kind.title()}s", True)]
    query = sa.select(REVIEW).where(REVIEW.c.hit_id == hit.hit_id, REVIEW.c.level.in_(levels), REVIEW.c.kind.in_(kinds))
    rows = call.connection.execute(query.order_by(REVIEW.c.level, REVIEW.c.seq)).all()
    shown, token = page_of_list(call, "ListReviewPolicyResultsForHIT", request, rows)
    answer: dict[str, Any] = {"HITId": hit.hit_id, "NextToken": token}
    for level, policy in (("Assignment", hit.assignment_policy), ("HIT", hit.hit_policy)):
        if policy is None or level not in levels:
            continue
        answer[f"{level}ReviewPolicy"] = json.loads(policy)
        mine = [(row.kind, _body(row)) for row in shown if row.level == level]
        answer[f"{level}ReviewReport"] = {
            "ReviewResults": [body for kind, body in mine if kind == "result"],
            "ReviewActions": [body for kind, body in mine if kind == "action"],
        }
    return answer


def _body(row: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(row.body)
    if "CompleteTime" in body:
        body["CompleteTime"] = datetime.fromtimestamp(body["CompleteTime"], tz=UTC)
    return body


REVIEW_OPERATIONS = {"ListReviewPolicyResultsForHIT": list_review_policy_results}
