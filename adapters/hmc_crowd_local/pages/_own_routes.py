"""A worker's own page: what he earned, how good he was, what was said, when he works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.numbers import whole_number
from hmc_crowd._base.pools import Turn
from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._tables import HIT, HIT_ITEM, SUBMISSION
from hmc_crowd_local._tables_pages import FEEDBACK, MESSAGE
from hmc_crowd_local.pages._replies import Goto, Page

if TYPE_CHECKING:
    from hmc_crowd_local.pages._replies import Reply
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["add_turn", "drop_turn", "own"]

_MOST_NEWS = 30
# Fewer known answers, or a finer figure, would tell which questions they are.
_LEAST_KNOWN, _STEP = 10, 5
_LONGEST_H = 24
#: Offsets from UTC that are in use, in minutes.
ZONES = (*range(-720, 841, 60), -570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765)


@dataclass(frozen=True)
class News:
    """What was said about one HIT: a thread's last message, a refusal, or the worker's own feedback."""

    kind: str
    title: str
    text: str
    at: datetime
    address: str = ""


def own(visit: Visit, *, problem: bool = False) -> Reply:
    """Show what concerns this worker alone."""
    house, worker, now = visit.house, visit.worker, visit.house.now()
    invite = visit.invite
    pool = invite.pool if invite is not None else ""
    values = {
        "earnings": house.local.earnings(worker),
        "accuracy": _accuracy(visit),
        "news": _news(visit),
        "turns": house.local.turns(pool=pool, worker=worker, starts_at=now),
        "pool": pool,
        "opted_out": sorted(house.people.opted_out(worker)),
        "zones": [(each, _shown(each)) for each in sorted(ZONES)],
        "today": now.date().isoformat(),
        "problem": problem,
        "path": "me/shifts",
        "zone": _zone(visit.value("zone")) or 0,
    }
    return Page("own.html", values, 422 if problem else 200)


def add_turn(visit: Visit) -> Reply:
    """Keep a time at which the worker means to work."""
    try:
        start, end = _times(visit)
        pool = visit.invite.pool if visit.invite is not None else ""
        if start < visit.house.now() - timedelta(hours=_LONGEST_H):
            raise InputError("this day is over")
        visit.house.local.add_turn(Turn(pool, start, end, 1, visit.worker))
    except (InputError, ValueError, OverflowError):
        return own(visit, problem=True)
    return Goto("me")


def drop_turn(visit: Visit) -> Reply:
    """Take such a time back; those of the whole pool are not his to take back."""
    visit.house.local.remove_turn(visit.value("shift"), worker=visit.worker)
    return Goto("me")


def _times(visit: Visit) -> tuple[datetime, datetime]:
    """Return the times of the form in UTC; an end before the start lies on the next day."""
    day = datetime.fromisoformat(visit.value("day")).date()
    first, last = (time.fromisoformat(visit.value(name)) for name in ("from", "to"))
    zone = _zone(visit.value("zone"))
    if zone is None:
        raise InputError("this zone is not on the page; choose one of the list")
    offset = timedelta(minutes=zone)
    start = datetime.combine(day, first, UTC) - offset
    end = datetime.combine(day, last, UTC) - offset
    return start, end if end > start else end + timedelta(days=1)


def _zone(text: str) -> int | None:
    """Return the offset in minutes that the form says, 0 where it says none, None for what is not on the page."""
    found = whole_number(text or "0", least=min(ZONES), most=max(ZONES))
    return found if found in ZONES else None


def _shown(offset: int) -> str:
    sign = "-" if offset < 0 else "+"
    return f"UTC{sign}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"


def _accuracy(visit: Visit) -> int | None:
    """Return about how many of a hundred known answers were right, where the study tells; 0 where it is too early."""
    house = visit.house
    told = [
        (right, n)
        for scope, right, n in house.local.standing(visit.worker)
        if house.settings.study_of(scope).tells_accuracy
    ]
    if not told and not house.settings.study.tells_accuracy:
        return None
    right, n = sum(each[0] for each in told), sum(each[1] for each in told)
    return _STEP * round(100 * right / n / _STEP) if n >= _LEAST_KNOWN else -1


def _news(visit: Visit) -> list[News]:
    """Return what was said lately, newest first."""
    mine = sa.and_(SUBMISSION.c.worker == visit.worker, SUBMISSION.c.recruited_by.is_(None))
    work = sa.join(SUBMISSION, HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
    with visit.house.local._database.read() as connection:
        said = connection.execute(
            sa.select(MESSAGE, HIT.c.title, HIT.c.hit_id)
            .select_from(work.join(MESSAGE, MESSAGE.c.submission_id == SUBMISSION.c.submission_id))
            .where(mine)
            .order_by(MESSAGE.c.message_id.desc())
            .limit(200)
        ).all()
        refused = connection.execute(
            sa.select(HIT.c.title, SUBMISSION.c.reason, SUBMISSION.c.reviewed_at)
            .select_from(work)
            .where(mine, SUBMISSION.c.state == SubmissionState.REJECTED.value, SUBMISSION.c.reviewed_at.is_not(None))
            .limit(_MOST_NEWS)
        ).all()
        given = connection.execute(
            sa.select(HIT.c.title, FEEDBACK.c.text, FEEDBACK.c.at)
            .select_from(work.join(FEEDBACK, FEEDBACK.c.submission_id == SUBMISSION.c.submission_id))
            .where(mine, FEEDBACK.c.text != "")
            .order_by(FEEDBACK.c.at.desc())
            .limit(_MOST_NEWS)
        ).all()
        latest = {(row.submission_id, row.item): row for row in reversed(said)}
        numbers = {hit_id: _numbers(connection, hit_id) for hit_id in {row.hit_id for row in latest.values()}}
    found = [News("refused", row.title, row.reason or "", row.reviewed_at) for row in refused]
    found += [News("feedback", row.title, row.text, row.at) for row in given]
    for row in latest.values():
        work_of = visit.house.works.read(row.submission_id)
        if work_of is not None and row.item in numbers[row.hit_id]:
            address = visit.work_url(work_of, f"ask/{numbers[row.hit_id][row.item]}")
            found.append(News(row.author, row.title, row.text, row.at, address))
    return sorted(found, key=lambda each: each.at, reverse=True)[:_MOST_NEWS]


def _numbers(connection: sa.Connection, hit_id: str) -> dict[str, int]:
    """Return the number of each item's page in a HIT."""
    query = sa.select(HIT_ITEM.c.item).where(HIT_ITEM.c.hit_id == hit_id).order_by(HIT_ITEM.c.ordinal)
    items = dict.fromkeys(connection.execute(query).scalars())
    return {item: number for number, item in enumerate(items, start=1)}
