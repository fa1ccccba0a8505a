"""Which labels were drawn for experts to judge, and how did they stand when they were drawn?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd.store._arrow import to_pandas
from hmc_crowd.store._bulk import fetch
from hmc_crowd.store._records_roles import ExpertAuditRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ExpertAudit, ExpertAuditItem

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

__all__ = ["ExpertAuditRepository"]


class ExpertAuditRepository(Repository):
    """Draws of labels for experts; a draw never changes, the newest one counts."""

    def add(self, campaign: int, aspect: str, drawn: ExpertAuditRecord, items: pd.DataFrame) -> None:
        """Store a draw and its items (``item, stratum, label``); two draws of one number are refused."""
        row = asdict(drawn) | {"campaign_id": campaign, "aspect": aspect}
        self._session.run(sa.insert(ExpertAudit.table()), row)
        key = {"campaign_id": campaign, "aspect": aspect, "number": drawn.number}
        rows = [key | each for each in items[["item", "stratum", "label"]].astype(str).to_dict("records")]
        if rows:
            self._session.run(sa.insert(ExpertAuditItem.table()), rows)

    def newest(self, campaign: int, aspect: str) -> ExpertAuditRecord | None:
        """Return the newest draw, or None."""
        table = ExpertAudit.table()
        which = (table.c.campaign_id == campaign, table.c.aspect == aspect)
        row = self._session.one(sa.select(*table.c).where(*which).order_by(table.c.number.desc()).limit(1))
        if row is None:
            return None
        drawn_at: datetime = row.drawn_at
        return ExpertAuditRecord(
            row.number, row.people, row.machine, row.experts, row.people_share, row.labels_hash, drawn_at
        )

    def items(self, campaign: int, aspect: str, number: int) -> pd.DataFrame:
        """Return ``item, stratum, label`` of a draw."""
        table = ExpertAuditItem.table()
        types = {name: pa.large_string() for name in ("item", "stratum", "label")}
        query = sa.select(*(table.c[name] for name in types)).where(
            table.c.campaign_id == campaign, table.c.aspect == aspect, table.c.number == number
        )
        return to_pandas(fetch(self._session, query.order_by(table.c.item), types), ())
