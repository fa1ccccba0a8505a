"""From the tables to a `Desk` and back. Reads put stored rows on the desk; `flush` writes what changed, in bulk."""

from __future__ import annotations

import json
from collections import OrderedDict
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.platform import Hit, HitItem, SubmissionState
from hmc_crowd_local._desk import Changes
from hmc_crowd_local._records import AnswerRecord, HitRecord, SubmissionRecord, content_hash
from hmc_crowd_local._spans import PAGES, counted_spans, keep_spans
from hmc_crowd_local._tables import ANSWER, CLAIM, EVENT, HIT, HIT_ITEM, SUBMISSION
from hmc_crowd_local._tables_pages import SKIP
from hmc_crowd_local._terms import read_terms, write_terms
from hmc_crowd_local._timing import PageEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hmc_crowd_local._desk import Desk

__all__ = ["Questions", "chunks", "flush", "load_claims", "load_hit_of", "load_hits", "load_work", "submission_of"]

T = TypeVar("T")

# SQLite takes 32,766 bound values in a statement at most; a page of this size keeps the plan cached.
_CHUNK = 500
_MOST_HITS = 1_000

# Asked with every answer: built once, they cost a third.
_HIT_OF = (
    sa.select(HIT)
    .join(SUBMISSION, SUBMISSION.c.hit_id == HIT.c.hit_id)
    .where(SUBMISSION.c.submission_id == sa.bindparam("of_submission"))
    .with_for_update(of=HIT)
)
_QUESTIONS = sa.select(HIT_ITEM).where(HIT_ITEM.c.hit_id == sa.bindparam("of_hit")).order_by(HIT_ITEM.c.ordinal)
_WORKS = sa.select(SUBMISSION).where(SUBMISSION.c.hit_id == sa.bindparam("of_hit"))


def chunks(values: Sequence[T], size: int = _CHUNK) -> Iterator[Sequence[T]]:
    """Cut a sequence into pieces that fit into one statement."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def load_hits(connection: sa.Connection, desk: Desk, hit_ids: Sequence[str], *, lock: bool = False) -> None:
    """Put HITs with their questions and submissions on the desk; unknown ids are left out.

    ``lock`` holds the rows of the HITs until the transaction ends (PostgreSQL; SQLite holds the whole file).
    """
    for ids in chunks(hit_ids):
        query = sa.select(HIT).where(HIT.c.hit_id.in_(ids)).order_by(HIT.c.hit_id)
        hits = connection.execute(query.with_for_update() if lock else query).all()
        questions: dict[str, list[HitItem]] = {}
        for row in connection.execute(
            sa.select(HIT_ITEM).where(HIT_ITEM.c.hit_id.in_(ids)).order_by(HIT_ITEM.c.hit_id, HIT_ITEM.c.ordinal)
        ):
            questions.setdefault(row.hit_id, []).append(_hit_item(row))
        for row in hits:
            desk.lay_hit(_hit_record(row, tuple(questions.get(row.hit_id, ()))))
        for row in connection.execute(sa.select(SUBMISSION).where(SUBMISSION.c.hit_id.in_(ids))):
            desk.lay_submission(submission_of(row))


class Questions:
    """The questions of the HITs loaded last: what a HIT asks never changes once it is published."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[HitItem, ...]] = OrderedDict()

    def of(self, connection: sa.Connection, hit_id: str) -> tuple[HitItem, ...]:
        """Return the questions of a HIT in order."""
        held = self._held.get(hit_id)
        if held is None:
            held = tuple(_hit_item(row) for row in connection.execute(_QUESTIONS, {"of_hit": hit_id}))
            self._held[hit_id] = held
            if len(self._held) > _MOST_HITS:
                self._held.popitem(last=False)
        return held


def load_hit_of(connection: sa.Connection, desk: Desk, submission_id: str, questions: Questions) -> None:
    """Put the HIT of a submission on the desk as `load_hits` does, and lock it; nothing for an unknown submission."""
    row = connection.execute(_HIT_OF, {"of_submission": submission_id}).one_or_none()
    if row is not None:
        desk.lay_hit(_hit_record(row, questions.of(connection, row.hit_id)))
        # Another exchange, because only what is read under the lock is how it stands.
        for work in connection.execute(_WORKS, {"of_hit": row.hit_id}):
            desk.lay_submission(submission_of(work))


