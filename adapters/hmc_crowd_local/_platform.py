"""The workplace behind the port.

Every call is one transaction that loads a HIT, applies a rule and stores what changed. Guarantees, also with several
processes on one database: a HIT exists once per key; no place is given out twice; a worker has a HIT once and a
question once unless the HIT allows a repeat; what was saved is never lost. Deadlines are judged by the injected
clock, lazily: work lapses when somebody next looks at its HIT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Account, Capabilities, RemoteHit, RemoteSubmission, SubmissionState
from hmc_crowd_local._bonuses import Bonuses
from hmc_crowd_local._bulk import Bulk
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._door import Door
from hmc_crowd_local._erasing import Erasing
from hmc_crowd_local._examinations import Examinations
from hmc_crowd_local._inbox import WorkplaceInbox
from hmc_crowd_local._kinds import KINDS
from hmc_crowd_local._orders import Orders
from hmc_crowd_local._queries import (
    answers_of,
    busy_until,
    hit_of,
    hits_with_lapses,
    open_hits,
    pages_of_submissions,
    require_hits,
)
from hmc_crowd_local._quotas import QuotaBook
from hmc_crowd_local._rehearse import rehearse_desk
from hmc_crowd_local._repository import chunks, flush, load_claims, load_hits
from hmc_crowd_local._states import Action
from hmc_crowd_local._steps import twice
from hmc_crowd_local._tables import HIT
from hmc_crowd_local._workforce import Staff

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType

    from hmc_crowd._base.clock import Clock
    from hmc_crowd._base.copies import Keeper
    from hmc_crowd._base.findings import Finding
    from hmc_crowd._base.ids import IdSource
    from hmc_crowd._base.reach import Surroundings
    from hmc_crowd.platform import FeeSchedule, Hit, RemoteAnswer
    from hmc_crowd.simulation import Crowd
    from hmc_crowd_local._database import Database
    from hmc_crowd_local._vault import Vault
    from hmc_crowd_local.mturk_api import FrontDoor, Settings
    from hmc_crowd_local.pages import Invites, Threads

__all__ = ["LocalPlatform"]

# HITs that a rehearsal holds in memory, and stores, at a time.
_REHEARSED_AT_ONCE = 1_000
_HANDED_IN = tuple(state.value for state in SubmissionState if state.has_work)


class LocalPlatform(Orders, Bonuses, Bulk, Staff, Examinations, QuotaBook, Erasing, Door):
    """A platform of our own; made by `hmc_crowd_local.connect`.

    It implements `hmc_crowd.platform.Platform` (the requester's side), `hmc_crowd.platform.PaysBonuses`,
    `hmc_crowd.platform.KeepsPools`, `TellsSkips` and `KeepsQuotas` (own people, their turns, what they left open, the
    mix that is asked for),
    `hmc_crowd._base.erasing.ErasesPeople` (a person is forgotten),
    `hmc_crowd.platform.KeepsTests` (qualification tests and the attempts at them),
    `hmc_crowd.platform.RoutedPages` (pages for people whom another platform recruits), the worker's door (`accept`,
    `open_page`, `save_answer`, `record_events`, `submit`, `return_`) and `rehearse`.
    """

    name = "local"
    capabilities = Capabilities(
        idempotent_create=True,
        bonuses=True,
        bonus_is_repeatable=True,
        bonus_batch=1_000,
        repeats_are_barred=True,
        in_house=True,
        kinds=KINDS,
        suggests=True,
    )

    def __init__(
        self, database: Database, *, clock: Clock, ids: IdSource, fees: FeeSchedule, pages: str | None
    ) -> None:
        super().__init__(database, clock=clock, ids=ids, pages=pages)
        self._fees = fees

    def __enter__(self) -> LocalPlatform:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the database's connections back; a later call opens new ones."""
        self._database.close()

    @property
    def fees(self) -> FeeSchedule:
        """What the platform takes on top of the reward: nothing, unless a schedule was passed."""
        return self._fees

    def account(self) -> Account:
        """Say which database this is; the workplace holds no money."""
        return Account(platform=self.name, endpoint=self._database.shown, account="workplace", mode="local")

    # The requester's side.

    def publish(self, hit: Hit, *, allow_repeat: bool = False, first_sent_at: datetime | None = None) -> RemoteHit:  # noqa: ARG002 because of the port
        """Offer a HIT; asking again with the same key and content returns the HIT that exists.

        Parameters
        ----------
        hit : Hit
            What to offer.
        allow_repeat : bool, default False
            A worker may take it although he had one of its questions in another HIT (a retest).
        first_sent_at : datetime, optional
            Of no meaning here: a key names one HIT however old it is.

        Raises
        ------
        InputError
            No items, an item and aspect twice, a number below its least value, or text that no database can hold.
        PlatformError
            The key is that of a HIT with other content.
        """
        now = self._now()

        def attempt() -> RemoteHit:
            with self._database.write() as connection:
                desk = Desk(self._ids)
                held = connection.execute(sa.select(HIT.c.hit_id).where(HIT.c.key == hit.key)).scalar()
                if held is not None:
                    load_hits(connection, desk, [held])
                record = desk.publish(hit, at=now, allow_repeat=allow_repeat)
                flush(connection, desk)
                return desk.remote_hit(record.hit_id, at=now)

        return twice(attempt)

    def find(self, key: str) -> RemoteHit | None:
        """Return the HIT published under this key, or None."""
        with self._database.read() as connection:
            held = connection.execute(sa.select(HIT.c.hit_id).where(HIT.c.key == key)).scalar()
            if held is None:
                return None
            desk = Desk(self._ids)
            load_hits(connection, desk, [held])
        desk.sweep(held, at=self._now())  # not stored: a look changes nothing
        return desk.remote_hit(held, at=self._now())

    def submissions(self, hit_ids: Iterable[str]) -> Iterator[RemoteSubmission]:
        """Yield every submission of these HITs, drafts and returns included, none twice, read page by page.

        Raises
        ------
        PlatformError
            An id is unknown; nothing is yielded then.
        """
        wanted = list(dict.fromkeys(hit_ids))
        require_hits(self._database, wanted)
        for hit_id in hits_with_lapses(self._database, wanted, at=self._now()):
            self._at_hit(hit_id, lambda _desk, _now: None)  # loading a HIT writes down what lapsed
        return pages_of_submissions(self._database, wanted)

    def approve(self, submission_id: str) -> RemoteSubmission:
        """Approve submitted work; approving approved work changes nothing."""
        return self._change(
            submission_id, lambda desk, now: desk.review(submission_id, Action.APPROVE, at=now).remote()
        )

    def reject(self, submission_id: str, reason: str) -> RemoteSubmission:
        """Refuse submitted work with a reason; the place stays taken. Rejecting rejected work changes nothing."""
        if not reason.strip():
            raise InputError("reason is empty; the worker reads it, so say what was wrong")
        return self._change(
            submission_id,
            lambda desk, now: desk.review(submission_id, Action.REJECT, at=now, reason=reason).remote(),
        )

    def expire(self, hit_id: str) -> RemoteHit:
        """Offer the HIT to nobody more; work under way may be finished."""

        def step(desk: Desk, now: datetime) -> RemoteHit:
            desk.close(hit_id, at=now)
            return desk.remote_hit(hit_id, at=now)

        return self._at_hit(hit_id, step)

    # The pages' side.

    def show(self, hits: Iterable[Hit]) -> Mapping[str, str]:
        """Make sure these HITs are here, a few hundred per transaction, and return the address of each by its key."""
        return {key: f"{self._pages}/work/hit/{hit_id}" for key, hit_id in self._ensure(hits).items()}

    def answers(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteAnswer, ...]]:
        """Return the answers of each submission whose work is handed in; drafts and late work are not among them.

        Whoever was recruited elsewhere is on that platform's clock: his work is among them whenever it came.

        Raises
        ------
        PlatformError
            An id is unknown.
        """
        return answers_of(self._database, list(dict.fromkeys(submission_ids)), states=_HANDED_IN)

    def saved_answers(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteAnswer, ...]]:
        """Return what was saved, whatever became of the submission: drafts, returned, lapsed and late work too."""
        return answers_of(self._database, list(dict.fromkeys(submission_ids)), states=tuple(SubmissionState))

    # The crowd that does not exist.

    def rehearse(self, crowd: Crowd, *, max_submissions: int | None = None) -> int:
        """Let a simulated crowd take open places until none is free or nobody wants one.

        Work begins at the clock's present and is stamped with simulated times, so its end lies ahead of the clock; a
        worker who was rehearsed before goes on where he ended. Stored in one transaction per thousand HITs. Quotas are
        about people: who does not exist passes them by.

        Parameters
        ----------
        crowd : Crowd
            Simulated or recorded workers.
        max_submissions : int, optional
            Stop after so many were handed in.

        Returns
        -------
        int
            How many submissions were handed in, in time.
        """
        start, done, arms = self._now(), 0, self.secret("arms")
        free_from = busy_until(self._database)
        for ids in chunks(open_hits(self._database, at=start), _REHEARSED_AT_ONCE):
            with self._database.write() as connection:
                desk = Desk(self._ids)
                load_hits(connection, desk, ids, lock=True)
                load_claims(connection, desk, ids)
                left = None if max_submissions is None else max_submissions - done
                done += rehearse_desk(
                    desk, crowd, ids, start=start, busy_until=free_from, max_submissions=left, arms=arms
                )
                flush(connection, desk)
        return done

    def last_moment(self) -> datetime | None:
        """Return when the last recorded work ended: where a virtual clock goes on after a rehearsal."""
        return max(busy_until(self._database).values(), default=None)

    # What pages ask.

    def hit(self, hit_id: str) -> Hit:
        """Return the content of a HIT, or refuse an unknown id."""
        with self._database.read() as connection:
            desk = Desk(self._ids)
            load_hits(connection, desk, [hit_id])
            return desk.hit(hit_id).hit

    def submission(self, submission_id: str) -> RemoteSubmission:
        """Return a submission as it stands now, or refuse an unknown id; a look changes nothing."""
        desk = Desk(self._ids)
        with self._database.read() as connection:
            hit_id = hit_of(connection, submission_id)
            load_hits(connection, desk, [hit_id])
        desk.sweep(hit_id, at=self._now())
        return desk.submission(submission_id).remote()

    def inbox(self, platform: str) -> WorkplaceInbox:
        """Return where the events that a platform sends are kept."""
        return WorkplaceInbox(self._database, platform, self._now)

    def front_door(self, settings: Settings | None = None) -> FrontDoor:
        """Return the MTurk-API front door of this workplace; it is closed with the workplace."""
        from hmc_crowd_local.mturk_api import open_front_door

        return open_front_door(settings=settings, clock=self._clock, database=self._database)

    def examine(self, around: Surroundings, *, public_url: str | None = None) -> Iterator[Finding]:
        """Look whether people would reach the workplace; changes nothing. See `hmc-crowd doctor`."""
        from hmc_crowd_local._examine import examine

        return examine(self._database, around, public_url=public_url)

    def keeper(self) -> Keeper:
        """Return who makes copies of the workplace's database and puts them back."""
        from hmc_crowd_local._keeper import keeper_of

        return keeper_of(self._database)

    def vault(self) -> Vault:
        """Return the workplace's key and what is sealed under it."""
        from hmc_crowd_local._vault import Vault

        return Vault(self._database)

    def invites(self) -> Invites:
        """Return the invitations of people of one's own, whose links open the task pages."""
        from hmc_crowd_local.pages import Invites

        return Invites(self, secret=self.secret("pages"))

    def threads(self) -> Threads:
        """Return what workers and the people in charge say to each other about items."""
        from hmc_crowd_local.pages import Threads

        return Threads(self._database, self._ids)
