"""Which tables does the store hold? Typed models; the history in ``migrations/store`` makes exactly these.

Rows follow people, not items: what people touch or audit is a row; above a million items the bulk columns (items,
predictions, efforts, plans) are Parquet artefacts and only ``artefact`` or ``plan`` holds a row about them. That is why
an item id is text without a foreign key to ``item``. ``seq`` is the item's place in insertion order, kept beside every
bulk row, so that frames come back in that order without a join.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from hmc_crowd.store._types import Json, UtcDateTime

__all__ = [
    "Answer",
    "Artefact",
    "Aspect",
    "Base",
    "Budget",
    "BudgetEntry",
    "Campaign",
    "Certificate",
    "Effort",
    "Event",
    "EventHead",
    "Gold",
    "Hit",
    "HitItem",
    "Intent",
    "Item",
    "Label",
    "Model",
    "Plan",
    "PlanItem",
    "Prediction",
    "Submission",
    "WorkerIdentity",
    "WorkerScore",
]

_CAMPAIGN = "campaign.id"
# 64 bits everywhere; SQLite numbers rows by itself only in a column declared INTEGER.
_BigKey = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class Base(DeclarativeBase):
    """Types and names common to all tables; fixed constraint names let later migrations find them."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: sa.Text(),
        float: sa.Double(),
        datetime: UtcDateTime(),
        dict[str, Any]: Json(),
        list[str]: Json(),
    }

    @classmethod
    def table(cls) -> sa.Table:
        """Return the table of this model."""
        table = cls.__table__
        if not isinstance(table, sa.Table):  # a model is never mapped to a join here
            raise TypeError(f"{cls.__name__} is not mapped to a table")
        return table


def _campaign(*, primary_key: bool = False) -> Mapped[int]:
    return mapped_column(sa.ForeignKey(_CAMPAIGN), primary_key=primary_key)


def _number(*, primary_key: bool = False) -> Mapped[int]:
    """Map a plain integer; inside a key it is never handed out by the database."""
    return mapped_column(sa.Integer, primary_key=primary_key, autoincrement=False)


def _money() -> Mapped[int]:
    """Minor units; 64 bits on PostgreSQL too."""
    return mapped_column(sa.BigInteger)


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
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    kind: Mapped[str]
    labels: Mapped[list[str]]
    guideline_version: Mapped[str]
    language: Mapped[str]


class Artefact(Base):
    """A Parquet file beside the database: a bulk frame of a large campaign."""

    __tablename__ = "artefact"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "kind", "aspect", "part"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = _campaign()
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
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    group: Mapped[str]
    position: Mapped[int]
    text: Mapped[str]
    audience: Mapped[str]
    features: Mapped[dict[str, Any] | None] = mapped_column(Json())


class Prediction(Base):
    """The machine's label for an item and aspect."""

    __tablename__ = "prediction"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
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
    campaign_id: Mapped[int] = _campaign(primary_key=True)
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
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    label: Mapped[str]


class Plan(Base):
    """How a plan was made, and its content's hash."""

    __tablename__ = "plan"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "round", "content_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = _campaign()
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


class Hit(Base):
    """A bundle of questions for one worker at a time."""

    __tablename__ = "hit"
    __table_args__ = (sa.Index(None, "campaign_id", "round"),)
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = _campaign()
    round: Mapped[int]
    seq: Mapped[int]
    title: Mapped[str]
    redundancy: Mapped[int]
    pay_minor: Mapped[int] = _money()
    currency: Mapped[str]
    expected_s: Mapped[float]
    state: Mapped[str]
    platform: Mapped[str | None]
    platform_hit_id: Mapped[str | None]
    salvaged_from: Mapped[str | None]