def load_claims(connection: sa.Connection, desk: Desk, hit_ids: Sequence[str], *, worker: str | None = None) -> None:
    """Put on the desk who had the questions of these HITs already: everybody, or one worker."""
    same = sa.and_(CLAIM.c.item == HIT_ITEM.c.item, CLAIM.c.aspect == HIT_ITEM.c.aspect, CLAIM.c.scope == HIT.c.scope)
    for ids in chunks(hit_ids):
        query = sa.select(CLAIM.c.scope, CLAIM.c.item, CLAIM.c.aspect, CLAIM.c.worker).distinct()
        query = query.select_from(HIT_ITEM).join(HIT, HIT.c.hit_id == HIT_ITEM.c.hit_id).join(CLAIM, same)
        query = query.where(HIT_ITEM.c.hit_id.in_(ids))
        if worker is not None:
            query = query.where(CLAIM.c.worker == worker)
        for scope, item, aspect, who in connection.execute(query):
            desk.claims[scope, item, aspect].add(who)


def load_work(connection: sa.Connection, desk: Desk, submission_id: str) -> None:
    """Put the answers and page events of a submission on the desk."""
    for row in connection.execute(sa.select(ANSWER).where(ANSWER.c.submission_id == submission_id)):
        answer = AnswerRecord(row.item, row.aspect, row.label, row.shown_at, row.answered_at, row.swapped, row.mode)
        desk.answers[submission_id][row.item, row.aspect] = answer
    query = sa.select(EVENT).where(EVENT.c.submission_id == submission_id).order_by(EVENT.c.seq)
    desk.events[submission_id].extend(
        PageEvent(row.kind, row.at, row.item, row.page, row.page_ms, row.epoch_ms) for row in connection.execute(query)
    )
    record = desk.submissions.get(submission_id)
    if record is not None:
        mine = counted_spans(connection, PAGES, record.worker, since=record.accepted_at)
        desk.counted[record.worker].update(mine)
    skipped = sa.select(SKIP.c.item, SKIP.c.aspect).where(SKIP.c.submission_id == submission_id)
    desk.skips[submission_id].update((row.item, row.aspect) for row in connection.execute(skipped))


def flush(connection: sa.Connection, desk: Desk) -> None:
    """Write everything that changed on the desk, in the order that foreign keys ask for."""
    changes = desk.changes
    _insert(connection, HIT, [_hit_row(desk.hits[each]) for each in changes.new_hits])
    _insert(connection, HIT_ITEM, [row for each in changes.new_hits for row in _question_rows(desk.hits[each])])
    closed = [{"b_id": each, "b_at": desk.hits[each].closed_at} for each in changes.closed_hits]
    if closed:
        update = sa.update(HIT).where(HIT.c.hit_id == sa.bindparam("b_id"))
        connection.execute(update.values(closed_at=sa.bindparam("b_at")), closed)
    for each in changes.grown_hits:
        grown = sa.update(HIT).where(HIT.c.hit_id == each)
        connection.execute(grown.values(redundancy=desk.hits[each].hit.redundancy))
    # First the places that became free: their numbers may be given out again in the same transaction.
    _update_submissions(connection, desk)
    _insert(connection, SUBMISSION, [_submission_row(desk.submissions[each]) for each in changes.new_submissions])
    _upsert_answers(connection, desk)
    _insert(connection, EVENT, [_event_row(desk, submission_id, seq) for submission_id, seq in changes.events])
    _keep_spans(connection, desk)
    _insert(
        connection,
        CLAIM,
        [
            {"worker": worker, "scope": scope, "item": item, "aspect": aspect, "hit_id": hit_id}
            for (worker, scope, item, aspect), hit_id in changes.claims.items()
        ],
    )
    desk.changes = Changes()


def _keep_spans(connection: sa.Connection, desk: Desk) -> None:
    for are_new in (False, True):
        some = [each for each in desk.changes.spans if (each in desk.changes.new_submissions) is are_new]
        whose = {name: desk.submissions[name].worker for name in some}
        spans = {(name, worker): desk.counted[worker][name] for name, worker in whose.items()}
        keep_spans(connection, PAGES, spans, are_new=are_new)


def submission_of(row: Any) -> SubmissionRecord:
    """Return the record of a row of the table."""
    return SubmissionRecord(
        submission_id=row.submission_id,
        hit_id=row.hit_id,
        worker=row.worker,
        place=row.place,
        state=SubmissionState(row.state),
        accepted_at=row.accepted_at,
        deadline_at=row.deadline_at,
        rendered_at=row.rendered_at,
        submitted_at=row.submitted_at,
        ended_at=row.ended_at,
        page_elapsed_s=row.page_elapsed_s,
        active_s=row.active_s,
        time_quality=row.time_quality,
        is_late=row.is_late,
        reviewed_at=row.reviewed_at,
        reason=row.reason,
        recruited_by=row.recruited_by,
        external_id=row.external_id,
        order_key=row.order_key,
    )


def _hit_item(row: Any) -> HitItem:
    return HitItem(
        item=row.item,
        aspect=row.aspect,
        group=row.group_key,
        position=row.position,
        text=row.text,
        context=tuple(json.loads(row.context)),
        labels=tuple(json.loads(row.labels)),
        kind=row.kind,
        options=tuple(json.loads(row.options)),
        question=row.question,
        language=row.language,
        category=row.category,
        sensitive=row.sensitive,
        suggestion=row.suggestion,
    )


