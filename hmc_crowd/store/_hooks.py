"""Whom must we tell of what happened? Subscriptions, and deliveries written in the transaction of what they tell.

So nothing that happened goes untold and nothing is told that did not happen; what could not be delivered after the
last try is dead and stays until somebody sends it again.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store._records_door import DeliveryRecord, WebhookRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Delivery, Told, Webhook
from hmc_crowd.store._types import check_text, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ["EVENTS", "HookRepository"]

EVENTS = ("decision", "answer", "alert", "campaign")


class HookRepository(Repository):
    """Webhooks of all campaigns and what they are told."""

    def subscribe(self, campaign: int, url: str, events: Sequence[str], *, by: str) -> WebhookRecord:
        """Make a webhook.

        Raises
        ------
        InputError
            No event, or one that nobody knows.
        """
        odd = sorted(set(events) - set(EVENTS))
        if odd or not events:
            raise InputError(f"events is {', '.join(map(repr, odd)) or 'empty'}; choose of {', '.join(EVENTS)}")
        row = {
            "id": f"hook_{secrets.token_hex(8)}",
            "campaign_id": campaign,
            "url": check_text(url, name="url"),
            "events": sorted(set(events)),
            "by": check_text(by, name="by"),
            "created_at": self._session.now(),
        }
        self._session.run(sa.insert(Webhook.table()), row)
        return self._webhooks(Webhook.id == row["id"])[0]

    def webhooks(self, campaign: int | None = None) -> list[WebhookRecord]:
        """Return the webhooks that have not ended, oldest first; of all campaigns, where none is named."""
        which: list[Any] = [Webhook.ended_at.is_(None)]
        if campaign is not None:
            which.append(Webhook.campaign_id == campaign)
        return self._webhooks(*which)

    def end(self, webhook: str, *, campaign: int | None = None) -> None:
        """End a webhook; what waited for it is dead.

        Raises
        ------
        StateError
            There is no such webhook, or it has ended.
        """
        table, now = Webhook.table(), self._session.now()
        which = [table.c.id == webhook, table.c.ended_at.is_(None)]
        if campaign is not None:
            which.append(table.c.campaign_id == campaign)
        if not self._session.run(sa.update(table).where(*which).values(ended_at=now)):
            raise StateError(f"webhook {webhook!r} is unknown, or has ended; see the list of webhooks")
        waiting = sa.update(Delivery.table()).where(Delivery.webhook_id == webhook, Delivery.state == "waiting")
        self._session.run(waiting.values(state="dead", problem="its webhook was ended"))

    def tell(self, campaign: int, event: str, content: Any, *, hooks: Sequence[WebhookRecord] | None = None) -> int:
        """Write an event down for every webhook of a campaign that wants it; return how many do."""
        wanting = [
            each
            for each in (self.webhooks(campaign) if hooks is None else hooks)
            if each.campaign_id == campaign and event in each.events
        ]
        now = self._session.now()
        rows = [
            {"id": f"dlv_{secrets.token_hex(12)}", "webhook_id": each.id, "event": event, "attempts": 0}
            | {"body": to_json(content), "state": "waiting", "due_at": now, "created_at": now}
            for each in wanting
        ]
        if rows:
            self._session.run(sa.insert(Delivery.table()), rows)
        return len(rows)

    def due(self, *, until: datetime, limit: int = 20) -> list[tuple[DeliveryRecord, WebhookRecord]]:
        """Take deliveries that are due and put them off until a moment, so that nobody else sends them meanwhile."""
        table, now = Delivery.table(), self._session.now()
        query = sa.select(table.c.id).where(table.c.state == "waiting", table.c.due_at <= now)
        query = query.order_by(table.c.due_at, table.c.id).limit(limit).with_for_update(skip_locked=True)
        ids = [row.id for row in self._session.rows(query)]
        if not ids:
            return []
        found = self._deliveries(self._session.among(table.c.id, ids))
        later = sa.update(table).where(self._session.among(table.c.id, ids))
        self._session.run(later.values(due_at=as_utc(until, name="until"), attempts=table.c.attempts + 1))
        hooks = {each.id: each for each in self._webhooks()}
        return [(each, hooks[each.webhook_id]) for each in found]

    def sent(self, delivery: str) -> None:
        """Keep that a delivery has arrived."""
        table = Delivery.table()
        change = sa.update(table).where(table.c.id == delivery)
        self._session.run(change.values(state="sent", sent_at=self._session.now(), problem=None))

    def failed(self, delivery: str, problem: str, *, again_at: datetime | None) -> None:
        """Keep why a delivery did not arrive and when it is tried again; without a time it is dead."""
        table = Delivery.table()
        values: dict[str, Any] = {"problem": check_text(problem, name="problem")[:500]}
        values |= {"state": "dead"} if again_at is None else {"due_at": as_utc(again_at, name="again_at")}
        change = sa.update(table).where(table.c.id == delivery, table.c.state == "waiting")
        self._session.run(change.values(values))

    def deliveries(self, campaign: int, *, state: str | None = None, limit: int = 100) -> list[DeliveryRecord]:
        """Return a campaign's deliveries, newest first."""
        which: list[Any] = [Delivery.webhook_id.in_(sa.select(Webhook.id).where(Webhook.campaign_id == campaign))]
        if state is not None:
            which.append(Delivery.state == state)
        return self._deliveries(*which, limit=limit)

    def counts(self, campaign: int) -> dict[str, int]:
        """Return how many deliveries of a campaign are waiting, sent and dead."""
        table = Delivery.table()
        query = sa.select(table.c.state, sa.func.count()).where(
            table.c.webhook_id.in_(sa.select(Webhook.id).where(Webhook.campaign_id == campaign))
        )
        return {row[0]: int(row[1]) for row in self._session.rows(query.group_by(table.c.state))}

    def send_again(self, campaign: int, delivery: str) -> None:
        """Let a dead delivery wait again, its tries counted anew.

        Raises
        ------
        StateError
            The campaign has no such dead delivery, or its webhook has ended.
        """
        table, alive = Delivery.table(), sa.select(Webhook.id).where(Webhook.campaign_id == campaign)
        change = sa.update(table).where(
            table.c.id == delivery,
            table.c.state == "dead",
            table.c.webhook_id.in_(alive.where(Webhook.ended_at.is_(None))),
        )
        if not self._session.run(change.values(state="waiting", attempts=0, due_at=self._session.now())):
            raise StateError(f"delivery {delivery!r} is not dead, or its webhook has ended; see the page of webhooks")

    def told(self, campaign: int) -> dict[str, Any] | None:
        """Return what was kept by `keep_told`; None before the first time."""
        row = self._session.one(sa.select(Told.seen).where(Told.campaign_id == campaign))
        return None if row is None else dict(row.seen)

    def keep_told(self, campaign: int, seen: dict[str, Any]) -> None:
        """Keep what the webhooks of a campaign have been told of its state."""
        statement = self._session.insert(Told).values(campaign_id=campaign, seen=seen)
        new = {"seen": statement.excluded.seen}
        self._session.run(statement.on_conflict_do_update(index_elements=["campaign_id"], set_=new))

    def _webhooks(self, *which: Any) -> list[WebhookRecord]:
        query = sa.select(*Webhook.table().c).where(*which).order_by(Webhook.created_at, Webhook.id)
        return [
            WebhookRecord(**{**row._mapping, "events": tuple(row.events)})
            for row in self._session.rows(query)
        ]  # fmt: skip

    def _deliveries(self, *which: Any, limit: int | None = None) -> list[DeliveryRecord]:
        query = sa.select(*Delivery.table().c).where(*which).order_by(Delivery.created_at.desc(), Delivery.id)
        return [DeliveryRecord(**row._mapping) for row in self._session.rows(query.limit(limit))]
