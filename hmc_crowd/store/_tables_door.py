"""The tables of the board and the machine door: keys, answered requests, the queue, and what others are told."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key, key_part
from hmc_crowd.store._types import Json

__all__ = ["Allocation", "ApiKey", "BoardSignIn", "Delivery", "DoorRequest", "QueuePlace", "Told", "Webhook"]


class ApiKey(Base):
    """Who may ask what; the key itself is not stored. Skills and capacity say which items an expert gets."""

    __tablename__ = "api_key"
    id: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    label: Mapped[str]
    hash: Mapped[str]
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    skills: Mapped[list[str] | None] = mapped_column(Json())
    per_hour: Mapped[float | None]


class BoardSignIn(Base):
    """A browser that signed in at the board; what its cookie holds is not stored."""

    __tablename__ = "board_sign_in"
    id: Mapped[str] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(unique=True)
    key_id: Mapped[str] = mapped_column(sa.ForeignKey("api_key.id"))
    role: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class DoorRequest(Base):
    """What a client's key was answered with (JSON), so that the same request again gets the same reply."""

    __tablename__ = "door_request"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    reply: Mapped[str]
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
    allocated_to: Mapped[str | None]
    expert: Mapped[str | None]
    features: Mapped[dict[str, Any] | None] = mapped_column(Json())
    label: Mapped[str | None]
    confidence: Mapped[float | None]


class QueuePlace(Base):
    """One of the answers that an item waits for, and who has it in hand until when.

    Nobody holds two places of an item, ever: a place that is done keeps its holder. Sorted by ``due_order`` (far in
    the future without a deadline), then by ``calm``, which is 5 less the urgency.
    """

    __tablename__ = "queue_place"
    __table_args__ = (
        sa.UniqueConstraint("campaign_id", "item", "holder"),
        sa.Index(None, "campaign_id", "is_open", "due_order", "calm", "put_at"),
        sa.Index(None, "expert", "is_open"),
    )
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[int] = key_part(primary_key=True)
    audience: Mapped[str]
    expert: Mapped[str | None]
    due_order: Mapped[datetime]
    calm: Mapped[int]
    put_at: Mapped[datetime]
    is_open: Mapped[bool]
    holder: Mapped[str | None]
    held_at: Mapped[datetime | None]
    until: Mapped[datetime | None]


class Webhook(Base):
    """Who is told of what happens in a campaign; the signing secret follows from the server's own and is not stored."""

    __tablename__ = "webhook"
    id: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    url: Mapped[str]
    events: Mapped[list[str]]
    by: Mapped[str]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class Delivery(Base):
    """One event for one webhook, written in the transaction of what it tells: waiting, sent, or dead."""

    __tablename__ = "delivery"
    __table_args__ = (sa.Index(None, "state", "due_at"),)
    id: Mapped[str] = mapped_column(primary_key=True)
    webhook_id: Mapped[str] = mapped_column(sa.ForeignKey("webhook.id"))
    event: Mapped[str]
    body: Mapped[str]
    state: Mapped[str]
    attempts: Mapped[int]
    due_at: Mapped[datetime]
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    problem: Mapped[str | None]


class Told(Base):
    """Which alerts and which step of a campaign its webhooks were told of last."""

    __tablename__ = "told"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    seen: Mapped[dict[str, Any]]