class HitItem(Base):
    """One question inside a HIT."""

    __tablename__ = "hit_item"
    hit_key: Mapped[str] = mapped_column(sa.ForeignKey("hit.key"), primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    is_gold: Mapped[bool]


class Intent(Base):
    """An outside effect, committed before the call is made."""

    __tablename__ = "intent"
    __table_args__ = (sa.Index(None, "campaign_id", "state"),)
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = _campaign()
    operation: Mapped[str]
    payload_hash: Mapped[str]
    state: Mapped[str]
    amount_minor: Mapped[int] = _money()
    currency: Mapped[str]
    result: Mapped[dict[str, Any] | None] = mapped_column(Json())
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class Submission(Base):
    """One worker's work on one HIT; ``id`` is ours, ``submission_id`` the platform's."""

    __tablename__ = "submission"
    __table_args__ = (sa.UniqueConstraint("platform", "submission_id"), sa.Index(None, "campaign_id", "round"))
    id: Mapped[int] = mapped_column(_BigKey, primary_key=True)
    campaign_id: Mapped[int] = _campaign()
    round: Mapped[int]
    platform: Mapped[str]
    submission_id: Mapped[str]
    hit_key: Mapped[str] = mapped_column(sa.ForeignKey("hit.key"))
    worker: Mapped[str]
    state: Mapped[str]
    accepted_at: Mapped[datetime | None]
    submitted_at: Mapped[datetime | None]
    platform_elapsed_s: Mapped[float | None]
    page_elapsed_s: Mapped[float | None]
    active_s: Mapped[float | None]
    time_quality: Mapped[str]
    excluded: Mapped[str | None]


class Answer(Base):
    """One worker's label for one item and aspect.

    The key says one answer per submission, item and aspect; the second constraint says a worker once per round unless a
    retest is asked. Campaign, round and worker are repeated from the submission because that constraint needs them.
    """

    __tablename__ = "answer"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "round", "item", "aspect", "worker", "retest"),)
    submission: Mapped[int] = mapped_column(
        _BigKey, sa.ForeignKey("submission.id"), primary_key=True, autoincrement=False
    )
    item: Mapped[str] = mapped_column(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = mapped_column(sa.Integer)
    round: Mapped[int]
    worker: Mapped[str]
    label: Mapped[str]
    started: Mapped[datetime | None]
    submitted: Mapped[datetime | None]
    mode: Mapped[str]
    retest: Mapped[int]


class Budget(Base):
    """A campaign's money in total: the row that concurrent reservations meet at."""

    __tablename__ = "budget"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    currency: Mapped[str]
    reserved_minor: Mapped[int] = _money()
    settled_minor: Mapped[int] = _money()
    released_minor: Mapped[int] = _money()


class BudgetEntry(Base):
    """One reservation and what became of it."""

    __tablename__ = "budget_entry"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    amount_minor: Mapped[int] = _money()
    settled_minor: Mapped[int] = _money()
    state: Mapped[str]
    updated_at: Mapped[datetime]


class WorkerIdentity(Base):
    """Raw worker ids: the only place of them."""

    __tablename__ = "worker_identity"
    __table_args__ = (sa.UniqueConstraint("platform", "worker"),)
    platform: Mapped[str] = mapped_column(primary_key=True)
    raw_id: Mapped[str] = mapped_column(primary_key=True)
    worker: Mapped[str]


class WorkerScore(Base):
    """A worker's gold score with its interval, as known at a moment."""

    __tablename__ = "worker_score"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    as_of: Mapped[datetime] = mapped_column(primary_key=True)
    right: Mapped[int]
    n: Mapped[int]
    score: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]


class Label(Base):
    """The final label of an item and aspect, as of a round."""

    __tablename__ = "label"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    round: Mapped[int] = _number(primary_key=True)
    label: Mapped[str]
    source: Mapped[str]
    confidence: Mapped[float | None]
    n_answers: Mapped[int]
    tied: Mapped[bool]
    evidence: Mapped[str | None]
    posterior: Mapped[dict[str, Any] | None] = mapped_column(Json())


class Certificate(Base):
    """What may be said of a round's labels, and how sure that is."""

    __tablename__ = "certificate"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "round", "content_hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = _campaign()
    round: Mapped[int]
    content: Mapped[dict[str, Any]]
    content_hash: Mapped[str]
    created_at: Mapped[datetime]


class Model(Base):
    """A trained model (skops bytes), its data's hash and scores."""

    __tablename__ = "model"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = _number(primary_key=True)
    blob: Mapped[bytes]
    data_hash: Mapped[str]
    scores: Mapped[dict[str, Any]]
    active: Mapped[bool]
    created_at: Mapped[datetime]


class EventHead(Base):
    """The last link of each chain: the row that concurrent appends meet at, and the proof that no tail was cut off."""

    __tablename__ = "event_head"
    campaign_id: Mapped[int] = _campaign(primary_key=True)
    shard: Mapped[int] = _number(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    hash: Mapped[str]


class Event(Base):
    """One link of the append-only audit chain; triggers refuse any change but the erasure of payload and salt."""

    __tablename__ = "event"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "shard", "seq"), sa.Index(None, "campaign_id", "item"))
    id: Mapped[int] = mapped_column(_BigKey, primary_key=True)
    campaign_id: Mapped[int] = _campaign()
    shard: Mapped[int]
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    kind: Mapped[str]
    item: Mapped[str | None]
    payload: Mapped[str | None]
    salt: Mapped[str | None]
    commitment: Mapped[str]
    hash: Mapped[str]
    at: Mapped[datetime]
