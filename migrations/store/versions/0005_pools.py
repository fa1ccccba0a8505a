"""Pools of workers: price, capacity, skills, shifts; questions left without an answer; when the server was up.

Revision ID: 0005
Revises: 0004
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = ("heartbeat", "missing_answer", "shift", "pool")


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def of_campaign(table: str) -> list[sa.Column | sa.Constraint]:
    return [
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
    ]


def upgrade() -> None:
    op.add_column("hit", sa.Column("terms", sa.Text(), nullable=True))
    op.create_table(
        "pool",
        *of_campaign("pool"),
        *(text(name) for name in ("name", "kind", "pay_form")),
        sa.Column("price_minor", sa.BigInteger(), nullable=False),
        text("currency"),
        sa.Column("capacity_per_hour", sa.Double(), nullable=False),
        text("skills"),
        sa.Column("members", sa.Integer(), nullable=False),
        text("opted_out"),
        time("asked_at", nullable=True),
        time("created_at"),
        sa.PrimaryKeyConstraint("campaign_id", "name", name=op.f("pk_pool")),
    )
    op.create_table(
        "shift",
        *of_campaign("shift"),
        *(text(name) for name in ("id", "pool")),
        text("worker", nullable=True),
        *(time(name) for name in ("starts_at", "ends_at")),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "id", name=op.f("pk_shift")),
    )
    op.create_index(op.f("ix_shift_campaign_id_pool"), "shift", ["campaign_id", "pool"])
    op.create_table(
        "missing_answer",
        sa.Column("submission", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        *(text(name) for name in ("item", "aspect")),
        *of_campaign("missing_answer"),
        sa.Column("round", sa.Integer(), nullable=False),
        *(text(name) for name in ("worker", "kind", "reason", "note")),
        sa.ForeignKeyConstraint(["submission"], ["submission.id"], name=op.f("fk_missing_answer_submission")),
        sa.PrimaryKeyConstraint("submission", "item", "aspect", name=op.f("pk_missing_answer")),
    )
    op.create_index(op.f("ix_missing_answer_campaign_id"), "missing_answer", ["campaign_id"])
    op.create_table(
        "heartbeat",
        sa.Column("minute", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("minute", name=op.f("pk_heartbeat")),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    op.drop_column("hit", "terms")
