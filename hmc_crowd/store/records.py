"""What does the store hand out, besides frames? Frozen records, plain Python inside, times aware and in UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "AspectRecord",
    "BudgetRecord",
    "CampaignRecord",
    "EventRecord",
    "GuidelineRecord",
    "HitItemRecord",
    "HitRecord",
    "IntentRecord",
    "KeyRecord",
    "ModelRecord",
    "PaymentRecord",
    "PlanRecord",
    "PoolRecord",
    "ShiftRecord",
    "SubmissionRecord",
]


@dataclass(frozen=True)
class CampaignRecord:
    """A whole evaluation; ``round`` is the pass it is in, ``items`` how many items it holds."""

    id: int
    name: str
    settings: dict[str, Any]
    round: int
    created_at: datetime
    items: int


@dataclass(frozen=True)
class AspectRecord:
    """One question about an item: its kind, the labels it allows, the guideline in force and its language."""

    name: str
    kind: str
    labels: tuple[str, ...]
    guideline_version: str = "1"
    language: str = "en"
    guideline: str = ""
    question: str = ""


@dataclass(frozen=True)
class GuidelineRecord:
    """One version of an aspect's guideline, and since when it is kept.

    ``meaning`` names the version whose answers are as good as its own: itself, or the one that it only says in other
    words.
    """

    aspect: str
    version: str
    text: str
    at: datetime
    meaning: str = ""


@dataclass(frozen=True)
class PlanRecord:
    """A stored plan: the header (how it was made) and where its rows are.

    ``content_hash`` covers header and rows; ``path`` is the Parquet file of a plan too large for rows, else None.
    """

    id: int
    campaign: int
    round: int
    header: dict[str, Any]
    content_hash: str
    created_at: datetime
    path: str | None = None


@dataclass(frozen=True)
class HitItemRecord:
    """One question inside a HIT; ``is_gold`` stays on our side, workers never see it.

    ``guideline_version`` is what its page shows; empty in HITs that were made before versions were kept: the first one.
    """

    item: str
    aspect: str
    position: int
    is_gold: bool = False
    guideline_version: str = ""


@dataclass(frozen=True)
class HitRecord:
    """A bundle as planned and published; ``key`` is its natural key, ``salvaged_from`` the key of the HIT it repairs.

    ``round`` is filled on reading; the round that counts on writing is the argument of ``add_hits``. HITs with one
    ``order_key`` are recruited together: a worker who arrives gets one of them. ``terms`` says which pool may take it,
    which skills it needs and how it is paid, as `hmc_crowd.platform.Terms` has them; None: anybody, for ``pay_minor``.
    """

    key: str
    title: str
    redundancy: int
    pay_minor: int
    currency: str
    expected_s: float
    items: tuple[HitItemRecord, ...]
    state: str = "planned"
    platform: str | None = None
    platform_hit_id: str | None = None
    salvaged_from: str | None = None
    round: int | None = None
    order_key: str | None = None
    terms: dict[str, Any] | None = None


@dataclass(frozen=True)
class IntentRecord:
    """An outside effect, written down before the call and again after it.

    ``state`` is planned, sent, done, needs_human or cancelled. Whoever works on it holds the lease
    (``lease_owner, lease_until``); ``sent_at`` is the moment of the first try and ``attempts`` their number;
    ``not_before`` puts the next try off; intents of one ``lane`` go one at a time.
    """

    key: str
    campaign_id: int
    operation: str
    payload_hash: str
    amount_minor: int
    currency: str
    created_at: datetime
    updated_at: datetime
    state: str = "planned"
    result: dict[str, Any] | None = None
    lane: str = ""
    payload: dict[str, Any] | None = None
    attempts: int = 0
    sent_at: datetime | None = None
    not_before: datetime | None = None
    lease_owner: str | None = None
    lease_until: datetime | None = None


@dataclass(frozen=True)
class SubmissionRecord:
    """One worker's work on one HIT; ``worker`` is the pseudonym, the three clocks stay apart as they were measured."""

    submission_id: str
    platform: str
    hit_key: str
    worker: str
    state: str
    accepted_at: datetime | None = None
    submitted_at: datetime | None = None
    platform_elapsed_s: float | None = None
    page_elapsed_s: float | None = None
    active_s: float | None = None
    time_quality: str = "ok"
    timing_version: str | None = None


@dataclass(frozen=True)
class PoolRecord:
    """People who are paid alike and do the same kind of work.

    Parameters
    ----------
    kind : str
        ``crowd``, ``tier1``, ``tier2``, ``tier3`` (experts) or ``auditor``.
    pay_form, price_minor, currency : str, int, str
        ``per_answer``, ``per_hour`` or ``salaried``, and the price of an answer or an hour.
    capacity_per_hour : float
        Answers that one person gives in an hour.
    skills : tuple of str
        What everybody in it can do; languages are written ``language:de``.
    members, opted_out, asked_at
        How many people belong to it, how many of them do not see a category of text, and when that was asked.
    """

    name: str
    kind: str
    pay_form: str
    price_minor: int
    currency: str
    capacity_per_hour: float
    skills: tuple[str, ...] = ()
    members: int = 0
    opted_out: dict[str, int] = field(default_factory=dict)
    asked_at: datetime | None = None


@dataclass(frozen=True)
class ShiftRecord:
    """When people of a pool are at work; ``worker`` is the pseudonym of the one whose shift it is, None of a pool's."""

    id: str
    pool: str
    worker: str | None
    starts_at: datetime
    ends_at: datetime
    people: int = 1


@dataclass(frozen=True)
class PaymentRecord:
    """A bonus to the worker of a submission; at most one per submission and reason.

    ``state`` is planned, paid, needs_human or cancelled; ``by`` is who asked for it.
    """

    platform: str
    submission_id: str
    reason_code: str
    amount_minor: int
    fee_minor: int
    currency: str
    intent_key: str | None
    state: str
    at: datetime
    by: str


@dataclass(frozen=True)
class BudgetRecord:
    """A campaign's money: still reserved, settled (spent), and given back; ``currency`` is None before the first."""

    reserved_minor: int
    settled_minor: int
    released_minor: int
    currency: str | None


@dataclass(frozen=True)
class ModelRecord:
    """One stored version of a model; ``blob`` is empty in a history listing."""

    version: int
    kind: str
    data_hash: str
    scores: dict[str, Any]
    created_at: datetime
    active: bool = True
    blob: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class AggregationRecord:
    """How an aspect's answers were aggregated last.

    ``class_share`` is the share of each label and ``prior`` the strength of the prior, where the method has worker
    tables (Dawid-Skene); both are None otherwise. ``answers`` counts those that took part.
    """

    aspect: str
    method: str
    labels: tuple[str, ...]
    class_share: tuple[float, ...] | None
    prior: float | None
    answers: int
    at: datetime


@dataclass(frozen=True)
class KeyRecord:
    """A key of the board and the machine door, without the key itself; ``role`` says what it opens.

    ``skills`` and ``per_hour`` (items that its holder can do in an hour) say which items an expert is given.
    """

    id: str
    role: str
    label: str
    created_at: datetime
    revoked_at: datetime | None = None
    skills: tuple[str, ...] = ()
    per_hour: float | None = None


@dataclass(frozen=True)
class EventRecord:
    """One link of the audit chain; ``payload`` is None once it was erased."""

    id: int
    shard: int
    seq: int
    kind: str
    item: str | None
    payload: dict[str, Any] | None
    at: datetime
    commitment: str
    hash: str
