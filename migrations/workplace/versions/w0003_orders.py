"""Work for people whom another platform recruited, claims within a scope, bonuses, labels of keys, an inbox.

Revision ID: w0003
Revises: w0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0003"
down_revision = "w0002"
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable)


def claim_table(name: str, key: list[str]) -> None:
    """Make the table of claims under another name: its key cannot be changed in place everywhere."""
    op.create_table(
        name,
        text("worker"),
        *([text("scope")] if "scope" in key else []),
        text("item"),
        text("aspect"),
        text("hit_id"),
        sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"),
        sa.ForeignKeyConstraint(["hit_id"], ["workplace_hit.hit_id"], name=f"fk_{name}_hit_id"),
    )


def replace_claims(columns: str, values: str, key: list[str], end: str = "") -> None:
    op.drop_index("ix_workplace_claim_item_aspect", table_name="workplace_claim")
    claim_table("workplace_claim_new", key)
    op.execute(f"INSERT INTO workplace_claim_new ({columns}) SELECT {values} FROM workplace_claim {end}")
    op.drop_table("workplace_claim")
    claim_table("workplace_claim", key)
    op.execute(f"INSERT INTO workplace_claim ({columns}) SELECT {columns} FROM workplace_claim_new")
    op.drop_table("workplace_claim_new")
    op.create_index("ix_workplace_claim_item_aspect", "workplace_claim", ["item", "aspect"])


def upgrade() -> None:
    op.add_column("workplace_hit", sa.Column("scope", sa.Text, nullable=False, server_default=""))
    op.add_column("workplace_submission", text("recruited_by", nullable=True))
    op.add_column("workplace_submission", text("external_id", nullable=True))
    op.add_column("workplace_submission", text("order_key", nullable=True))
    op.add_column("workplace_mturk_hit", text("inputs", nullable=True))
    op.create_index("ix_workplace_mturk_hit_disposed_at", "workplace_mturk_hit", ["disposed_at", "created_at"])
    op.add_column("workplace_mturk_key", sa.Column("label", sa.Text, nullable=False, server_default=""))
    # An index, because SQLite adds no constraint to a table that others point to.
    op.create_index(
        "uq_workplace_submission_external", "workplace_submission", ["recruited_by", "external_id"], unique=True
    )
    replace_claims(
        "worker, scope, item, aspect, hit_id",
        "worker, '', item, aspect, hit_id",
        ["worker", "scope", "item", "aspect"],
    )
    op.create_table(
        "workplace_order",
        text("key"),
        text("hit_id"),
        sa.PrimaryKeyConstraint("key", "hit_id", name="pk_workplace_order"),
        sa.ForeignKeyConstraint(["hit_id"], ["workplace_hit.hit_id"], name="fk_workplace_order_hit_id"),
    )
    op.create_index("ix_workplace_order_hit_id", "workplace_order", ["hit_id"])
    op.create_table(
        "workplace_bonus",
        text("order_key"),
        text("submission_id"),
        text("worker"),
        sa.Column("amount_minor", sa.BigInteger, nullable=False),
        text("currency"),
        text("reason_code"),
        text("reason"),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("order_key", "submission_id", name="pk_workplace_bonus"),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["workplace_submission.submission_id"], name="fk_workplace_bonus_submission_id"
        ),
        sa.CheckConstraint("amount_minor > 0", name=op.f("ck_workplace_bonus_amount")),
    )
    op.create_index("ix_workplace_bonus_submission_id", "workplace_bonus", ["submission_id"])
    op.create_table(
        "workplace_inbox",
        text("platform"),
        text("event_id"),
        text("kind"),
        text("resource_id"),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("platform", "event_id", name="pk_workplace_inbox"),
    )
    op.create_index("ix_workplace_inbox_done_at", "workplace_inbox", ["platform", "done_at", "received_at"])


def downgrade() -> None:
    op.drop_table("workplace_inbox")
    op.drop_table("workplace_bonus")
    op.drop_table("workplace_order")
    # One claim of a worker and question is all that the older form can keep.
    replace_claims(
        "worker, item, aspect, hit_id",
        "worker, item, aspect, min(hit_id)",
        ["worker", "item", "aspect"],
        "GROUP BY worker, item, aspect",
    )
    op.drop_index("uq_workplace_submission_external", table_name="workplace_submission")
    op.drop_column("workplace_mturk_key", "label")
    op.drop_index("ix_workplace_mturk_hit_disposed_at", table_name="workplace_mturk_hit")
    op.drop_column("workplace_mturk_hit", "inputs")
    op.drop_column("workplace_submission", "order_key")
    op.drop_column("workplace_submission", "external_id")
    op.drop_column("workplace_submission", "recruited_by")
    op.drop_column("workplace_hit", "scope")
