"""What a campaign asks, in which mode, and by which guideline: pairs, suggestions, versions of guidelines, experts.

Revision ID: 0006
Revises: 0005
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def added() -> dict[str, list[sa.Column]]:
    """Columns that tables gain; the defaults fill the rows that are there."""
    return {
        "aspect": [
            sa.Column("guideline", sa.Text(), nullable=False, server_default=""),
            sa.Column("question", sa.Text(), nullable=False, server_default=""),
        ],
        "item": [text("response_a", nullable=True), text("response_b", nullable=True)],
        "hit_item": [sa.Column("guideline_version", sa.Text(), nullable=False, server_default="")],
        "answer": [sa.Column("swapped", sa.Boolean(), nullable=True), text("suggestion", nullable=True)],
    }


def keys(table: str, *names: str) -> list[sa.Column | sa.Constraint]:
    """The campaign and the text columns that make a row one of its kind."""
    return [
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        *(text(name) for name in names),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", *names, name=op.f(f"pk_{table}")),
    ]


def upgrade() -> None:
    for table, columns in added().items():
        for column in columns:
            op.add_column(table, column)
    op.create_table(
        "guideline",
        *keys("guideline", "aspect", "version"),
        sa.Column("seq", sa.Integer(), nullable=False),
        text("text"),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_table(
        "adjudication",
        *keys("adjudication", "aspect", "item", "expert"),
        text("guideline_version"),
        text("blind_label"),
        sa.Column("blind_at", MOMENT, nullable=False),
        text("crowd_label", nullable=True),
        text("machine_label", nullable=True),
        text("final_label", nullable=True),
        sa.Column("final_at", MOMENT, nullable=True),
    )


def downgrade() -> None:
    op.drop_table("adjudication")
    op.drop_table("guideline")
    for table, columns in added().items():
        for column in columns:
            op.drop_column(table, column.name)
