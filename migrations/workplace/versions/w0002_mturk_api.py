"""The MTurk-API front door: accounts, keys, HIT types, HITs, assignments, money, qualifications, messages.

Revision ID: w0002
Revises: w0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "w0002"
down_revision = "w0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workplace_mturk_account",
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("balance_minor", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("balance_minor >= 0", name=op.f("ck_workplace_mturk_account_balance")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_workplace_mturk_account")),
    )
    op.create_table(
        "workplace_mturk_block",
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "worker", name=op.f("pk_workplace_mturk_block")),
    )
    op.create_table(
        "workplace_mturk_layout",
        sa.Column("layout_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("html", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("layout_id", name=op.f("pk_workplace_mturk_layout")),
    )
    op.create_table(
        "workplace_mturk_secret",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workplace_mturk_secret")),
    )
    op.create_table(
        "workplace_mturk_token",
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "operation", "token", name=op.f("pk_workplace_mturk_token")),
    )
    op.create_table(
        "workplace_mturk_worker",
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("country", sa.Text, nullable=True),
        sa.Column("subdivision", sa.Text, nullable=True),
        sa.Column("is_adult", sa.Boolean, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker", name=op.f("pk_workplace_mturk_worker")),
    )
    op.create_table(
        "workplace_mturk_hit_type",
        sa.Column("hit_type_id", sa.Text, nullable=False),
        sa.Column("group_id", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("keywords", sa.Text, nullable=True),
        sa.Column("reward_minor", sa.BigInteger, nullable=False),
        sa.Column("duration_s", sa.BigInteger, nullable=False),
        sa.Column("auto_approval_s", sa.BigInteger, nullable=False),
        sa.Column("requirements", sa.Text, nullable=False),
        sa.Column("notification", sa.Text, nullable=True),
        sa.Column("is_notifying", sa.Boolean, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["workplace_mturk_account.account_id"], name=op.f("fk_workplace_mturk_hit_type_account_id")
        ),
        sa.PrimaryKeyConstraint("hit_type_id", name=op.f("pk_workplace_mturk_hit_type")),
        sa.UniqueConstraint(
            "account_id", "content_hash", name=op.f("uq_workplace_mturk_hit_type_account_id_content_hash")
        ),
        sa.UniqueConstraint("group_id", name=op.f("uq_workplace_mturk_hit_type_group_id")),
    )
    op.create_table(
        "workplace_mturk_key",
        sa.Column("access_key", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["workplace_mturk_account.account_id"], name=op.f("fk_workplace_mturk_key_account_id")
        ),
        sa.PrimaryKeyConstraint("access_key", name=op.f("pk_workplace_mturk_key")),
    )
    op.create_table(
        "workplace_mturk_message",
        sa.Column("message_id", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["workplace_mturk_account.account_id"], name=op.f("fk_workplace_mturk_message_account_id")
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_workplace_mturk_message")),
    )
    op.create_index(op.f("ix_workplace_mturk_message_worker"), "workplace_mturk_message", ["worker"], unique=False)
    op.create_table(
        "workplace_mturk_qualification_type",
        sa.Column("qualification_type_id", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("keywords", sa.Text, nullable=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("test", sa.Text, nullable=True),
        sa.Column("answer_key", sa.Text, nullable=True),
        sa.Column("test_duration_s", sa.BigInteger, nullable=True),
        sa.Column("retry_delay_s", sa.BigInteger, nullable=True),
        sa.Column("auto_granted", sa.Boolean, nullable=False),
        sa.Column("auto_granted_value", sa.Integer, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["workplace_mturk_account.account_id"],
            name=op.f("fk_workplace_mturk_qualification_type_account_id"),
        ),
        sa.PrimaryKeyConstraint("qualification_type_id", name=op.f("pk_workplace_mturk_qualification_type")),
    )
    op.create_index(
        "uq_workplace_mturk_qualification_type_name",
        "workplace_mturk_qualification_type",
        ["account_id", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "workplace_mturk_hit",
        sa.Column("hit_id", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("hit_type_id", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("layout_id", sa.Text, nullable=True),
        sa.Column("annotation", sa.Text, nullable=True),
        sa.Column("max_assignments", sa.Integer, nullable=False),
        sa.Column("unit_minor", sa.BigInteger, nullable=False),
        sa.Column("held_minor", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disposed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_reviewing", sa.Boolean, nullable=False),
        sa.Column("is_expiry_settled", sa.Boolean, nullable=False),
        sa.Column("is_policy_done", sa.Boolean, nullable=False),
        sa.Column("assignment_policy", sa.Text, nullable=True),
        sa.Column("hit_policy", sa.Text, nullable=True),
        sa.CheckConstraint("held_minor >= 0", name=op.f("ck_workplace_mturk_hit_held")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["workplace_mturk_account.account_id"], name=op.f("fk_workplace_mturk_hit_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["hit_type_id"], ["workplace_mturk_hit_type.hit_type_id"], name=op.f("fk_workplace_mturk_hit_hit_type_id")
        ),
        sa.PrimaryKeyConstraint("hit_id", name=op.f("pk_workplace_mturk_hit")),
    )
    op.create_index(
        "ix_workplace_mturk_hit_account_id_hit_id", "workplace_mturk_hit", ["account_id", "hit_id"], unique=False
    )
    op.create_index("ix_workplace_mturk_hit_annotation", "workplace_mturk_hit", ["annotation"], unique=False)
    op.create_index(
        "ix_workplace_mturk_hit_expires_at", "workplace_mturk_hit", ["is_expiry_settled", "expires_at"], unique=False
    )
    op.create_table(
        "workplace_mturk_qualification",
        sa.Column("qualification_type_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("value", sa.Integer, nullable=True),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["qualification_type_id"],
            ["workplace_mturk_qualification_type.qualification_type_id"],
            name=op.f("fk_workplace_mturk_qualification_qualification_type_id"),
        ),
        sa.PrimaryKeyConstraint("qualification_type_id", "worker", name=op.f("pk_workplace_mturk_qualification")),
    )
    op.create_table(
        "workplace_mturk_qualification_request",
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("qualification_type_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("answer", sa.Text, nullable=True),
        sa.Column("reason", sa.Text, nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["qualification_type_id"],
            ["workplace_mturk_qualification_type.qualification_type_id"],
            name=op.f("fk_workplace_mturk_qualification_request_qualification_type_id"),
        ),
        sa.PrimaryKeyConstraint("request_id", name=op.f("pk_workplace_mturk_qualification_request")),
    )
    op.create_index(
        "ix_workplace_mturk_qualification_request_type",
        "workplace_mturk_qualification_request",
        ["qualification_type_id", "worker"],
        unique=False,
    )
    op.create_table(
        "workplace_mturk_assignment",
        sa.Column("assignment_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("hit_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rendered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("auto_approve_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rejected_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("feedback", sa.Text, nullable=True),
        sa.Column("answer", sa.Text, nullable=True),
        sa.Column("fields", sa.Text, nullable=True),
        sa.Column("draft", sa.Text, nullable=True),
        sa.Column("is_auto", sa.Boolean, nullable=False),
        sa.Column("is_late", sa.Boolean, nullable=False),
        sa.Column("page_elapsed_s", sa.Double, nullable=True),
        sa.Column("active_s", sa.Double, nullable=True),
        sa.Column("time_quality", sa.Text, nullable=False),
        sa.CheckConstraint(
            "state IN ('accepted', 'submitted', 'approved', 'rejected', 'returned', 'expired')",
            name=op.f("ck_workplace_mturk_assignment_state"),
        ),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["workplace_mturk_account.account_id"],
            name=op.f("fk_workplace_mturk_assignment_account_id"),
        ),
        sa.ForeignKeyConstraint(
            ["hit_id"], ["workplace_mturk_hit.hit_id"], name=op.f("fk_workplace_mturk_assignment_hit_id")
        ),
        sa.PrimaryKeyConstraint("assignment_id", "worker", name=op.f("pk_workplace_mturk_assignment")),
    )
    op.create_index(
        "ix_workplace_mturk_assignment_hit_id_submitted_at",
        "workplace_mturk_assignment",
        ["hit_id", "submitted_at"],
        unique=False,
    )
    op.create_index(
        "ix_workplace_mturk_assignment_state_auto_approve_at",
        "workplace_mturk_assignment",
        ["state", "auto_approve_at"],
        unique=False,
    )
    op.create_index(
        "ix_workplace_mturk_assignment_state_deadline_at",
        "workplace_mturk_assignment",
        ["state", "deadline_at"],
        unique=False,
    )
    op.create_index("ix_workplace_mturk_assignment_worker", "workplace_mturk_assignment", ["worker"], unique=False)
    op.create_index(
        "uq_workplace_mturk_assignment_live_id",
        "workplace_mturk_assignment",
        ["assignment_id"],
        unique=True,
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    )
    op.create_index(
        "uq_workplace_mturk_assignment_live_worker",
        "workplace_mturk_assignment",
        ["hit_id", "worker"],
        unique=True,
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    )
    op.create_table(
        "workplace_mturk_bonus",
        sa.Column("bonus_id", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("hit_id", sa.Text, nullable=False),
        sa.Column("assignment_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("amount_minor", sa.BigInteger, nullable=False),
        sa.Column("fee_minor", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["workplace_mturk_account.account_id"], name=op.f("fk_workplace_mturk_bonus_account_id")
        ),
        sa.ForeignKeyConstraint(
            ["hit_id"], ["workplace_mturk_hit.hit_id"], name=op.f("fk_workplace_mturk_bonus_hit_id")
        ),
        sa.PrimaryKeyConstraint("bonus_id", name=op.f("pk_workplace_mturk_bonus")),
    )
    op.create_index(
        op.f("ix_workplace_mturk_bonus_assignment_id"), "workplace_mturk_bonus", ["assignment_id"], unique=False
    )
    op.create_index("ix_workplace_mturk_bonus_hit_id", "workplace_mturk_bonus", ["hit_id"], unique=False)
    op.create_table(
        "workplace_mturk_review",
        sa.Column("hit_id", sa.Text, nullable=False),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["hit_id"], ["workplace_mturk_hit.hit_id"], name=op.f("fk_workplace_mturk_review_hit_id")
        ),
        sa.PrimaryKeyConstraint("hit_id", "level", "seq", name=op.f("pk_workplace_mturk_review")),
    )
    op.create_table(
        "workplace_mturk_event",
        sa.Column("assignment_id", sa.Text, nullable=False),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("page_ms", sa.Double, nullable=True),
        sa.Column("item", sa.Text, nullable=True),
        sa.ForeignKeyConstraint(
            ["assignment_id", "worker"],
            ["workplace_mturk_assignment.assignment_id", "workplace_mturk_assignment.worker"],
            name="fk_workplace_mturk_event_assignment",
        ),
        sa.PrimaryKeyConstraint("assignment_id", "worker", "seq", name=op.f("pk_workplace_mturk_event")),
    )


def downgrade() -> None:
    op.drop_table("workplace_mturk_event")
    op.drop_table("workplace_mturk_review")
    op.drop_index("ix_workplace_mturk_bonus_hit_id", table_name="workplace_mturk_bonus")
    op.drop_index(op.f("ix_workplace_mturk_bonus_assignment_id"), table_name="workplace_mturk_bonus")
    op.drop_table("workplace_mturk_bonus")
    op.drop_index(
        "uq_workplace_mturk_assignment_live_worker",
        table_name="workplace_mturk_assignment",
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    )
    op.drop_index(
        "uq_workplace_mturk_assignment_live_id",
        table_name="workplace_mturk_assignment",
        sqlite_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
        postgresql_where=sa.text("state IN ('accepted', 'submitted', 'approved', 'rejected')"),
    )
    op.drop_index("ix_workplace_mturk_assignment_worker", table_name="workplace_mturk_assignment")
    op.drop_index("ix_workplace_mturk_assignment_state_deadline_at", table_name="workplace_mturk_assignment")
    op.drop_index("ix_workplace_mturk_assignment_state_auto_approve_at", table_name="workplace_mturk_assignment")
    op.drop_index("ix_workplace_mturk_assignment_hit_id_submitted_at", table_name="workplace_mturk_assignment")
    op.drop_table("workplace_mturk_assignment")
    op.drop_index("ix_workplace_mturk_qualification_request_type", table_name="workplace_mturk_qualification_request")
    op.drop_table("workplace_mturk_qualification_request")
    op.drop_table("workplace_mturk_qualification")
    op.drop_index("ix_workplace_mturk_hit_expires_at", table_name="workplace_mturk_hit")
    op.drop_index("ix_workplace_mturk_hit_annotation", table_name="workplace_mturk_hit")
    op.drop_index("ix_workplace_mturk_hit_account_id_hit_id", table_name="workplace_mturk_hit")
    op.drop_table("workplace_mturk_hit")
    op.drop_index(
        "uq_workplace_mturk_qualification_type_name",
        table_name="workplace_mturk_qualification_type",
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.drop_table("workplace_mturk_qualification_type")
    op.drop_index(op.f("ix_workplace_mturk_message_worker"), table_name="workplace_mturk_message")
    op.drop_table("workplace_mturk_message")
    op.drop_table("workplace_mturk_key")
    op.drop_table("workplace_mturk_hit_type")
    op.drop_table("workplace_mturk_worker")
    op.drop_table("workplace_mturk_token")
    op.drop_table("workplace_mturk_secret")
    op.drop_table("workplace_mturk_layout")
    op.drop_table("workplace_mturk_block")
    op.drop_table("workplace_mturk_account")
