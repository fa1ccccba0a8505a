"""The store: everything a campaign knows, in SQLite or PostgreSQL, with Parquet artefacts for what has no hands on it.

Start with `open_store`; inside ``with store.begin() as tx`` or ``with store.read() as tx`` the repositories are
``tx.campaigns, frames, plans, work, budget, workers, labels, models, events``.
"""

from hmc_crowd.store._store import Store, Transaction, open_store
from hmc_crowd.store.records import (
    AspectRecord,
    BudgetRecord,
    CampaignRecord,
    EventRecord,
    HitItemRecord,
    HitRecord,
    IntentRecord,
    ModelRecord,
    PlanRecord,
    SubmissionRecord,
)

__all__ = [
    "AspectRecord",
    "BudgetRecord",
    "CampaignRecord",
    "EventRecord",
    "HitItemRecord",
    "HitRecord",
    "IntentRecord",
    "ModelRecord",
    "PlanRecord",
    "Store",
    "SubmissionRecord",
    "Transaction",
    "open_store",
]
