"""What the requester reads: submissions page by page, answers, open HITs. Nothing here changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._records import AnswerRecord
from hmc_crowd_local._repository import chunks, submission_of
from hmc_crowd_local._tables import ANSWER, HIT, HIT_ITEM, ORDER, SUBMISSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from hmc_crowd.platform import RemoteAnswer, RemoteSubmission
    from hmc_crowd_local._database import Database

__all__ = [
    "answers_of",
    "busy_until",
    "hit_of",
    "hits_with_lapses",
    "open_hits",
    "pages_of_submissions",
    "require_hits",
]

_PAGE = 1_000


def hit_of(connection: sa.Connection, submission_id: str) -> str:
    """Return the HIT of a submission, or refuse an unknown id."""
    query = sa.select(SUBMISSION.c.hit_id).where(SUBMISSION.c.submission_id == submission_id)
    hit_id: str | None = connection.execute(query).scalar()
    if hit_id is None:
        raise _unknown("submission", submission_id)
    return hit_id


def require_hits(database: Database, hit_ids: Sequence[str]) -> None:
    """Refuse unknown ids."""
    with database.read() as connection:
        for ids in chunks(hit_ids):
            known = set(connection.execute(sa.select(HIT.c.hit_id).where(HIT.c.hit_id.in_(ids))).scalars())
            for each in ids:
                if each not in known:
                    raise _unknown("HIT", each)


def hits_with_lapses(database: Database, hit_ids: Sequence[str], *, at: datetime) -> list[str]:
    """Return those of these HITs that hold work whose deadline has passed and that nobody has written down as such."""
    due: list[str] = []
    with database.read() as connection:
        for ids in chunks(hit_ids):
            query = sa.select(SUBMISSION.c.hit_id).where(
                SUBMISSION.c.hit_id.in_(ids),
                SUBMISSION.c.state == SubmissionState.ACCEPTED.value,
                SUBMISSION.c.deadline_at < at,
            )
            due += connection.execute(query.distinct()).scalars()
    return due


def pages_of_submissions(database: Database, hit_ids: Sequence[str]) -> Iterator[RemoteSubmission]:
    """Yield every submission of these HITs in the order of their ids, a page per query, no transaction held between."""
    for ids in chunks(hit_ids):
        last = ""
        while True:
            query = (
                sa.select(SUBMISSION)
                .where(SUBMISSION.c.hit_id.in_(ids), SUBMISSION.c.submission_id > last)
                .order_by(SUBMISSION.c.submission_id)
                .limit(_PAGE)
            )
            with database.read() as connection:
                page = [submission_of(row).remote() for row in connection.execute(query)]
            yield from page
            if len(page) < _PAGE:
                break
            last = page[-1].submission_id


def answers_of(
    database: Database, submission_ids: Sequence[str], *, states: Sequence[str]
) -> dict[str, tuple[RemoteAnswer, ...]]:
    """Return the answers of submissions in one of these states, in the order of the HIT; refuse unknown ids.

    What somebody recruited elsewhere handed in is among them in every state.
    """
    found: dict[str, list[RemoteAnswer]] = {}
    same = sa.and_(
        HIT_ITEM.c.hit_id == SUBMISSION.c.hit_id,
        HIT_ITEM.c.item == ANSWER.c.item,
        HIT_ITEM.c.aspect == ANSWER.c.aspect,
    )
    with database.read() as connection:
        for ids in chunks(submission_ids):
            mine = SUBMISSION.c.submission_id.in_(ids)
            known = set(connection.execute(sa.select(SUBMISSION.c.submission_id).where(mine)).scalars())
            for each in ids:
                if each not in known:
                    raise _unknown("submission", each)
            query = sa.select(ANSWER, HIT_ITEM.c.suggestion).join(SUBMISSION).join(HIT_ITEM, same).where(mine)
            came = sa.and_(SUBMISSION.c.recruited_by.is_not(None), SUBMISSION.c.submitted_at.is_not(None))
            query = query.where(sa.or_(SUBMISSION.c.state.in_(states), came))
            for row in connection.execute(query.order_by(ANSWER.c.submission_id, HIT_ITEM.c.ordinal)):
                times = (row.shown_at, row.answered_at)
                answer = AnswerRecord(row.item, row.aspect, row.label, *times, row.swapped, row.mode)
                found.setdefault(row.submission_id, []).append(answer.remote(row.suggestion))
    return {each: tuple(found[each]) for each in submission_ids if each in found}


def open_hits(database: Database, *, at: datetime, pool: str | None = None) -> list[str]:
    """Return HITs that are not closed and not full, oldest first; whether their time is over the desk decides.

    With a pool, only those for its people and for anybody. Equally old ones come by key, which unlike the id is the
    same in every run. HITs of orders are not among them: their places are for people whom another platform recruits.
    """
    held = sa.func.count(SUBMISSION.c.place)
    overdue = sa.and_(SUBMISSION.c.state == SubmissionState.ACCEPTED.value, SUBMISSION.c.deadline_at < at)
    lapsed = sa.func.count(sa.case((overdue, SUBMISSION.c.place)))
    query = (
        sa.select(HIT.c.hit_id)
        .outerjoin(SUBMISSION)
        .where(HIT.c.closed_at.is_(None), ~sa.exists().where(ORDER.c.hit_id == HIT.c.hit_id))
        .group_by(HIT.c.hit_id, HIT.c.created_at, HIT.c.key, HIT.c.redundancy)
        .having(held - lapsed < HIT.c.redundancy)
        .order_by(HIT.c.created_at, HIT.c.key)
    )
    if pool is not None:
        query = query.where(HIT.c.pool.in_({"", pool}))
    with database.read() as connection:
        return list(connection.execute(query).scalars())


def busy_until(database: Database) -> dict[str, datetime]:
    """Return when each worker's last recorded work ended."""
    end = sa.func.max(sa.func.coalesce(SUBMISSION.c.submitted_at, SUBMISSION.c.ended_at, SUBMISSION.c.accepted_at))
    query = sa.select(SUBMISSION.c.worker, sa.type_coerce(end, SUBMISSION.c.accepted_at.type))
    with database.read() as connection:
        return {row[0]: row[1] for row in connection.execute(query.group_by(SUBMISSION.c.worker))}


def _unknown(what: str, name: str) -> PlatformError:
    return PlatformError(f"{what} {name!r} is unknown here; check the id and the database address")
