"""The tables of what people did and what came of it: work, money, workers, labels, models, events."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import BIG_KEY, Base, campaign_key, key_part, money
from hmc_crowd.store._types import Json

__all__ = [
    "Answer",
    "Budget",
    "BudgetBlock",
    "BudgetEntry",
    "Certificate",
    "Event",
    "EventHead",
    "Hit",
    "HitItem",
    "Intent",
    "Label",
    "Lane",
    "Model",
    "Payment",
    "Submission",
    "WorkerIdentity",
    "WorkerScore",
]


class Hit(Base):
    """A bundle of questions for one worker at a time."""

    __tablename__ = "hit"
    __table_args__ = (sa.Index(None, "campaign_id", "round"),)
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    round: Mapped[int]
    seq: Mapped[int]
    title: Mapped[str]
    redundancy: Mapped[int]
    pay_minor: Mapped[int] = money()
    currency: Mapped[str]
    expected_s: Mapped[float]
    state: Mapped[str]
    platform: Mapped[str | None]
    platform_hit_id: Mapped[str | None]
    salvaged_from: Mapped[str | None]
    order_key: Mapped[str | None]
    terms: Mapped[dict[str, Any] | None] = mapped_column(Json())


class HitItem(Base):
    """One question inside a HIT."""

    __tablename__ = "hit_item"
    hit_key: Mapped[str] = mapped_column(sa.ForeignKey("hit.key"), primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int]
    is_gold: Mapped[bool]
    guideline_version: Mapped[str] = mapped_column(server_default="")


class Intent(Base):
    """An outside effect, committed before the call is made."""

    __tablename__ = "intent"
    __table_args__ = (sa.Index(None, "campaign_id", "state"),)
    key: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    operation: Mapped[str]
    payload_hash: Mapped[str]
    state: Mapped[str]
    amount_minor: Mapped[int] = money()
    currency: Mapped[str]
    result: Mapped[dict[str, Any] | None] = mapped_column(Json())
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    lane: Mapped[str] = mapped_column(server_default="")
    payload: Mapped[dict[str, Any] | None] = mapped_column(Json())
    attempts: Mapped[int] = mapped_column(server_default="0")
    sent_at: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    lease_owner: Mapped[str | None]
    lease_until: Mapped[datetime | None]


class Lane(Base):
    """Who may work where only one at a time may, such as on an account's money."""

    __tablename__ = "lane"
    name: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    until: Mapped[datetime]


class Payment(Base):
    """A bonus; its key says that nobody is paid twice for one reason."""

    __tablename__ = "payment"
    __table_args__ = (sa.Index(None, "campaign_id", "state"),)
    platform: Mapped[str] = mapped_column(primary_key=True)
    submission_id: Mapped[str] = mapped_column(primary_key=True)
    reason_code: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    amount_minor: Mapped[int] = money()
    fee_minor: Mapped[int] = money()
    currency: Mapped[str]
    intent_key: Mapped[str | None]
    state: Mapped[str]
    at: Mapped[datetime]
    by: Mapped[str]


class Submission(Base):
    """One worker's work on one HIT; ``id`` is ours, ``submission_id`` the platform's."""

    __tablename__ = "submission"
    __table_args__ = (sa.UniqueConstraint("platform", "submission_id"), sa.Index(None, "campaign_id", "round"))
    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
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
    timing_version: Mapped[str | None]
    reviewed_by: Mapped[str | None]
    reviewed_at: Mapped[datetime | None]
    review: Mapped[str | None]


class Answer(Base):
    """One worker's label for one item and aspect.

    The key says one answer per submission, item and aspect; the second constraint says a worker once per round unless a
    retest is asked. Campaign, round and worker are repeated from the submission because that constraint needs them.
    """

    __tablename__ = "answer"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "round", "item", "aspect", "worker", "retest"),)
    submission: Mapped[int] = mapped_column(
        BIG_KEY, sa.ForeignKey("submission.id"), primary_key=True, autoincrement=False
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
    swapped: Mapped[bool | None]
    suggestion: Mapped[str | None]


class Budget(Base):
    """A campaign's money in total: the row that concurrent reservations meet at."""

    __tablename__ = "budget"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    currency: Mapped[str]
    reserved_minor: Mapped[int] = money()
    settled_minor: Mapped[int] = money()
    released_minor: Mapped[int] = money()


class BudgetEntry(Base):
    """One reservation and what became of it."""

    __tablename__ = "budget_entry"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    amount_minor: Mapped[int] = money()
    settled_minor: Mapped[int] = money()
    state: Mapped[str]
    updated_at: Mapped[datetime]


class BudgetBlock(Base):
    """Money that one writer holds to spend alone; in the campaign's total it is reserved."""

    __tablename__ = "budget_block"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    owner: Mapped[str] = mapped_column(primary_key=True)
    granted_minor: Mapped[int] = money()
    spent_minor: Mapped[int] = money()
    until: Mapped[datetime]


class WorkerIdentity(Base):
    """Raw worker ids: the only place of them."""

    __tablename__ = "worker_identity"
    __table_args__ = (sa.UniqueConstraint("platform", "worker"),)
    platform: Mapped[str] = mapped_column(primary_key=True)
    raw_id: Mapped[str] = mapped_column(primary_key=True)
    worker: Mapped[str]
    seen_at: Mapped[datetime | None]


class WorkerScore(Base):
    """A worker's gold score with its interval, as known at a moment."""

    __tablename__ = "worker_score"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
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
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    round: Mapped[int] = key_part(primary_key=True)
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
    campaign_id: Mapped[int] = campaign_key()
    round: Mapped[int]
    content: Mapped[dict[str, Any]]
    content_hash: Mapped[str]
    created_at: Mapped[datetime]


class Model(Base):
    """A trained model (skops bytes), its data's hash and scores."""

    __tablename__ = "model"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = key_part(primary_key=True)
    blob: Mapped[bytes]
    data_hash: Mapped[str]
    scores: Mapped[dict[str, Any]]
    active: Mapped[bool]
    created_at: Mapped[datetime]


class EventHead(Base):
    """The last link of each chain: the row that concurrent appends meet at, and the proof that no tail was cut off."""

    __tablename__ = "event_head"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    shard: Mapped[int] = key_part(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    hash: Mapped[str]


class Event(Base):
    """One link of the append-only audit chain; triggers refuse any change but the erasure of payload and salt."""

    __tablename__ = "event"
    __table_args__ = (sa.UniqueConstraint("campaign_id", "shard", "seq"), sa.Index(None, "campaign_id", "item"))
    id: Mapped[int] = mapped_column(BIG_KEY, primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    shard: Mapped[int]
    seq: Mapped[int] = mapped_column(sa.BigInteger)
    kind: Mapped[str]
    item: Mapped[str | None]
    payload: Mapped[str | None]
    salt: Mapped[str | None]
    commitment: Mapped[str]
    hash: Mapped[str]
    at: Mapped[datetime]
