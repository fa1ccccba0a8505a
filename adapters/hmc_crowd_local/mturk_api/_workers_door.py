"""The worker's side of the front door: what a page does on behalf of one worker, without HTTP.

A worker acts under his id with the key that belongs to it, so nobody works, or is paid, under another's name.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._tables_mturk import ASSIGNMENT, HIT_TYPE, M_HIT, MESSAGE, QUALIFICATION_TYPE
from hmc_crowd_local.mturk_api import _work
from hmc_crowd_local.mturk_api._call import amount
from hmc_crowd_local.mturk_api._front import check_worker
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist
from hmc_crowd_local.mturk_api._questions import Question, read_question
from hmc_crowd_local.mturk_api._tests_of_workers import ask, hand_in_test

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd_local._timing import PageEvent
    from hmc_crowd_local.mturk_api._front import FrontDoor

__all__ = ["LateWork", "Offer", "Work", "WorkersDoor"]


@dataclass(frozen=True)
class Offer:
    """A HIT as a worker sees it before he accepts."""

    hit_id: str
    group_id: str
    title: str
    description: str
    reward: str
    question: Question


@dataclass(frozen=True)
class Work:
    """An assignment as its worker sees it; ``status`` is the state, or ``late`` for work that came after its time."""

    assignment_id: str
    hit_id: str
    worker: str
    status: str
    deadline_at: datetime
    submitted_at: datetime | None
    draft: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LateWork:
    """Work that came after its deadline: saved, unpaid, and listed so that a person can make up for it."""

    assignment_id: str
    hit_id: str
    worker: str
    deadline_at: datetime
    submitted_at: datetime
    answer: str
    status: str = "unpaid_late"


class WorkersDoor:
    """The worker's steps over a `FrontDoor`."""

    def __init__(self, door: FrontDoor) -> None:
        self._door = door

    def check(self, worker: str, key: str | None) -> None:
        """Refuse a worker id without its key, unless the workplace trusts ids.

        Raises
        ------
        InputError
            The id has not the form of MTurk's worker ids.
        TurkError
            The key is missing or not that of the worker.
        """
        check_worker(worker)
        if self._door.settings.trust_worker_ids:
            return
        if not hmac.compare_digest(self._door.worker_key(worker), key or ""):
            raise TurkError("AWS.NotAuthorized", "This link is not yours; open the one that you were sent.", status=403)

    def offers(self, worker: str) -> list[Offer]:
        """Return the HITs that a worker may discover, of all accounts, one per group."""
        found: dict[str, Offer] = {}
        for account in self._accounts():
            rows = self._door.change(account, lambda call: _work.open_hits(call, worker, call.now))
            for row in rows:
                offer = self.offer(row.hit_id)
                found.setdefault(offer.group_id, offer)
        return list(found.values())

    def under_way(self, worker: str) -> list[tuple[Offer, Work]]:
        """Return what a worker has accepted and not handed in, of all accounts, the most urgent first."""
        found = [
            self._work(row)
            for account in self._accounts()
            for row in self._door.change(account, lambda call: _work.under_way(call, worker))
        ]
        return [(self.offer(work.hit_id), work) for work in sorted(found, key=lambda work: work.deadline_at)]

    def _accounts(self) -> list[str]:
        with self._door.database.read() as connection:
            return list(connection.execute(sa.select(M_HIT.c.account_id).distinct()).scalars())

    def offer(self, hit_id: str) -> Offer:
        """Return what a HIT offers."""
        with self._door.database.read() as connection:
            row = connection.execute(
                sa.select(M_HIT.c.question, HIT_TYPE).join(HIT_TYPE).where(M_HIT.c.hit_id == hit_id)
            ).one_or_none()
        if row is None:
            raise does_not_exist("HIT", hit_id[:80])
        question = read_question(row.question, self._door.settings)
        return Offer(hit_id, row.group_id, row.title, row.description, amount(row.reward_minor), question)

    def find_hit(self, *, group_id: str | None = None, annotation: str | None = None) -> str:
        """Return the oldest HIT of a group that can be accepted (or the oldest), or the HIT with an annotation."""
        query = sa.select(M_HIT.c.hit_id).join(HIT_TYPE).where(M_HIT.c.disposed_at.is_(None))
        if annotation is not None:
            query = query.where(M_HIT.c.annotation == annotation)
        else:
            query = query.where(HIT_TYPE.c.group_id == (group_id or ""))
        now = self._door.now()
        query = query.order_by((M_HIT.c.expires_at > now).desc(), M_HIT.c.hit_id)
        with self._door.database.read() as connection:
            ids = list(connection.execute(query).scalars())
        if not ids:
            raise does_not_exist("HIT", f"of group {(group_id or annotation or '')[:80]}")
        found: str = next((each for each in ids if self._is_assignable(each)), ids[0])
        return found

    def _is_assignable(self, hit_id: str) -> bool:
        view = self._door.call(self._account_of_hit(hit_id), "GetHIT", {"HITId": hit_id})["HIT"]
        return bool(view["HITStatus"] == "Assignable")

    def preview(self, hit_id: str, worker: str | None = None) -> Offer:
        """Show a HIT without claiming anything; a guarded preview asks for the worker."""

        def step(call: Any) -> None:
            hit = call.hit(hit_id)
            if worker is not None:
                _work.require_may(call, hit, worker, "Preview")

        self._door.change(self._account_of_hit(hit_id), step)
        return self.offer(hit_id)

    def accept(self, hit_id: str, worker: str) -> Work:
        """Take a place of a HIT; asked again while it is under way, the same assignment comes back."""
        check_worker(worker)
        account = self._account_of_hit(hit_id)
        return self._work(self._door.change(account, lambda call: _work.accept(call, hit_id, worker)))

    def open_page(self, assignment_id: str, worker: str) -> Work:
        """Note that the page is shown, and return the work with its draft."""

        def step(call: Any) -> Any:
            row = _work.own(call, assignment_id, worker)
            _work.render(call, row)
            return row

        return self._work(self._door.change(self._account_of(assignment_id), step))

    def submit(self, assignment_id: str, fields: Sequence[tuple[str, str]], worker: str | None = None) -> Work:
        """Hand an assignment in; after its deadline it is saved and flagged, and its status is ``late``."""
        if assignment_id == _work.PREVIEW_ID:
            raise InputError("this is a preview; accept the HIT first, then hand it in")
        account = self._account_of(assignment_id)
        return self._work(self._door.change(account, lambda call: _work.submit(call, assignment_id, fields, worker)))

    def return_(self, assignment_id: str, worker: str) -> Work:
        """Give a HIT back; its place is free again."""
        account = self._account_of(assignment_id)
        return self._work(self._door.change(account, lambda call: _work.give_back(call, assignment_id, worker)))

    def save_draft(self, assignment_id: str, worker: str, draft: Sequence[tuple[str, str]]) -> None:
        """Keep what was filled in so far."""
        account = self._account_of(assignment_id)
        self._door.change(account, lambda call: _work.save_draft(call, assignment_id, worker, draft))

    def record_events(
        self, assignment_id: str, worker: str, events: Sequence[tuple[int, PageEvent, float | None]]
    ) -> None:
        """Keep what the page saw: (number, event, milliseconds by the page's own clock)."""
        account = self._account_of(assignment_id)
        self._door.change(account, lambda call: _work.record_events(call, assignment_id, worker, events))

    def ask_qualification(self, type_id: str, worker: str) -> tuple[str, str, Question | None]:
        """Ask for a qualification; return the request's id, its state, and the test if one must be taken."""
        check_worker(worker)
        with self._door.database.read() as connection:
            row = connection.execute(
                sa.select(QUALIFICATION_TYPE).where(QUALIFICATION_TYPE.c.qualification_type_id == type_id)
            ).one_or_none()
        if row is None:
            raise does_not_exist("QualificationType", type_id[:80])
        made = self._door.change(row.account_id, lambda call: ask(call, type_id, worker))
        is_test = made.state == "started" and row.test is not None
        test = read_question(row.test, self._door.settings, name="Test") if is_test else None
        return made.request_id, made.state, test

    def submit_test(self, type_id: str, request_id: str, worker: str, fields: Sequence[tuple[str, str]]) -> str:
        """Hand in a qualification test; return the state of the request: granted, pending or lapsed."""
        with self._door.database.read() as connection:
            query = sa.select(QUALIFICATION_TYPE.c.account_id)
            account = connection.execute(query.where(QUALIFICATION_TYPE.c.qualification_type_id == type_id)).scalar()
        if account is None:
            raise does_not_exist("QualificationType", type_id[:80])
        state: str = self._door.change(account, lambda call: hand_in_test(call, request_id, worker, fields)).state
        return state

    def messages(self, worker: str) -> list[tuple[str, str, datetime]]:
        """Return a worker's messages, newest first: subject, text, time."""
        query = sa.select(MESSAGE).where(MESSAGE.c.worker == worker).order_by(MESSAGE.c.sent_at.desc())
        with self._door.database.read() as connection:
            return [(row.subject, row.body, row.sent_at) for row in connection.execute(query)]

    def late_work(self, account: str = "main") -> list[LateWork]:
        """Return the work of an account that came after its deadline, for a person to compensate."""
        query = sa.select(ASSIGNMENT).where(ASSIGNMENT.c.account_id == account, ASSIGNMENT.c.is_late)
        with self._door.database.read() as connection:
            rows = connection.execute(query.order_by(ASSIGNMENT.c.submitted_at)).all()
        return [
            LateWork(row.assignment_id, row.hit_id, row.worker, row.deadline_at, row.submitted_at, row.answer)
            for row in rows
        ]

    def _account_of_hit(self, hit_id: str) -> str:
        with self._door.database.read() as connection:
            found = connection.execute(sa.select(M_HIT.c.account_id).where(M_HIT.c.hit_id == hit_id)).scalar()
        if found is None:
            raise does_not_exist("HIT", hit_id[:80])
        return str(found)

    def _account_of(self, assignment_id: str) -> str:
        query = sa.select(ASSIGNMENT.c.account_id).where(ASSIGNMENT.c.assignment_id == assignment_id).limit(1)
        with self._door.database.read() as connection:
            found = connection.execute(query).scalar()
        if found is None:
            raise does_not_exist("Assignment", assignment_id[:80])
        return str(found)

    @staticmethod
    def _work(row: Any) -> Work:
        draft = tuple((name, value) for name, value in json.loads(row.draft or "[]"))
        status = "late" if row.is_late else row.state
        return Work(row.assignment_id, row.hit_id, row.worker, status, row.deadline_at, row.submitted_at, draft)
