"""Active time as the spans that were counted, so that no second of a worker counts in two HITs.

Revision ID: w0009
Revises: w0008
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0009"
down_revision = "w0008"
branch_labels = None
depends_on = None

TABLE, INDEX = "workplace_work_span", "ix_workplace_work_span_worker_ends_at"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("door", sa.Text(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("begins_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("door", "submission_id", "worker", "begins_at", name=f"pk_{TABLE}"),
    )
    op.create_index(INDEX, TABLE, ["door", "worker", "ends_at"])


def downgrade() -> None:
    op.drop_index(INDEX, TABLE)
    op.drop_table(TABLE)
