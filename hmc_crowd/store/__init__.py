"""The store: everything a campaign knows, in SQLite or PostgreSQL, with Parquet artefacts for what has no hands on it.

Start with `open_store`; inside ``with store.begin() as tx`` or ``with store.read() as tx`` the repositories are
``tx.campaigns, frames, plans, work, budget, payments, workers, labels, aggregations, models, events``.
"""

from hmc_crowd.store._door import DOOR
from hmc_crowd.store._hooks import EVENTS
from hmc_crowd.store._keys import ROLES
from hmc_crowd.store._line import Place, QueueAges, WorkQueue
from hmc_crowd.store._privacy import Person
from hmc_crowd.store._records_door import DeliveryRecord, WebhookRecord
from hmc_crowd.store._records_quality import AttemptRecord, NoticeRecord, TestRecord
from hmc_crowd.store._records_reviews import AppealRecord, SecretAuditRecord
from hmc_crowd.store._records_roles import ExpertAuditRecord
from hmc_crowd.store._sign_ins import SignInRecord
from hmc_crowd.store._store import Store, Transaction, open_store
from hmc_crowd.store.records import (
    AggregationRecord,
    AspectRecord,
    BudgetRecord,
    CampaignRecord,
    EventRecord,
    GuidelineRecord,
    HitItemRecord,
    HitRecord,
    IntentRecord,
    KeyRecord,
    ModelRecord,
    PaymentRecord,
    PlanRecord,
    PoolRecord,
    ShiftRecord,
    SubmissionRecord,
)

__all__ = [
    "DOOR",
    "EVENTS",
    "ROLES",
    "AggregationRecord",
    "AppealRecord",
    "AspectRecord",
    "AttemptRecord",
    "BudgetRecord",
    "CampaignRecord",
    "DeliveryRecord",
    "EventRecord",
    "ExpertAuditRecord",
    "GuidelineRecord",
    "HitItemRecord",
    "HitRecord",
    "IntentRecord",
    "KeyRecord",
    "ModelRecord",
    "NoticeRecord",
    "PaymentRecord",
    "Person",
    "Place",
    "PlanRecord",
    "PoolRecord",
    "QueueAges",
    "SecretAuditRecord",
    "ShiftRecord",
    "SignInRecord",
    "Store",
    "SubmissionRecord",
    "TestRecord",
    "Transaction",
    "WebhookRecord",
    "WorkQueue",
    "open_store",
]
