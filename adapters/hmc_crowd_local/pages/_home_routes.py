"""The pages of an invitation: what there is to do, what was done, and taking a HIT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._queries import open_hits
from hmc_crowd_local._quotas import scopes_over
from hmc_crowd_local._repository import chunks, load_claims, load_hits, submission_of
from hmc_crowd_local._tables import HIT, SUBMISSION
from hmc_crowd_local._terms import fits
from hmc_crowd_local.pages._exam import ExamState
from hmc_crowd_local.pages._gate import exam
from hmc_crowd_local.pages._replies import Goto, Page
from hmc_crowd_local.pages._visit import RefusedError

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.platform import Hit
    from hmc_crowd_local._records import SubmissionRecord
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._study import Study
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["home", "open_hit", "take_hit"]

_MOST_OFFERS = 20
_LOOKED_AT_ONCE = 200
_MOST_DONE = 50


@dataclass(frozen=True)
class Offer:
    """A HIT that this worker may take."""

    hit_id: str
    hit: Hit

    @property
    def questions(self) -> int:
        """How many items it holds."""
        return len({each.item for each in self.hit.items})

    @property
    def answers(self) -> int:
        """How many answers it asks for: several about an item where it has several aspects."""
        return len(self.hit.items)

    @property
    def description(self) -> str:
        """What stands below the title, where it says anything else."""
        return "" if self.hit.description.strip() == self.hit.title.strip() else self.hit.description

    @property
    def is_paid(self) -> bool:
        """Whether there is something to say of its pay."""
        return bool(self.hit.pay_minor or self.hit.terms.rate_minor)

    @property
    def categories(self) -> list[str]:
        """The kinds of disturbing text in it; an unnamed kind is an empty text."""
        return sorted({each.category for each in self.hit.items if each.sensitive})


def home(visit: Visit) -> Reply:
    """Show what this worker can go on with, take, and has done."""
    under_way, done = _own_work(visit)
    found, is_full = _look(visit)
    test = exam(visit, visit.study)
    values = {"offers": found, "is_full": is_full, "under_way": under_way, "done": done, "exam": test}
    return Page("home.html", values)


def offers(visit: Visit) -> list[Offer]:
    """Return HITs that this worker may take now, oldest first: not what he had, opted out of, or has had enough of."""
    return _look(visit)[0]


def _look(visit: Visit) -> tuple[list[Offer], bool]:
    """Return what a worker may take, and whether there is more of it for which people like him are no longer needed."""
    house, worker, now = visit.house, visit.worker, visit.house.now()
    opted_out = house.people.opted_out(worker)
    left = house.settings.exposure_per_day - len(house.people.exposed(worker, at=now))
    invite = visit.invite
    pool, skills = (invite.pool, invite.skills) if invite is not None else ("", ())
    shut = house.local.shut_scopes(worker)
    found: list[Offer] = []
    allowed: dict[int, bool] = {}
    is_full = False
    for ids in chunks(open_hits(house.local._database, at=now, pool=pool), _LOOKED_AT_ONCE):
        desk = Desk(house.local._ids)
        with house.local._database.read() as connection:
            load_hits(connection, desk, ids)
            load_claims(connection, desk, ids, worker=worker)
        for hit_id in ids:
            hit = desk.hit(hit_id).hit
            if not _is_free(desk, hit_id, worker, now) or not fits(hit, pool=pool, skills=skills):
                continue
            sensitive = {each.item for each in hit.items if each.sensitive}
            if len(sensitive) > left or opted_out & {each.category for each in hit.items if each.sensitive}:
                continue
            study = house.settings.study_of(hit.scope)
            if id(study) not in allowed:
                allowed[id(study)] = may_work(visit, study)
            if not allowed[id(study)]:
                continue
            if shut.intersection(scopes_over(hit.scope)):
                is_full = True
                continue
            found.append(Offer(hit_id, hit))
            if len(found) == _MOST_OFFERS:
                return found, is_full
    return found, is_full


def _is_free(desk: Desk, hit_id: str, worker: str, now: datetime) -> bool:
    desk.sweep(hit_id, at=now)
    is_open = desk.hit(hit_id).is_offered(now) and bool(desk.free_places(hit_id))
    return is_open and worker not in desk.barred(hit_id)


def may_work(visit: Visit, study: Study) -> bool:
    """Whether the worker has neither left this study nor failed what comes before its work, nor must wait for it."""
    people = visit.house.people
    if people.standing(visit.worker, study) == "withdrawn":
        return False
    steps = people.steps(visit.worker, study)
    if study.checks and steps["checks"].passed is False:
        return False
    return not study.test or exam(visit, study, steps["test"]).state in {ExamState.OPEN, ExamState.PASSED}


def _own_work(visit: Visit) -> tuple[list[tuple[str, str]], list[tuple[str, SubmissionRecord]]]:
    """Return title and link of what is under way, and title and record of what is over, newest first."""
    house = visit.house
    query = (
        sa.select(SUBMISSION, HIT.c.title.label("hit_title"))
        .join(HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
        .where(SUBMISSION.c.worker == visit.worker, SUBMISSION.c.recruited_by.is_(None))
        .order_by(SUBMISSION.c.submission_id.desc())
        .limit(_MOST_DONE)
    )
    with house.local._database.read() as connection:
        rows = [(row.hit_title, submission_of(row)) for row in connection.execute(query)]
    under_way = []
    for title, record in rows:
        if record.state is SubmissionState.ACCEPTED:
            work = house.works.read(record.submission_id)
            if work is not None:
                under_way.append((title, visit.work_url(work)))
    return under_way, [(title, record) for title, record in rows if record.state is not SubmissionState.ACCEPTED]


def open_hit(visit: Visit, hit_id: str) -> Reply:
    """Show what a HIT is before it is taken; what is under way is gone on with."""
    held = _held(visit, hit_id)
    if held is not None:
        return Goto(address=held)
    offer = next((each for each in offers(visit) if each.hit_id == hit_id), None)
    if offer is None:
        raise _refused(visit, hit_id, 404)
    study = visit.house.settings.study_of(offer.hit.scope)
    values = {"offer": offer, "guideline": offer.hit.guideline or study.guideline, "path": f"hit/{hit_id}"}
    return Page("start.html", {**values, "study": study})


def take_hit(visit: Visit, hit_id: str) -> Reply:
    """Take a place and begin."""
    if _held(visit, hit_id) is None and all(each.hit_id != hit_id for each in offers(visit)):
        raise _refused(visit, hit_id, 404)
    try:
        taken = visit.house.local.accept(hit_id, visit.worker)
    except PlatformError:
        raise _refused(visit, hit_id, 409) from None
    work = visit.house.works.read(taken.submission_id)
    if work is None:
        raise RefusedError("not_offered", 409)
    return Goto(address=visit.work_url(work))


def _refused(visit: Visit, hit_id: str, status: int) -> RefusedError:
    """Return why a HIT is not to be had; where the mix of people is why, the worker hears that it is not his doing."""
    local = visit.house.local
    shut = local.shut_scopes(visit.worker)
    try:
        is_full = bool(shut) and bool(shut.intersection(scopes_over(local.hit(hit_id).scope)))
    except PlatformError:
        is_full = False
    return RefusedError("quota_full", 409) if is_full else RefusedError("not_offered", status)


def _held(visit: Visit, hit_id: str) -> str | None:
    """Return the address of this worker's unfinished work on the HIT."""
    query = sa.select(SUBMISSION.c.submission_id).where(
        SUBMISSION.c.hit_id == hit_id,
        SUBMISSION.c.worker == visit.worker,
        SUBMISSION.c.state == SubmissionState.ACCEPTED.value,
        SUBMISSION.c.recruited_by.is_(None),
    )
    with visit.house.local._database.read() as connection:
        held = connection.execute(query).scalar()
    work = None if held is None else visit.house.works.read(held)
    return None if work is None else visit.work_url(work)
