"""Which effects on the outside are to be had, and who is at work on each? Intents with leases, and lanes.

An intent is written down before the effect. Whoever works on it claims it first: a claim is one row change under one
lock, so two processes never get the same intent; a lease that its process did not live to end runs out by itself. A
lane lets one process at a time through, such as to the money of an account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError, InputError, StateError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Intent, Lane
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import IntentRecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

__all__ = ["IntentRepository"]

_STATES = ("planned", "sent", "done", "needs_human", "cancelled")
_OPEN = ("planned", "sent")
_ANSWERS = ("planned", "done", "cancelled")
_FREE = {"lease_owner": None, "lease_until": None}
_TIMES = ("created_at", "updated_at", "sent_at", "not_before", "lease_until")


class IntentRepository(Repository):
    """Intents and lanes; a part of ``tx.work``."""

    def add_intent(self, intent: IntentRecord) -> IntentRecord:
        """Write down an outside effect before it is tried; the same intent again gives the stored one, state and all.

        Raises
        ------
        DuplicateError
            The key belongs to an intent with another payload.
        """
        row = {column.name: getattr(intent, column.name) for column in Intent.table().c}
        row |= {name: as_utc(row[name], name=name) for name in _TIMES if row[name] is not None}
        self._session.run(self._session.insert(Intent).values(row).on_conflict_do_nothing())
        stored = self._intents(Intent.key == intent.key)[0]
        if (stored.campaign_id, stored.payload_hash) != (intent.campaign_id, intent.payload_hash):
            raise DuplicateError(
                f"intent {intent.key!r} exists already with another payload; keys must follow from the content"
            )
        return stored

    def intent(self, key: str) -> IntentRecord | None:
        """Return an intent by its key, None where there is none."""
        found = self._intents(Intent.key == key)
        return found[0] if found else None

    def intents(self, campaign: int, state: str | None = None) -> list[IntentRecord]:
        """Return a campaign's intents, oldest first."""
        which = [Intent.campaign_id == campaign]
        if state is not None:
            which.append(Intent.state == state)
        return self._intents(*which)

    def claim_intents(
        self,
        campaign: int,
        *,
        owner: str,
        until: datetime,
        operations: Iterable[str] | None = None,
        lane: str | None = None,
        keys: Iterable[str] | None = None,
        limit: int = 100,
    ) -> list[IntentRecord]:
        """Lease intents that are to be worked on; return them, oldest first.

        Only what is planned or sent, due (``not_before``), and leased to nobody: a lease of one's own that still runs
        is not given a second time.

        Parameters
        ----------
        campaign : int
            Its id.
        owner : str
            Who claims: a name that no other process has.
        until : datetime
            When the lease runs out, aware.
        operations, keys : iterable of str, optional
            Only these operations, only these intents.
        lane : str, optional
            Only this lane's.
        limit : int, default 100
            Most intents to lease.
        """
        check_text(owner, name="owner")
        now, end = self._session.now(), as_utc(until, name="until")
        if end <= now:
            raise InputError(f"until is {end.isoformat()}, which is past; a lease must end later than now")
        which = [
            Intent.campaign_id == campaign,
            Intent.state.in_(_OPEN),
            sa.or_(Intent.not_before.is_(None), Intent.not_before <= now),
            sa.or_(Intent.lease_owner.is_(None), Intent.lease_until <= now),
        ]
        if operations is not None:
            which.append(Intent.operation.in_(list(operations)))
        if lane is not None:
            which.append(Intent.lane == lane)
        if keys is not None:
            which.append(self._session.among(Intent.key, keys))
        # The rows are locked as they are read, past those that another process holds; SQLite has one writer anyway.
        query = sa.select(Intent.key).where(*which).order_by(Intent.created_at, Intent.key).limit(limit)
        picked = [row.key for row in self._session.rows(query.with_for_update(skip_locked=True))]
        if not picked:
            return []
        chosen = self._session.among(Intent.key, picked)
        self._session.run(sa.update(Intent.table()).where(chosen).values(lease_owner=owner, lease_until=end))
        return self._intents(chosen)

    def release_intents(self, owner: str) -> int:
        """End every lease of an owner, so that others may go on at once; return how many there were."""
        return self._session.run(sa.update(Intent.table()).where(Intent.lease_owner == owner).values(_FREE))

    def set_intent(
        self,
        key: str,
        state: str,
        result: dict[str, Any] | None = None,
        *,
        owner: str | None = None,
        not_before: datetime | None = None,
    ) -> None:
        """Move an intent to a state, with the outcome; None keeps the outcome it has.

        ``sent`` counts as one more try and sets the time of the first; what is done, cancelled or waits for a person
        is leased no more.

        Parameters
        ----------
        key, state : str
            Which intent, and planned, sent, done, needs_human or cancelled.
        result : dict, optional
            The outcome; JSON.
        owner : str, optional
            Who holds the lease. An outcome is taken as long as nobody else took over; sending anew needs a lease that
            still runs.
        not_before : datetime, optional
            Leave it alone until then, aware.

        Raises
        ------
        StateError
            No such intent, or the lease is not the owner's any more.
        """
        if state not in _STATES:
            raise InputError(f"state is {state!r}; choose {', '.join(_STATES)}")
        now = self._session.now()
        values: dict[str, Any] = {"state": state, "updated_at": now}
        if result is not None:
            values["result"] = result
        if not_before is not None:
            values["not_before"] = as_utc(not_before, name="not_before")
        if state == "sent":
            values |= {"sent_at": sa.func.coalesce(Intent.sent_at, sa.bindparam("now", now, Intent.sent_at.type))}
            values["attempts"] = Intent.attempts + 1
        elif state not in _OPEN:
            values |= _FREE
        which = [Intent.key == key]
        if owner is not None:
            which.append(Intent.lease_owner == owner)
            if state == "sent":
                which.append(Intent.lease_until > now)
        if not self._session.run(sa.update(Intent.table()).where(*which).values(values)):
            self._refuse(key, owner)

    def answer_question(self, key: str, state: str, note: str) -> None:
        """Let a person decide what became of an intent that needs one; the note is kept in its result.

        Parameters
        ----------
        key : str
            Which intent.
        state : {"planned", "done", "cancelled"}
            It did not happen and is tried again, it happened, or it shall not happen.
        note : str
            Why; who decided and what they saw.

        Raises
        ------
        StateError
            No such intent, or it waits for nobody.
        """
        if state not in _ANSWERS:
            raise InputError(f"state is {state!r}; a person answers {', '.join(_ANSWERS)}")
        if not check_text(note, name="note").strip():
            raise InputError("note is empty; say what was seen on the platform and who decided")
        query = sa.select(Intent.state, Intent.result).where(Intent.key == key).with_for_update()
        row = self._require(self._session.one(query), f"no intent has the key {key!r}; take one from the questions")
        if row.state != "needs_human":
            raise StateError(f"intent {key!r} is {row.state} and waits for no answer")
        values = {
            "state": state,
            "result": {**(row.result or {}), "note": note},
            "not_before": None,
            "updated_at": self._session.now(),
        }
        self._session.run(sa.update(Intent.table()).where(Intent.key == key).values(values))

    def take_lane(self, name: str, *, owner: str, until: datetime) -> bool:
        """Take a lane, or keep one's own longer; return False while another holds it."""
        row = {
            "name": check_text(name, name="name"),
            "owner": check_text(owner, name="owner"),
            "until": as_utc(until, name="until"),
        }
        table = Lane.table()
        statement = self._session.insert(Lane).values(row)
        free = sa.or_(table.c.owner == owner, table.c.until <= self._session.now())
        values = {"owner": statement.excluded.owner, "until": statement.excluded.until}
        return bool(
            self._session.run(statement.on_conflict_do_update(index_elements=["name"], set_=values, where=free))
        )

    def lane_owner(self, name: str) -> str | None:
        """Return who holds a lane, also where the time is past; None where nobody does."""
        table = Lane.table()
        row = self._session.one(sa.select(table.c.owner).where(table.c.name == name))
        return None if row is None else str(row.owner)

    def free_lane(self, name: str, owner: str) -> None:
        """Let others into a lane; a lane that is another's by now is left alone."""
        self._session.run(sa.delete(Lane.table()).where(Lane.name == name, Lane.owner == owner))

    def _refuse(self, key: str, owner: str | None) -> None:
        found = self.intent(key)
        if found is None:
            raise StateError(f"no intent has the key {key!r}; write it down before the effect")
        holder = "nobody" if found.lease_owner is None else repr(found.lease_owner)
        raise StateError(
            f"intent {key!r} is {found.state} and leased to {holder}, not to {owner!r} any more; claim it again"
        )

    def _intents(self, *which: Any) -> list[IntentRecord]:
        query = sa.select(*Intent.table().c).where(*which).order_by(Intent.created_at, Intent.key)
        return [IntentRecord(**row._mapping) for row in self._session.rows(query)]
