"""Where the pages were served last: commands that print links ask for it.

Revision ID: w0010
Revises: w0009
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0010"
down_revision = "w0009"
branch_labels = None
depends_on = None

TABLE = "workplace_address"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("what", name=f"pk_{TABLE}"),
    )


def downgrade() -> None:
    op.drop_table(TABLE)
