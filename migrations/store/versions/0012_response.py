"""How long the server's calls took, beside the minutes in which it was up.

Revision ID: 0012
Revises: 0011
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("heartbeat", sa.Column("calls", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("heartbeat", sa.Column("seconds", sa.Float(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("heartbeat", "seconds")
    op.drop_column("heartbeat", "calls")