def _hit_record(row: Any, items: tuple[HitItem, ...]) -> HitRecord:
    hit = Hit(
        key=row.key,
        title=row.title,
        description=row.description,
        items=items,
        redundancy=row.redundancy,
        pay_minor=row.pay_minor,
        currency=row.currency,
        time_limit_s=row.time_limit_s,
        lifetime_s=row.lifetime_s,
        scope=row.scope,
        guideline=row.guideline,
        terms=read_terms(row.terms),
        suggest_share=row.suggest_share,
    )
    return HitRecord(row.hit_id, hit, row.created_at, row.closed_at, row.allow_repeat)


def _hit_row(record: HitRecord) -> dict[str, Any]:
    hit = record.hit
    return {
        "hit_id": record.hit_id,
        "key": hit.key,
        "content_hash": content_hash(hit, allow_repeat=record.allow_repeat),
        "title": hit.title,
        "description": hit.description,
        "redundancy": hit.redundancy,
        "pay_minor": hit.pay_minor,
        "currency": hit.currency,
        "time_limit_s": hit.time_limit_s,
        "lifetime_s": hit.lifetime_s,
        "allow_repeat": record.allow_repeat,
        "scope": hit.scope,
        "guideline": hit.guideline,
        "pool": hit.terms.pool,
        "terms": write_terms(hit.terms),
        "suggest_share": hit.suggest_share,
        "created_at": record.created_at,
        "closed_at": record.closed_at,
    }


def _question_rows(record: HitRecord) -> list[dict[str, Any]]:
    return [
        {
            "hit_id": record.hit_id,
            "ordinal": ordinal,
            "item": each.item,
            "aspect": each.aspect,
            "group_key": each.group,
            "position": each.position,
            "text": each.text,
            "context": json.dumps(each.context, ensure_ascii=False),
            "labels": json.dumps(each.labels, ensure_ascii=False),
            "kind": each.kind,
            "options": json.dumps(each.options, ensure_ascii=False),
            "question": each.question,
            "language": each.language,
            "category": each.category,
            "sensitive": each.sensitive,
            "suggestion": each.suggestion,
        }
        for ordinal, each in enumerate(record.hit.items)
    ]


def _submission_row(record: SubmissionRecord) -> dict[str, Any]:
    row = {name: getattr(record, name) for name in SUBMISSION.c.keys()}  # noqa: SIM118 because a collection, no dict
    row["state"] = record.state.value
    return row


def _event_row(desk: Desk, submission_id: str, seq: int) -> dict[str, Any]:
    event = desk.events[submission_id][seq]
    return {
        "submission_id": submission_id,
        "seq": seq,
        "kind": event.kind,
        "at": event.at,
        "item": event.item,
        "page": event.page,
        "page_ms": event.page_ms,
        "epoch_ms": event.epoch_ms,
    }


def _insert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(sa.insert(table), rows)


def _update_submissions(connection: sa.Connection, desk: Desk) -> None:
    rows = [_submission_row(desk.submissions[each]) for each in desk.changes.changed_submissions]
    if not rows:
        return
    fixed = {"submission_id", "hit_id", "worker", "accepted_at", "deadline_at"}
    fixed |= {"recruited_by", "external_id", "order_key"}
    moving = [name for name in rows[0] if name not in fixed]
    update = sa.update(SUBMISSION).where(SUBMISSION.c.submission_id == sa.bindparam("b_submission_id"))
    connection.execute(
        update.values({name: sa.bindparam(f"b_{name}") for name in moving}),
        [{f"b_{name}": row[name] for name in ("submission_id", *moving)} for row in rows],
    )


def _upsert_answers(connection: sa.Connection, desk: Desk) -> None:
    rows = [
        {
            "submission_id": submission_id,
            "item": answer.item,
            "aspect": answer.aspect,
            "label": answer.label,
            "shown_at": answer.shown_at,
            "answered_at": answer.answered_at,
            "swapped": answer.swapped,
            "mode": answer.mode,
        }
        for submission_id, item, aspect in desk.changes.answers
        for answer in (desk.answers[submission_id][item, aspect],)
    ]
    if rows:
        connection.execute(_answer_upsert(connection.dialect.name), rows)


@cache
def _answer_upsert(dialect: str) -> Any:
    # Both dialects have the same clause, in two classes.
    insert: Any = (sqlite.insert if dialect == "sqlite" else postgresql.insert)(ANSWER)
    moving = {name: insert.excluded[name] for name in ("label", "shown_at", "answered_at", "swapped", "mode")}
    return insert.on_conflict_do_update(index_elements=list(ANSWER.primary_key), set_=moving)
