"""The tables behind the workers' pages: invitations, consent, steps before the work, skips, messages, feedback.

All of it belongs to people, so every table names its worker or a submission that does, and can be emptied for one.
"""

from __future__ import annotations

import sqlalchemy as sa

from hmc_crowd_local._tables import METADATA, UtcTime

__all__ = [
    "ATTEMPT",
    "CONSENT",
    "EXPOSURE",
    "FEEDBACK",
    "INVITE",
    "MESSAGE",
    "OPT_OUT",
    "PAYOUT",
    "QUOTA",
    "SEAT",
    "SHIFT",
    "SKIP",
    "STANDING",
    "STEP",
]


def _text(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, UtcTime, nullable=nullable)


def _submission(*, primary_key: bool = True) -> sa.Column[str]:
    key = sa.ForeignKey("workplace_submission.submission_id")
    return sa.Column("submission_id", sa.Text, key, primary_key=primary_key, nullable=False)


INVITE = sa.Table(
    "workplace_invite",
    METADATA,
    _text("invite_id", primary_key=True),
    sa.Column("worker", sa.Text, nullable=False, index=True),
    _text("label"),
    _time("created_at"),
    _time("expires_at"),
    _time("revoked_at", nullable=True),
    _text("pool"),
    _text("skills"),  # JSON list of str
    _text("attributes"),  # JSON of str by str: what the worker said of himself, for quotas
)

CONSENT = sa.Table(
    "workplace_consent",
    METADATA,
    _text("worker", primary_key=True),
    _text("study", primary_key=True),
    _text("text_hash", primary_key=True),
    _text("version"),
    _text("language"),
    _time("given_at"),
    _time("withdrawn_at", nullable=True),
    sa.Column("wants_erasure", sa.Boolean, nullable=False),
)

# Comprehension check, training, qualification test, survey: one row per worker, study, kind and version.
STEP = sa.Table(
    "workplace_step",
    METADATA,
    _text("worker", primary_key=True),
    _text("study", primary_key=True),
    _text("kind", primary_key=True),
    _text("version", primary_key=True),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("passed", sa.Boolean),  # NULL while it is under way
    sa.Column("score", sa.Double),
    _text("detail"),  # JSON of the answers given, all tries
    _time("at"),
)

# Finished attempts at a qualification test: the history, of which STEP holds how it stands now. ``version`` is that of
# STEP, ``test`` and ``test_version`` are as people name it, ``content`` tells campaigns what was asked ('' before that
# was kept). Who was sent by a platform is known under that platform's id.
ATTEMPT = sa.Table(
    "workplace_test_attempt",
    METADATA,
    _text("worker", primary_key=True),
    _text("study", primary_key=True),
    _text("version", primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False, nullable=False),
    _text("test"),
    sa.Column("test_version", sa.Integer, nullable=False),
    _text("content"),
    _text("recruited_by", nullable=True),
    sa.Column("right", sa.Integer, nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("passed", sa.Boolean, nullable=False),
    _time("at"),
    sa.Index("ix_workplace_test_attempt_test", "test"),
)

SKIP = sa.Table(
    "workplace_skip",
    METADATA,
    _submission(),
    _text("item", primary_key=True),
    _text("aspect", primary_key=True),
    _text("kind"),  # skip, flag or exposure
    _text("reason"),
    _time("at"),
)

EXPOSURE = sa.Table(
    "workplace_exposure",
    METADATA,
    _text("worker", primary_key=True),
    _text("day", primary_key=True),
    _text("item", primary_key=True),
    _time("at"),
)

OPT_OUT = sa.Table(
    "workplace_opt_out",
    METADATA,
    _text("worker", primary_key=True),
    _text("category", primary_key=True),
    _time("at"),
)

MESSAGE = sa.Table(
    "workplace_message",
    METADATA,
    _text("message_id", primary_key=True),
    _submission(primary_key=False),
    _text("item"),
    _text("author"),  # worker or owner
    _text("text"),
    _time("at"),
    sa.Index("ix_workplace_message_submission_id_item", "submission_id", "item"),
)

FEEDBACK = sa.Table(
    "workplace_feedback",
    METADATA,
    _submission(),
    sa.Column("clear", sa.Integer),
    sa.Column("fair", sa.Integer),
    _text("text"),
    _time("at"),
)

# Turns that a campaign plans for a pool (its scope, no worker), and those of single people (no scope).
SHIFT = sa.Table(
    "workplace_shift",
    METADATA,
    _text("shift_id", primary_key=True),
    _text("scope"),
    _text("pool"),
    _text("worker"),
    _time("starts_at"),
    _time("ends_at"),
    sa.Column("people", sa.Integer, nullable=False),
    sa.Index("ix_workplace_shift_pool_ends_at", "pool", "ends_at"),
)

# What a campaign asks of its people (JSON of `hmc_crowd.platform.Seats`); its row is the lock of its hand-outs.
QUOTA = sa.Table(
    "workplace_quota",
    METADATA,
    _text("scope", primary_key=True),
    _text("seats"),
    _time("at"),
)

# Who was ever handed out work under quotas. A seat is held while its worker holds a place: that stands in SUBMISSION.
SEAT = sa.Table("workplace_seat", METADATA, _text("scope", primary_key=True), _text("worker", primary_key=True))

# How many answers to known questions were right, as a campaign said last.
STANDING = sa.Table(
    "workplace_standing",
    METADATA,
    _text("worker", primary_key=True),
    _text("scope", primary_key=True),
    sa.Column("right", sa.Integer, nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    _time("at"),
)

# Money that reached the worker: a reward (no order), or a bonus of an order.
PAYOUT = sa.Table(
    "workplace_payout",
    METADATA,
    _submission(),
    _text("order_key", primary_key=True),
    sa.Column("worker", sa.Text, nullable=False, index=True),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    _text("currency"),
    _time("at"),
)
