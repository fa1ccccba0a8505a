"""What does the store hand out of webhooks? Frozen records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["DeliveryRecord", "WebhookRecord"]


@dataclass(frozen=True)
class WebhookRecord:
    """Who is told of a campaign's events."""

    id: str
    campaign_id: int
    url: str
    events: tuple[str, ...]
    by: str
    created_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True)
class DeliveryRecord:
    """One event for one webhook; ``state`` is waiting, sent or dead, ``problem`` why the last try failed."""

    id: str
    webhook_id: str
    event: str
    body: str
    state: str
    attempts: int
    due_at: datetime
    created_at: datetime
    sent_at: datetime | None = None
    problem: str | None = None
