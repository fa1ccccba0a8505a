"""The tables of the board and the machine door: keys, requests that were answered, the queue, and answers to it."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key
from hmc_crowd.store._types import Json

__all__ = ["Allocation", "ApiKey", "DoorAnswer", "DoorRequest"]


class ApiKey(Base):
    """Who may ask what; the key itself is not stored."""

    __tablename__ = "api_key"
    id: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    label: Mapped[str]
    hash: Mapped[str]
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class DoorRequest(Base):
    """What a client's key was answered with, so that the same request again gets the same reply."""

    __tablename__ = "door_request"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    reply: Mapped[Any] = mapped_column(Json())
    at: Mapped[datetime]


class Allocation(Base):
    """Where one item of the machine door went; open while people are awaited."""

    __tablename__ = "allocation"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    destination: Mapped[str]
    reason: Mapped[str]
    policy: Mapped[str]
    gain: Mapped[float]
    inclusion_probability: Mapped[float]
    is_open: Mapped[bool]
    due_at: Mapped[datetime | None]
    at: Mapped[datetime]


class DoorAnswer(Base):
    """One person's answer to an item of the queue."""

    __tablename__ = "door_answer"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str]
    at: Mapped[datetime]
