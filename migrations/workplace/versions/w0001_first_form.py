"""The workplace's first form: HITs, submissions, answers, page events, claims.

Revision ID: w0001
Revises:
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0001"
down_revision = None
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable)


def time(name: str, *, nullable: bool = True) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "workplace_hit",
        text("hit_id"),
        text("key"),
        text("content_hash"),
        text("title"),
        text("description"),
        sa.Column("redundancy", sa.Integer, nullable=False),
        sa.Column("pay_minor", sa.BigInteger, nullable=False),
        text("currency"),
        sa.Column("time_limit_s", sa.Integer, nullable=False),
        sa.Column("lifetime_s", sa.Integer, nullable=False),
        sa.Column("allow_repeat", sa.Boolean, nullable=False),
        time("created_at", nullable=False),
        time("closed_at"),
        sa.PrimaryKeyConstraint("hit_id", name="pk_workplace_hit"),
        sa.UniqueConstraint("key", name="uq_workplace_hit_key"),
        sa.CheckConstraint("redundancy >= 1", name=op.f("ck_workplace_hit_redundancy")),
    )
    op.create_table(
        "workplace_hit_item",
        text("hit_id"),
        sa.Column("ordinal", sa.Integer, nullable=False),
        text("item"),
        text("aspect"),
        text("group_key"),
        sa.Column("position", sa.Integer, nullable=False),
        text("text"),
        text("context"),
        text("labels"),
        sa.PrimaryKeyConstraint("hit_id", "ordinal", name="pk_workplace_hit_item"),
        sa.ForeignKeyConstraint(["hit_id"], ["workplace_hit.hit_id"], name="fk_workplace_hit_item_hit_id"),
        sa.UniqueConstraint("hit_id", "item", "aspect", name="uq_workplace_hit_item_hit_id_item_aspect"),
    )
    op.create_table(
        "workplace_submission",
        text("submission_id"),
        text("hit_id"),
        text("worker"),
        sa.Column("place", sa.Integer, nullable=True),
        text("state"),
        time("accepted_at", nullable=False),
        time("deadline_at", nullable=False),
        time("rendered_at"),
        time("submitted_at"),
        time("ended_at"),
        sa.Column("page_elapsed_s", sa.Double, nullable=True),
        sa.Column("active_s", sa.Double, nullable=True),
        text("time_quality"),
        sa.Column("is_late", sa.Boolean, nullable=False),
        time("reviewed_at"),
        text("reason", nullable=True),
        sa.PrimaryKeyConstraint("submission_id", name="pk_workplace_submission"),
        sa.ForeignKeyConstraint(["hit_id"], ["workplace_hit.hit_id"], name="fk_workplace_submission_hit_id"),
        sa.UniqueConstraint("hit_id", "worker", name="uq_workplace_submission_hit_id_worker"),
        sa.UniqueConstraint("hit_id", "place", name="uq_workplace_submission_hit_id_place"),
        sa.CheckConstraint("place >= 0", name=op.f("ck_workplace_submission_place")),
        sa.CheckConstraint(
            "state IN ('accepted', 'submitted', 'approved', 'rejected', 'returned', 'expired')",
            name=op.f("ck_workplace_submission_state"),
        ),
    )
    op.create_index("ix_workplace_submission_worker", "workplace_submission", ["worker"])
    op.create_index("ix_workplace_submission_state_deadline_at", "workplace_submission", ["state", "deadline_at"])
    op.create_table(
        "workplace_answer",
        text("submission_id"),
        text("item"),
        text("aspect"),
        text("label"),
        time("shown_at"),
        time("answered_at"),
        sa.PrimaryKeyConstraint("submission_id", "item", "aspect", name="pk_workplace_answer"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["workplace_submission.submission_id"], name="fk_workplace_answer_submission_id"
        ),
    )
    op.create_table(
        "workplace_event",
        text("submission_id"),
        sa.Column("seq", sa.Integer, nullable=False),
        text("kind"),
        time("at", nullable=False),
        text("item", nullable=True),
        sa.PrimaryKeyConstraint("submission_id", "seq", name="pk_workplace_event"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["workplace_submission.submission_id"], name="fk_workplace_event_submission_id"
        ),
    )
    op.create_table(
        "workplace_claim",
        text("worker"),
        text("item"),
        text("aspect"),
        text("hit_id"),
        sa.PrimaryKeyConstraint("worker", "item", "aspect", name="pk_workplace_claim"),
        sa.ForeignKeyConstraint(["hit_id"], ["workplace_hit.hit_id"], name="fk_workplace_claim_hit_id"),
    )
    op.create_index("ix_workplace_claim_item_aspect", "workplace_claim", ["item", "aspect"])


def downgrade() -> None:
    for table in ("claim", "event", "answer", "submission", "hit_item", "hit"):
        op.drop_table(f"workplace_{table}")
