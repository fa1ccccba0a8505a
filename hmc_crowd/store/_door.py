"""What came in through the machine door? Requests by the client's key, the queue of items, the answers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Allocation, DoorAnswer, DoorRequest
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DoorRepository"]

_SHOWN = ("item", "text", "destination", "reason", "policy", "gain", "inclusion_probability", "due_at", "at")


class DoorRepository(Repository):
    """Requests, queue and answers of a campaign's machine door."""

    def reply(self, campaign: int, key: str, fingerprint: str) -> Any | None:
        """Return what this client key was answered with before; None where it is new.

        Raises
        ------
        DuplicateError
            The key was used for another request.
        """
        query = sa.select(DoorRequest.fingerprint, DoorRequest.reply)
        row = self._session.one(query.where(DoorRequest.campaign_id == campaign, DoorRequest.key == key))
        if row is None:
            return None
        if row.fingerprint != fingerprint:
            raise DuplicateError(f"key {key!r} was used for another request; give every new request a key of its own")
        return row.reply

    def keep_reply(self, campaign: int, key: str, fingerprint: str, reply: Any) -> bool:
        """Keep what a client key was answered with; False where another process was quicker."""
        row = {
            "campaign_id": campaign,
            "key": check_text(key, name="key"),
            "fingerprint": fingerprint,
            "reply": reply,
            "at": self._session.now(),
        }
        return bool(self._session.run(self._session.insert(DoorRequest).values(row).on_conflict_do_nothing()))

    def put(self, campaign: int, rows: Sequence[dict[str, Any]]) -> None:
        """Store where items went: ``item, text, destination, reason, policy, gain, inclusion_probability, due_at``.

        Raises
        ------
        DuplicateError
            An item was allocated before.
        """
        now = self._session.now()
        ready = [
            {
                **row,
                "campaign_id": campaign,
                "item": check_text(row["item"], name="item"),
                "text": check_text(row["text"], name="text"),
                "is_open": row["destination"] != "machine",
                "at": now,
            }
            for row in rows
        ]
        if not ready:
            return
        names = [row["item"] for row in ready]
        table = Allocation.table()
        query = sa.select(table.c.item).where(table.c.campaign_id == campaign, self._session.among(table.c.item, names))
        known = self._session.rows(query.limit(1))
        if known:
            raise DuplicateError(
                f"item {known[0].item!r} was allocated before; send the same request with its key, or a new item id"
            )
        self._session.run(sa.insert(table), ready)

    def queue(self, campaign: int, *, limit: int = 100, without: str | None = None) -> list[dict[str, Any]]:
        """Return items that wait for people, the one due first first; those without a deadline last.

        Parameters
        ----------
        campaign, limit : int
            Which queue, and how many items at most.
        without : str, optional
            A pseudonym: what this person has answered is left out.
        """
        table, said = Allocation.table(), DoorAnswer.table()
        query = sa.select(*(table.c[name] for name in _SHOWN)).where(table.c.campaign_id == campaign, table.c.is_open)
        if without is not None:
            mine = sa.select(said.c.item).where(said.c.campaign_id == campaign, said.c.worker == without)
            query = query.where(table.c.item.not_in(mine))
        order = (table.c.due_at.is_(None), table.c.due_at, table.c.at, table.c.item)
        return [dict(row._mapping) for row in self._session.rows(query.order_by(*order).limit(limit))]

    def totals(self, campaign: int) -> dict[tuple[str, bool], int]:
        """Return how many items went where, by destination and whether they are still open."""
        table = Allocation.table()
        query = sa.select(table.c.destination, table.c.is_open, sa.func.count()).where(table.c.campaign_id == campaign)
        rows = self._session.rows(query.group_by(table.c.destination, table.c.is_open))
        return {(row[0], bool(row[1])): int(row[2]) for row in rows}

    def answer(self, campaign: int, answers: Sequence[dict[str, str]], *, redundancy: int) -> int:
        """Store ``item, worker, label``; items with ``redundancy`` answers leave the queue. Return how many are new.

        The same person's same answer again changes nothing.

        Raises
        ------
        InputError
            An item is unknown to the queue.
        DuplicateError
            A person gave another label to the item before.
        """
        table, said = Allocation.table(), DoorAnswer.table()
        names = sorted({each["item"] for each in answers})
        query = sa.select(table.c.item).where(table.c.campaign_id == campaign, self._session.among(table.c.item, names))
        unknown = sorted(set(names) - {row.item for row in self._session.rows(query)})
        if unknown:
            raise InputError(f"item {unknown[0]!r} was never allocated; ask for its allocation first")
        rows = [
            {**each, "label": check_text(each["label"], name="label"), "campaign_id": campaign}
            | {"at": self._session.now()}
            for each in answers
        ]
        new = self._session.run(self._session.insert(DoorAnswer).on_conflict_do_nothing(), rows) if rows else 0
        of = (said.c.campaign_id == campaign, self._session.among(said.c.item, names))
        held = {
            (row.item, row.worker): row.label
            for row in self._session.rows(sa.select(said.c.item, said.c.worker, said.c.label).where(*of))
        }
        for each in answers:
            if held[each["item"], each["worker"]] != each["label"]:
                raise DuplicateError(
                    f"worker {each['worker']!r} answered item {each['item']!r} with "
                    f"{held[each['item'], each['worker']]!r} before; an answer is given once"
                )
        full = sa.select(said.c.item).where(*of).group_by(said.c.item).having(sa.func.count() >= redundancy)
        close = sa.update(table).where(table.c.campaign_id == campaign, table.c.item.in_(full))
        self._session.run(close.values(is_open=False))
        return new
