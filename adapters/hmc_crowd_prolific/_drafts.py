"""What we ask of Prolific, written strictly: a draft that its documents forbid never leaves this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError
from hmc_crowd_prolific._units import maximum_minutes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["STUDY_LABELS", "CodeAction", "CompletionCode", "StudyDraft", "check_codes"]

#: What a study may call itself.
STUDY_LABELS = (
    "survey",
    "writing_task",
    "annotation",
    "decision_making_task",
    "interview",
    "other",
    "ai_annotation",
    "ai_evaluation",
    "ai_reasoning",
    "ai_fact_checking",
    "ai_safety",
    "ai_data_creation_text",
    "ai_data_creation_audio",
    "ai_data_creation_video",
    "ai_data_creation_images",
    "ai_other",
)
_CODE_TYPES = (
    "COMPLETED",
    "FAILED_ATTENTION_CHECK",
    "FOLLOW_UP_STUDY",
    "GIVE_BONUS",
    "INCOMPATIBLE_DEVICE",
    "NO_CONSENT",
    "OTHER",
    "FIXED_SCREENOUT",
    "SCREENED_IN",
    "SCREENED_OUT",
)
_NEEDS = {
    "AUTOMATICALLY_APPROVE": (),
    "MANUALLY_REVIEW": (),
    "ADD_TO_PARTICIPANT_GROUP": ("participant_group",),
    "REMOVE_FROM_PARTICIPANT_GROUP": ("participant_group",),
    "REQUEST_RETURN": ("return_reason",),
    "DYNAMIC_PAYMENT": (),
    "FIXED_SCREEN_OUT_PAYMENT": ("fixed_screen_out_reward",),
}
_DEVICES = ("desktop", "tablet", "mobile")
_WARNINGS = ("sensitive", "explicit")


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{name} is {value!r}; Prolific knows {', '.join(allowed)}")


@dataclass(frozen=True)
class CodeAction:
    """What follows when a completion code is entered; a member stays None unless its action needs it."""

    action: str
    participant_group: str | None = None
    return_reason: str | None = None
    fixed_screen_out_reward: int | None = None
    slots: int | None = None

    def __post_init__(self) -> None:
        _one_of("action", self.action, tuple(_NEEDS))
        for name in _NEEDS[self.action]:
            if getattr(self, name) in {None, ""}:
                raise InputError(f"the action {self.action} of a completion code needs {name}; give it")

    def payload(self) -> dict[str, Any]:
        """Return it as the API wants it."""
        names = ("action", "participant_group", "return_reason", "fixed_screen_out_reward", "slots")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class CompletionCode:
    """A code that a participant (or, with ``actor="researcher"``, we) end a submission with.

    A participant's code is visible to him and proves nothing: approval depends on the work that we hold.
    """

    code: str | None
    code_type: str = "COMPLETED"
    actions: tuple[CodeAction, ...] = (CodeAction("MANUALLY_REVIEW"),)
    actor: str = "participant"

    def __post_init__(self) -> None:
        _one_of("code_type", self.code_type, _CODE_TYPES)
        _one_of("actor", self.actor, ("participant", "researcher"))
        names = {each.action for each in self.actions}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= names:
            raise InputError(f"code {self.code!r} approves automatically and asks for review; keep one of the two")
        if "DYNAMIC_PAYMENT" in names and self.actor != "researcher":
            raise InputError(f"code {self.code!r} pays dynamically, which needs actor='researcher'")

    def payload(self) -> dict[str, Any]:
        """Return it as the API wants it."""
        return {
            "code": self.code,
            "code_type": self.code_type,
            "actor": self.actor,
            "actions": [each.payload() for each in self.actions],
        }


def check_codes(codes: Sequence[CompletionCode], *, reward_minor: int) -> None:
    """Refuse codes that Prolific forbids together: one twice, a null code that is not alone, too dear a screen-out."""
    written = [each.code for each in codes if each.code is not None]
    if len(set(written)) != len(written):
        raise InputError(f"completion codes are {written}; each must be unique in the study")
    of_participants = [each for each in codes if each.actor == "participant"]
    for each in codes:
        if each.code is None and (len(of_participants) != 1 or each.actions or each.actor != "participant"):
            raise InputError("a completion code of None must be the only participants' code and have no actions")
        for action in each.actions:
            fixed = action.fixed_screen_out_reward
            if fixed is not None and fixed >= reward_minor:
                raise InputError(f"the screen-out reward is {fixed}, not below the reward of {reward_minor}")


@dataclass(frozen=True)
class StudyDraft:
    """A study to be created.

    Parameters
    ----------
    name, description : str
        What participants read; the description may hold Prolific's few HTML tags.
    external_study_url : str
        Our router, with the placeholders; https, or http on this machine.
    places, minutes, reward_minor : int
        Places, estimated minutes, and the reward in minor units.
    project : str
        Always sent, because Prolific would take the first project otherwise.
    internal_name, metadata : str
        Carry our key; participants see neither.
    longest_minutes : int, default 0
        The task's own limit; raised to the least that Prolific allows.
    per_worker, at_once : int, default 1 and -1
        Most submissions of one participant (-1: as many as places), and most submissions under way (-1: any).
    """

    name: str
    description: str
    external_study_url: str
    places: int
    minutes: int
    reward_minor: int
    project: str
    internal_name: str
    metadata: str
    codes: tuple[CompletionCode, ...]
    longest_minutes: int = 0
    per_worker: int = 1
    at_once: int = -1
    devices: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("annotation",)
    filters: tuple[Mapping[str, Any], ...] = ()
    content_warnings: tuple[str, ...] = ()
    content_warning_details: str = ""
    naivety_distribution_rate: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("name", "description", "project", "internal_name"):
            if not getattr(self, name).strip():
                raise InputError(f"{name} of the study is empty; Prolific needs it")
        for name, least in (("places", 1), ("minutes", 1), ("reward_minor", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} of the study is {value!r}; give a whole number of at least {least}")
        if self.per_worker != -1 and self.per_worker < 1:
            raise InputError(f"per_worker is {self.per_worker}; give at least 1, or -1 for as many as places")
        for each in self.devices:
            _one_of("device", each, _DEVICES)
        for each in self.content_warnings:
            _one_of("content warning", each, _WARNINGS)
        if len(self.labels) > 1:
            raise InputError(f"labels are {self.labels}; Prolific takes one")
        for each in self.labels:
            _one_of("label", each, STUDY_LABELS)
        check_codes(self.codes, reward_minor=self.reward_minor)
        maximum_minutes(self.minutes)

    def payload(self) -> dict[str, Any]:
        """Return the body of ``POST studies/``; what is not set is not sent."""
        body: dict[str, Any] = {
            "name": self.name,
            "internal_name": self.internal_name,
            "description": self.description,
            "external_study_url": self.external_study_url,
            "prolific_id_option": "url_parameters",
            "completion_codes": [each.payload() for each in self.codes],
            "total_available_places": self.places,
            "estimated_completion_time": self.minutes,
            "maximum_allowed_time": maximum_minutes(self.minutes, wanted=self.longest_minutes),
            "reward": self.reward_minor,
            "project": self.project,
            "metadata": self.metadata,
            "submissions_config": {
                "max_submissions_per_participant": self.per_worker,
                "max_concurrent_submissions": self.at_once,
            },
        }
        optional = {
            "device_compatibility": list(self.devices),
            "study_labels": list(self.labels),
            "filters": [dict(each) for each in self.filters],
            "content_warnings": list(self.content_warnings),
            "content_warning_details": self.content_warning_details,
        }
        body.update({name: value for name, value in optional.items() if value})
        if self.naivety_distribution_rate is not None:
            body["naivety_distribution_rate"] = self.naivety_distribution_rate
        return {**body, **self.extra}
