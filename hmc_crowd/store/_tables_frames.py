"""The tables of what a campaign is about: aspects, items, predictions, efforts, gold and plans."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key
from hmc_crowd.store._types import Json

__all__ = ["Artefact", "Aspect", "Campaign", "Effort", "Gold", "Item", "ItemBatch", "Plan", "PlanItem", "Prediction"]


class Campaign(Base):
    """A whole evaluation."""

    __tablename__ = "campaign"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    settings: Mapped[dict[str, Any]]
    round: Mapped[int]
    items: Mapped[int] = mapped_column(sa.BigInteger)
    created_at: Mapped[datetime]


class Aspect(Base):
    """One question about the items of a campaign."""

    __tablename__ = "aspect"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    kind: Mapped[str]
    labels: Mapped[list[str]]
    guideline_version: Mapped[str]
    language: Mapped[str]
    guideline: Mapped[str] = mapped_column(server_default="")
    question: Mapped[str] = mapped_column(server_default="")


class Artefact(Base):
    """A Parquet file beside the database: a bulk frame of a large campaign."""

    __tablename__ = "artefact"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "kind", "aspect", "part"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    kind: Mapped[str]
    aspect: Mapped[str]
    part: Mapped[int]
    path: Mapped[str]
    content_hash: Mapped[str]
    length: Mapped[int] = mapped_column(sa.BigInteger)
    present: Mapped[int] = mapped_column(sa.BigInteger)
    created_at: Mapped[datetime]


class Item(Base):
    """One thing to be judged, of a campaign small enough for rows."""

    __tablename__ = "item"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "seq"),)
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    group: Mapped[str]
    position: Mapped[int]
    text: Mapped[str]
    audience: Mapped[str]
    features: Mapped[dict[str, Any] | None] = mapped_column(Json())
    sensitive: Mapped[bool] = mapped_column(server_default=sa.false())
    erased_at: Mapped[datetime | None]
    response_a: Mapped[str | None]
    response_b: Mapped[str | None]


class ItemBatch(Base):
    """When which places of a campaign's items were added: how old a text is, without a time on every row."""

    __tablename__ = "item_batch"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    first_seq: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    length: Mapped[int] = mapped_column(sa.BigInteger)
    added_at: Mapped[datetime]


class Prediction(Base):
    """The machine's label for an item and aspect."""

    __tablename__ = "prediction"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    label: Mapped[str]
    confidence: Mapped[float]
    probabilities: Mapped[dict[str, Any] | None] = mapped_column(Json())
    model_version: Mapped[str | None]


class Effort(Base):
    """Predicted human time of an item."""

    __tablename__ = "effort"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    seconds: Mapped[float]
    share: Mapped[float | None]
    setup_s: Mapped[float | None]
    p90_s: Mapped[float | None]
    model_version: Mapped[str | None]


class Gold(Base):
    """A known label."""

    __tablename__ = "gold"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    label: Mapped[str]


class Plan(Base):
    """How a plan was made, and its content's hash."""

    __tablename__ = "plan"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "round", "content_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    round: Mapped[int]
    header: Mapped[dict[str, Any]]
    content_hash: Mapped[str]
    length: Mapped[int] = mapped_column(sa.BigInteger)
    path: Mapped[str | None]
    created_at: Mapped[datetime]


class PlanItem(Base):
    """Where one item goes, of a plan small enough for rows; ``seq`` keeps the plan's own order."""

    __tablename__ = "plan_item"
    plan_id: Mapped[int] = mapped_column(sa.ForeignKey("plan.id"), primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    destination: Mapped[str]
    pool: Mapped[str | None]
    reason: Mapped[str | None]
    gain: Mapped[float | None]
    confidence: Mapped[float | None]
    effort_s: Mapped[float | None]
    inclusion_probability: Mapped[float | None]
    rank: Mapped[int | None] = mapped_column(sa.BigInteger)
