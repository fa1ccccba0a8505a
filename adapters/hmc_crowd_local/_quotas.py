"""Is there a seat left for people like this worker? The workplace's side of quotas, in the transaction that hands out.

A seat belongs to a person as long as he holds a place of any HIT of the campaign: who gives his work back, or lets its
time run out, frees it. What workers are is what their invitations say; of people whom another platform recruited that
platform takes care. Guarantees, also with many processes at once: never more people of a kind than `Seats` allows; and
while quotas lack people, those who are in already do not take the last places that these people need.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd._base.quotas import attribute_name
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import SeatRule, Seats, SubmissionState
from hmc_crowd_local._records import check_text
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import HIT, ORDER, SUBMISSION
from hmc_crowd_local._tables_pages import INVITE, QUOTA, SEAT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from hmc_crowd_local._desk import Desk

__all__ = ["QuotaBook", "checked_attributes", "scopes_over"]

_MOST_ATTRIBUTES = 50


def checked_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return attributes by the names that quotas know them by, without blanks around their values.

    >>> checked_attributes({"Region": " south "})
    {'region': 'south'}
    """
    found = {}
    for name, value in attributes.items():
        for text in (name, value):
            check_text(text, name="attributes")
            if not (attribute_name(name) and text.strip()):
                raise InputError(f"attributes holds {name!r}: {value!r}; give a name and a value, or leave it out")
        found[attribute_name(name)] = value.strip()
    if len(found) > _MOST_ATTRIBUTES:
        raise InputError(f"attributes holds {len(found)} of them; keep the few that quotas are about")
    return dict(sorted(found.items()))


def scopes_over(scope: str) -> list[str]:
    """Return the scopes whose quotas a HIT's scope is under: its own, and those that it was made from.

    >>> scopes_over("uid:guideline-2")
    ['uid', 'uid:guideline-2']
    """
    parts = scope.split(":")
    return [":".join(parts[:end]) for end in range(1, len(parts) + 1)]


