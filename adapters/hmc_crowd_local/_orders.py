"""Work for people whom another platform recruits: which HIT does an arrival get, and what became of it?

A recruiting platform knows places, not HITs; who gets which HIT is bound when he arrives. Guarantees, also with many
processes at once: the same id of the recruiting platform always has the same work, nobody meets a question twice
within a scope, and never more arrivals hold a HIT than it has places. A place is free again when the recruiting
platform says that the work ended (`Orders.release`), or when its time and a grace as long again have passed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.errors import DuplicateError, InputError, PlatformError
from hmc_crowd.platform import RoutedWork, SubmissionState
from hmc_crowd_local._records import Recruited, check_text
from hmc_crowd_local._repository import chunks, submission_of
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import CLAIM, HIT, HIT_ITEM, ORDER, SUBMISSION
from hmc_crowd_local._tokens import sign_token, work_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hmc_crowd.platform import Hit
    from hmc_crowd_local._desk import Desk
    from hmc_crowd_local._records import SubmissionRecord

__all__ = ["OrderDoor", "Orders"]


# A link outlives its work, so that whoever comes late reads a polite page and not an error.
_LINK_LIVES = timedelta(days=30)
# HITs that are tried before looking again: others may have taken their places meanwhile.
_TRIED_AT_ONCE = 20
_LOOKS = 10


class OrderDoor:
    """Hands out the work of orders to the people of one recruiting platform; made by `LocalPlatform.order_door`."""

    def __init__(self, orders: Orders, platform: str) -> None:
        self._orders = orders
        self.platform = platform

    def claim(self, key: str, *, worker: str, submission_id: str) -> str | None:
        """Give the worker a HIT of the order and return the address of its page; None where none is left for him.

        Parameters
        ----------
        key : str
            Of the order, as `Orders.open_order` got it.
        worker : str
            His id on the recruiting platform.
        submission_id : str
            The id of his work there: asked again with it, the same work comes back, with what was saved in it.
        """
        found = self._orders.claim_work(worker, Recruited(self.platform, submission_id, key))
        return None if found is None else self._orders.work_address(found)


class Orders(Steps):
    """The part of the workplace that implements `hmc_crowd.platform.RoutedPages`."""

    # The campaign's side.

    def open_order(self, key: str, hits: Iterable[Hit]) -> None:
        """Let arrivals of an order get these HITs; said again nothing changes, new HITs are added.

        Raises
        ------
        InputError
            The key is empty, or a HIT is not as `LocalPlatform.publish` wants it.
        PlatformError
            A HIT's key is that of another HIT.
        """
        if not key:
            raise InputError("key of the order is empty; give the key under which people are recruited")
        check_text(key, name="key of the order")
        rows = [{"key": key, "hit_id": hit_id} for hit_id in self._ensure(hits).values()]
        if not rows:
            return
        insert = sqlite.insert(ORDER) if self._database.is_sqlite else postgresql.insert(ORDER)
        with self._database.write() as connection:
            connection.execute(insert.on_conflict_do_nothing(), rows)

    def arrivals(self, platform: str, submission_ids: Iterable[str]) -> Mapping[str, RoutedWork]:
        """Return what became of the work of a recruiting platform's submissions; those that never came are absent.

        Parameters
        ----------
        platform : str
            The recruiting platform's name.
        submission_ids : iterable of str
            As that platform calls them.
        """
        found: dict[str, RoutedWork] = {}
        with self._database.read() as connection:
            for ids in chunks(list(dict.fromkeys(submission_ids))):
                query = sa.select(SUBMISSION, HIT.c.key).join(HIT)
                mine = sa.and_(SUBMISSION.c.recruited_by == platform, SUBMISSION.c.external_id.in_(ids))
                for row in connection.execute(query.where(mine)):
                    found[row.external_id] = RoutedWork(
                        hit_key=row.key,
                        submission_id=row.submission_id,
                        is_submitted=row.submitted_at is not None,
                        page_elapsed_s=row.page_elapsed_s,
                        active_s=row.active_s,
                        time_quality=row.time_quality,
                    )
        return found

    def release(self, platform: str, submission_ids: Iterable[str]) -> int:
        """Free the places of work that the recruiting platform ended (returned, timed out, rejected and replaced).

        What was answered or handed in is kept. Those that never came, or hold no place, count for nothing.

        Returns
        -------
        int
            How many places became free.
        """
        freed = 0
        with self._database.read() as connection:
            held: list[tuple[str, str]] = []
            for ids in chunks(list(dict.fromkeys(submission_ids))):
                query = sa.select(SUBMISSION.c.hit_id, SUBMISSION.c.submission_id).where(
                    SUBMISSION.c.recruited_by == platform,
                    SUBMISSION.c.external_id.in_(ids),
                    SUBMISSION.c.place.is_not(None),
                )
                held += [(row[0], row[1]) for row in connection.execute(query)]
        for hit_id, submission_id in held:
            freed += self._at_hit(hit_id, lambda desk, now, name=submission_id: desk.release(name, at=now))  # type: ignore[misc]
        return freed

    # The arrivals' side.

    def order_door(self, platform: str) -> OrderDoor:
        """Return the door through which a recruiting platform's people get their work."""
        return OrderDoor(self, platform)

    def recruiter_of(self, submission_id: str) -> tuple[str, str] | None:
        """Return recruiting platform and the id of the work there; None for our own people and unknown ids."""
        query = sa.select(SUBMISSION.c.recruited_by, SUBMISSION.c.external_id)
        with self._database.read() as connection:
            row = connection.execute(query.where(SUBMISSION.c.submission_id == submission_id)).one_or_none()
        return None if row is None or row[0] is None else (row[0], row[1])

    def order_of(self, platform: str, external_id: str) -> str | None:
        """Return the key of the order that a recruiting platform's submission works for; None where it never came."""
        query = sa.select(SUBMISSION.c.order_key)
        mine = sa.and_(SUBMISSION.c.recruited_by == platform, SUBMISSION.c.external_id == external_id)
        with self._database.read() as connection:
            found: str | None = connection.execute(query.where(mine)).scalar()
        return found

    def places_held(self, platform: str, key: str) -> list[str]:
        """Return the recruiting platform's ids of the work that holds a place of this order."""
        query = sa.select(SUBMISSION.c.external_id).where(
            SUBMISSION.c.recruited_by == platform,
            SUBMISSION.c.order_key == key,
            SUBMISSION.c.place.is_not(None),
        )
        with self._database.read() as connection:
            return list(connection.execute(query.order_by(SUBMISSION.c.submission_id)).scalars())

    def grow_order(self, platform: str, key: str, *, most: int) -> bool:
        """Make a place more in the only HIT of an order, where the recruiting platform knows how many there may be.

        Returns
        -------
        bool
            False where the order is unknown, has several HITs, or ``most`` arrivals came for it.
        """
        of = (SUBMISSION.c.recruited_by == platform, SUBMISSION.c.order_key == key)
        with self._database.read() as connection:
            hits = list(connection.execute(sa.select(ORDER.c.hit_id).where(ORDER.c.key == key)).scalars())
            came = connection.execute(sa.select(sa.func.count()).select_from(SUBMISSION).where(*of)).scalar() or 0
        if len(hits) != 1 or came >= most:
            return False
        name = hits[0]
        self._at_hit(name, lambda desk, _now: desk.grow(name, desk.hit(name).hit.redundancy + 1))
        return True

    def work_address(self, submission_id: str) -> str:
        """Return the address of a submission's page, signed; the same every time."""
        query = sa.select(SUBMISSION.c.deadline_at).where(SUBMISSION.c.submission_id == submission_id)
        with self._database.read() as connection:
            deadline = connection.execute(query).scalar()
        if deadline is None:
            raise PlatformError(f"submission {submission_id!r} is unknown here; check the id and the database address")
        token = sign_token(self.secret("pages"), submission_id, expires_at=deadline + _LINK_LIVES)
        return work_url(self._pages, token)

    def claim_work(self, worker: str, recruited: Recruited) -> str | None:
        """Bind an arrival to a HIT of its order; return our id of the submission, None where no work is left."""
        check_text(worker, name="worker")
        check_text(recruited.external_id, name="submission_id")
        if not worker or not recruited.external_id:
            raise InputError("worker or submission_id is empty; give both as the recruiting platform calls them")
        for _ in range(_LOOKS):
            # Free places are looked at first: what somebody took in a second tab meanwhile is found then.
            free = self._free_hits(recruited.order_key, worker)
            held = self._held(recruited)
            if held is not None:
                return held.submission_id if held.worker == worker else None
            if not free:
                return None
            for hit_id in free:
                try:
                    return self._take(hit_id, worker, recruited)
                except PlatformError:
                    continue  # somebody else was quicker: the next one
                except DuplicateError:
                    break  # the same person at the same moment, in a second tab: look again
        return None

    def _take(self, hit_id: str, worker: str, recruited: Recruited) -> str:
        def step(desk: Desk, now: datetime) -> str:
            return desk.accept(hit_id, worker, at=now, recruited=recruited).submission_id

        return self._at_hit(hit_id, step, worker=worker)

    def _held(self, recruited: Recruited) -> SubmissionRecord | None:
        query = sa.select(SUBMISSION).where(
            SUBMISSION.c.recruited_by == recruited.platform, SUBMISSION.c.external_id == recruited.external_id
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else submission_of(row)

    def _free_hits(self, key: str, worker: str) -> list[str]:
        """Return HITs of the order with a free place that the worker may take, oldest first."""
        overdue = sa.and_(SUBMISSION.c.state == SubmissionState.ACCEPTED.value, SUBMISSION.c.deadline_at < self._now())
        held = sa.select(sa.func.count(SUBMISSION.c.place)).where(SUBMISSION.c.hit_id == HIT.c.hit_id, ~overdue)
        had = sa.exists().where(SUBMISSION.c.hit_id == HIT.c.hit_id, SUBMISSION.c.worker == worker)
        met = sa.exists().where(
            HIT_ITEM.c.hit_id == HIT.c.hit_id,
            CLAIM.c.worker == worker,
            CLAIM.c.scope == HIT.c.scope,
            CLAIM.c.item == HIT_ITEM.c.item,
            CLAIM.c.aspect == HIT_ITEM.c.aspect,
        )
        query = (
            sa.select(HIT.c.hit_id)
            .join(ORDER, ORDER.c.hit_id == HIT.c.hit_id)
            .where(ORDER.c.key == key, HIT.c.closed_at.is_(None), held.scalar_subquery() < HIT.c.redundancy)
            .where(~had, sa.or_(HIT.c.allow_repeat, ~met))
            .order_by(HIT.c.created_at, HIT.c.key)
            .limit(_TRIED_AT_ONCE)
        )
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())
