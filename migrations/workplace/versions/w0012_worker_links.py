"""Links of the MTurk door's workers: which key of each works, so that one that leaked can be taken back.

Revision ID: w0012
Revises: w0011
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0012"
down_revision = "w0011"
branch_labels = None
depends_on = None

TABLE = "workplace_mturk_link"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("worker", name=f"pk_{TABLE}"),
    )


def downgrade() -> None:
    op.drop_table(TABLE)
