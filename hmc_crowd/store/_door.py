"""What came in through the machine door? Requests by the client's key, where items went, and the answers to them.

An answer is an answer of the campaign like any other, of round 0 and the platform "door": the database holds one of
each person for an item and aspect, whatever round it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, StateError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Allocation, Answer, DoorRequest, Hit, Submission
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DOOR", "DoorRepository"]

DOOR = "door"
_SHOWN = ("item", "text", "destination", "reason", "policy", "gain", "inclusion_probability", "due_at", "at")
_OPTIONAL = {"allocated_to": None, "expert": None, "features": None, "label": None, "confidence": None}


# Asked with every request: built once, they cost a third.
_REPLY = sa.select(DoorRequest.fingerprint, DoorRequest.reply).where(
    DoorRequest.campaign_id == sa.bindparam("of_campaign"), DoorRequest.key == sa.bindparam("of_key")
)


class DoorRepository(Repository):
    """Requests, allocations and answers of a campaign's machine door."""

    def reply(self, campaign: int, key: str, fingerprint: str) -> str | None:
        """Return what this client key was answered with before, as text; None where it is new.

        Raises
        ------
        DuplicateError
            The key was used for another request.
        """
        if not self._session.is_sqlite:
            # The second of two equal requests waits here until the first one's reply is there to be read.
            number = sa.func.hashtextextended(f"hmc-crowd request|{campaign}|{key}", 0)
            self._session.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))
        row = self._session.one(_REPLY, {"of_campaign": campaign, "of_key": key})
        if row is None:
            return None
        if row.fingerprint != fingerprint:
            raise DuplicateError(f"key {key!r} was used for another request; give every new request a key of its own")
        return str(row.reply)

    def keep_reply(self, campaign: int, key: str, fingerprint: str, reply: str) -> bool:
        """Keep what a client key was answered with; False where another process was quicker."""
        row = {
            "campaign_id": campaign,
            "key": check_text(key, name="key"),
            "fingerprint": fingerprint,
            "reply": reply,
            "at": self._session.now(),
        }
        return bool(self._session.run(self._session.insert_new(DoorRequest), row))

    def put(self, campaign: int, rows: Sequence[dict[str, Any]]) -> None:
        """Store where items went.

        Parameters
        ----------
        campaign : int
            Its id.
        rows : sequence of dict
            ``item, text, destination, reason, policy, gain, inclusion_probability, due_at`` and, where they are
            known, ``allocated_to, expert, features``, the machine's ``label`` and ``confidence``.

        Raises
        ------
        DuplicateError
            An item was allocated before.
        """
        now = self._session.now()
        ready = [
            {
                **_OPTIONAL,
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
        if self._session.run(self._session.insert_new(Allocation), ready) < len(ready):
            raise DuplicateError(self._allocated_before(campaign, ready))

    def _allocated_before(self, campaign: int, rows: Sequence[dict[str, Any]]) -> str:
        """Name the item: all of them are there by now, but only ours as of this moment."""
        table = Allocation.table()
        which = (table.c.campaign_id == campaign, self._session.among(table.c.item, [row["item"] for row in rows]))
        found = self._session.rows(sa.select(table.c.item, table.c.at).where(*which))
        name = next((row.item for row in found if row.at != rows[0]["at"]), rows[0]["item"])
        return f"item {name!r} was allocated before; send the same request with its key, or a new item id"

    def queue(self, campaign: int, *, limit: int = 100) -> list[dict[str, Any]]:
        """Return items that wait for people, the one due first first; those without a deadline last."""
        table = Allocation.table()
        query = sa.select(*(table.c[name] for name in _SHOWN)).where(table.c.campaign_id == campaign, table.c.is_open)
        order = (table.c.due_at.is_(None), table.c.due_at, table.c.at, table.c.item)
        return [dict(row._mapping) for row in self._session.rows(query.order_by(*order).limit(limit))]

    def texts(self, campaign: int, items: Sequence[str]) -> list[dict[str, Any]]:
        """Return ``item, text, due_at`` of items, in the order in which they are named."""
        table = Allocation.table()
        query = sa.select(table.c.item, table.c.text, table.c.due_at)
        which = (table.c.campaign_id == campaign, self._session.among(table.c.item, items))
        found = {row.item: dict(row._mapping) for row in self._session.rows(query.where(*which))} if items else {}
        return [found[item] for item in items if item in found]

    def totals(self, campaign: int) -> dict[tuple[str, bool], int]:
        """Return how many items went where, by destination and whether they are still open."""
        table = Allocation.table()
        query = sa.select(table.c.destination, table.c.is_open, sa.func.count()).where(table.c.campaign_id == campaign)
        rows = self._session.rows(query.group_by(table.c.destination, table.c.is_open))
        return {(row[0], bool(row[1])): int(row[2]) for row in rows}

    def answer(
        self,
        campaign: int,
        answers: Sequence[dict[str, Any]],
        *,
        aspects: Sequence[str],
        needed: Mapping[str, int],
        source: str = "crowd",
        may_all: bool = False,
    ) -> tuple[int, list[str]]:
        """Store answers; an item with enough of them is open no more.

        Parameters
        ----------
        campaign : int
            Its id.
        answers : sequence of dict
            ``item, aspect, worker`` (a pseudonym), ``label, started`` (an aware time or None).
        aspects : sequence of str
            The campaign's questions: who has answered all of them is done with an item.
        needed : mapping of str to int
            How many people each item waits for; 1 where it is not named.
        source : str, default "crowd"
            Who answers, ``"crowd"`` or ``"expert"``; kept with the answers' submission.
        may_all : bool, default False
            Whether items that went to the machine may be answered too.

        Returns
        -------
        tuple of int and list of str
            How many answers are new, and which items have all theirs.

        Raises
        ------
        StateError
            An item was never put before people.
        DuplicateError
            A person gave another label to the item before. The same answer again changes nothing.
        """
        if not answers:
            return 0, []
        names = sorted({each["item"] for each in answers})
        self._require_allocated(campaign, names, may_all=may_all)
        numbers = self._submissions(campaign, sorted({each["worker"] for each in answers}), source)
        now = self._session.now()
        rows = [
            {name: each[name] for name in ("item", "aspect", "worker")}
            | {"label": check_text(each["label"], name="label"), "started": each.get("started"), "submitted": now}
            | {"campaign_id": campaign, "round": 0, "mode": "blind", "retest": 0}
            | {"submission": numbers[each["worker"]]}
            for each in sorted(answers, key=lambda each: (each["item"], each["aspect"], each["worker"]))
        ]
        new = self._session.run(self._session.insert(Answer).on_conflict_do_nothing(), rows)
        held = self._held(campaign, names)
        for each in answers:
            said = held[each["item"], each["worker"]][each["aspect"]]
            if said != each["label"]:
                raise DuplicateError(
                    f"worker {each['worker']!r} answered item {each['item']!r} with {said!r} before; an answer is "
                    "given once"
                )
        done = Counter(item for (item, _), said in held.items() if set(aspects) <= set(said))
        full = [item for item in names if done[item] >= needed.get(item, 1)]
        if full:
            table = Allocation.table()
            close = sa.update(table).where(table.c.campaign_id == campaign, self._session.among(table.c.item, full))
            self._session.run(close.values(is_open=False))
        return new, full

    def _require_allocated(self, campaign: int, names: list[str], *, may_all: bool) -> None:
        table = Allocation.table()
        query = sa.select(table.c.item).where(table.c.campaign_id == campaign, self._session.among(table.c.item, names))
        if not may_all:
            # What the machine kept looks to others as if it were not there.
            query = query.where(table.c.destination != "machine")
        unknown = sorted(set(names) - {row.item for row in self._session.rows(query)})
        if unknown:
            raise StateError(f"item {unknown[0]!r} was never allocated to people; ask for its allocation first")

    def _held(self, campaign: int, names: list[str]) -> dict[tuple[str, str], dict[str, str]]:
        """Return label by aspect of each (item, worker)."""
        table = Answer.table()
        query = sa.select(table.c.item, table.c.worker, table.c.aspect, table.c.label).where(
            table.c.campaign_id == campaign, table.c.round == 0, self._session.among(table.c.item, names)
        )
        found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for row in self._session.rows(query):
            found[row.item, row.worker][row.aspect] = row.label
        return found

    def _submissions(self, campaign: int, workers: list[str], source: str) -> dict[str, int]:
        """Return our number of each person's submission; a person has one at the door, made with the first answer."""
        ids = {f"{DOOR}-{campaign}-{worker}": worker for worker in workers}
        query = sa.select(Submission.submission_id, Submission.id).where(
            Submission.platform == DOOR, self._session.among(Submission.submission_id, ids)
        )
        known = {row.submission_id: int(row.id) for row in self._session.rows(query)}
        if len(known) < len(ids):
            hit = self._carrier(campaign, source)
            rows = [
                {"campaign_id": campaign, "round": 0, "platform": DOOR, "submission_id": name, "hit_key": hit}
                | {"worker": worker, "state": "approved", "time_quality": "no_heartbeat"}
                for name, worker in sorted(ids.items())
                if name not in known
            ]
            self._session.run(self._session.insert(Submission).on_conflict_do_nothing(), rows)
            known = {row.submission_id: int(row.id) for row in self._session.rows(query)}
        return {worker: known[name] for name, worker in ids.items()}

    def _carrier(self, campaign: int, source: str) -> str:
        """Return the key of the HIT that stands for the door: closed, unpaid, without items of its own."""
        key, table = f"{DOOR}-{campaign}-{source}", Hit.table()
        last = sa.select(sa.func.coalesce(sa.func.max(table.c.seq), -1) + 1).where(table.c.campaign_id == campaign)
        row = {
            "key": key,
            "campaign_id": campaign,
            "round": 0,
            "seq": int(self._session.connection.execute(last).scalar_one()),
            "title": f"Answers by the machine door ({source})",
            "redundancy": 1,
            "pay_minor": 0,
            "currency": "USD",
            "expected_s": 0.0,
            "state": "closed",
            "platform": DOOR,
        }
        self._session.run(self._session.insert(Hit).values(row).on_conflict_do_nothing())
        return key
