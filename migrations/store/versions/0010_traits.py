"""What workers said of themselves, and quotas over it.

Revision ID: 0010
Revises: 0009
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = ("worker_trait",)


def text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=False)


def make(table: str, *columns: sa.Column, primary: tuple[str, ...]) -> None:
    op.create_table(
        table,
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
        sa.PrimaryKeyConstraint(*primary, name=op.f(f"pk_{table}")),
    )


def upgrade() -> None:
    make(
        "worker_trait",
        *(text(name) for name in ("worker", "attribute", "value", "source")),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        primary=("campaign_id", "worker", "attribute"),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
