"""Suggested labels on the task pages: what may be shown, with which chance, and whether an answer came with it.

Revision ID: w0006
Revises: w0005
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0006"
down_revision = "w0005"
branch_labels = None
depends_on = None


def added() -> dict[str, sa.Column]:
    """Columns that tables gain; what is there already was asked and answered blind."""
    return {
        "workplace_hit": sa.Column("suggest_share", sa.Double, nullable=False, server_default="0"),
        "workplace_hit_item": sa.Column("suggestion", sa.Text, nullable=False, server_default=""),
        "workplace_answer": sa.Column("mode", sa.Text, nullable=False, server_default="blind"),
    }


def upgrade() -> None:
    for table, column in added().items():
        op.add_column(table, column)


def downgrade() -> None:
    for table, column in added().items():
        op.drop_column(table, column.name)
