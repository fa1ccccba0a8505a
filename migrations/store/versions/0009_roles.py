"""What labels were used for, experts' audits, watched streams; the machine's label of items at the door.

Revision ID: 0009
Revises: 0008
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = ("stream_window", "stream_state", "expert_audit_item", "expert_audit", "data_role")


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def time(name: str) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)


def whole(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False, autoincrement=False)


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
        "data_role",
        *(text(name) for name in ("aspect", "item", "role", "purpose")),
        time("at"),
        primary=("campaign_id", "aspect", "item", "role"),
    )
    make(
        "expert_audit",
        text("aspect"),
        *(whole(name) for name in ("number", "people", "machine", "experts")),
        sa.Column("people_share", sa.Double(), nullable=False),
        text("labels_hash"),
        time("drawn_at"),
        primary=("campaign_id", "aspect", "number"),
    )
    make(
        "expert_audit_item",
        text("aspect"),
        whole("number"),
        *(text(name) for name in ("item", "stratum", "label")),
        primary=("campaign_id", "aspect", "number", "item"),
    )
    make("stream_state", text("state"), time("updated_at"), primary=("campaign_id",))
    make("stream_window", whole("number"), text("content"), time("closed_at"), primary=("campaign_id", "number"))
    op.add_column("allocation", text("label", nullable=True))
    op.add_column("allocation", sa.Column("confidence", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("allocation", "confidence")
    op.drop_column("allocation", "label")
    for table in TABLES:
        op.drop_table(table)
