"""Events that platforms send, kept in the workplace's database: committed before they are answered, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd_local._tables import INBOX

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from hmc_crowd_local._database import Database

__all__ = ["InboxEvent", "WorkplaceInbox"]

_AT_ONCE = 1_000


class InboxEvent(NamedTuple):
    """An event: its id, its kind, the resource that is worth reading again, and the mark of the delivery, if any."""

    id: str
    kind: str
    resource_id: str
    mark: str | None = None


class WorkplaceInbox:
    """The inbox of one platform; made by `LocalPlatform.inbox`, shared by all processes of the workplace."""

    def __init__(self, database: Database, platform: str, now: Callable[[], datetime]) -> None:
        self._database = database
        self._platform = platform
        self._now = now

    def add(self, event: InboxEvent, *, at: datetime) -> bool:
        """Store an event, committed; return False where its id, or the mark it came with, is known already."""
        row = {"event_id": event.id, "kind": event.kind, "resource_id": event.resource_id, "mark": event.mark}
        insert = sqlite.insert(INBOX) if self._database.is_sqlite else postgresql.insert(INBOX)
        with self._database.write() as connection:
            stored = (
                insert.values(**row, platform=self._platform, received_at=at)
                .on_conflict_do_nothing()
                .returning(INBOX.c.event_id)
            )
            return connection.execute(stored).first() is not None

    def pending(self) -> list[InboxEvent]:
        """Return the oldest thousand events that are not done, oldest first."""
        query = sa.select(INBOX.c.event_id, INBOX.c.kind, INBOX.c.resource_id)
        query = query.where(INBOX.c.platform == self._platform, INBOX.c.done_at.is_(None))
        with self._database.read() as connection:
            found = connection.execute(query.order_by(INBOX.c.received_at, INBOX.c.event_id).limit(_AT_ONCE))
            return [InboxEvent(*row) for row in found]

    def done(self, event_id: str) -> None:
        """Mark an event as dealt with."""
        mine = sa.and_(INBOX.c.platform == self._platform, INBOX.c.event_id == event_id)
        with self._database.write() as connection:
            connection.execute(sa.update(INBOX).where(mine).values(done_at=self._now()))
