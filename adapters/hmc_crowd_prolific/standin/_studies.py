"""Rules of studies: S1 to S7 of the stand-in."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd_prolific.standin._errors import Refusal
from hmc_crowd_prolific.standin._hooks import study_changed
from hmc_crowd_prolific.standin._schemas import RETIRED_FIELDS, CompletionCode, NewStudy
from hmc_crowd_prolific.standin._world import StudyRecord, World, stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["change_study", "create_study", "move_study", "refresh_study", "shortest_maximum_minutes", "study_row"]

_AFTER_PUBLISHING = frozenset({"internal_name", "total_available_places", "access_details", "submissions_config"})
_EXCLUSIVE = frozenset({"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"})


def shortest_maximum_minutes(estimated: int) -> int:
    """Return the least allowed maximum time, in minutes (rule S4)."""
    return math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))


def create_study(world: World, body: Mapping[str, Any]) -> StudyRecord:
    """Make a draft (rules S1 to S4)."""
    retired = [name for name in RETIRED_FIELDS if name in body]
    if retired:
        raise Refusal(400, {name: ["This field is retired."] for name in retired})
    study = NewStudy.model_validate(body)
    check_study(study)
    project = study.project or next(iter(world.projects))
    if project not in world.projects:
        raise Refusal(400, {"project": ["Unknown project."]})
    record = StudyRecord(world.new_id("study"), study, world.now(), project)
    world.studies[record.id] = record
    return record


def check_study(study: NewStudy) -> None:
    """Refuse what the documents forbid about one study's fields."""
    given = [study.external_study_url, study.access_details, study.data_collection_method]
    if sum(each is not None for each in given) != 1:
        raise Refusal(400, "Give exactly one of external_study_url, access_details and data_collection_method.")
    if study.filters and study.filter_set_id:
        raise Refusal(400, "filters and filter_set_id exclude each other.")
    if study.access_details is not None:
        total = sum(each.total_allocation for each in study.access_details)
        if total != study.total_available_places:
            raise Refusal(400, {"access_details": [f"The allocations sum to {total}."]})
    least = shortest_maximum_minutes(study.estimated_completion_time)
    longest = study.maximum_allowed_time
    if longest is not None and not least <= longest < 24 * 60:
        raise Refusal(400, {"maximum_allowed_time": [f"It must be at least {least} and under 1440 minutes."]})
    check_codes(study.completion_codes, study.reward)


def check_codes(codes: list[CompletionCode], reward: int) -> None:
    """Rule S2: unique codes, exclusive actions, the null code, the actor, and what each action needs."""
    written = [each.code for each in codes if each.code is not None]
    if len(set(written)) != len(written):
        raise Refusal(400, {"completion_codes": ["Codes must be unique."]})
    participants = [each for each in codes if each.actor == "participant"]
    for each in codes:
        names = {action.action for action in each.actions}
        if names >= _EXCLUSIVE:
            raise Refusal(400, {"completion_codes": ["Approve automatically or review manually, not both."]})
        if each.code is None and (len(participants) != 1 or each.actions or each.actor != "participant"):
            raise Refusal(400, {"completion_codes": ["A null code must be the only one and have no actions."]})
        if "DYNAMIC_PAYMENT" in names and each.actor != "researcher":
            raise Refusal(400, {"completion_codes": ["DYNAMIC_PAYMENT needs the actor researcher."]})
        for action in each.actions:
            if action.action.endswith("PARTICIPANT_GROUP") and not action.participant_group:
                raise Refusal(400, {"completion_codes": ["participant_group is required."]})
            if action.action == "REQUEST_RETURN" and not action.return_reason:
                raise Refusal(400, {"completion_codes": ["return_reason is required."]})
            fixed = action.fixed_screen_out_reward
            if action.action == "FIXED_SCREEN_OUT_PAYMENT" and not (fixed is not None and fixed < reward):
                raise Refusal(400, {"completion_codes": ["fixed_screen_out_reward must be below the reward."]})


