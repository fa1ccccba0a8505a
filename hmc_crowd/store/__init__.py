"""The store: everything a campaign knows, in SQLite or PostgreSQL, with Parquet artefacts for what has no hands on it.

Start with `open_store`; inside ``with store.begin() as tx`` or ``with store.read() as tx`` the repositories are
``tx.campaigns, frames, plans, work, budget, payments, workers, labels, aggregations, models, events``.
"""

from hmc_crowd.store._keys import ROLES
from hmc_crowd.store._privacy import Person
from hmc_crowd.store._store import Store, Transaction, open_store
from hmc_crowd.store.records import (
    AggregationRecord,
    AspectRecord,
    BudgetRecord,
    CampaignRecord,
    EventRecord,
    HitItemRecord,
    HitRecord,
    IntentRecord,
    KeyRecord,
    ModelRecord,
    PaymentRecord,
    PlanRecord,
    SubmissionRecord,
)

__all__ = [
    "ROLES",
    "AggregationRecord",
    "AspectRecord",
    "BudgetRecord",
    "CampaignRecord",
    "EventRecord",
    "HitItemRecord",
    "HitRecord",
    "IntentRecord",
    "KeyRecord",
    "ModelRecord",
    "PaymentRecord",
    "Person",
    "PlanRecord",
    "Store",
    "SubmissionRecord",
    "Transaction",
    "open_store",
]
