"""Who works on what next? Places in a line that many processes take from: none is taken twice, none is lost.

A claim reads and marks its places in one transaction: on PostgreSQL under row locks that others step over (FOR UPDATE
SKIP LOCKED), on SQLite in the one writing transaction there is (BEGIN IMMEDIATE). A claim ends by itself when its time
is up; whoever answers late is still heard, unless somebody else has the place by then.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError
from hmc_crowd.store._line import QueueAges
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ApiKey, QueuePlace
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hmc_crowd.store._line import Place

__all__ = ["QueueRepository"]

_NEVER = datetime(9999, 12, 31, tzinfo=UTC)
_URGENCIES = range(1, 6)
_LOADS = (
    sa.select(QueuePlace.expert, sa.func.count())
    .where(QueuePlace.expert.is_not(None), QueuePlace.is_open)
    .group_by(QueuePlace.expert)
)
_FREE = {"holder": None, "held_at": None, "until": None}


class QueueRepository(Repository):
    """The line of each campaign; a `WorkQueue` inside a transaction."""

    def put(self, campaign: int, places: Sequence[Place]) -> int:
        """Add places; those of an item that is in the line already are left as they are. Return how many are new."""
        now = self._session.now()
        rows = [
            {
                "campaign_id": campaign,
                "item": check_text(each.item, name="item"),
                "slot": slot,
                "audience": each.audience,
                "expert": each.expert,
                "due_order": _NEVER if each.due_at is None else as_utc(each.due_at, name="due_at"),
                "calm": 5 - each.urgency,
                "put_at": now,
                "is_open": True,
            }
            for each in map(_checked, places)
            for slot in range(each.answers)
        ]
        return self._session.run(self._session.insert_new(QueuePlace), rows) if rows else 0

    def claim(
        self, campaign: int, worker: str, *, until: datetime, limit: int = 1, expert: str | None = None
    ) -> list[str]:
        """Take items for a worker; none is given to two people, and none to somebody who had it before.

        Parameters
        ----------
        campaign, worker : int, str
            Whose line, and the pseudonym of who takes.
        until : datetime
            When the claim ends by itself, aware.
        limit : int, default 1
            Most items.
        expert : str, optional
            The name under which places are kept for this worker; without one only the crowd's are taken.

        Returns
        -------
        list of str
            Items, by deadline and then by urgency.
        """
        now, end = self._session.now(), as_utc(until, name="until")
        if end <= now:
            raise InputError(f"until is {end.isoformat()}, which is past; a claim must end later than now")
        self._one_at_a_time(f"{campaign}|{check_text(worker, name='worker')}")
        table = QueuePlace.table()
        mine = (table.c.campaign_id == campaign, table.c.holder == worker, table.c.is_open, table.c.until <= now)
        self._session.run(sa.update(table).where(*mine).values(_FREE))
        taken: dict[str, int] = {}
        while len(taken) < limit:
            query = self._free(campaign, worker, expert, now).limit(limit - len(taken))
            if taken:
                query = query.where(table.c.item.not_in(list(taken)))
            rows = self._session.rows(query)
            for row in rows:
                taken.setdefault(row.item, row.slot)
            if not rows:
                break
        if taken:
            held = sa.update(table).where(
                table.c.campaign_id == campaign,
                table.c.item == sa.bindparam("of_item"),
                table.c.slot == sa.bindparam("of_slot"),
            )
            rows = [{"of_item": item, "of_slot": slot} for item, slot in taken.items()]
            self._session.run(held.values(holder=worker, held_at=now, until=end), rows)
        return list(taken)

    def done(self, campaign: int, worker: str, items: Iterable[str]) -> int:
        """Close the places that a worker has in hand; whoever answers without one takes a free one with him."""
        table, now = QueuePlace.table(), self._session.now()
        which = (table.c.campaign_id == campaign, self._session.among(table.c.item, items))
        query = sa.select(*table.c).where(*which).order_by(table.c.item, table.c.slot).with_for_update()
        chosen: dict[str, Any] = {}
        for row in self._session.rows(query):
            held = chosen.get(row.item)
            if row.holder == worker or (held is None and row.is_open and (row.holder is None or row.until <= now)):
                chosen[row.item] = row
        rows = [{"of_item": row.item, "of_slot": row.slot} for row in chosen.values() if row.is_open]
        if rows:
            close = sa.update(table).where(
                table.c.campaign_id == campaign,
                table.c.item == sa.bindparam("of_item"),
                table.c.slot == sa.bindparam("of_slot"),
            )
            self._session.run(close.values(holder=worker, is_open=False), rows)
        return len(rows)

    def close(self, campaign: int, items: Iterable[str]) -> int:
        """Take items out of the line, whoever has them in hand; return how many places that were."""
        table = QueuePlace.table()
        which = (table.c.campaign_id == campaign, self._session.among(table.c.item, items), table.c.is_open)
        return self._session.run(sa.update(table).where(*which).values(is_open=False))

    def give_back(self, campaign: int, worker: str, items: Iterable[str], *, expert: str | None = None) -> int:
        """Let others have what a worker has in hand, or what was kept for an expert; return how many places."""
        table = QueuePlace.table()
        mine = table.c.holder == worker
        if expert is not None:
            mine = sa.or_(mine, sa.and_(table.c.expert == expert, table.c.holder.is_(None)))
        which = (table.c.campaign_id == campaign, table.c.is_open, mine, self._session.among(table.c.item, items))
        return self._session.run(sa.update(table).where(*which).values(_FREE | {"expert": None}))

    def ages(self, campaign: int) -> QueueAges:
        """Return how long the line is, and how old its oldest place."""
        table, now = QueuePlace.table(), self._session.now()
        moment = sa.literal(now, table.c.until.type)
        is_held = sa.and_(table.c.holder.is_not(None), table.c.until > moment)
        count = sa.func.count
        row = self._session.one(
            sa.select(
                count(), count(sa.case((is_held, 1))), count(sa.case((table.c.due_order < moment, 1))),
                sa.type_coerce(sa.func.min(table.c.put_at), table.c.put_at.type),
            ).where(table.c.campaign_id == campaign, table.c.is_open)
        )  # fmt: skip
        if row is None or not row[0]:
            return QueueAges(0, 0, None, 0)
        return QueueAges(int(row[0] - row[1]), int(row[1]), (now - row[3]).total_seconds(), int(row[2]))

    def loads(self) -> dict[str, int]:
        """Return how many open places are kept for each expert, over all campaigns."""
        return {row[0]: int(row[1]) for row in self._session.rows(_LOADS)}

    def places(self, campaign: int, items: Iterable[str]) -> dict[str, list[Any]]:
        """Return each item's places: ``slot, audience, expert, holder, held_at, is_open``; unknown items are absent."""
        table = QueuePlace.table()
        columns = (table.c[name] for name in ("item", "slot", "audience", "expert", "holder", "held_at", "is_open"))
        query = sa.select(*columns).where(table.c.campaign_id == campaign, self._session.among(table.c.item, items))
        found: dict[str, list[Any]] = {}
        for row in self._session.rows(query.order_by(table.c.item, table.c.slot)):
            found.setdefault(row.item, []).append(row)
        return found

    def waiting(self, campaign: int, worker: str, *, limit: int = 100, expert: str | None = None) -> list[str]:
        """Return the items that a worker could claim now, in the order of the line; nothing is taken."""
        query = self._free(campaign, worker, expert, self._session.now(), lock=False)
        seen: dict[str, None] = {}
        # An item has as many rows as it waits for answers.
        for row in self._session.rows(query.limit(20 * limit)):
            seen.setdefault(row.item)
        return list(seen)[:limit]

    def _free(self, campaign: int, worker: str, expert: str | None, now: datetime, *, lock: bool = True) -> Any:
        """Select places that this worker may take, in the order of the line."""
        table, other = QueuePlace.table(), QueuePlace.table().alias("mine")
        before = sa.exists().where(
            other.c.campaign_id == table.c.campaign_id, other.c.item == table.c.item, other.c.holder == worker
        )
        query = sa.select(table.c.item, table.c.slot).where(
            table.c.campaign_id == campaign,
            table.c.is_open,
            sa.or_(table.c.holder.is_(None), table.c.until <= now),
            ~before,
        )
        if expert is None:
            query = query.where(table.c.audience == "crowd")
        else:
            # What is kept for somebody whose key is no more is anybody's.
            at_work = sa.select(ApiKey.id).where(ApiKey.revoked_at.is_(None))
            kept = table.c.expert
            query = query.where(sa.or_(kept.is_(None), kept == expert, kept.not_in(at_work)))
        query = query.order_by(table.c.due_order, table.c.calm, table.c.put_at, table.c.item, table.c.slot)
        return query.with_for_update(of=table, skip_locked=True) if lock else query

    def _one_at_a_time(self, name: str) -> None:
        """Let one claim of a worker follow the other, or two could get two places of one item."""
        if not self._session.is_sqlite:
            number = sa.func.hashtextextended(f"hmc-crowd queue|{name}", 0)
            self._session.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))


def _checked(place: Place) -> Place:
    if place.urgency not in _URGENCIES or place.answers < 1 or place.audience not in {"crowd", "expert"}:
        raise InputError(
            f"item {place.item!r} has urgency {place.urgency}, {place.answers} answers and the audience "
            f"{place.audience!r}; give an urgency from 1 to 5, 1 answer or more, crowd or expert"
        )
    return place
