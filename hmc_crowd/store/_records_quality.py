"""What does the store hand out of quality control? Frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["AttemptRecord", "NoticeRecord", "TestRecord"]


@dataclass(frozen=True)
class TestRecord:
    """One version of a qualification test; see `hmc_crowd.quality.QualificationTest`."""

    __test__ = False  # because pytest takes the name for a test

    name: str
    version: int
    key: Mapping[str, Any]
    training: Mapping[str, Any] | None
    pass_share: float
    attempts: int
    delay_s: float


@dataclass(frozen=True)
class AttemptRecord:
    """One marked attempt at a version of a test."""

    worker: str
    test: str
    version: int
    number: int
    right: int
    n: int
    passed: bool
    at: datetime


@dataclass(frozen=True)
class NoticeRecord:
    """One thing that was said by the alerts of a campaign."""

    kind: str
    rule: str
    subject: str
    value: float
    severity: str
    message: str
    at: datetime
    since: datetime
