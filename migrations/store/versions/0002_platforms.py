"""The tables of the platforms: leased intents, lanes, payments, budget blocks, reviews, retention of personal data.

Revision ID: 0002
Revises: 0001
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def added() -> dict[str, list[sa.Column]]:
    """Columns that tables of the first step gain; the defaults fill the rows that are there."""
    return {
        "intent": [
            sa.Column("lane", sa.Text(), nullable=False, server_default=""),
            sa.Column("payload", sa.Text(), nullable=True),
            sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
            sa.Column("sent_at", MOMENT, nullable=True),
            sa.Column("not_before", MOMENT, nullable=True),
            sa.Column("lease_owner", sa.Text(), nullable=True),
            sa.Column("lease_until", MOMENT, nullable=True),
        ],
        "item": [
            sa.Column("sensitive", sa.Boolean(), nullable=False, server_default=sa.false()),
            sa.Column("erased_at", MOMENT, nullable=True),
        ],
        "submission": [
            sa.Column("timing_version", sa.Text(), nullable=True),
            sa.Column("reviewed_by", sa.Text(), nullable=True),
            sa.Column("reviewed_at", MOMENT, nullable=True),
            sa.Column("review", sa.Text(), nullable=True),
        ],
        "hit": [sa.Column("order_key", sa.Text(), nullable=True)],
        "worker_identity": [sa.Column("seen_at", MOMENT, nullable=True)],
    }


def upgrade() -> None:
    for table, columns in added().items():
        for column in columns:
            op.add_column(table, column)
    op.create_table(
        "lane",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lane")),
    )
    op.create_table(
        "payment",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("reason_code", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("fee_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("intent_key", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_payment_campaign_id")),
        sa.PrimaryKeyConstraint("platform", "submission_id", "reason_code", name=op.f("pk_payment")),
    )
    op.create_index(op.f("ix_payment_campaign_id_state"), "payment", ["campaign_id", "state"], unique=False)
    op.create_table(
        "budget_block",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("granted_minor", sa.BigInteger(), nullable=False),
        sa.Column("spent_minor", sa.BigInteger(), nullable=False),
        sa.Column("until", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_budget_block_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "owner", name=op.f("pk_budget_block")),
    )
    op.create_table(
        "item_batch",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_item_batch_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "first_seq", name=op.f("pk_item_batch")),
    )


def downgrade() -> None:
    op.drop_table("item_batch")
    op.drop_table("budget_block")
    op.drop_index(op.f("ix_payment_campaign_id_state"), table_name="payment")
    op.drop_table("payment")
    op.drop_table("lane")
    for table, columns in added().items():
        for column in columns:
            op.drop_column(table, column.name)
