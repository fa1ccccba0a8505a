"""What happened, provably in this order, even after a person's data were erased? A hash chain over salted commitments.

An event stores ``commitment = H(salt, payload)`` and ``hash = H(previous hash, commitment, time, kind, item, place)``.
The chain is checked without the payload, so payload and salt can be erased and nothing else changes; while they are
there, the commitment proves them. Triggers refuse every other change. The head of each chain is kept apart, so that a
tail that was cut off is noticed.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.ids import digest
from hmc_crowd.errors import StoreError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Event, EventHead
from hmc_crowd.store._types import check_text, from_json, to_json
from hmc_crowd.store.records import EventRecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

__all__ = ["EventRepository"]

_START = "0" * 64


class EventRepository(Repository):
    """The audit chain of a campaign; one chain per shard, so that several writers need not queue."""

    def append(
        self,
        campaign: int,
        kind: str,
        payload: dict[str, Any],
        *,
        item: str | None = None,
        at: datetime,
        shard: int = 0,
    ) -> str:
        """Append an event; return its hash.

        Parameters
        ----------
        campaign : int
            Its id.
        kind : str
            What happened.
        payload : dict
            Details; JSON. Can be erased later.
        item : str, optional
            The item it is about.
        at : datetime
            When, aware.
        shard : int, default 0
            Which chain of the campaign.
        """
        moment = as_utc(at, name="at")
        seq, previous = self._head(campaign, shard)
        text, salt = to_json(payload, name="payload"), secrets.token_hex(16)
        row = {
            "campaign_id": campaign,
            "shard": shard,
            "seq": seq + 1,
            "kind": check_text(kind, name="kind"),
            "item": None if item is None else check_text(item, name="item"),
            "payload": text,
            "salt": salt,
            "commitment": digest(salt, text),
            "at": moment,
        }
        row["hash"] = _link(previous, row)
        self._session.run(sa.insert(Event.table()), row)
        which = (EventHead.campaign_id == campaign, EventHead.shard == shard)
        self._session.run(sa.update(EventHead.table()).where(*which).values(seq=seq + 1, hash=row["hash"]))
        return str(row["hash"])

    def read(self, campaign: int, *, item: str | None = None, kind: str | None = None) -> list[EventRecord]:
        """Return events in the order of their chains."""
        which = [Event.campaign_id == campaign]
        if item is not None:
            which.append(Event.item == item)
        if kind is not None:
            which.append(Event.kind == kind)
        query = sa.select(*Event.table().c).where(*which).order_by(Event.shard, Event.seq)
        return [
            EventRecord(
                id=row.id,
                shard=row.shard,
                seq=row.seq,
                kind=row.kind,
                item=row.item,
                payload=from_json(row.payload),
                at=row.at,
                commitment=row.commitment,
                hash=row.hash,
            )
            for row in self._session.rows(query)
        ]

    def erase(self, events: Iterable[int]) -> int:
        """Erase payload and salt of events by id; the chain stays valid. Return how many were erased."""
        ids = list(events)
        which = (Event.id.in_(ids), Event.salt.is_not(None))
        return self._session.run(sa.update(Event.table()).where(*which).values(payload=None, salt=None)) if ids else 0

    def verify(self, campaign: int) -> None:
        """Check every chain of the campaign from its start.

        Raises
        ------
        StoreError
            Names the first event that is missing or was changed.
        """
        heads = self._session.rows(sa.select(*EventHead.table().c).where(EventHead.campaign_id == campaign))
        ends = {row.shard: (row.seq, row.hash) for row in heads}
        reached = dict.fromkeys(ends, (0, _START))
        query = sa.select(*Event.table().c).where(Event.campaign_id == campaign).order_by(Event.shard, Event.seq)
        with self._session.connection.execute(query.execution_options(yield_per=10_000)) as rows:
            for row in rows:
                seq, previous = reached.get(row.shard, (0, _START))
                wrong = _fault(row, seq, previous)
                if wrong:
                    raise StoreError(
                        f"the event chain is broken at event {row.id} (shard {row.shard}, place {row.seq}): {wrong}; "
                        "restore the database from a copy"
                    )
                reached[row.shard] = (row.seq, row.hash)
        for shard, end in ends.items():
            if reached[shard] != end:
                raise StoreError(
                    f"the event chain of shard {shard} ends at place {reached[shard][0]} but {end[0]} were written; "
                    "restore the database from a copy"
                )

    def _head(self, campaign: int, shard: int) -> tuple[int, str]:
        """Return place and hash of the chain's last event, locked until the end of the transaction."""
        start = {"campaign_id": campaign, "shard": shard, "seq": 0, "hash": _START}
        self._session.run(self._session.insert(EventHead).values(start).on_conflict_do_nothing())
        which = (EventHead.campaign_id == campaign, EventHead.shard == shard)
        row = self._session.one(sa.select(EventHead.seq, EventHead.hash).where(*which).with_for_update())
        return (0, _START) if row is None else (row.seq, row.hash)


def _link(previous: str, row: Any) -> str:
    return digest(previous, row["commitment"], row["at"].isoformat(), row["kind"], row["item"] or "", row["seq"])


def _fault(row: Any, seq: int, previous: str) -> str | None:
    if row.seq != seq + 1:
        return f"place {seq + 1} is missing"
    if row.hash != _link(previous, row._mapping):
        return "its time, kind, item or commitment was changed"
    if row.salt is not None and row.commitment != digest(row.salt, row.payload):
        return "its payload was changed"
    return None