def move_study(world: World, study_id: str, action: str, publish_at: str | None) -> StudyRecord:
    """Carry out a transition (rules S5 and S6)."""
    record = world.study(study_id)
    refresh_study(world, record)
    allowed = {
        "PUBLISH": {"UNPUBLISHED"},
        "SCHEDULE_PUBLISH": {"UNPUBLISHED"},
        "CANCEL_PUBLISH": {"SCHEDULED"},
        "PAUSE": {"ACTIVE"},
        "START": {"PAUSED"},
        "STOP": {"ACTIVE", "PAUSED"},
    }
    if action not in allowed:
        raise Refusal(400, {"action": [f"{action!r} is not a valid choice."]})
    if record.status not in allowed[action]:
        if action == "PUBLISH" and not world.options.republish_is_error and record.status in {"ACTIVE", "PUBLISHING"}:
            return record
        raise Refusal(400, f"The study is {record.status}; {action} is not possible.")
    if action in {"PUBLISH", "SCHEDULE_PUBLISH"}:
        _publish(world, record, action, publish_at)
    elif action == "CANCEL_PUBLISH":
        record.locked_minor = 0
        _set(world, record, "UNPUBLISHED")
    else:
        record.stopped = action == "STOP"
        _set(world, record, {"PAUSE": "PAUSED", "START": "ACTIVE", "STOP": "COMPLETED"}[action])
    refresh_study(world, record)
    return record


def _publish(world: World, record: StudyRecord, action: str, publish_at: str | None) -> None:
    cost = sum(world.cost_minor(record.body.reward, record.body.total_available_places))
    if cost > world.available_minor:
        raise Refusal(400, f"The balance of {world.available_minor} does not cover {cost}.", title="Insufficient funds")
    if action == "SCHEDULE_PUBLISH":
        if not publish_at:
            raise Refusal(400, {"publish_at": ["This field is required."]})
        record.publish_at = datetime.fromisoformat(publish_at)
        _set(world, record, "SCHEDULED")
    else:
        record.active_from = world.now() + timedelta(seconds=world.options.publishing_s)
        _set(world, record, "PUBLISHING")
    record.locked_minor = cost


def change_study(world: World, study_id: str, body: Mapping[str, Any]) -> StudyRecord:
    """Change fields: all of a draft, few of a published study, places upwards only (rule S7)."""
    record = world.study(study_id)
    refresh_study(world, record)
    is_draft = record.status == "UNPUBLISHED"
    refused = [] if is_draft else sorted(set(body) - _AFTER_PUBLISHING)
    if refused:
        raise Refusal(400, {name: ["It cannot change after publishing."] for name in refused})
    changed = NewStudy.model_validate({**record.body.model_dump(exclude_unset=True), **body})
    if not is_draft and changed.total_available_places < record.body.total_available_places:
        raise Refusal(400, {"total_available_places": ["Places can only be added after publishing."]})
    check_study(changed)
    more = changed.total_available_places - record.body.total_available_places
    if not is_draft and more > 0:
        cost = sum(world.cost_minor(changed.reward, more))
        if cost > world.available_minor:
            raise Refusal(400, f"The balance of {world.available_minor} does not cover {cost}.")
        record.locked_minor += cost
        record.stopped = False
        if record.status in {"COMPLETED", "AWAITING REVIEW"}:
            _set(world, record, "ACTIVE")
    record.body = changed
    refresh_study(world, record)
    return record


def refresh_study(world: World, record: StudyRecord) -> None:
    """Let the clock and the places move a study: published, full, reviewed, freed again."""
    if record.status == "SCHEDULED" and record.publish_at is not None and world.now() >= record.publish_at:
        _set(world, record, "ACTIVE")
    if record.status == "PUBLISHING" and record.active_from is not None and world.now() >= record.active_from:
        _set(world, record, "ACTIVE")
    counts = world.counts(record.id)
    under_way = counts["RESERVED"] + counts["ACTIVE"]
    is_full = world.places_taken(record.id) - under_way >= record.body.total_available_places
    if record.status == "ACTIVE" and is_full:
        _set(world, record, "AWAITING REVIEW")
    if record.status in {"AWAITING REVIEW", "COMPLETED"} and not record.stopped and not is_full:
        # Rejected, returned and timed-out work frees its place, and the study recruits again.
        _set(world, record, "ACTIVE")
    if record.status == "AWAITING REVIEW" and not counts["AWAITING REVIEW"] and not under_way:
        _set(world, record, "COMPLETED")
    if record.status == "COMPLETED" and not counts["AWAITING REVIEW"] and not under_way:
        record.locked_minor = 0


def _set(world: World, record: StudyRecord, status: str) -> None:
    if record.status != status:
        record.status = status
        study_changed(world, record)


def study_row(world: World, record: StudyRecord) -> dict[str, Any]:
    """Return a study as the API shows it."""
    rewards, fee, vat = world.cost_minor(record.body.reward, record.body.total_available_places)
    return {
        **record.body.model_dump(exclude_none=True),
        "id": record.id,
        "status": record.status,
        "project": record.project,
        "places_taken": world.places_taken(record.id),
        "number_of_submissions": len(world.of_study(record.id)),
        "total_cost": rewards + fee + vat,
        "date_created": stamp(record.created),
        "published_at": stamp(record.active_from),
        "publish_at": stamp(record.publish_at),
    }
