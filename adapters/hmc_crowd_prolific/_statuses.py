"""Prolific's words for where a study or a submission stands, and what the port calls it.

A word that nobody knows becomes UNKNOWN and never moves money.
"""

from __future__ import annotations

import logging
from enum import StrEnum
from typing import Any, TypeVar

from hmc_crowd.platform import SubmissionState

__all__ = ["STATES", "StudyStatus", "SubmissionStatus", "status_of"]

_LOG = logging.getLogger(__name__)
_E = TypeVar("_E", bound=StrEnum)


class StudyStatus(StrEnum):
    """Where a study stands."""

    UNPUBLISHED = "UNPUBLISHED"
    SCHEDULED = "SCHEDULED"
    PUBLISHING = "PUBLISHING"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    AWAITING_REVIEW = "AWAITING REVIEW"
    COMPLETED = "COMPLETED"
    UNKNOWN = "UNKNOWN"


class SubmissionStatus(StrEnum):
    """Where a submission stands, in Prolific's own words (spaces and the hyphen included)."""

    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    REJECTED = "REJECTED"
    RETURNED = "RETURNED"
    TIMED_OUT = "TIMED-OUT"
    SCREENED_OUT = "SCREENED OUT"
    UNKNOWN = "UNKNOWN"


STATES = {
    SubmissionStatus.RESERVED: SubmissionState.ACCEPTED,
    SubmissionStatus.ACTIVE: SubmissionState.ACCEPTED,
    SubmissionStatus.AWAITING_REVIEW: SubmissionState.SUBMITTED,
    SubmissionStatus.APPROVED: SubmissionState.APPROVED,
    SubmissionStatus.PARTIALLY_APPROVED: SubmissionState.APPROVED,
    SubmissionStatus.REJECTED: SubmissionState.REJECTED,
    SubmissionStatus.RETURNED: SubmissionState.RETURNED,
    # Screened out people were paid their fixed sum and did none of the work: nothing is left to decide.
    SubmissionStatus.SCREENED_OUT: SubmissionState.RETURNED,
    SubmissionStatus.TIMED_OUT: SubmissionState.EXPIRED,
    SubmissionStatus.UNKNOWN: SubmissionState.UNKNOWN,
}


def status_of(kind: type[_E], value: Any, unknown: _E) -> _E:
    """Read a status word, or return ``unknown`` and warn; queries write it with underscores, answers with spaces."""
    words = str(value).upper()
    for each in kind:
        if words in {each.value, each.value.replace(" ", "_")}:
            return each
    _LOG.warning("Prolific sent the unknown %s %.40r; it counts as UNKNOWN and moves no money", kind.__name__, value)
    return unknown
