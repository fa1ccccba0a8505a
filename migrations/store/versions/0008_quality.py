"""Quality control: tests and attempts, approval rates over time, drift, alerts, gates' decisions, experts' work.

Revision ID: 0008
Revises: 0007
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = (
    "expert_assignment",
    "gate_decision",
    "alert_notice",
    "alert_state",
    "drift_alarm",
    "approval_rate",
    "qualification_attempt",
    "qualification_test",
)


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def whole(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), nullable=False)


def number(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Double(), nullable=nullable)


def key(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer(), autoincrement=False, nullable=False)


def counted() -> sa.Column:
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False)


def make(table: str, *columns: sa.Column, primary: tuple[str, ...]) -> None:
    op.create_table(
        table,
        whole("campaign_id"),
        *columns,
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
        sa.PrimaryKeyConstraint(*primary, name=op.f(f"pk_{table}")),
    )


def upgrade() -> None:
    make(
        "qualification_test",
        text("name"),
        key("version"),
        text("answer_key"),
        text("training", nullable=True),
        number("pass_share"),
        whole("attempts"),
        number("delay_s"),
        time("made_at"),
        primary=("campaign_id", "name", "version"),
    )
    make(
        "qualification_attempt",
        text("test"),
        key("version"),
        text("worker"),
        key("number"),
        *(whole(name) for name in ("right", "n")),
        sa.Column("passed", sa.Boolean(), nullable=False),
        time("at"),
        primary=("campaign_id", "test", "version", "worker", "number"),
    )
    make(
        "approval_rate",
        *(text(name) for name in ("worker", "source")),
        time("at"),
        number("rate", nullable=True),
        sa.Column("reviewed", sa.BigInteger(), nullable=True),
        primary=("campaign_id", "worker", "source", "at"),
    )
    make(
        "drift_alarm",
        text("worker"),
        time("at"),
        whole("answers"),
        time("since", nullable=True),
        *(number(name) for name in ("statistic", "threshold")),
        text("reason"),
        time("found_at"),
        primary=("campaign_id", "worker", "at"),
    )
    make(
        "alert_state",
        *(text(name) for name in ("rule", "subject")),
        whole("wrong_in_a_row"),
        *(time(name, nullable=True) for name in ("since", "said")),
        primary=("campaign_id", "rule", "subject"),
    )
    _make_logs()


def _make_logs() -> None:
    make(
        "alert_notice",
        counted(),
        *(text(name) for name in ("kind", "rule", "subject")),
        number("value"),
        *(text(name) for name in ("severity", "message")),
        *(time(name) for name in ("at", "since")),
        primary=("id",),
    )
    op.create_index(op.f("ix_alert_notice_campaign_id"), "alert_notice", ["campaign_id"])
    make(
        "gate_decision",
        counted(),
        *(text(name) for name in ("aspect", "item")),
        time("decided_at"),
        *(
            text(name)
            for name in (
                "decided_by",
                "decider",
                "policy",
                "policy_version",
                "decision",
                "reason_code",
                "evidence",
            )
        ),
        text("label", nullable=True),
        number("score", nullable=True),
        primary=("id",),
    )
    of_item = ["campaign_id", "aspect", "item"]
    op.create_index(op.f("ix_gate_decision_campaign_id_aspect_item"), "gate_decision", of_item)
    make(
        "expert_assignment",
        *(text(name) for name in ("aspect", "item", "expert")),
        *(whole(name) for name in ("tier", "place")),
        number("score"),
        time("assigned_at"),
        time("due_at", nullable=True),
        primary=("campaign_id", "aspect", "item"),
    )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
