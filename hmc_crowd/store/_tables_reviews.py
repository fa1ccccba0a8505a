"""The tables of what happens after an expert has spoken: tiers of experts, appeals, auditors' own samples.

No row names an item of an auditors' sample before it is opened: labels lie under tags that the auditors' key makes.
The ``worker`` of an appeal is where `hmc_crowd.store._privacy` looks.
"""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key, key_part
from hmc_crowd.store._types import Json

__all__ = ["Appeal", "ExpertSeat", "SecretAudit", "SecretAuditLabel"]


class ExpertSeat(Base):
    """The tier of an expert who holds no key of a pool, as work was last given out to him."""

    __tablename__ = "expert_seat"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    expert: Mapped[str] = mapped_column(primary_key=True)
    tier: Mapped[int] = key_part()


class Appeal(Base):
    """Somebody objected to a label: who had judged it before, what it was, and what came of it."""

    __tablename__ = "appeal"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    guideline_version: Mapped[str]
    role: Mapped[str]
    worker: Mapped[str | None]
    appellant: Mapped[str | None]
    reason: Mapped[str]
    judges: Mapped[list[str]]
    tier: Mapped[int] = key_part()
    first_label: Mapped[str]
    opened_at: Mapped[datetime]
    outcome: Mapped[str | None]
    label: Mapped[str | None]
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None]


class SecretAudit(Base):
    """A sample of the auditors' own: how many of how many labels, which labels stood; the key once it is opened."""

    __tablename__ = "secret_audit"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    auditor: Mapped[str]
    commitment: Mapped[str]
    drawn: Mapped[int] = key_part()
    items: Mapped[int] = key_part()
    labels_hash: Mapped[str]
    labels: Mapped[bytes] = mapped_column(sa.LargeBinary)
    drawn_at: Mapped[datetime]
    audit_key: Mapped[str | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(Json())
    opened_at: Mapped[datetime | None]


class SecretAuditLabel(Base):
    """An auditor's blind label; its tag leads to the item only with the key."""

    __tablename__ = "secret_audit_label"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    tag: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]
    at: Mapped[datetime]
