"""The tables of what labels were used for, of experts' audits, and of watched streams."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key, key_part
from hmc_crowd.store._types import Json

__all__ = ["DataRole", "ExpertAudit", "ExpertAuditItem", "StreamState", "StreamWindow"]


class DataRole(Base):
    """One use of an item's label: to fit, to choose, or to certify."""

    __tablename__ = "data_role"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    at: Mapped[datetime]


class ExpertAudit(Base):
    """One draw of labels that experts judge; ``labels_hash`` pins the labels that it is about."""

    __tablename__ = "expert_audit"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    people: Mapped[int]
    machine: Mapped[int]
    experts: Mapped[int]
    people_share: Mapped[float]
    labels_hash: Mapped[str]
    drawn_at: Mapped[datetime]


class ExpertAuditItem(Base):
    """A label that was drawn, as it stood."""

    __tablename__ = "expert_audit_item"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    stratum: Mapped[str]
    label: Mapped[str]


class StreamState(Base):
    """A stream's watch and prices, as they stand."""

    __tablename__ = "stream_state"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    state: Mapped[dict[str, Any]] = mapped_column(Json())
    updated_at: Mapped[datetime]


class StreamWindow(Base):
    """What was said of a window when it closed."""

    __tablename__ = "stream_window"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    number: Mapped[int] = key_part(primary_key=True)
    content: Mapped[dict[str, Any]] = mapped_column(Json())
    closed_at: Mapped[datetime]
