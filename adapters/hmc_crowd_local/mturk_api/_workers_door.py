"""The worker's side of the front door: what a page does on behalf of one worker, without HTTP.

A worker acts under his id with the key that belongs to it, so nobody works, or is paid, under another's name.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._tables_mturk import ASSIGNMENT, HIT_TYPE, M_HIT, MESSAGE, QUALIFICATION_TYPE
from hmc_crowd_local.mturk_api import _work
from hmc_crowd_local.mturk_api._call import amount
from hmc_crowd_local.mturk_api._links import check_worker
from hmc_crowd_local.mturk_api._problems import TurkError, WrongLinkError, does_not_exist, wrong_state
from hmc_crowd_local.mturk_api._questions import Question, read_question
from hmc_crowd_local.mturk_api._requirements import guards
from hmc_crowd_local.mturk_api._tests_of_workers import ask, hand_in_test

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd_local._timing import PageEvent
    from hmc_crowd_local.mturk_api._call import Call
    from hmc_crowd_local.mturk_api._content import Prepared
    from hmc_crowd_local.mturk_api._front import FrontDoor

__all__ = ["LateWork", "Offer", "Work", "WorkersDoor"]

_ID = re.compile(r"[A-Z0-9]{1,64}")
# So long a preview that asked for the worker can fetch what stands in its frame.
_PASS_S = 600


@dataclass(frozen=True)
class Offer:
    """A HIT as a worker sees it before he accepts."""

    hit_id: str
    group_id: str
    title: str
    description: str
    reward: str
    question: Question
    page: Prepared | None = None


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
        WrongLinkError
            The key is missing, not that of the worker, or was taken back.
        """
        check_worker(worker)
        if self._door.settings.trust_worker_ids:
            return
        if not self._door.is_worker_key(worker, key or ""):
            raise WrongLinkError(worker)

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
        _require_id("HIT", hit_id)
        with self._door.database.read() as connection:
            row = connection.execute(
                sa.select(M_HIT.c.question, HIT_TYPE).join(HIT_TYPE).where(M_HIT.c.hit_id == hit_id)
            ).one_or_none()
        if row is None:
            raise does_not_exist("HIT", hit_id[:80])
        shown = self._door.shown(row.question)
        price = amount(row.reward_minor)
        return Offer(hit_id, row.group_id, row.title, row.description, price, shown.question, shown.page)

    def find_hit(self, group_id: str) -> str:
        """Return the oldest HIT of a group, or of a HIT type, that can be accepted; else the oldest of them."""
        _require_id("HITGroup", group_id)
        query = sa.select(M_HIT.c.hit_id).join(HIT_TYPE).where(M_HIT.c.disposed_at.is_(None))
        query = query.where(sa.or_(HIT_TYPE.c.group_id == group_id, HIT_TYPE.c.hit_type_id == group_id))
        now = self._door.now()
        query = query.order_by((M_HIT.c.expires_at > now).desc(), M_HIT.c.hit_id)
        with self._door.database.read() as connection:
            ids = list(connection.execute(query).scalars())
        if not ids:
            raise does_not_exist("HIT", f"of group {group_id}")
        found: str = next((each for each in ids if self._is_assignable(each)), ids[0])
        return found

    def _is_assignable(self, hit_id: str) -> bool:
        view = self._door.call(self._account_of_hit(hit_id), "GetHIT", {"HITId": hit_id})["HIT"]
        return bool(view["HITStatus"] == "Assignable")

    def preview(self, hit_id: str, worker: str | None = None) -> Offer:
        """Show a HIT without claiming anything.

        Raises
        ------
        TurkError
            The HIT was deleted; or it is not for this worker; or it is not for everybody, and nobody says who asks.
        """

        def step(call: Call) -> None:
            hit = _there(call, hit_id)
            if worker is not None:
                _work.require_may(call, hit, worker, "Preview")
            elif _is_guarded(call, hit):
                raise _not_for_everybody()

        self._door.look(self._account_of_hit(hit_id), step)
        return self.offer(hit_id)

    def preview_pass(self, hit_id: str) -> str:
        """Return what opens the frame of a preview that asked for the worker, for some minutes."""
        until = str(int(self._door.now().timestamp()) + _PASS_S)
        return f"{until}.{self._door.sign(f'preview:{hit_id}:{until}')}"

    def _is_pass(self, hit_id: str, given: str) -> bool:
        until, _, mark = given.partition(".")
        wanted = self._door.sign(f"preview:{hit_id}:{until}")
        if not hmac.compare_digest(wanted.encode(), mark.encode("utf-8", "replace")):
            return False
        return int(until) >= self._door.now().timestamp()  # signed, so it is a number of ours

    def inside(self, hit_id: str, assignment_id: str, *, worker: str | None = None, pass_: str = "") -> Offer:
        """Return what stands in the frame: of a preview, or of an assignment that can still be handed in.

        Raises
        ------
        TurkError
            No such HIT or assignment, it is another HIT's or another worker's, it is handed in or given back; or a
            preview that is not for everybody, without the pass that `preview_pass` gave.
        """

        def preview(call: Call) -> None:
            if _is_guarded(call, _there(call, hit_id)) and not self._is_pass(hit_id, pass_):
                raise _not_for_everybody()

        if worker is not None:
            check_worker(worker)

        def assignment(call: Call) -> None:
            row = _work.own(call, assignment_id, worker)
            if row.hit_id != hit_id:
                raise does_not_exist("Assignment", assignment_id)
            if row.state == "expired" and not row.is_late:
                _there(call, hit_id)  # it may still be handed in, late, for as long as there is a HIT
            elif row.state != "accepted":
                raise wrong_state("Assignment", "Accepted", row.state.title())

        if assignment_id == _work.PREVIEW_ID:
            self._door.look(self._account_of_hit(hit_id), preview)
        else:
            self._door.look(self._account_of(assignment_id), assignment)
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
        if worker is not None:
            check_worker(worker)
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
        _require_id("QualificationType", type_id)
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
        _require_id("QualificationType", type_id)
        _require_id("QualificationRequest", request_id)
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
        _require_id("HIT", hit_id)
        with self._door.database.read() as connection:
            found = connection.execute(sa.select(M_HIT.c.account_id).where(M_HIT.c.hit_id == hit_id)).scalar()
        if found is None:
            raise does_not_exist("HIT", hit_id[:80])
        return str(found)

    def _account_of(self, assignment_id: str) -> str:
        _require_id("Assignment", assignment_id)
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


def _require_id(what: str, name: str) -> None:
    """Refuse what cannot be an id before anything is asked or built with it."""
    if not _ID.fullmatch(name):
        raise does_not_exist(what, repr(name[:80]))


def _there(call: Call, hit_id: str) -> Any:
    """Return the row of a HIT; one that was deleted is refused like one that never was."""
    hit = call.hit(hit_id)
    if hit.disposed_at is not None:
        raise does_not_exist("HIT", hit_id)
    return hit


def _is_guarded(call: Call, hit: Any) -> bool:
    """Say whether a HIT is shown to some workers only."""
    asked = json.loads(call.hit_type(hit.hit_type_id).requirements)
    return any(guards(each, "Preview") for each in asked)


def _not_for_everybody() -> TurkError:
    return TurkError(
        "AWS.NotAuthorized", "This HIT is shown to some workers only; open it by your own link.", status=403
    )
