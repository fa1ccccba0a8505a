"""The tables of quality control: tests and attempts, approval rates, drift, alerts, decisions of gates, experts' work.

Histories are only ever added to: what was known at a moment can be asked for later. A column that names a worker is
called ``worker`` or ``subject``, which is where `hmc_crowd.store._privacy` looks.
"""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import BIG_KEY, Base, campaign_key, key_part
from hmc_crowd.store._types import Json

__all__ = [
    "AlertNotice",
    "AlertState",
    "ApprovalRate",
    "DriftAlarm",
    "ExpertAssignment",
    "GateDecision",
    "QualificationAttempt",
    "QualificationTest",
]


class QualificationTest(Base):
    """One version of a test; it never changes."""

    __tablename__ = "qualification_test"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = key_part(primary_key=True)
    answer_key: Mapped[dict[str, Any]] = mapped_column(Json())
    training: Mapped[dict[str, Any] | None] = mapped_column(Json())
    pass_share: Mapped[float]
    attempts: Mapped[int]
    delay_s: Mapped[float]
    made_at: Mapped[datetime]


class QualificationAttempt(Base):
    """One marked attempt at a version of a test."""

    __tablename__ = "qualification_attempt"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    test: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = key_part(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    right: Mapped[int]
    n: Mapped[int]
    passed: Mapped[bool]
    at: Mapped[datetime]


class ApprovalRate(Base):
    """A worker's approval rate as somebody read it at a moment; missing: nobody had reviewed anything."""

    __tablename__ = "approval_rate"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    rate: Mapped[float | None]
    reviewed: Mapped[int | None] = mapped_column(sa.BigInteger)


class DriftAlarm(Base):
    """A worker seems to have become worse: at which answer, and when that was noticed."""

    __tablename__ = "drift_alarm"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(primary_key=True)
    answers: Mapped[int]
    since: Mapped[datetime | None]
    statistic: Mapped[float]
    threshold: Mapped[float]
    reason: Mapped[str]
    found_at: Mapped[datetime]


class AlertState(Base):
    """What is known of one rule and subject between two looks."""

    __tablename__ = "alert_state"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    rule: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(primary_key=True)
    wrong_in_a_row: Mapped[int]
    since: Mapped[datetime | None]
    said: Mapped[datetime | None]


class AlertNotice(Base):
    """One thing that was said: an alert, a reminder or a recovery."""

    __tablename__ = "alert_notice"
    __table_args__ = (sa.Index(None, "campaign_id"),)
    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    kind: Mapped[str]
    rule: Mapped[str]
    subject: Mapped[str]
    value: Mapped[float]
    severity: Mapped[str]
    message: Mapped[str]
    at: Mapped[datetime]
    since: Mapped[datetime]


class GateDecision(Base):
    """Whether an item needs an expert, why, by which policy, and who or what decided; the newest one counts."""

    __tablename__ = "gate_decision"
    __table_args__ = (sa.Index(None, "campaign_id", "aspect", "item"),)
    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    aspect: Mapped[str]
    item: Mapped[str]
    decided_at: Mapped[datetime]
    decided_by: Mapped[str]
    decider: Mapped[str]
    policy: Mapped[str]
    policy_version: Mapped[str]
    decision: Mapped[str]
    reason_code: Mapped[str]
    evidence: Mapped[str]
    label: Mapped[str | None]
    score: Mapped[float | None]


class ExpertAssignment(Base):
    """Which expert an item waits for; given anew, the last one counts."""

    __tablename__ = "expert_assignment"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    expert: Mapped[str]
    tier: Mapped[int]
    place: Mapped[int]
    score: Mapped[float]
    assigned_at: Mapped[datetime]
    due_at: Mapped[datetime | None]
