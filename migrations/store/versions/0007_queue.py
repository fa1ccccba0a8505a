"""The work queue of the machine door, its answers inside the campaign, and webhooks.

Answers to the door so far lay beside the campaign; they become answers of round 0 on the platform "door".

Revision ID: 0007
Revises: 0006
Create Date: 2026-11-21
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_CARRIER = "Answers by the machine door"
_NEVER = "9999-12-31 00:00:00.000000"


def moment(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def campaign(table: str) -> list[sa.Column | sa.Constraint]:
    return [
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f(f"fk_{table}_campaign_id")),
    ]


def upgrade() -> None:
    op.add_column("api_key", text("skills", nullable=True))
    op.add_column("api_key", sa.Column("per_hour", sa.Double(), nullable=True))
    for name in ("allocated_to", "expert", "features"):
        op.add_column("allocation", text(name, nullable=True))
    op.create_table(
        "queue_place",
        *campaign("queue_place"),
        text("item"),
        sa.Column("slot", sa.Integer(), nullable=False, autoincrement=False),
        text("audience"),
        text("expert", nullable=True),
        moment("due_order"),
        sa.Column("calm", sa.Integer(), nullable=False),
        moment("put_at"),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        text("holder", nullable=True),
        moment("held_at", nullable=True),
        moment("until", nullable=True),
        sa.PrimaryKeyConstraint("campaign_id", "item", "slot", name=op.f("pk_queue_place")),
        sa.UniqueConstraint("campaign_id", "item", "holder", name=op.f("uq_queue_place_campaign_id_item_holder")),
    )
    order = ["campaign_id", "is_open", "due_order", "calm", "put_at"]
    op.create_index(op.f(f"ix_queue_place_{'_'.join(order)}"), "queue_place", order)
    op.create_index(op.f("ix_queue_place_expert_is_open"), "queue_place", ["expert", "is_open"])
    op.create_table(
        "webhook",
        text("id"),
        *campaign("webhook"),
        *(text(name) for name in ("url", "events", "by")),
        moment("created_at"),
        moment("ended_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook")),
    )
    op.create_table(
        "delivery",
        *(text(name) for name in ("id", "webhook_id", "event", "body", "state")),
        sa.Column("attempts", sa.Integer(), nullable=False),
        moment("due_at"),
        moment("created_at"),
        moment("sent_at", nullable=True),
        text("problem", nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"], name=op.f("fk_delivery_webhook_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
    )
    op.create_index(op.f("ix_delivery_state_due_at"), "delivery", ["state", "due_at"])
    op.create_table(
        "told",
        *campaign("told"),
        text("seen"),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_told")),
    )
    _answers_into_the_campaigns()
    _places_of_open_items()
    op.drop_table("door_answer")


def downgrade() -> None:
    op.create_table(
        "door_answer",
        *campaign("door_answer"),
        *(text(name) for name in ("item", "worker", "label")),
        moment("at"),
        sa.PrimaryKeyConstraint("campaign_id", "item", "worker", name=op.f("pk_door_answer")),
    )
    op.execute(
        """INSERT INTO door_answer (campaign_id, item, worker, label, at)
        SELECT a.campaign_id, a.item, a.worker, a.label, a.submitted FROM answer a
        JOIN submission s ON s.id = a.submission
        WHERE s.platform = 'door' AND a.submitted IS NOT NULL
        AND a.aspect = (SELECT MIN(b.aspect) FROM answer b
                        WHERE b.submission = a.submission AND b.item = a.item)"""
    )
    op.execute("DELETE FROM answer WHERE submission IN (SELECT id FROM submission WHERE platform = 'door')")
    op.execute("DELETE FROM submission WHERE platform = 'door'")
    op.execute("DELETE FROM hit WHERE platform = 'door'")
    for table in ("told", "delivery", "webhook", "queue_place"):
        op.drop_table(table)
    for name in ("features", "expert", "allocated_to"):
        op.drop_column("allocation", name)
    for name in ("per_hour", "skills"):
        op.drop_column("api_key", name)


def _answers_into_the_campaigns() -> None:
    """Give each campaign that the door has answers to a carrier, each of its people a submission, and copy them."""
    op.execute(
        f"""INSERT INTO hit (key, campaign_id, round, seq, title, redundancy, pay_minor, currency, expected_s, state,
                             platform)
        SELECT 'door-' || c.id || '-crowd', c.id, 0,
               (SELECT COALESCE(MAX(h.seq), -1) + 1 FROM hit h WHERE h.campaign_id = c.id),
               '{_CARRIER}', 1, 0, 'USD', 0, 'closed', 'door'
        FROM campaign c WHERE EXISTS (SELECT 1 FROM door_answer d WHERE d.campaign_id = c.id)"""
    )
    op.execute(
        """INSERT INTO submission (campaign_id, round, platform, submission_id, hit_key, worker, state, time_quality)
        SELECT DISTINCT d.campaign_id, 0, 'door', 'door-' || d.campaign_id || '-' || d.worker,
               'door-' || d.campaign_id || '-crowd', d.worker, 'approved', 'no_heartbeat' FROM door_answer d"""
    )
    op.execute(
        """INSERT INTO answer (submission, item, aspect, campaign_id, round, worker, label, submitted, mode, retest)
        SELECT s.id, d.item, 
               (SELECT a.name FROM aspect a WHERE a.campaign_id = d.campaign_id ORDER BY a.position LIMIT 1), d.campaign_id, 0,
               d.worker, d.label, d.at, 'blind', 0
        FROM door_answer d JOIN submission s
          ON s.platform = 'door' AND s.submission_id = 'door-' || d.campaign_id || '-' || d.worker"""
    )


def _places_of_open_items() -> None:
    """Give each item that still waits for people the places that its campaign asks for."""
    connection = op.get_bind()
    settings = connection.execute(sa.text("SELECT id, settings FROM campaign")).all()
    never = f"CAST('{_NEVER}' AS TIMESTAMP WITH TIME ZONE)" if connection.dialect.name != "sqlite" else f"'{_NEVER}'"
    for number, written in settings:
        for slot in range(int(json.loads(written or "{}").get("redundancy", 1))):
            op.execute(
                f"""INSERT INTO queue_place (campaign_id, item, slot, audience, due_order, calm, put_at, is_open)
                SELECT campaign_id, item, {slot}, 'crowd', COALESCE(due_at, {never}), 2, at, is_open
                FROM allocation WHERE campaign_id = {number} AND is_open"""
            )
