"""Prolific's objects as frozen values. Fields we have no use for, and personal data, stop here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import RemoteSubmission
from hmc_crowd_prolific._parse import identity, moment, text, whole
from hmc_crowd_prolific._statuses import STATES, StudyStatus, SubmissionStatus, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hmc_crowd.platform import SubmissionState

__all__ = [
    "Balance",
    "BonusSetup",
    "Cost",
    "Group",
    "Message",
    "Project",
    "Study",
    "StudyStatus",
    "Submission",
    "SubmissionStatus",
    "Subscription",
    "Workspace",
]


@dataclass(frozen=True)
class Workspace:
    """A workspace, which holds the money."""

    id: str
    title: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Workspace:
        """Read a row of the API."""
        return cls(identity(row, "id"), text(row, "title") or "")


@dataclass(frozen=True)
class Project:
    """A project, which holds studies."""

    id: str
    title: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Project:
        """Read a row of the API."""
        return cls(identity(row, "id"), text(row, "title") or "")


@dataclass(frozen=True)
class Balance:
    """What a workspace holds: ``total``, and ``available`` for new studies."""

    total: Money
    available: Money

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Balance:
        """Read a row of the API."""
        currency = identity(row, "currency_code")
        return cls(Money(whole(row, "total_balance"), currency), Money(whole(row, "available_balance"), currency))


@dataclass(frozen=True)
class Cost:
    """What a study costs, in minor units: rewards, fees and tax."""

    rewards_minor: int
    fees_minor: int
    tax_minor: int

    @property
    def total_minor(self) -> int:
        """All of it."""
        return self.rewards_minor + self.fees_minor + self.tax_minor

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Cost:
        """Read the rewards' part of the cost answer."""
        part = row.get("rewards")
        if not isinstance(part, dict):
            raise PlatformError("Prolific's cost answer has no rewards; look whether its API has changed")
        return cls(_amount(part, "rewards"), _amount(part, "fees"), _amount(part, "tax") if "tax" in part else 0)


def _amount(part: Mapping[str, Any], name: str) -> int:
    """Read minor units, given as ``{amount, currency}`` or as a bare number."""
    value = part.get(name)
    return whole(value, "amount") if isinstance(value, dict) else whole(part, name)


@dataclass(frozen=True)
class Study:
    """A study. ``metadata`` and the completion codes come only with a single study, not in lists."""

    id: str
    name: str
    internal_name: str
    status: StudyStatus
    places: int
    places_taken: int
    reward_minor: int
    created_at: datetime | None
    metadata: str | None = None
    project: str | None = None
    codes: tuple[str, ...] = ()
    external_url: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it recruits, or is about to."""
        return self.status in {StudyStatus.ACTIVE, StudyStatus.PUBLISHING, StudyStatus.SCHEDULED}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Study:
        """Read a row of the API."""
        codes = row.get("completion_codes") or []
        return cls(
            id=identity(row, "id"),
            name=text(row, "name") or "",
            internal_name=text(row, "internal_name") or "",
            status=status_of(StudyStatus, row.get("status"), StudyStatus.UNKNOWN),
            places=whole(row, "total_available_places", 0),
            places_taken=whole(row, "places_taken", 0),
            reward_minor=whole(row, "reward", 0),
            created_at=moment(row, "date_created"),
            metadata=text(row, "metadata"),
            project=text(row, "project"),
            codes=tuple(each["code"] for each in codes if isinstance(each, dict) and each.get("code")),
            external_url=text(row, "external_study_url"),
        )


@dataclass(frozen=True)
class Submission:
    """One participant's work, the same whether it came from a list or from its own page.

    Lists write ``participant_id`` and ``study_code`` where the page writes ``participant`` and ``entered_code``. The IP
    address and the strata of a row are dropped. ``problem`` says why a row of a list could not be read, where it could
    not.
    """

    id: str
    study_id: str
    participant: str
    status: SubmissionStatus
    started_at: datetime | None
    completed_at: datetime | None
    code: str | None
    return_requested: datetime | None
    bonuses_minor: tuple[int, ...]
    problem: str = ""

    @classmethod
    def read(cls, row: Mapping[str, Any], *, study_id: str | None = None) -> Submission:
        """Read a row of a list (which does not name its study: pass ``study_id``) or a single submission."""
        bonuses = row.get("bonus_payments") or []
        return cls(
            id=identity(row, "id"),
            study_id=study_id if study_id is not None else identity(row, "study_id"),
            participant=identity(row, "participant_id", "participant"),
            status=status_of(SubmissionStatus, row.get("status"), SubmissionStatus.UNKNOWN),
            started_at=moment(row, "started_at"),
            completed_at=moment(row, "completed_at"),
            code=text(row, "study_code") or text(row, "entered_code"),
            return_requested=moment(row, "return_requested"),
            bonuses_minor=tuple(whole({"bonus": each}, "bonus") for each in bonuses),
        )

    @property
    def state(self) -> SubmissionState:
        """The port's word for the status."""
        return STATES[self.status]

    def remote(self) -> RemoteSubmission:
        """As the port shows it; the platform's clock runs from start to completion."""
        elapsed = None
        if self.started_at is not None and self.completed_at is not None:
            elapsed = max(0.0, (self.completed_at - self.started_at).total_seconds())
        return RemoteSubmission(
            submission_id=self.id,
            hit_id=self.study_id,
            worker=self.participant,
            state=self.state,
            accepted_at=self.started_at,
            submitted_at=self.completed_at,
            platform_elapsed_s=elapsed,
            time_quality="no_heartbeat",
            problem=self.problem,
        )


@dataclass(frozen=True)
class BonusSetup:
    """A bonus that is set up and not paid: nothing is paid until its ``pay``."""

    id: str
    amount_minor: int
    fees_minor: int
    tax_minor: int
    total_minor: int

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> BonusSetup:
        """Read the answer of the set-up."""
        return cls(
            identity(row, "id"),
            whole(row, "amount", 0),
            whole(row, "fees", 0),
            whole(row, "vat", 0),
            whole(row, "total_amount"),
        )


@dataclass(frozen=True)
class Group:
    """A participant group, Prolific's substitute for a qualification."""

    id: str
    name: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Group:
        """Read a row of the API."""
        return cls(identity(row, "id"), text(row, "name") or "")


@dataclass(frozen=True)
class Message:
    """A message between researcher and participant."""

    id: str
    sender: str
    body: str
    sent_at: datetime | None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Message:
        """Read a row of the API."""
        return cls(identity(row, "id"), identity(row, "sender_id"), text(row, "body") or "", moment(row, "sent_at"))


@dataclass(frozen=True)
class Subscription:
    """A webhook subscription."""

    id: str
    event_type: str
    target_url: str

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Subscription:
        """Read a row of the API."""
        return cls(identity(row, "id"), identity(row, "event_type"), identity(row, "target_url"))
