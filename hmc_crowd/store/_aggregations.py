"""How were the answers aggregated last, and what is known of each worker since? The newest of each aspect is kept.

The worker tables are rows, not a file: SQL can ask them, another campaign can start from them, and whoever wants to be
forgotten can be taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables_aggregate import Aggregation, WorkerCount, WorkerQuality
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import AggregationRecord

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.store._tables_base import Base

__all__ = ["AggregationRepository"]

_QUALITY = [
    Column("worker", "key", required=True),
    Column("n_answers", "integer", required=True),
    *(Column(name, "number") for name in ("accuracy", "se", "low", "high")),
]
_COUNTS = [
    *(Column(name, "key", required=True) for name in ("worker", "label", "truth")),
    Column("count", "number", required=True),
]


class AggregationRepository(Repository):
    """The newest aggregation of each aspect of a campaign, with its worker tables."""

    def save(self, campaign: int, record: AggregationRecord, *, workers: Any, counts: Any = None) -> None:
        """Store an aspect's aggregation in the place of the one before.

        Parameters
        ----------
        campaign : int
            Its id.
        record : AggregationRecord
            How it was done.
        workers : pandas.DataFrame or pyarrow.Table
            ``worker, n_answers`` and optional ``accuracy, se, low, high``.
        counts : pandas.DataFrame or pyarrow.Table, optional
            ``worker, label, truth, count``: how often each worker answered what where the truth was what.
        """
        aspect = check_text(record.aspect, name="aspect")
        row = {
            "campaign_id": campaign,
            "aspect": aspect,
            "method": check_text(record.method, name="method"),
            "labels": list(record.labels),
            "class_share": None if record.class_share is None else list(record.class_share),
            "prior": record.prior,
            "answers": record.answers,
            "at": as_utc(record.at, name="at"),
        }
        frames: list[tuple[type[Base], Any]] = [(WorkerQuality, read_frame(workers, _QUALITY, name="workers"))]
        if counts is not None:
            frames.append((WorkerCount, read_frame(counts, _COUNTS, name="counts")))
        for old in (WorkerCount, WorkerQuality, Aggregation):
            self._session.run(sa.delete(old.table()).where(*_here(old, campaign, aspect)))
        self._session.run(sa.insert(Aggregation.table()), row)
        for model, table in frames:
            table = table.add_column(0, "aspect", pa.repeat(pa.scalar(aspect, pa.large_string()), len(table)))
            table = table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
            bulk_insert(self._session, model, table)

    def latest(self, campaign: int, aspect: str) -> AggregationRecord | None:
        """Return how an aspect was aggregated last, None if it never was."""
        names = [column for column in Aggregation.table().c if column.name != "campaign_id"]
        row = self._session.one(sa.select(*names).where(*_here(Aggregation, campaign, aspect)))
        if row is None:
            return None
        share = None if row.class_share is None else tuple(row.class_share)
        return AggregationRecord(
            aspect=row.aspect,
            method=row.method,
            labels=tuple(row.labels),
            class_share=share,
            prior=row.prior,
            answers=row.answers,
            at=row.at,
        )

    def workers(self, campaign: int, aspect: str) -> pd.DataFrame:
        """Return how good each worker was: ``worker, n_answers, accuracy, se, low, high``, by worker."""
        return self._frame(WorkerQuality, _QUALITY, campaign, aspect)

    def counts(self, campaign: int, aspect: str) -> pd.DataFrame:
        """Return the worker tables: ``worker, label, truth, count``, sorted by them."""
        return self._frame(WorkerCount, _COUNTS, campaign, aspect)

    def _frame(self, model: type[Base], columns: list[Column], campaign: int, aspect: str) -> pd.DataFrame:
        table = model.table()
        keys = [column for column in table.primary_key if column.name not in {"campaign_id", "aspect"}]
        query = sa.select(*(table.c[each.name] for each in columns)).where(*_here(model, campaign, aspect))
        return to_pandas(fetch(self._session, query.order_by(*keys), {each.name: each.type for each in columns}), ())


def _here(model: type[Base], campaign: int, aspect: str) -> tuple[Any, Any]:
    table = model.table()
    return (table.c.campaign_id == campaign, table.c.aspect == aspect)
