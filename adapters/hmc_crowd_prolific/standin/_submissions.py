"""Rules of submissions: participants come and go, researchers decide (S8 to S10 of the stand-in)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._filters import is_eligible
from hmc_crowd_prolific.standin._hooks import submission_changed
from hmc_crowd_prolific.standin._studies import refresh_study, shortest_maximum_minutes
from hmc_crowd_prolific.standin._world import HOLDING, StudyRecord, SubmissionRecord, World, stamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd_prolific.standin._schemas import SubmissionTransition

__all__ = [
    "bulk_approve",
    "complete",
    "decide",
    "detail_row",
    "give_back",
    "list_row",
    "pass_time",
    "put",
    "request_return",
    "take",
]


def take(world: World, participant: str, study_id: str) -> SubmissionRecord:
    """Let a participant take a place; coming back gives the same submission (rule S8)."""
    pass_time(world)
    record = world.study(study_id)
    refresh_study(world, record)
    own = [each for each in world.of_study(study_id) if each.participant == participant]
    for each in own:
        if each.status in {"RESERVED", "ACTIVE"}:
            return each
    _refuse_take(world, record, participant, own)
    made = SubmissionRecord(world.new_id("submission"), study_id, participant, "ACTIVE", world.now())
    world.add(made)
    submission_changed(world, made)
    refresh_study(world, record)
    return made


def _refuse_take(world: World, record: StudyRecord, participant: str, own: list[SubmissionRecord]) -> None:
    config = record.body.submissions_config
    if record.status != "ACTIVE":
        raise Refusal(403, f"The study is {record.status}.", title="Not open")
    if not is_eligible(world, record.body.filters or [], participant):
        raise Refusal(403, "The participant does not pass the filters.", title="Not eligible")
    most = config.max_submissions_per_participant
    if len(own) >= (record.body.total_available_places if most == -1 else most):
        raise Refusal(403, "The participant had this study.", title="Already taken")
    under_way = sum(each.status in {"RESERVED", "ACTIVE"} for each in world.of_study(record.id))
    if config.max_concurrent_submissions not in {-1, 0} and under_way >= config.max_concurrent_submissions:
        raise Refusal(403, "Too many at once.", title="Busy")
    if world.places_taken(record.id) >= record.body.total_available_places:
        raise Refusal(403, "No place is free.", title="Full")


def complete(world: World, submission_id: str, code: str | None) -> SubmissionRecord:
    """Let the participant hand the work in with a code; after the time is over it is refused."""
    pass_time(world)
    record = world.submission(submission_id)
    if record.status not in {"RESERVED", "ACTIVE"}:
        raise Refusal(403, f"The submission is {record.status}.", title="Not active")
    record.code, record.completed = code, world.now()
    _set(world, record, "AWAITING REVIEW")
    codes = world.study(record.study).body.completion_codes
    actions = [action for each in codes if each.code == code for action in each.actions]
    for action in actions:
        group = world.groups.get(action.participant_group or "")
        if action.action == "AUTOMATICALLY_APPROVE":
            _approve(world, record, by="code")
        elif action.action == "ADD_TO_PARTICIPANT_GROUP" and group:
            group.members.setdefault(record.participant, world.now())
        elif action.action == "REMOVE_FROM_PARTICIPANT_GROUP" and group:
            group.members.pop(record.participant, None)
    return record


def give_back(world: World, submission_id: str) -> SubmissionRecord:
    """Let the participant return the place."""
    pass_time(world)
    record = world.submission(submission_id)
    if record.status not in {"RESERVED", "ACTIVE", "AWAITING REVIEW"}:
        raise Refusal(403, f"The submission is {record.status}.", title="Not active")
    _set(world, record, "RETURNED")
    return record


def put(world: World, submission_id: str, status: str) -> SubmissionRecord:
    """Force a status, also one that nobody knows; for tests."""
    record = world.submission(submission_id)
    _set(world, record, status)
    return record


def decide(world: World, submission_id: str, body: SubmissionTransition) -> SubmissionRecord:
    """Approve or reject, once; the same decision again is ignored (rule S9)."""
    record = world.submission(submission_id)
    if body.action == "APPROVE":
        if record.status != "APPROVED":
            if record.status not in {"AWAITING REVIEW", "TIMED-OUT"}:
                raise Refusal(400, f"The submission is {record.status}; it cannot be approved.")
            _approve(world, record, by="researcher")
        return record
    if body.action == "REJECT":
        if record.status == "REJECTED":
            return record
        if len(body.message or "") < 100:
            raise Refusal(400, {"message": ["A rejection needs a message of at least 100 characters."]})
        if body.rejection_category is None:
            raise Refusal(400, {"rejection_category": ["This field is required."]})
        if record.status != "AWAITING REVIEW":
            raise Refusal(400, f"The submission is {record.status}; it cannot be rejected.")
        record.message, record.decided_by = body.message, "researcher"
        _set(world, record, "REJECTED")
        return record
    raise Refusal(400, f"The stand-in does not do {body.action}.")


def bulk_approve(world: World, ids: Iterable[str]) -> None:
    """Accept a list for approval; it happens a little later (rule S9)."""
    wanted = list(ids)
    for each in wanted:
        world.submission(each)
    world.bulk.append((world.now() + timedelta(seconds=world.options.bulk_s), wanted))
    pass_time(world)


def request_return(world: World, submission_id: str, reasons: list[str]) -> SubmissionRecord:
    """Note that the participant was asked to return."""
    record = world.submission(submission_id)
    record.return_requested = record.return_requested or world.now()
    record.message = "; ".join(reasons)
    return record


def pass_time(world: World) -> None:
    """Do everything that fell due: time-outs, approvals by themselves or in bulk, payments, studies."""
    for record in world.submissions.values():
        if record.status in {"RESERVED", "ACTIVE"}:
            is_reserved = record.status == "RESERVED"
            if world.until(record.started, world.options.reservation_s if is_reserved else _limit_s(world, record)):
                _set(world, record, "TIMED-OUT")
        elif record.status == "AWAITING REVIEW" and world.until(record.completed, world.options.auto_approval_s):
            _approve(world, record, by="time")
    for due, ids in [each for each in world.bulk if world.now() >= each[0]]:
        world.bulk.remove((due, ids))
        for each in ids:
            if world.submissions[each].status == "AWAITING REVIEW":
                _approve(world, world.submissions[each], by="researcher")
    for bonus in world.bonuses.values():
        for due in [each for each in bonus.pays if world.now() >= each]:
            bonus.pays.remove(due)
            bonus.times_paid += 1
            for submission_id, minor in bonus.rows:
                world.submissions[submission_id].bonuses.append(minor)
                world.charge(minor)
    for study in world.studies.values():
        refresh_study(world, study)


def _limit_s(world: World, record: SubmissionRecord) -> float:
    body = world.studies[record.study].body
    return 60.0 * (body.maximum_allowed_time or shortest_maximum_minutes(body.estimated_completion_time))


def _approve(world: World, record: SubmissionRecord, *, by: str) -> None:
    """Pay once (rule S9)."""
    study = world.study(record.study)
    reward = study.body.reward
    world.charge(reward)
    study.locked_minor = max(0, study.locked_minor - sum(world.cost_minor(reward, 1)))
    record.paid_minor += reward
    record.decided_by = by
    record.completed = record.completed or world.now()
    _set(world, record, "APPROVED")


def _set(world: World, record: SubmissionRecord, status: str) -> None:
    if record.status == status:
        return
    freed = record.status in HOLDING and status not in HOLDING
    world.set_status(record, status)
    submission_changed(world, record)
    study = world.studies[record.study]
    if freed or study.status != "ACTIVE" or status == "AWAITING REVIEW":
        refresh_study(world, study)


def list_row(world: World, record: SubmissionRecord) -> dict[str, Any]:
    """Return a submission as lists show it (rule S13): other names than the detail, and personal data beside them."""
    ended = record.completed
    return {
        "id": record.id,
        "participant_id": record.participant,
        "status": _shown(world, record),
        "started_at": stamp(record.started),
        "completed_at": stamp(record.completed),
        "study_code": record.code,
        "has_siblings": False,
        "return_requested": stamp(record.return_requested),
        "time_taken": (ended - record.started).total_seconds() if ended else None,
        "reward": world.studies[record.study].body.reward,
        "ip": "203.0.113.7",
        "strata": {"ethnicity": "not for us"},
        "bonus_payments": list(record.bonuses),
    }


def detail_row(world: World, record: SubmissionRecord) -> dict[str, Any]:
    """Return a submission as its own page shows it."""
    return {
        "id": record.id,
        "participant": record.participant,
        "study_id": record.study,
        "status": _shown(world, record),
        "started_at": stamp(record.started),
        "completed_at": stamp(record.completed),
        "entered_code": record.code,
        "return_requested": stamp(record.return_requested),
        "bonus_payments": list(record.bonuses),
        "ip": "203.0.113.7",
    }


def _shown(world: World, record: SubmissionRecord) -> str:
    return world.status_fault or record.status
