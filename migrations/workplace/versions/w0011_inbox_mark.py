"""The mark of a delivery, so that one that is sent again under other ids is kept once.

Revision ID: w0011
Revises: w0010
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0011"
down_revision = "w0010"
branch_labels = None
depends_on = None

TABLE = "workplace_inbox"
INDEX = "uq_workplace_inbox_mark"


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("mark", sa.Text(), nullable=True))
    op.create_index(INDEX, TABLE, ["platform", "mark"], unique=True)


def downgrade() -> None:
    op.drop_index(INDEX, table_name=TABLE)
    op.drop_column(TABLE, "mark")
