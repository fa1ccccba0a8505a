"""Tiers of experts: escalations, appeals, auditors' own samples.

Revision ID: 0011
Revises: 0010
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TABLES = ("secret_audit_label", "secret_audit", "appeal", "expert_seat")


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def whole(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False, autoincrement=False)


def make(table: str, *columns: sa.Column, primary: tuple[str, ...]) -> None:
    op.create_table(
        table,
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", *primary, name=op.f(f"pk_{table}")),
    )


def upgrade() -> None:
    op.add_column("adjudication", sa.Column("tier", sa.Integer(), nullable=True))
    make("expert_seat", text("expert"), whole("tier"), primary=("expert",))
    make(
        "appeal",
        *(text(name) for name in ("aspect", "item")),
        whole("number"),
        *(text(name) for name in ("guideline_version", "role")),
        *(text(name, nullable=True) for name in ("worker", "appellant")),
        *(text(name) for name in ("reason", "judges")),
        whole("tier"),
        text("first_label"),
        time("opened_at"),
        *(text(name, nullable=True) for name in ("outcome", "label")),
        time("closed_at", nullable=True),
        text("closed_by", nullable=True),
        primary=("aspect", "item", "number"),
    )
    make(
        "secret_audit",
        text("aspect"),
        whole("number"),
        *(text(name) for name in ("auditor", "commitment")),
        *(whole(name) for name in ("drawn", "items")),
        text("labels_hash"),
        sa.Column("labels", sa.LargeBinary(), nullable=False),
        time("drawn_at"),
        *(text(name, nullable=True) for name in ("audit_key", "result")),
        time("opened_at", nullable=True),
        primary=("aspect", "number"),
    )
    make(
        "secret_audit_label",
        text("aspect"),
        whole("number"),
        *(text(name) for name in ("tag", "label")),
        time("at"),
        primary=("aspect", "number", "tag"),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    op.drop_column("adjudication", "tier")
