"""One worker's work on one HIT as its pages need it: read in one look; skips and page events kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._fold import DAY, MOST_EVENTS, MOST_EVENTS_A_DAY, kept_of, today_of
from hmc_crowd_local._records import AnswerRecord, check_text
from hmc_crowd_local._repository import load_hits, submission_of
from hmc_crowd_local._tables import ANSWER, EVENT, HIT_ITEM, SUBMISSION
from hmc_crowd_local._tables_pages import INVITE, SKIP

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from hmc_crowd.platform import Hit
    from hmc_crowd_local._database import Database
    from hmc_crowd_local._records import SubmissionRecord

__all__ = ["SKIP_KINDS", "SentEvent", "Skip", "Work", "WorkStore"]

SKIP_KINDS = ("skip", "flag", "exposure")
_MOST_REASON = 2_000
_MOST_HITS = 1_000

# Asked with every page: built once, they cost a third.
_SUBMISSION = sa.select(SUBMISSION).where(SUBMISSION.c.submission_id == sa.bindparam("of_submission"))
_HIS = sa.select(sa.func.count()).select_from(INVITE).where(INVITE.c.worker == SUBMISSION.c.worker)
_LIVE = _HIS.where(INVITE.c.revoked_at.is_(None), INVITE.c.expires_at > sa.bindparam("at"))
# With a submission, in the same exchange, how many invitations its worker had and has.
_ENTERING = _SUBMISSION.add_columns(
    _HIS.scalar_subquery().label("invited"),
    _LIVE.scalar_subquery().label("live"),
)
_GIVEN = ("item", "aspect", "label", "shown_at", "answered_at", "swapped", "mode")
# Answers and skips in one exchange; a skip has a kind and a reason instead of a label.
_DRAFTS = sa.union_all(
    sa.select(
        *(ANSWER.c[name] for name in _GIVEN),
        sa.null().label("kind"),
        sa.null().label("reason"),
    ).where(ANSWER.c.submission_id == sa.bindparam("of_submission")),
    sa.select(
        SKIP.c.item,
        SKIP.c.aspect,
        *(sa.null().label(name) for name in _GIVEN[2:]),
        SKIP.c.kind,
        SKIP.c.reason,
    ).where(SKIP.c.submission_id == sa.bindparam("of_submission")),
)
_LOCK = sa.select(SUBMISSION.c.worker).where(SUBMISSION.c.submission_id == sa.bindparam("of_submission"))
_LOCK = _LOCK.with_for_update()
_OF_WORK = EVENT.c.submission_id == sa.bindparam("of_submission")
# In one exchange: the numbers of this page, and behind them the last number of all.
_NUMBERS = sa.union_all(
    sa.select(EVENT.c.page_seq, sa.literal(0).label("is_top")).where(_OF_WORK, EVENT.c.page == sa.bindparam("page")),
    sa.select(sa.func.max(EVENT.c.seq), sa.literal(1)).where(_OF_WORK),
)


@dataclass(frozen=True)
class Skip:
    """A question without an answer, and why."""

    submission_id: str
    item: str
    aspect: str
    kind: str
    reason: str


@dataclass(frozen=True)
class SentEvent:
    """A page event as it came: its number and clocks on the page, and when our server says it happened."""

    seq: int
    kind: str
    at: datetime
    item: str | None
    page_ms: float
    epoch_ms: float | None


@dataclass(frozen=True)
class Work:
    """A submission with its HIT, what was answered, and what was skipped.

    ``is_shut``: its worker was invited, and no invitation of his works any more.
    """

    submission: SubmissionRecord
    hit: Hit
    answers: Mapping[tuple[str, str], AnswerRecord] = field(default_factory=dict)
    skips: Mapping[tuple[str, str], Skip] = field(default_factory=dict)
    is_shut: bool = False

    @property
    def is_open(self) -> bool:
        """Whether answers may still be given; late ones are kept too."""
        record = self.submission
        is_late = record.state is SubmissionState.EXPIRED and record.submitted_at is None
        return record.state is SubmissionState.ACCEPTED or is_late

    @property
    def items(self) -> list[str]:
        """Return the items of its pages, in order."""
        return list(dict.fromkeys(each.item for each in self.hit.items))

    def missing(self) -> list[str]:
        """Return the items that have a question neither answered nor skipped, in order."""
        given = self.answers.keys() | self.skips.keys()
        return list(dict.fromkeys(each.item for each in self.hit.items if (each.item, each.aspect) not in given))


class WorkStore:
    """Reads work, and keeps skips and page events.

    Parameters
    ----------
    database : Database
        The workplace's.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # What a HIT shows never changes, and most of a page's reading would be reading it again.
        self._hit = lru_cache(maxsize=_MOST_HITS)(self._read_hit)

    def read(self, submission_id: str, *, at: datetime | None = None, drafts: bool = True) -> Work | None:
        """Return a submission as its pages need it, or None where there is no such submission.

        ``at`` asks whether its worker may still come in at that moment; without ``drafts`` neither answers nor skips
        are read.
        """
        with self._database.read() as connection:
            whose = {"of_submission": submission_id}
            if at is None:
                row = connection.execute(_SUBMISSION, whose).first()
            else:
                row = connection.execute(_ENTERING, {**whose, "at": at}).first()
            if row is None:
                return None
            is_shut = at is not None and bool(row.invited) and not row.live and row.recruited_by is None
            given = connection.execute(_DRAFTS, whose).all() if drafts else ()
        answers, skips = {}, {}
        for each in given:
            if each.kind is None:
                answers[each.item, each.aspect] = AnswerRecord(*each[: len(_GIVEN)])
            else:
                skips[each.item, each.aspect] = Skip(submission_id, each.item, each.aspect, each.kind, each.reason)
        open_skips = {key: each for key, each in skips.items() if key not in answers}
        return Work(submission_of(row), self._hit(row.hit_id), answers, open_skips, is_shut)

    def _read_hit(self, hit_id: str) -> Hit:
        desk = Desk(_NoIds())
        with self._database.read() as connection:
            load_hits(connection, desk, [hit_id])
        return desk.hit(hit_id).hit

    def skip(self, work: Work, questions: Iterable[tuple[str, str]], *, kind: str, reason: str, at: datetime) -> None:
        """Note that these questions get no answer; an answer that is there, or comes later, counts instead.

        Raises
        ------
        InputError
            The kind is unknown, the reason too long, or a question not in the HIT.
        PlatformError
            The work is handed in or given back.
        """
        check_text(reason, name="reason")
        known = {(each.item, each.aspect) for each in work.hit.items}
        asked = list(questions)
        if kind not in SKIP_KINDS or len(reason) > _MOST_REASON or not known.issuperset(asked):
            raise InputError("this cannot be skipped like that; open the question again")
        name = work.submission.submission_id
        with self._database.write() as connection:
            _require_open(connection, name)
            for item, aspect in asked:
                mine = (SKIP.c.submission_id == name, SKIP.c.item == item, SKIP.c.aspect == aspect)
                connection.execute(sa.delete(SKIP).where(*mine))
                row = {"submission_id": name, "item": item, "aspect": aspect, "kind": kind, "reason": reason, "at": at}
                connection.execute(sa.insert(SKIP), [row])

    def take_back(self, submission_id: str, item: str, aspect: str) -> None:
        """Drop the draft of an answer that the worker emptied."""
        with self._database.write() as connection:
            _require_open(connection, submission_id)
            mine = (ANSWER.c.submission_id == submission_id, ANSWER.c.item == item, ANSWER.c.aspect == aspect)
            connection.execute(sa.delete(ANSWER).where(*mine))

    def skips(self, submission_ids: Sequence[str]) -> list[Skip]:
        """Return what was skipped or flagged in these submissions and never answered."""
        with self._database.read() as connection:
            rows = connection.execute(
                sa.select(ANSWER.c.submission_id, ANSWER.c.item, ANSWER.c.aspect).where(
                    ANSWER.c.submission_id.in_(submission_ids)
                )
            )
            answered = {tuple(row) for row in rows}
            found = _skips(connection, submission_ids)
        return [each for each in found if (each.submission_id, each.item, each.aspect) not in answered]

    def categories(self) -> list[str]:
        """Return every category of disturbing text that a HIT here has."""
        query = sa.select(HIT_ITEM.c.category).where(HIT_ITEM.c.category != "").distinct()
        with self._database.read() as connection:
            return sorted(connection.execute(query).scalars())

    def keep_events(
        self,
        submission_id: str,
        page: str,
        events: Sequence[SentEvent],
        *,
        received_at: datetime,
        most: int = MOST_EVENTS,
        most_a_day: int = MOST_EVENTS_A_DAY,
    ) -> int:
        """Keep what a page sent, each number of a page once; return how many were new.

        ``most`` of a submission, and ``most_a_day`` of the work that its worker accepted within a day, are kept.
        """
        with self._database.write() as connection:
            worker = connection.execute(_LOCK, {"of_submission": submission_id}).scalar_one()
            found = connection.execute(_NUMBERS, {"of_submission": submission_id, "page": page}).all()
            seen = {number for number, is_top in found if not is_top}
            start = next((number + 1 for number, is_top in found if is_top and number is not None), 0)
            new = list({each.seq: each for each in events if each.seq not in seen}.values())
            since = received_at - DAY
            today = today_of(connection, SUBMISSION, EVENT, "submission_id", worker, since=since)
            new = kept_of(new, stored=start, today=today, most=most, most_a_day=most_a_day)
            rows = [
                {
                    "submission_id": submission_id,
                    "seq": start + place,
                    "kind": each.kind,
                    "at": each.at,
                    "item": each.item,
                    "page": page,
                    "page_seq": each.seq,
                    "page_ms": each.page_ms,
                    "epoch_ms": each.epoch_ms,
                    "received_at": received_at,
                }
                for place, each in enumerate(new)
            ]
            if rows:
                insert: Any = (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(EVENT)
                connection.execute(insert.on_conflict_do_nothing(), rows)
        return len(rows)

    def gaps(self, submission_id: str) -> int:
        """Return how many page events never came: numbers of a page that are missing below its highest."""
        query = sa.select(sa.func.max(EVENT.c.page_seq) + 1 - sa.func.count()).where(
            EVENT.c.submission_id == submission_id, EVENT.c.page.is_not(None)
        )
        with self._database.read() as connection:
            return sum(connection.execute(query.group_by(EVENT.c.page)).scalars())


class _NoIds:
    """A desk that only reads names nothing."""

    def new(self) -> str:
        raise PlatformError("nothing new is made while reading")


def _skips(connection: sa.Connection, submission_ids: Sequence[str]) -> list[Skip]:
    query = sa.select(SKIP).where(SKIP.c.submission_id.in_(submission_ids)).order_by(SKIP.c.submission_id, SKIP.c.item)
    return [Skip(row.submission_id, row.item, row.aspect, row.kind, row.reason) for row in connection.execute(query)]


def _require_open(connection: sa.Connection, submission_id: str) -> None:
    query = sa.select(SUBMISSION.c.state, SUBMISSION.c.submitted_at).where(SUBMISSION.c.submission_id == submission_id)
    row = connection.execute(query.with_for_update()).one_or_none()
    states = (SubmissionState.ACCEPTED.value, SubmissionState.EXPIRED.value)
    if row is None or row.state not in states or row.submitted_at is not None:
        raise PlatformError(f"submission {submission_id} is handed in or given back; nothing was changed")
