"""The tables of aggregation: how each aspect was aggregated last, how good each worker was, and the worker tables.

Revision ID: 0003
Revises: 0002
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = ("worker_count", "worker_quality", "aggregation")


def keys(table: str, *names: str) -> list[sa.Column | sa.Constraint]:
    """The campaign and the text columns that make a row one of its kind."""
    return [
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in names),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", *names, name=op.f(f"pk_{table}")),
    ]


def upgrade() -> None:
    op.create_table(
        "aggregation",
        *keys("aggregation", "aspect"),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("class_share", sa.Text(), nullable=True),
        sa.Column("prior", sa.Double(), nullable=True),
        sa.Column("answers", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "worker_quality",
        *keys("worker_quality", "aspect", "worker"),
        sa.Column("n_answers", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Double(), nullable=True) for name in ("accuracy", "se", "low", "high")),
    )
    op.create_table(
        "worker_count",
        *keys("worker_count", "aspect", "worker", "label", "truth"),
        sa.Column("count", sa.Double(), nullable=False),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
