"""Quotas at the hand-out: what campaigns ask of their people, and what invited people said of themselves.

Revision ID: w0008
Revises: w0007
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0008"
down_revision = "w0007"
branch_labels = None
depends_on = None

TABLE, SEATS, INDEX = "workplace_quota", "workplace_seat", "ix_workplace_hit_scope"


def upgrade() -> None:
    op.add_column("workplace_invite", sa.Column("attributes", sa.Text(), nullable=False, server_default="{}"))
    op.create_table(
        TABLE,
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("seats", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("scope", name=f"pk_{TABLE}"),
    )
    op.create_table(
        SEATS,
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "worker", name=f"pk_{SEATS}"),
    )
    # Places are counted by scope with every hand-out.
    op.create_index(INDEX, "workplace_hit", ["scope"])


def downgrade() -> None:
    op.drop_index(INDEX, "workplace_hit")
    op.drop_table(SEATS)
    op.drop_table(TABLE)
    op.drop_column("workplace_invite", "attributes")
