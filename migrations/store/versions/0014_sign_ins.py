"""Sign-ins at the board: a row for each, so that signing out ends it wherever its cookie was copied.

Revision ID: 0014
Revises: 0013
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "board_sign_in",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["key_id"], ["api_key.id"], name=op.f("fk_board_sign_in_key_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_sign_in")),
        sa.UniqueConstraint("hash", name=op.f("uq_board_sign_in_hash")),
    )


def downgrade() -> None:
    op.drop_table("board_sign_in")
