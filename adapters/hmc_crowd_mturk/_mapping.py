"""From the API's documents to the port's, and from a HIT to what is sent."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import RemoteHit, RemoteSubmission, SubmissionState
from hmc_crowd_mturk._money import currency_amount

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.platform import Hit

__all__ = [
    "MTurkSubmission",
    "annotation_of",
    "check_hit",
    "handed_in",
    "key_of",
    "remote_hit",
    "require_id",
    "submission_of",
]

_STATES = {
    "Submitted": SubmissionState.SUBMITTED,
    "Approved": SubmissionState.APPROVED,
    "Rejected": SubmissionState.REJECTED,
}
_ID = re.compile(r"[A-Z0-9]{1,64}")
_YEAR_S = 31_536_000
_MOST_ANNOTATION = 255


@dataclass(frozen=True)
class MTurkSubmission(RemoteSubmission):
    """A submission with what an MTurk-API endpoint knows besides.

    Parameters
    ----------
    deadline_at, reviewed_at, auto_approve_at : datetime or None
        Aware UTC.
    auto_approved : bool
        The platform approved it by itself when its time came: nobody here did.
    feedback : str or None
        What the worker was told.
    """

    deadline_at: datetime | None = None
    reviewed_at: datetime | None = None
    auto_approve_at: datetime | None = None
    auto_approved: bool = False
    feedback: str | None = None


def submission_of(row: dict[str, Any]) -> MTurkSubmission:
    """Return an assignment as the port shows it; a status that nobody knows is UNKNOWN."""
    accepted, submitted = _utc(row.get("AcceptTime")), _utc(row.get("SubmitTime"))
    approved, rejected, due = (_utc(row.get(n)) for n in ("ApprovalTime", "RejectionTime", "AutoApprovalTime"))
    state = _STATES.get(row.get("AssignmentStatus", ""), SubmissionState.UNKNOWN)
    elapsed = None if accepted is None or submitted is None else (submitted - accepted).total_seconds()
    is_approved = state is SubmissionState.APPROVED
    return MTurkSubmission(
        submission_id=row["AssignmentId"],
        hit_id=row["HITId"],
        worker=row["WorkerId"],
        state=state,
        accepted_at=accepted,
        submitted_at=submitted,
        platform_elapsed_s=elapsed,
        time_quality="no_heartbeat",
        deadline_at=_utc(row.get("Deadline")),
        reviewed_at=approved if is_approved else rejected,
        auto_approve_at=due,
        auto_approved=is_approved and approved is not None and due is not None and approved >= due,
        feedback=row.get("RequesterFeedback"),
    )


def _utc(moment: datetime | None) -> datetime | None:
    """Turn boto3's local times into UTC; one that no calendar holds there is as good as none."""
    try:
        return None if moment is None else moment.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


# The key of a HIT travels in its RequesterAnnotation, with a digest of the content behind it.


def annotation_of(hit: Hit) -> str:
    """Return the annotation under which a HIT is found again.

    Its digest leaves out what says nothing about the content: how long the HIT is offered.
    """
    content = {name: value for name, value in asdict(hit).items() if name not in {"lifetime_s", "key"}}
    return f"{hit.key}#{digest(repr(sorted(content.items())))[:16]}"


def key_of(annotation: str | None) -> str | None:
    """Return the key in an annotation of ours, or None for somebody else's.

    >>> key_of("K1#0123456789abcdef"), key_of("my batch")
    ('K1', None)
    """
    key, mark, code = (annotation or "").rpartition("#")
    return key if mark and re.fullmatch(r"[0-9a-f]{16}", code) else None


def remote_hit(row: dict[str, Any]) -> RemoteHit:
    """Return a HIT as the port shows it."""
    return RemoteHit(
        hit_id=row["HITId"],
        key=key_of(row.get("RequesterAnnotation")) or "",
        redundancy=row["MaxAssignments"],
        is_open=row.get("HITStatus") == "Assignable",
        created_at=row["CreationTime"].astimezone(UTC),
    )


def check_hit(hit: Hit, *, currency: str) -> None:
    """Refuse a HIT that the API would refuse, before anything is sent."""
    if isinstance(hit.pay_minor, bool) or not isinstance(hit.pay_minor, int):
        raise InputError(f"pay_minor of hit {hit.key!r} is {hit.pay_minor!r}; give whole cents")
    currency_amount(hit.pay_minor, name=f"pay_minor of hit {hit.key!r}")
    if hit.currency != currency:
        raise InputError(f"currency of hit {hit.key!r} is {hit.currency}; this endpoint pays in {currency}")
    if not hit.items:
        raise InputError(f"hit {hit.key!r} has no items; give it at least one")
    questions = [(each.item, each.aspect) for each in hit.items]
    if len(set(questions)) != len(questions):
        twice = next(each for position, each in enumerate(questions) if each in questions[:position])
        raise InputError(f"hit {hit.key!r} holds item {twice[0]!r}, aspect {twice[1]!r} twice; keep it once")
    for name, text, most in (("title", hit.title, 128), ("description", hit.description, 2_000)):
        if not 1 <= len(text) <= most:
            raise InputError(f"{name} of hit {hit.key!r} has {len(text)} characters; give 1 to {most}")
    if not hit.key or len(annotation_of(hit)) > _MOST_ANNOTATION:
        raise InputError(f"key of a hit has {len(hit.key)} characters; give 1 to {_MOST_ANNOTATION - 17}")
    for name, value, low, high in (
        ("redundancy", hit.redundancy, 1, 1_000_000_000),
        ("time_limit_s", hit.time_limit_s, 30, _YEAR_S),
        ("lifetime_s", hit.lifetime_s, 30, _YEAR_S),
    ):
        if not low <= value <= high:
            raise InputError(f"{name} of hit {hit.key!r} is {value}; it must lie between {low} and {high}")


def require_id(value: str, what: str) -> str:
    """Refuse what cannot be an id of the platform; boto3 would send it."""
    if not _ID.fullmatch(value):
        raise PlatformError(f"{what} {value[:80]!r} is unknown here; ids are capital letters and digits")
    return value


def handed_in(hit: dict[str, Any]) -> int:
    """Return how many assignments the HIT's own counters say were handed in."""
    free = hit.get("NumberOfAssignmentsAvailable", 0) + hit.get("NumberOfAssignmentsPending", 0)
    return int(hit["MaxAssignments"] - free)
