"""The workers' pages: kinds of question, page events as they were sent, and what belongs to people.

Revision ID: w0004
Revises: w0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0004"
down_revision = "w0003"
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable)


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def work(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["submission_id"], ["workplace_submission.submission_id"], name=f"fk_{table}_submission_id"
    )


def filled(name: str, value: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False, server_default=value)


NEW_COLUMNS = {
    "workplace_hit": lambda: [filled("guideline", "")],
    "workplace_hit_item": lambda: [
        filled("kind", "nominal"),
        filled("options", "[]"),
        filled("question", ""),
        filled("language", ""),
        filled("category", ""),
        sa.Column("sensitive", sa.Boolean, nullable=False, server_default=sa.false()),
    ],
    "workplace_answer": lambda: [sa.Column("swapped", sa.Boolean, nullable=True)],
    "workplace_event": lambda: [
        text("page", nullable=True),
        sa.Column("page_seq", sa.Integer, nullable=True),
        sa.Column("page_ms", sa.Double, nullable=True),
        sa.Column("epoch_ms", sa.Double, nullable=True),
        time("received_at", nullable=True),
    ],
}


def upgrade() -> None:
    for table, columns in NEW_COLUMNS.items():
        for column in columns():
            op.add_column(table, column)
    # An index, because SQLite adds no constraint to a table that exists.
    op.create_index(
        "uq_workplace_event_page", "workplace_event", ["submission_id", "page", "page_seq"], unique=True
    )
    people()
    of_submissions()


def people() -> None:
    op.create_table(
        "workplace_invite",
        text("invite_id"),
        text("worker"),
        text("label"),
        time("created_at"),
        time("expires_at"),
        time("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("invite_id", name="pk_workplace_invite"),
    )
    op.create_index("ix_workplace_invite_worker", "workplace_invite", ["worker"])
    op.create_table(
        "workplace_consent",
        text("worker"),
        text("study"),
        text("text_hash"),
        text("version"),
        text("language"),
        time("given_at"),
        time("withdrawn_at", nullable=True),
        sa.Column("wants_erasure", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("worker", "study", "text_hash", name="pk_workplace_consent"),
    )
    op.create_table(
        "workplace_step",
        text("worker"),
        text("study"),
        text("kind"),
        text("version"),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=True),
        sa.Column("score", sa.Double, nullable=True),
        text("detail"),
        time("at"),
        sa.PrimaryKeyConstraint("worker", "study", "kind", "version", name="pk_workplace_step"),
    )
    op.create_table(
        "workplace_exposure",
        text("worker"),
        text("day"),
        text("item"),
        time("at"),
        sa.PrimaryKeyConstraint("worker", "day", "item", name="pk_workplace_exposure"),
    )
    op.create_table(
        "workplace_opt_out",
        text("worker"),
        text("category"),
        time("at"),
        sa.PrimaryKeyConstraint("worker", "category", name="pk_workplace_opt_out"),
    )


def of_submissions() -> None:
    op.create_table(
        "workplace_skip",
        text("submission_id"),
        text("item"),
        text("aspect"),
        text("kind"),
        text("reason"),
        time("at"),
        sa.PrimaryKeyConstraint("submission_id", "item", "aspect", name="pk_workplace_skip"),
        work("workplace_skip"),
    )
    op.create_table(
        "workplace_message",
        text("message_id"),
        text("submission_id"),
        text("item"),
        text("author"),
        text("text"),
        time("at"),
        sa.PrimaryKeyConstraint("message_id", name="pk_workplace_message"),
        work("workplace_message"),
    )
    op.create_index("ix_workplace_message_submission_id_item", "workplace_message", ["submission_id", "item"])
    op.create_table(
        "workplace_feedback",
        text("submission_id"),
        sa.Column("clear", sa.Integer, nullable=True),
        sa.Column("fair", sa.Integer, nullable=True),
        text("text"),
        time("at"),
        sa.PrimaryKeyConstraint("submission_id", name="pk_workplace_feedback"),
        work("workplace_feedback"),
    )


def downgrade() -> None:
    for table in ("feedback", "message", "skip", "opt_out", "exposure", "step", "consent", "invite"):
        op.drop_table(f"workplace_{table}")
    op.drop_index("uq_workplace_event_page", table_name="workplace_event")
    for table, columns in NEW_COLUMNS.items():
        for column in reversed(columns()):
            op.drop_column(table, column.name)
