"""The tables of the first step: campaign, bulk frames, plan, work, budget, workers, labels, models, events.

Revision ID: 0001
Revises:
Create Date: 2026-11-21
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# 64 bits everywhere; SQLite numbers rows by itself only in a column declared INTEGER.
BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# Only an erasure may change an event: payload and salt become NULL together, all else stays.
KEPT = ("id", "campaign_id", "shard", "seq", "kind", "item", "commitment", "hash", "at")


def guard_events() -> None:
    if op.get_bind().dialect.name == "sqlite":
        same = " AND ".join(f'NEW."{name}" IS OLD."{name}"' for name in KEPT)
        op.execute(
            f"CREATE TRIGGER event_no_update BEFORE UPDATE ON event WHEN NOT (NEW.payload IS NULL AND NEW.salt IS NULL AND {same})"
            " BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
        )
        op.execute(
            "CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
        )
        return
    same = " AND ".join(f'NEW."{name}" IS NOT DISTINCT FROM OLD."{name}"' for name in KEPT)
    op.execute(
        "CREATE FUNCTION hmc_crowd_event_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP = 'UPDATE' AND NEW.payload IS NULL AND NEW.salt IS NULL AND {same} THEN RETURN NEW; END IF;"
        " RAISE EXCEPTION 'events are append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER event_no_change BEFORE UPDATE OR DELETE ON event"
        " FOR EACH ROW EXECUTE FUNCTION hmc_crowd_event_guard()"
    )
    op.execute(
        "CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON event"
        " FOR EACH STATEMENT EXECUTE FUNCTION hmc_crowd_event_guard()"
    )


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("items", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("name", name=op.f("uq_campaign_name")),
    )
    op.create_table(
        "worker_identity",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("raw_id", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "raw_id", name=op.f("pk_worker_identity")),
        sa.UniqueConstraint("platform", "worker", name=op.f("uq_worker_identity_platform_worker")),
    )
    op.create_table(
        "artefact",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("present", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_artefact_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artefact")),
        sa.UniqueConstraint(
            "campaign_id", "kind", "aspect", "part", name=op.f("uq_artefact_campaign_id_kind_aspect_part")
        ),
    )
    op.create_table(
        "aspect",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("guideline_version", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_aspect_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "name", name=op.f("pk_aspect")),
    )
    op.create_table(
        "budget",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("reserved_minor", sa.BigInteger(), nullable=False),
        sa.Column("settled_minor", sa.BigInteger(), nullable=False),
        sa.Column("released_minor", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_budget_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", name=op.f("pk_budget")),
    )
    op.create_table(
        "budget_entry",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("settled_minor", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_budget_entry_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "key", name=op.f("pk_budget_entry")),
    )
    op.create_table(
        "certificate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_certificate_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_certificate")),
        sa.UniqueConstraint(
            "campaign_id", "round", "content_hash", name=op.f("uq_certificate_campaign_id_round_content_hash")
        ),
    )
    op.create_table(
        "effort",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("share", sa.Double(), nullable=True),
        sa.Column("setup_s", sa.Double(), nullable=True),
        sa.Column("p90_s", sa.Double(), nullable=True),
        sa.Column("model_version", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_effort_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "item", name=op.f("pk_effort")),
    )
    op.create_table(
        "event",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("shard", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=True),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("salt", sa.Text(), nullable=True),
        sa.Column("commitment", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_event_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("campaign_id", "shard", "seq", name=op.f("uq_event_campaign_id_shard_seq")),
    )
    op.create_index(op.f("ix_event_campaign_id_item"), "event", ["campaign_id", "item"], unique=False)
    op.create_table(
        "event_head",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("shard", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_event_head_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "shard", name=op.f("pk_event_head")),
    )
    op.create_table(
        "gold",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_gold_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "aspect", "item", name=op.f("pk_gold")),
    )
    op.create_table(
        "hit",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("redundancy", sa.Integer(), nullable=False),
        sa.Column("pay_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("expected_s", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=True),
        sa.Column("platform_hit_id", sa.Text(), nullable=True),
        sa.Column("salvaged_from", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_hit_campaign_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_hit")),
    )
    op.create_index(op.f("ix_hit_campaign_id_round"), "hit", ["campaign_id", "round"], unique=False)
    op.create_table(
        "intent",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("payload_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_intent_campaign_id")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_intent")),
    )
    op.create_index(op.f("ix_intent_campaign_id_state"), "intent", ["campaign_id", "state"], unique=False)
    op.create_table(
        "item",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("group", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("audience", sa.Text(), nullable=False),
        sa.Column("features", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_item_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "item", name=op.f("pk_item")),
        sa.UniqueConstraint("campaign_id", "seq", name=op.f("uq_item_campaign_id_seq")),
    )
    op.create_table(
        "label",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("n_answers", sa.Integer(), nullable=False),
        sa.Column("tied", sa.Boolean(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.Column("posterior", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_label_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "aspect", "item", "round", name=op.f("pk_label")),
    )
    op.create_table(
        "model",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("blob", sa.LargeBinary(), nullable=False),
        sa.Column("data_hash", sa.Text(), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_model_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "kind", "version", name=op.f("pk_model")),
    )
    op.create_table(
        "plan",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("header", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("length", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_plan_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plan")),
        sa.UniqueConstraint(
            "campaign_id", "round", "content_hash", name=op.f("uq_plan_campaign_id_round_content_hash")
        ),
    )
    op.create_table(
        "prediction",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("probabilities", sa.Text(), nullable=True),
        sa.Column("model_version", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_prediction_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "aspect", "item", name=op.f("pk_prediction")),
    )
    op.create_table(
        "worker_score",
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("as_of", sa.DateTime(timezone=True), nullable=False),
        sa.Column("right", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_worker_score_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "worker", "as_of", name=op.f("pk_worker_score")),
    )
    op.create_table(
        "hit_item",
        sa.Column("hit_key", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("is_gold", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["hit_key"], ["hit.key"], name=op.f("fk_hit_item_hit_key")),
        sa.PrimaryKeyConstraint("hit_key", "item", "aspect", name=op.f("pk_hit_item")),
    )
    op.create_table(
        "plan_item",
        sa.Column("plan_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("pool", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("gain", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("effort_s", sa.Double(), nullable=True),
        sa.Column("inclusion_probability", sa.Double(), nullable=True),
        sa.Column("rank", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["plan.id"], name=op.f("fk_plan_item_plan_id")),
        sa.PrimaryKeyConstraint("plan_id", "item", "aspect", name=op.f("pk_plan_item")),
    )
    op.create_table(
        "submission",
        sa.Column("id", BIG_KEY, nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("submission_id", sa.Text(), nullable=False),
        sa.Column("hit_key", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("platform_elapsed_s", sa.Double(), nullable=True),
        sa.Column("page_elapsed_s", sa.Double(), nullable=True),
        sa.Column("active_s", sa.Double(), nullable=True),
        sa.Column("time_quality", sa.Text(), nullable=False),
        sa.Column("excluded", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_submission_campaign_id")),
        sa.ForeignKeyConstraint(["hit_key"], ["hit.key"], name=op.f("fk_submission_hit_key")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint("platform", "submission_id", name=op.f("uq_submission_platform_submission_id")),
    )
    op.create_index(op.f("ix_submission_campaign_id_round"), "submission", ["campaign_id", "round"], unique=False)
    op.create_table(
        "answer",
        sa.Column("submission", BIG_KEY, autoincrement=False, nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("aspect", sa.Text(), nullable=False),
        sa.Column("campaign_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("submitted", sa.DateTime(timezone=True), nullable=True),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("retest", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["submission"], ["submission.id"], name=op.f("fk_answer_submission")),
        sa.PrimaryKeyConstraint("submission", "item", "aspect", name=op.f("pk_answer")),
        sa.UniqueConstraint(
            "campaign_id",
            "round",
            "item",
            "aspect",
            "worker",
            "retest",
            name=op.f("uq_answer_campaign_id_round_item_aspect_worker_retest"),
        ),
    )
    guard_events()


def downgrade() -> None:
    op.drop_table("answer")
    op.drop_index(op.f("ix_submission_campaign_id_round"), table_name="submission")
    op.drop_table("submission")
    op.drop_table("plan_item")
    op.drop_table("hit_item")
    op.drop_table("worker_score")
    op.drop_table("prediction")
    op.drop_table("plan")
    op.drop_table("model")
    op.drop_table("label")
    op.drop_table("item")
    op.drop_index(op.f("ix_intent_campaign_id_state"), table_name="intent")
    op.drop_table("intent")
    op.drop_index(op.f("ix_hit_campaign_id_round"), table_name="hit")
    op.drop_table("hit")
    op.drop_table("gold")
    op.drop_table("event_head")
    op.drop_index(op.f("ix_event_campaign_id_item"), table_name="event")
    op.drop_table("event")
    op.drop_table("effort")
    op.drop_table("certificate")
    op.drop_table("budget_entry")
    op.drop_table("budget")
    op.drop_table("aspect")
    op.drop_table("artefact")
    op.drop_table("worker_identity")
    op.drop_table("campaign")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION hmc_crowd_event_guard()")
