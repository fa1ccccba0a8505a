"""Which versions of a guideline mean the same; experts' words are kept under each guideline, not under the last alone.

Revision ID: 0013
Revises: 0012
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

WHOSE = ["campaign_id", "aspect", "item", "expert"]


def keep_apart_by(columns: list[str]) -> None:
    """Make these columns what tells experts' words apart."""
    with op.batch_alter_table("adjudication") as table:
        table.drop_constraint(op.f("pk_adjudication"), type_="primary")
        table.create_primary_key(op.f("pk_adjudication"), columns)


def upgrade() -> None:
    op.add_column("guideline", sa.Column("meaning", sa.Text(), nullable=False, server_default=""))
    keep_apart_by([*WHOSE, "guideline_version"])


def downgrade() -> None:
    # The version before keeps an expert's newest word on an item alone.
    later = " AND ".join(f"later.{each} = adjudication.{each}" for each in WHOSE)
    op.execute(
        "DELETE FROM adjudication WHERE EXISTS (SELECT 1 FROM adjudication AS later "  # noqa: S608
        f"WHERE {later} AND (later.blind_at > adjudication.blind_at OR (later.blind_at = adjudication.blind_at "
        "AND later.guideline_version > adjudication.guideline_version)))"
    )
    keep_apart_by(WHOSE)
    op.drop_column("guideline", "meaning")
