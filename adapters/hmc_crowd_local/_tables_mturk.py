"""The tables of the MTurk-API front door, beside those of the workplace itself.

What must be unique is unique here: one HIT type per content and account, one use of a request token, one live
assignment per worker and HIT, one live assignment per assignment id, one qualification name per account.
"""

from __future__ import annotations

import sqlalchemy as sa

from hmc_crowd_local._tables import METADATA, _text, _time

__all__ = [
    "ACCOUNT",
    "ASSIGNMENT",
    "BLOCK",
    "BONUS",
    "HIT_TYPE",
    "KEY",
    "LAYOUT",
    "LINK",
    "LIVE",
    "MESSAGE",
    "M_EVENT",
    "M_HIT",
    "QUALIFICATION",
    "QUALIFICATION_REQUEST",
    "QUALIFICATION_TYPE",
    "REVIEW",
    "SECRET",
    "TOKEN",
    "WORKER",
]

#: States of an assignment that holds a place of its HIT.
LIVE = ("accepted", "submitted", "approved", "rejected")


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False)


def _account() -> sa.Column[str]:
    return sa.Column("account_id", sa.Text, sa.ForeignKey("workplace_mturk_account.account_id"), nullable=False)


ACCOUNT = sa.Table(
    "workplace_mturk_account",
    METADATA,
    _text("account_id", primary_key=True),
    sa.Column("balance_minor", sa.BigInteger, nullable=False),
    _time("created_at", nullable=False),
    sa.CheckConstraint("balance_minor >= 0", name="balance"),
)

KEY = sa.Table(
    "workplace_mturk_key",
    METADATA,
    _text("access_key", primary_key=True),
    _account(),
    _text("secret"),
    _text("label"),
    _time("created_at", nullable=False),
    _time("revoked_at"),
)

# What signs page tokens and workers' links.
SECRET = sa.Table("workplace_mturk_secret", METADATA, _text("name", primary_key=True), _text("value"))

HIT_TYPE = sa.Table(
    "workplace_mturk_hit_type",
    METADATA,
    _text("hit_type_id", primary_key=True),
    _text("group_id", unique=True),
    _account(),
    _text("content_hash"),
    _text("title"),
    _text("description"),
    _text("keywords", nullable=True),
    sa.Column("reward_minor", sa.BigInteger, nullable=False),
    sa.Column("duration_s", sa.BigInteger, nullable=False),
    sa.Column("auto_approval_s", sa.BigInteger, nullable=False),
    _text("requirements"),  # JSON list, as the request had it
    _text("notification", nullable=True),  # JSON
    _flag("is_notifying"),
    sa.UniqueConstraint("account_id", "content_hash"),
)

LAYOUT = sa.Table(
    "workplace_mturk_layout",
    METADATA,
    _text("layout_id", primary_key=True),
    _text("name"),
    _text("html"),
    _time("created_at", nullable=False),
)

M_HIT = sa.Table(
    "workplace_mturk_hit",
    METADATA,
    _text("hit_id", primary_key=True),
    _account(),
    sa.Column("hit_type_id", sa.Text, sa.ForeignKey("workplace_mturk_hit_type.hit_type_id"), nullable=False),
    _text("question"),
    _text("layout_id", nullable=True),
    _text("inputs", nullable=True),  # JSON, the layout's parameters
    _text("annotation", nullable=True),
    sa.Column("max_assignments", sa.Integer, nullable=False),
    sa.Column("unit_minor", sa.BigInteger, nullable=False),  # reward and fee of one assignment
    sa.Column("held_minor", sa.BigInteger, nullable=False),
    _time("created_at", nullable=False),
    _time("expires_at", nullable=False),
    _time("disposed_at"),
    _flag("is_reviewing"),
    _flag("is_expiry_settled"),
    _flag("is_policy_done"),
    _text("assignment_policy", nullable=True),  # JSON
    _text("hit_policy", nullable=True),  # JSON
    sa.CheckConstraint("held_minor >= 0", name="held"),
    sa.Index("ix_workplace_mturk_hit_account_id_hit_id", "account_id", "hit_id"),
    sa.Index("ix_workplace_mturk_hit_expires_at", "is_expiry_settled", "expires_at"),
    sa.Index("ix_workplace_mturk_hit_annotation", "annotation"),
    sa.Index("ix_workplace_mturk_hit_disposed_at", "disposed_at", "created_at"),
)

# An assignment id may pass from a worker who abandoned it to another one: the key is both.
ASSIGNMENT = sa.Table(
    "workplace_mturk_assignment",
    METADATA,
    _text("assignment_id", primary_key=True),
    _text("worker", primary_key=True),
    _account(),
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_mturk_hit.hit_id"), nullable=False),
    _text("state"),
    _time("accepted_at", nullable=False),
    _time("deadline_at", nullable=False),
    _time("rendered_at"),
    _time("submitted_at"),
    _time("auto_approve_at"),
    _time("approved_at"),
    _time("rejected_at"),
    _text("feedback", nullable=True),
    _text("answer", nullable=True),  # QuestionFormAnswers
    _text("fields", nullable=True),  # JSON, what the page sent before anything was stripped
    _text("draft", nullable=True),  # JSON
    _flag("is_auto"),
    _flag("is_late"),
    sa.Column("page_elapsed_s", sa.Double),
    sa.Column("active_s", sa.Double),
    _text("time_quality"),
    sa.CheckConstraint(
        "state IN ('accepted', 'submitted', 'approved', 'rejected', 'returned', 'expired')", name="state"
    ),
    sa.Index(
        "uq_workplace_mturk_assignment_live_worker",
        "hit_id",
        "worker",
        unique=True,
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    ),
    sa.Index(
        "uq_workplace_mturk_assignment_live_id",
        "assignment_id",
        unique=True,
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    ),
    sa.Index("ix_workplace_mturk_assignment_hit_id_submitted_at", "hit_id", "submitted_at"),
    sa.Index("ix_workplace_mturk_assignment_state_deadline_at", "state", "deadline_at"),
    sa.Index("ix_workplace_mturk_assignment_state_auto_approve_at", "state", "auto_approve_at"),
    sa.Index("ix_workplace_mturk_assignment_worker", "worker"),
)

