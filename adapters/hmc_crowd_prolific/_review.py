"""Who is paid, who is asked about, and who may be refused? Fair rules before any call, as pure functions.

Approval depends on the work that we hold, never on the completion code. A rejection hurts a person's account, so it
needs two independent signals with evidence, the attention checks that Prolific's rules ask for, a person's sign-off,
and stays below a share of what was reviewed; otherwise nothing at all is rejected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError, NeedsHumanError
from hmc_crowd_prolific._statuses import SubmissionStatus
from hmc_crowd_prolific._submissions import LEAST_REASON, REJECTION_CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hmc_crowd_prolific._models import Submission

__all__ = [
    "AUTO_APPROVAL",
    "RejectionProposal",
    "ReviewAction",
    "ReviewCase",
    "ReviewDeadline",
    "Signal",
    "checked_rejections",
    "review",
    "review_deadlines",
]

#: Prolific approves by itself what was not reviewed for so long.
AUTO_APPROVAL = timedelta(days=21)
_LONG_STUDY_MINUTES = 5


class ReviewAction(StrEnum):
    """What to do about a submission."""

    NOTHING = "nothing"
    APPROVE = "approve"
    OFFER_PAYMENT = "offer_payment"
    ASK_RETURN = "ask_return"
    PROPOSE_REJECTION = "propose_rejection"
    ASK_PERSON = "ask_person"


@dataclass(frozen=True)
class Signal:
    """One reason to doubt the work: the rule that found it, and what it saw."""

    rule: str
    evidence: str

    def __post_init__(self) -> None:
        if not self.rule.strip() or not self.evidence.strip():
            raise InputError(f"rule is {self.rule!r}, evidence is {self.evidence!r}; a signal needs both")


@dataclass(frozen=True)
class ReviewCase:
    """A submission and what we know about its work.

    Parameters
    ----------
    is_complete : bool
        Whether our record holds all its answers.
    failed_gold : int
        Gold items (attention checks) answered wrongly.
    signals : tuple of Signal
        Other reasons, each by a rule of its own. A suspicion that a language model wrote the answers is none.
    minutes : float
        Estimated time of the study.
    """

    submission: Submission
    is_complete: bool
    failed_gold: int = 0
    signals: tuple[Signal, ...] = ()
    minutes: float = 12.0


def review(case: ReviewCase) -> tuple[ReviewAction, str]:
    """Say what to do about a submission, and why.

    One failed gold item never leads to a rejection, and neither does a missing or wrong code.
    """
    status = case.submission.status
    if status is SubmissionStatus.UNKNOWN:
        return ReviewAction.ASK_PERSON, "its state is one that nobody knows, so no money moves"
    if status is SubmissionStatus.TIMED_OUT and case.is_complete:
        return ReviewAction.OFFER_PAYMENT, "the time ran out, but the work is complete"
    if status is not SubmissionStatus.AWAITING_REVIEW:
        return ReviewAction.NOTHING, f"it is {status}"
    rules = {each.rule for each in case.signals} | ({"gold"} if case.failed_gold else set())
    least_failed = 1 if case.minutes < _LONG_STUDY_MINUTES else 2
    if case.is_complete:
        if len(rules) >= 2 and case.failed_gold >= least_failed:
            return ReviewAction.PROPOSE_REJECTION, f"{len(rules)} independent signals, {case.failed_gold} failed checks"
        return ReviewAction.APPROVE, "the work is complete in our record"
    if case.submission.return_requested is None:
        return ReviewAction.ASK_RETURN, "our record does not hold the work; ask for a return first"
    return ReviewAction.ASK_PERSON, "our record does not hold the work, and a return was asked for already"


@dataclass(frozen=True)
class RejectionProposal:
    """A rejection that a person shall sign off.

    Parameters
    ----------
    signals : tuple of Signal
        At least two, by different rules.
    message : str
        What the participant reads, at least 100 characters.
    category : str
        One of `REJECTION_CATEGORIES`.
    """

    submission_id: str
    signals: tuple[Signal, ...]
    message: str
    category: str

    def __post_init__(self) -> None:
        if len({each.rule for each in self.signals}) < 2:
            raise InputError(
                f"the rejection of {self.submission_id} rests on {len(self.signals)} signals of one rule; it needs two "
                "independent ones: accept the work and leave it out of the aggregation instead"
            )
        if len(self.message.strip()) < LEAST_REASON:
            raise InputError(
                f"the message of the rejection has {len(self.message.strip())} characters; Prolific wants at least "
                f"{LEAST_REASON}"
            )
        if self.category not in REJECTION_CATEGORIES:
            raise InputError(f"category is {self.category!r}; Prolific knows {', '.join(REJECTION_CATEGORIES)}")


def checked_rejections(
    proposals: Sequence[RejectionProposal], *, reviewed: int, signed_off_by: str, cap: float = 0.02
) -> tuple[RejectionProposal, ...]:
    """Return the proposals if all of them may be carried out; otherwise none.

    Parameters
    ----------
    reviewed : int
        How many submissions the run reviewed.
    signed_off_by : str
        The person who looked at them.
    cap : float, default 0.02
        Largest share of rejections, in [0, 1]. One rejection is always within it.

    Raises
    ------
    NeedsHumanError
        There are more than the cap allows, or nobody signed them off.
    """
    if not 0 <= cap <= 1 or reviewed < len(proposals):
        raise InputError(f"cap is {cap}, reviewed is {reviewed} for {len(proposals)} proposals; check both")
    if len({each.submission_id for each in proposals}) != len(proposals):
        raise InputError("a submission is proposed for rejection twice; keep one")
    most = max(1, math.floor(cap * reviewed))
    if len(proposals) > most:
        raise NeedsHumanError(
            f"{len(proposals)} of {reviewed} submissions ({len(proposals) / reviewed:.1%}) are proposed for rejection, "
            f"more than {cap:.1%}; nothing was rejected: look for a mistake in the task or the gold first"
        )
    if proposals and not signed_off_by.strip():
        raise NeedsHumanError(f"{len(proposals)} rejections wait for a person's sign-off; nothing was rejected")
    return tuple(proposals)


@dataclass(frozen=True)
class ReviewDeadline:
    """A submission that Prolific will soon approve by itself."""

    submission_id: str
    approves_itself_at: datetime


def review_deadlines(
    submissions: Iterable[Submission], *, now: datetime, warn_after: timedelta = timedelta(days=20)
) -> list[ReviewDeadline]:
    """Return the unreviewed submissions whose completion lies ``warn_after`` back, the most urgent first."""
    found = [
        ReviewDeadline(each.id, each.completed_at + AUTO_APPROVAL)
        for each in submissions
        if each.status is SubmissionStatus.AWAITING_REVIEW
        and each.completed_at is not None
        and now - each.completed_at >= warn_after
    ]
    return sorted(found, key=lambda each: (each.approves_itself_at, each.submission_id))
