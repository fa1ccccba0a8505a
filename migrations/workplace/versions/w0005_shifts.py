"""Shifts, pools and messages of invited people; what they know of their own standing and pay.

Revision ID: w0005
Revises: w0004
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0005"
down_revision = "w0004"
branch_labels = None
depends_on = None

TABLES = ("workplace_payout", "workplace_standing", "workplace_shift")
NEW_COLUMNS = (
    ("workplace_hit", "pool", ""),
    ("workplace_hit", "terms", ""),
    ("workplace_invite", "pool", ""),
    ("workplace_invite", "skills", "[]"),
)


def text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def time(name: str) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)


def upgrade() -> None:
    for table, column, value in NEW_COLUMNS:
        op.add_column(table, sa.Column(column, sa.Text, nullable=False, server_default=value))
    op.create_table(
        "workplace_shift",
        *(text(name) for name in ("shift_id", "scope", "pool", "worker")),
        *(time(name) for name in ("starts_at", "ends_at")),
        sa.Column("people", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("shift_id", name="pk_workplace_shift"),
    )
    op.create_index("ix_workplace_shift_pool_ends_at", "workplace_shift", ["pool", "ends_at"])
    op.create_table(
        "workplace_standing",
        *(text(name) for name in ("worker", "scope")),
        sa.Column("right", sa.Integer, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        time("at"),
        sa.PrimaryKeyConstraint("worker", "scope", name="pk_workplace_standing"),
    )
    op.create_table(
        "workplace_payout",
        *(text(name) for name in ("submission_id", "order_key", "worker")),
        sa.Column("amount_minor", sa.BigInteger, nullable=False),
        text("currency"),
        time("at"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["workplace_submission.submission_id"], name="fk_workplace_payout_submission_id"
        ),
        sa.PrimaryKeyConstraint("submission_id", "order_key", name="pk_workplace_payout"),
    )
    op.create_index("ix_workplace_payout_worker", "workplace_payout", ["worker"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    for table, column, _value in NEW_COLUMNS:
        op.drop_column(table, column)