M_EVENT = sa.Table(
    "workplace_mturk_event",
    METADATA,
    _text("assignment_id", primary_key=True),
    _text("worker", primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    _text("kind"),
    _time("at", nullable=False),  # our server's clock
    sa.Column("page_ms", sa.Double),  # the page's own clock, since it was opened
    _text("item", nullable=True),
    sa.ForeignKeyConstraint(
        ["assignment_id", "worker"],
        ["workplace_mturk_assignment.assignment_id", "workplace_mturk_assignment.worker"],
        name="fk_workplace_mturk_event_assignment",
    ),
)

TOKEN = sa.Table(
    "workplace_mturk_token",
    METADATA,
    _text("account_id", primary_key=True),
    _text("operation", primary_key=True),
    _text("token", primary_key=True),
    _text("result"),
    _time("created_at", nullable=False),
)

BONUS = sa.Table(
    "workplace_mturk_bonus",
    METADATA,
    _text("bonus_id", primary_key=True),
    _account(),
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_mturk_hit.hit_id"), nullable=False),
    _text("assignment_id", index=True),
    _text("worker"),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("fee_minor", sa.BigInteger, nullable=False),
    _text("reason"),
    _time("granted_at", nullable=False),
    sa.Index("ix_workplace_mturk_bonus_hit_id", "hit_id"),
)

BLOCK = sa.Table(
    "workplace_mturk_block",
    METADATA,
    _text("account_id", primary_key=True),
    _text("worker", primary_key=True),
    _text("reason"),
)

QUALIFICATION_TYPE = sa.Table(
    "workplace_mturk_qualification_type",
    METADATA,
    _text("qualification_type_id", primary_key=True),
    _account(),
    _text("name"),
    _text("description"),
    _text("keywords", nullable=True),
    _text("status"),
    _text("test", nullable=True),
    _text("answer_key", nullable=True),
    sa.Column("test_duration_s", sa.BigInteger),
    sa.Column("retry_delay_s", sa.BigInteger),
    _flag("auto_granted"),
    sa.Column("auto_granted_value", sa.Integer),
    _time("created_at", nullable=False),
    _time("deleted_at"),
    sa.Index(
        "uq_workplace_mturk_qualification_type_name",
        "account_id",
        "name",
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    ),
)


def _type_key() -> sa.Column[str]:
    target = sa.ForeignKey("workplace_mturk_qualification_type.qualification_type_id")
    return sa.Column("qualification_type_id", sa.Text, target, nullable=False)


QUALIFICATION = sa.Table(
    "workplace_mturk_qualification",
    METADATA,
    sa.Column(
        "qualification_type_id",
        sa.Text,
        sa.ForeignKey("workplace_mturk_qualification_type.qualification_type_id"),
        primary_key=True,
    ),
    _text("worker", primary_key=True),
    sa.Column("value", sa.Integer),
    _text("status"),
    _time("granted_at", nullable=False),
    _text("reason", nullable=True),
)

QUALIFICATION_REQUEST = sa.Table(
    "workplace_mturk_qualification_request",
    METADATA,
    _text("request_id", primary_key=True),
    _type_key(),
    _text("worker"),
    _text("state"),  # started, pending, granted, rejected, lapsed
    _text("answer", nullable=True),
    _text("reason", nullable=True),
    _time("started_at", nullable=False),
    _time("submitted_at"),
    sa.Index("ix_workplace_mturk_qualification_request_type", "qualification_type_id", "worker"),
)

MESSAGE = sa.Table(
    "workplace_mturk_message",
    METADATA,
    _text("message_id", primary_key=True),
    _account(),
    _text("worker", index=True),
    _text("subject"),
    _text("body"),
    _time("sent_at", nullable=False),
)

REVIEW = sa.Table(
    "workplace_mturk_review",
    METADATA,
    sa.Column("hit_id", sa.Text, sa.ForeignKey("workplace_mturk_hit.hit_id"), primary_key=True),
    _text("level", primary_key=True),  # Assignment or HIT
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    _text("kind"),  # result or action
    _text("body"),  # JSON, as the API shows it
)

WORKER = sa.Table(
    "workplace_mturk_worker",
    METADATA,
    _text("worker", primary_key=True),
    _text("country", nullable=True),
    _text("subdivision", nullable=True),
    sa.Column("is_adult", sa.Boolean),
    _time("created_at", nullable=False),
)

# Which of a worker's keys works; who has no row has the first one.
LINK = sa.Table(
    "workplace_mturk_link",
    METADATA,
    _text("worker", primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    _time("made_at"),
    _time("revoked_at"),
)