class QuotaBook(Steps):
    """The part of the workplace that implements `hmc_crowd.platform.KeepsQuotas`."""

    def put_seats(self, scope: str, seats: Seats | None) -> None:
        """Hand a campaign's work out by these quotas from now on; None lifts them."""
        if seats is None:
            self._lift(scope)
            return
        row = {"scope": scope, "seats": json.dumps(asdict(seats)), "at": self._now()}
        with self._database.write() as connection:
            insert = _insert(connection, QUOTA)
            new = {name: insert.excluded[name] for name in ("seats", "at")}
            connection.execute(insert.on_conflict_do_update(index_elements=[QUOTA.c.scope], set_=new), [row])
            # Whoever came before there were quotas has a seat, too.
            mine = sa.select(sa.literal(scope), SUBMISSION.c.worker).join(HIT).distinct()
            mine = mine.where(_of(scope), *_holds(self._now()), SUBMISSION.c.recruited_by.is_(None))
            seat = _insert(connection, SEAT).from_select(["scope", "worker"], mine)
            connection.execute(seat.on_conflict_do_nothing())

    def _lift(self, scope: str) -> None:
        with self._database.read() as connection:
            # Said with every collection, and mostly nothing new.
            if connection.execute(sa.select(QUOTA.c.scope).where(QUOTA.c.scope == scope)).scalar() is None:
                return
        with self._database.write() as connection:
            for table in (QUOTA, SEAT):
                connection.execute(sa.delete(table).where(table.c.scope == scope))

    def known_people(self, pool: str = "") -> dict[str, dict[str, str]]:
        """Return the attributes of everybody whose invitation works now, or of a pool's people; the newest counts."""
        live = sa.and_(INVITE.c.revoked_at.is_(None), INVITE.c.expires_at > self._now())
        query = sa.select(INVITE.c.worker, INVITE.c.pool, INVITE.c.attributes).where(live).order_by(INVITE.c.invite_id)
        with self._database.read() as connection:
            newest = {row.worker: row for row in connection.execute(query)}
        return {worker: json.loads(row.attributes) for worker, row in newest.items() if pool in {"", row.pool}}

    def shut_scopes(self, worker: str) -> frozenset[str]:
        """Return the scopes whose quotas leave nothing for this worker now; a look takes no seat."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(QUOTA)).all()
            return frozenset(row.scope for row in rows if _is_shut(connection, row, worker, self._now()))

    def _seat_guard(self, hit_id: str, worker: str) -> Callable[[sa.Connection, Desk, datetime], None]:
        """Return what refuses a HIT to a worker for whom the quotas leave no seat."""

        def guard(connection: sa.Connection, desk: Desk, now: datetime) -> None:
            if worker in desk.of_hit[hit_id]:
                return  # what becomes of work that he has, or had, the desk knows
            over = scopes_over(desk.hit(hit_id).hit.scope)
            # The row is held until the transaction ends: two people for the last seat come one after the other.
            query = sa.select(QUOTA).where(QUOTA.c.scope.in_(over)).order_by(QUOTA.c.scope).with_for_update()
            for row in connection.execute(query).all():
                if _is_shut(connection, row, worker, now):
                    raise PlatformError(
                        f"the quotas of this study leave no seat for worker {worker!r} now; accept of HIT {hit_id} is "
                        "possible once one is free"
                    )
                seat = {"scope": row.scope, "worker": worker}
                connection.execute(_insert(connection, SEAT).on_conflict_do_nothing(), [seat])

        return guard


def _is_shut(connection: sa.Connection, row: Any, worker: str, now: datetime) -> bool:
    seats = _read_seats(row.seats)
    seated = _seated(connection, row.scope, now)
    held = [traits for who, traits in seated.items() if who != worker]
    own = _traits(connection, sa.select(sa.literal(worker))).get(worker, {})
    if worker not in seated and not seats.admits(own, held):
        return True
    before, after = seats.missing(seated.values()), seats.missing([*held, own])
    # Whoever fills a gap comes in whatever is left; the others leave a place for each person who is missing.
    return 0 < after == before and _free_places(connection, row.scope, now) <= after


def _read_seats(text: str) -> Seats:
    held = json.loads(text)
    return Seats(held["people"], tuple(SeatRule(**each) for each in held["rules"]))


def _of(scope: str) -> sa.ColumnElement[bool]:
    return sa.or_(HIT.c.scope == scope, HIT.c.scope.startswith(f"{scope}:", autoescape=True))


def _holds(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    """Whether a submission holds its place; one whose time has run out does not, also where nobody noted it yet."""
    overdue = sa.and_(SUBMISSION.c.state == SubmissionState.ACCEPTED.value, SUBMISSION.c.deadline_at < now)
    return SUBMISSION.c.place.is_not(None), ~overdue


def _seated(connection: sa.Connection, scope: str, now: datetime) -> dict[str, dict[str, str]]:
    """Return the people who hold a seat, with their attributes."""
    has_place = sa.exists().where(
        SUBMISSION.c.worker == SEAT.c.worker,
        SUBMISSION.c.hit_id == HIT.c.hit_id,
        SUBMISSION.c.recruited_by.is_(None),
        _of(scope),
        *_holds(now),
    )
    people = connection.execute(sa.select(SEAT.c.worker).where(SEAT.c.scope == scope, has_place)).scalars().all()
    known = _traits(connection, sa.select(SEAT.c.worker).where(SEAT.c.scope == scope))
    return {worker: known.get(worker, {}) for worker in people}


def _traits(connection: sa.Connection, workers: sa.Select[Any]) -> dict[str, dict[str, str]]:
    """Return what the newest invitations of these workers say, also those that are over: the person is the same."""
    query = sa.select(INVITE.c.worker, INVITE.c.attributes).where(INVITE.c.worker.in_(workers))
    rows = connection.execute(query.order_by(INVITE.c.invite_id))
    return {row.worker: json.loads(row.attributes) for row in rows}


def _free_places(connection: sa.Connection, scope: str, now: datetime) -> int:
    """Return how many places of a scope somebody may still take."""
    ours = (_of(scope), HIT.c.closed_at.is_(None), ~sa.exists().where(ORDER.c.hit_id == HIT.c.hit_id))
    lives = connection.execute(sa.select(HIT.c.lifetime_s).where(*ours).distinct()).scalars().all()
    offered = sa.or_(
        sa.false(),
        *(sa.and_(HIT.c.lifetime_s == each, HIT.c.created_at > now - timedelta(seconds=each)) for each in lives),
    )
    places = connection.execute(sa.select(sa.func.sum(HIT.c.redundancy)).where(*ours, offered)).scalar() or 0
    taken = sa.select(sa.func.count(SUBMISSION.c.place)).select_from(SUBMISSION).join(HIT).where(*ours, offered)
    # Places whose time has run out are counted apart: each count has an index of its own then.
    lapsed = taken.where(SUBMISSION.c.state == SubmissionState.ACCEPTED.value, SUBMISSION.c.deadline_at < now)
    held, freed = (int(connection.execute(each).scalar() or 0) for each in (taken, lapsed))
    return int(places) - held + freed


def _insert(connection: sa.Connection, table: sa.Table) -> Any:
    return (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)
