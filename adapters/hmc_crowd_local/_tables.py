"""The tables of the workplace.

All names start with ``workplace_``, so they may share a PostgreSQL database with the store. What must be unique is
unique here, not only in Python: one HIT per key, one worker per HIT, one worker per place, one answer per question
and submission, one claim per worker and question within a scope, one submission per id of a recruiting platform, one
payment per bonus order and submission.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

__all__ = [
    "ADDRESS",
    "ANSWER",
    "BONUS",
    "CLAIM",
    "EVENT",
    "HIT",
    "HIT_ITEM",
    "INBOX",
    "METADATA",
    "ORDER",
    "PREFIX",
    "SUBMISSION",
    "VERSION_TABLE",
    "WORK_SPAN",
]

PREFIX = "workplace_"
VERSION_TABLE = "hmc_crowd_workplace_version"


class UtcTime(sa.types.TypeDecorator[datetime]):
    """Aware UTC in Python; SQLite, which keeps no zone, holds the UTC wall time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Convert to UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Give the time its zone back."""
        if value is None:
            return None
        time: datetime = value
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _text(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, **{"nullable": False, **options})


def _time(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, UtcTime, **{"nullable": True, **options})


HIT = sa.Table(
    "workplace_hit",
    METADATA,
    _text("hit_id", primary_key=True),
    _text("key", unique=True),
    _text("content_hash"),
    _text("title"),
    _text("description"),
    sa.Column("redundancy", sa.Integer, nullable=False),
    sa.Column("pay_minor", sa.BigInteger, nullable=False),
    _text("currency"),
    sa.Column("time_limit_s", sa.Integer, nullable=False),
    sa.Column("lifetime_s", sa.Integer, nullable=False),
    sa.Column("allow_repeat", sa.Boolean, nullable=False),
    _text("scope", index=True),
    _text("guideline"),
    _text("pool"),
    _text("terms"),  # JSON: pool, skills, pay form, rate
    sa.Column("suggest_share", sa.Double, nullable=False),
    _time("created_at", nullable=False),
    _time("closed_at"),
    sa.CheckConstraint("redundancy >= 1", name="redundancy"),
)

HIT_ITEM = sa.Table(
    "workplace_hit_item",
    METADATA,
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_hit.hit_id"), primary_key=True),
    sa.Column("ordinal", sa.Integer, primary_key=True, autoincrement=False),
    _text("item"),
    _text("aspect"),
    _text("group_key"),
    sa.Column("position", sa.Integer, nullable=False),
    _text("text"),
    _text("context"),  # JSON list of str
    _text("labels"),  # JSON list of str
    _text("kind"),
    _text("options"),  # JSON list of str
    _text("question"),
    _text("language"),
    _text("category"),
    sa.Column("sensitive", sa.Boolean, nullable=False),
    _text("suggestion"),
    sa.UniqueConstraint("hit_id", "item", "aspect"),
)

SUBMISSION = sa.Table(
    "workplace_submission",
    METADATA,
    _text("submission_id", primary_key=True),
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_hit.hit_id"), nullable=False),
    _text("worker", index=True),
    sa.Column("place", sa.Integer),  # NULL once the place is free again
    _text("state"),
    _time("accepted_at", nullable=False),
    _time("deadline_at", nullable=False),
    _time("rendered_at"),
    _time("submitted_at"),
    _time("ended_at"),
    sa.Column("page_elapsed_s", sa.Double),
    sa.Column("active_s", sa.Double),
    _text("time_quality"),
    sa.Column("is_late", sa.Boolean, nullable=False),
    _time("reviewed_at"),
    _text("reason", nullable=True),
    _text("recruited_by", nullable=True),  # the platform that sent the worker, and the id of his work there
    _text("external_id", nullable=True),
    _text("order_key", nullable=True),
    sa.UniqueConstraint("hit_id", "worker"),
    sa.UniqueConstraint("hit_id", "place"),
    sa.CheckConstraint("place >= 0", name="place"),
    sa.CheckConstraint(
        "state IN ('accepted', 'submitted', 'approved', 'rejected', 'returned', 'expired')", name="state"
    ),
    sa.Index("ix_workplace_submission_state_deadline_at", "state", "deadline_at"),
    sa.Index("uq_workplace_submission_external", "recruited_by", "external_id", unique=True),
)

ANSWER = sa.Table(
    "workplace_answer",
    METADATA,
    sa.Column("submission_id", sa.Text, sa.ForeignKey("workplace_submission.submission_id"), primary_key=True),
    _text("item", primary_key=True),
    _text("aspect", primary_key=True),
    _text("label"),
    _time("shown_at"),
    _time("answered_at"),
    sa.Column("swapped", sa.Boolean),  # of a pair: whether its sides were shown the other way round
    _text("mode"),  # blind, or suggest where the machine's label was shown
)

EVENT = sa.Table(
    "workplace_event",
    METADATA,
    sa.Column("submission_id", sa.Text, sa.ForeignKey("workplace_submission.submission_id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    _text("kind"),
    _time("at", nullable=False),
    _text("item", nullable=True),
    # As a page of ours sent it: which opening of the page, its number there, its two clocks; and when it came.
    _text("page", nullable=True),
    sa.Column("page_seq", sa.Integer),
    sa.Column("page_ms", sa.Double),
    sa.Column("epoch_ms", sa.Double),
    _time("received_at"),
    sa.Index("uq_workplace_event_page", "submission_id", "page", "page_seq", unique=True),
)

# What was counted as active time. A second of a worker is counted once among the HITs of a door: the task pages
# ("pages"), or the MTurk door ("mturk"), whose frame may hold the task pages and then sees the same work.
WORK_SPAN = sa.Table(
    "workplace_work_span",
    METADATA,
    _text("door", primary_key=True),
    _text("submission_id", primary_key=True),
    _text("worker", primary_key=True),  # an assignment of the MTurk door may pass from one worker to another
    _time("begins_at", nullable=False, primary_key=True),
    _time("ends_at", nullable=False),
    sa.Index("ix_workplace_work_span_worker_ends_at", "door", "worker", "ends_at"),
)

CLAIM = sa.Table(
    "workplace_claim",
    METADATA,
    _text("worker", primary_key=True),
    _text("scope", primary_key=True),
    _text("item", primary_key=True),
    _text("aspect", primary_key=True),
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_hit.hit_id"), nullable=False),
    sa.Index("ix_workplace_claim_item_aspect", "item", "aspect"),
)

# HITs that arrivals of an order may get.
ORDER = sa.Table(
    "workplace_order",
    METADATA,
    _text("key", primary_key=True),
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_hit.hit_id"), primary_key=True, index=True),
)

BONUS = sa.Table(
    "workplace_bonus",
    METADATA,
    _text("order_key", primary_key=True),
    sa.Column(
        "submission_id", sa.Text, sa.ForeignKey("workplace_submission.submission_id"), primary_key=True, index=True
    ),
    _text("worker"),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    _text("currency"),
    _text("reason_code"),
    _text("reason"),
    _time("paid_at", nullable=False),
    sa.CheckConstraint("amount_minor > 0", name="amount"),
)

# Events that platforms sent; each is kept once, and committed before it is answered.
INBOX = sa.Table(
    "workplace_inbox",
    METADATA,
    _text("platform", primary_key=True),
    _text("event_id", primary_key=True),
    _text("kind"),
    _text("resource_id"),
    _time("received_at", nullable=False),
    _time("done_at"),
    _text("mark", nullable=True),  # of the delivery: the id is no part of what its sender signs
    sa.Index("ix_workplace_inbox_done_at", "platform", "done_at", "received_at"),
    sa.Index("uq_workplace_inbox_mark", "platform", "mark", unique=True),
)

# Where people's browsers reach the pages, as the server said when it began: links are made by other processes.
ADDRESS = sa.Table("workplace_address", METADATA, _text("what", primary_key=True), _text("url"))
