"""Which tables does the store hold? Typed models; the history in ``migrations/store`` makes exactly these.

Rows follow people, not items: what people touch or audit is a row; above a million items the bulk columns (items,
predictions, efforts, plans) are Parquet artefacts and only ``artefact`` or ``plan`` holds a row about them. That is why
an item id is text without a foreign key to ``item``. ``seq`` is the item's place in insertion order, kept beside every
bulk row, so that frames come back in that order without a join.
"""

from __future__ import annotations

from hmc_crowd.store._tables_aggregate import Aggregation, WorkerCount, WorkerQuality
from hmc_crowd.store._tables_asked import Adjudication, Guideline
from hmc_crowd.store._tables_base import Base
from hmc_crowd.store._tables_door import (
    Allocation,
    ApiKey,
    BoardSignIn,
    Delivery,
    DoorRequest,
    QueuePlace,
    Told,
    Webhook,
)
from hmc_crowd.store._tables_frames import (
    Artefact,
    Aspect,
    Campaign,
    Effort,
    Gold,
    Item,
    ItemBatch,
    Plan,
    PlanItem,
    Prediction,
)
from hmc_crowd.store._tables_people import Heartbeat, MissingAnswer, Pool, Shift
from hmc_crowd.store._tables_quality import (
    AlertNotice,
    AlertState,
    ApprovalRate,
    DriftAlarm,
    ExpertAssignment,
    GateDecision,
    QualificationAttempt,
    QualificationTest,
)
from hmc_crowd.store._tables_reviews import Appeal, ExpertSeat, SecretAudit, SecretAuditLabel
from hmc_crowd.store._tables_roles import DataRole, ExpertAudit, ExpertAuditItem, StreamState, StreamWindow
from hmc_crowd.store._tables_traits import WorkerTrait
from hmc_crowd.store._tables_work import (
    Answer,
    Budget,
    BudgetBlock,
    BudgetEntry,
    Certificate,
    Event,
    EventHead,
    Hit,
    HitItem,
    Intent,
    Label,
    Lane,
    Model,
    Payment,
    Submission,
    WorkerIdentity,
    WorkerScore,
)

__all__ = [
    "Adjudication",
    "Aggregation",
    "AlertNotice",
    "AlertState",
    "Allocation",
    "Answer",
    "ApiKey",
    "Appeal",
    "ApprovalRate",
    "Artefact",
    "Aspect",
    "Base",
    "BoardSignIn",
    "Budget",
    "BudgetBlock",
    "BudgetEntry",
    "Campaign",
    "Certificate",
    "DataRole",
    "Delivery",
    "DoorRequest",
    "DriftAlarm",
    "Effort",
    "Event",
    "EventHead",
    "ExpertAssignment",
    "ExpertAudit",
    "ExpertAuditItem",
    "ExpertSeat",
    "GateDecision",
    "Gold",
    "Guideline",
    "Heartbeat",
    "Hit",
    "HitItem",
    "Intent",
    "Item",
    "ItemBatch",
    "Label",
    "Lane",
    "MissingAnswer",
    "Model",
    "Payment",
    "Plan",
    "PlanItem",
    "Pool",
    "Prediction",
    "QualificationAttempt",
    "QualificationTest",
    "QueuePlace",
    "SecretAudit",
    "SecretAuditLabel",
    "Shift",
    "StreamState",
    "StreamWindow",
    "Submission",
    "Told",
    "Webhook",
    "WorkerCount",
    "WorkerIdentity",
    "WorkerQuality",
    "WorkerScore",
    "WorkerTrait",
]
