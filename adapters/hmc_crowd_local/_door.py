"""The worker's door: what a page does on behalf of one worker.

Every step names the worker, so nobody acts for another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd_local._records import AnswerRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    import sqlalchemy as sa

    from hmc_crowd.platform import RemoteAnswer, RemoteSubmission
    from hmc_crowd_local._desk import Desk
    from hmc_crowd_local._timing import PageEvent

__all__ = ["Door"]

T = TypeVar("T")


class Door:
    """The worker's steps over two methods that make a step a transaction."""

    def _at_hit(
        self,
        hit_id: str,
        step: Callable[[Desk, datetime], T],
        *,
        worker: str | None = None,
        work: str | None = None,
        guard: Callable[[sa.Connection, Desk, datetime], None] | None = None,
    ) -> T:
        raise NotImplementedError

    def _seat_guard(self, hit_id: str, worker: str) -> Callable[[sa.Connection, Desk, datetime], None] | None:
        """Return what refuses a HIT to a worker for whom quotas leave no seat; None where no quotas are kept."""
        del hit_id, worker
        return None

    def _change(self, submission_id: str, step: Callable[[Desk, datetime], T], *, work: bool = False) -> T:
        raise NotImplementedError

    def accept(self, hit_id: str, worker: str) -> RemoteSubmission:
        """Take a place of a HIT; asked again while it is under way, the same submission comes back with its draft.

        Raises
        ------
        PlatformError
            The HIT is unknown, closed or full, or the worker had it, or one of its questions elsewhere, or the quotas
            of its campaign leave no seat for people like him.
        """
        return self._at_hit(
            hit_id,
            lambda desk, now: desk.accept(hit_id, worker, at=now).remote(),
            worker=worker,
            guard=self._seat_guard(hit_id, worker),
        )

    def open_page(self, submission_id: str, worker: str) -> RemoteSubmission:
        """Note that the page is shown for the first time: the page clock starts. Later calls change nothing."""
        return self._change(submission_id, lambda desk, now: desk.render(submission_id, worker, at=now).remote())

    def save_answer(
        self,
        submission_id: str,
        worker: str,
        *,
        item: str,
        aspect: str,
        label: str,
        shown_at: datetime | None = None,
        answered_at: datetime | None = None,
        swapped: bool | None = None,
        mode: str = "blind",
    ) -> None:
        """Keep one answer as a draft; a later one to the same question replaces it until the work is handed in.

        Parameters
        ----------
        item, aspect, label : str
            A question of the HIT and one of its labels (any text where it lists none).
        shown_at, answered_at : datetime, optional
            Aware; when the question came into view and when it was answered.
        swapped : bool, optional
            Of a pair: whether its sides were shown the other way round; ``label`` is that of the pair as given.
        mode : {"blind", "suggest"}
            Whether the machine's suggestion was shown.

        Raises
        ------
        InputError
            The question is not in the HIT, the label not allowed, or a time has no zone.
        PlatformError
            The submission is unknown, somebody else's, returned or handed in.
        """
        shown = None if shown_at is None else as_utc(shown_at, name="shown_at")
        answered = None if answered_at is None else as_utc(answered_at, name="answered_at")
        if mode not in {"blind", "suggest"}:
            raise InputError(f"mode is {mode!r}; it is 'blind', or 'suggest' where the machine's label was shown")
        answer = AnswerRecord(item, aspect, label, shown, answered, swapped, mode)
        self._change(submission_id, lambda desk, now: desk.save(submission_id, worker, answer, at=now))

    def record_events(self, submission_id: str, worker: str, events: Iterable[PageEvent]) -> None:
        """Keep what the page saw, in the order given; active time is worked out from it when the work is handed in."""
        kept = [replace(each, at=as_utc(each.at, name="at")) for each in events]
        self._change(submission_id, lambda desk, _now: desk.record_events(submission_id, worker, kept), work=True)

    def submit(self, submission_id: str, worker: str, *, expects_events: bool = False) -> RemoteSubmission:
        """Hand the work in; asked again, nothing changes.

        After the deadline the state stays expired: the answers are kept, flagged as late, and not counted.

        Parameters
        ----------
        expects_events : bool, default False
            The page reports what it sees (`record_events`); without any report active time is not known
            (``no_heartbeat``), though the answers carry the server's times.

        Raises
        ------
        PlatformError
            The submission is unknown, somebody else's or returned, or a question has no answer yet.
        """
        return self._change(
            submission_id,
            lambda desk, now: desk.submit(submission_id, worker, at=now, expects_events=expects_events).remote(),
            work=True,
        )

    def hand_in(self, submission_id: str, worker: str, answers: Iterable[RemoteAnswer]) -> RemoteSubmission:
        """Save answers and hand the work in, all in one transaction or nothing of it; asked again, nothing changes.

        For pages and programs that hold the answers of a whole HIT; `save_answer` and `submit` are its two halves.

        Raises
        ------
        InputError
            An answer's question is not in the HIT, its label not allowed, or a time has no zone.
        PlatformError
            The submission is unknown, somebody else's or returned, or a question has no answer.
        """
        kept = [
            AnswerRecord(
                each.item,
                each.aspect,
                each.label,
                None if each.started_at is None else as_utc(each.started_at, name="started_at"),
                None if each.submitted_at is None else as_utc(each.submitted_at, name="submitted_at"),
                each.swapped,
                each.mode,
            )
            for each in answers
        ]

        def step(desk: Desk, now: datetime) -> RemoteSubmission:
            if desk.submission(submission_id).submitted_at is None:
                for answer in kept:
                    desk.save(submission_id, worker, answer, at=now)
            return desk.submit(submission_id, worker, at=now).remote()

        return self._change(submission_id, step, work=True)

    def return_(self, submission_id: str, worker: str) -> RemoteSubmission:
        """Give the HIT back; its place is free again, what was answered is kept, the worker does not get it again."""
        return self._change(submission_id, lambda desk, now: desk.give_back(submission_id, worker, at=now).remote())

    def late_work(self, hit_id: str) -> list[RemoteSubmission]:
        """Return submissions that came after their deadline: work that is not counted, for a person to look at.

        Raises
        ------
        PlatformError
            The HIT is unknown.
        """

        def step(desk: Desk, _now: datetime) -> list[RemoteSubmission]:
            if hit_id not in desk.hits:
                raise PlatformError(f"HIT {hit_id!r} is unknown here; check the id and the database address")
            own = (desk.submissions[each] for each in desk.of_hit[hit_id].values())
            return [each.remote() for each in own if each.is_late]

        return self._at_hit(hit_id, step)
