"""What a HIT looks like from outside: its status follows from the places and the clock, so it cannot go stale."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import HIT_TYPE
from hmc_crowd_local.mturk_api._call import amount, counts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["hit_views", "status_of"]


def status_of(hit: Any, counts: Mapping[str, int], now: datetime) -> str:
    """Return HITStatus: it follows from the places and the clock, so it cannot go stale."""
    if hit.disposed_at is not None:
        return "Disposed"
    done = counts["submitted"] + counts["approved"] + counts["rejected"]
    if done >= hit.max_assignments or now >= hit.expires_at:
        return "Reviewing" if hit.is_reviewing else "Reviewable"
    return "Assignable" if done + counts["accepted"] < hit.max_assignments else "Unassignable"


def hit_views(call: Call, hits: Sequence[Any]) -> list[dict[str, Any]]:
    """Return HITs as the API shows them."""
    if not hits:
        return []
    counts = counts_of(call.connection, [each.hit_id for each in hits])
    wanted = {each.hit_type_id for each in hits}
    rows = call.connection.execute(sa.select(HIT_TYPE).where(HIT_TYPE.c.hit_type_id.in_(wanted)))
    types = {row.hit_type_id: row for row in rows}
    return [hit_view(hit, types[hit.hit_type_id], counts[hit.hit_id], call.now) for hit in hits]


def hit_view(hit: Any, hit_type: Any, counts: Mapping[str, int], now: datetime) -> dict[str, Any]:
    """Return one HIT as the API shows it."""
    status = status_of(hit, counts, now)
    completed = counts["approved"] + counts["rejected"]
    return {
        "HITId": hit.hit_id,
        "HITTypeId": hit.hit_type_id,
        "HITGroupId": hit_type.group_id,
        "HITLayoutId": hit.layout_id,
        "CreationTime": hit.created_at,
        "Title": hit_type.title,
        "Description": hit_type.description,
        "Question": hit.question,
        "Keywords": hit_type.keywords,
        "HITStatus": status,
        "MaxAssignments": hit.max_assignments,
        "Reward": amount(hit_type.reward_minor),
        "AutoApprovalDelayInSeconds": hit_type.auto_approval_s,
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": hit_type.duration_s,
        "RequesterAnnotation": hit.annotation,
        "QualificationRequirements": json.loads(hit_type.requirements),
        "HITReviewStatus": "MarkedForReview" if status == "Reviewing" else "NotReviewed",
        "NumberOfAssignmentsPending": counts["accepted"],
        "NumberOfAssignmentsAvailable": max(
            0, hit.max_assignments - counts["accepted"] - counts["submitted"] - completed
        ),
        "NumberOfAssignmentsCompleted": completed,
    }
