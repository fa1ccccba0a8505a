"""What the stand-in accepts: the fields that Prolific documents, strict; a field it does not know is refused."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "RETIRED_FIELDS",
    "BonusSetup",
    "BulkApproval",
    "BulkMessage",
    "CompletionCode",
    "CostQuestion",
    "NewGroup",
    "NewMessage",
    "NewProject",
    "NewStudy",
    "NewSubscription",
    "ParticipantIds",
    "ReturnRequest",
    "Secret",
    "StudyTransition",
    "SubmissionTransition",
    "SubmissionsConfig",
    "WorkspaceRef",
]

#: Sent by older clients; refused with a sentence of its own.
RETIRED_FIELDS = ("completion_code", "completion_option", "eligibility_requirements")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CodeAction(_Strict):
    """What follows when a code is entered."""

    action: Literal[
        "AUTOMATICALLY_APPROVE",
        "MANUALLY_REVIEW",
        "ADD_TO_PARTICIPANT_GROUP",
        "REMOVE_FROM_PARTICIPANT_GROUP",
        "REQUEST_RETURN",
        "DYNAMIC_PAYMENT",
        "FIXED_SCREEN_OUT_PAYMENT",
    ]
    participant_group: str | None = None
    return_reason: str | None = None
    fixed_screen_out_reward: int | None = None
    slots: int | None = None


class CompletionCode(_Strict):
    """A completion code of a study."""

    code: str | None
    code_type: Literal[
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
    ]
    actions: list[CodeAction]
    actor: Literal["participant", "researcher"] = "participant"


class SubmissionsConfig(_Strict):
    """How often, and how many at once."""

    max_submissions_per_participant: int = Field(default=1, ge=-1)
    max_concurrent_submissions: int = Field(default=-1, ge=-1)
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []


class AccessDetail(_Strict):
    """One address of a Taskflow study."""

    external_url: str
    total_allocation: int = Field(ge=1)


class NewStudy(_Strict):
    """Body of a new study."""

    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    total_available_places: int = Field(ge=1)
    estimated_completion_time: int = Field(ge=1)
    reward: int = Field(ge=0)
    external_study_url: str | None = None
    access_details: list[AccessDetail] | None = None
    data_collection_method: str | None = None
    internal_name: str | None = None
    metadata: str | None = None
    project: str | None = None
    completion_codes: list[CompletionCode] = []
    maximum_allowed_time: int | None = None
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[dict[str, Any]] | None = None
    filter_set_id: str | None = None
    filter_set_version: int | None = None
    naivety_distribution_rate: float | None = None
    study_labels: list[str] = Field(default=[], max_length=1)
    content_warnings: list[Literal["sensitive", "explicit"]] = []
    content_warning_details: str | None = None
    submissions_config: SubmissionsConfig = SubmissionsConfig()
    is_external_study_url_secure: bool = False


class StudyTransition(_Strict):
    """Body of a study's transition."""

    action: str
    publish_at: str | None = None


class CompletionData(_Strict):
    """What a dynamic payment needs."""

    percentage_of_reward: int | None = Field(default=None, ge=8, le=99)
    message_to_participant: str | None = None


class SubmissionTransition(_Strict):
    """Body of a submission's transition."""

    action: Literal["APPROVE", "REJECT", "COMPLETE", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"]
    message: str | None = None
    rejection_category: (
        Literal[
            "TOO_QUICKLY",
            "TOO_SLOWLY",
            "FAILED_INSTRUCTIONS",
            "INCOMP_LONGITUDINAL",
            "FAILED_CHECK",
            "LOW_EFFORT",
            "MALINGERING",
            "NO_CODE",
            "BAD_CODE",
            "NO_DATA",
            "UNSUPP_DEVICE",
            "OTHER",
        ]
        | None
    ) = None
    completion_code: str | None = None
    completion_code_data: CompletionData | None = None


class BulkApproval(_Strict):
    """Body of a bulk approval: submissions, or participants of one study."""

    submission_ids: list[str] | None = None
    study_id: str | None = None
    participant_ids: list[str] | None = None


class ReturnRequest(_Strict):
    """Body of a request to return."""

    request_return_reasons: list[str] = Field(min_length=1)


class BonusSetup(_Strict):
    """Body of a bonus set-up; the amounts in the CSV are in major units."""

    study_id: str
    csv_bonuses: str


class CostQuestion(_Strict):
    """Body of the cost calculator."""

    reward: int = Field(ge=0)
    total_available_places: int = Field(ge=1)


class NewProject(_Strict):
    """Body of a new project."""

    title: str = Field(min_length=1)
    description: str | None = None


class NewGroup(_Strict):
    """Body of a new participant group."""

    name: str = Field(min_length=1)
    workspace_id: str | None = None
    organisation_id: str | None = None
    description: str | None = None
    participant_ids: list[str] = []


class ParticipantIds(_Strict):
    """Participants to add to a group or to take out of it."""

    participant_ids: list[str]


class NewMessage(_Strict):
    """Body of a message to one participant."""

    recipient_id: str
    body: str = Field(min_length=1)
    study_id: str


class BulkMessage(_Strict):
    """Body of a message to several."""

    ids: list[str] = Field(min_length=1)
    body: str = Field(min_length=1)
    study_id: str


class WorkspaceRef(_Strict):
    """Body that names a workspace."""

    workspace_id: str


class NewSubscription(_Strict):
    """Body of a new webhook subscription."""

    workspace_id: str
    event_type: str
    target_url: str


class Secret(_Strict):
    """Body that confirms a subscription."""

    secret: str
