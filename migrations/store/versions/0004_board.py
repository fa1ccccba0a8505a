"""The tables of the board and the machine door: keys, requests that were answered, the queue, and answers to it.

Revision ID: 0004
Revises: 0003
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = ("door_answer", "allocation", "door_request", "api_key")


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
        "api_key",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
    )
    op.create_table(
        "door_request",
        *keys("door_request", "key"),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "allocation",
        *keys("allocation", "item"),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("text", "destination", "reason", "policy")),
        *(sa.Column(name, sa.Double(), nullable=False) for name in ("gain", "inclusion_probability")),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "door_answer",
        *keys("door_answer", "item", "worker"),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
