"""What did workers say of themselves? The newest value of each attribute, by pseudonym; a withdrawn one is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Submission, WorkerTrait

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    import pandas as pd

__all__ = ["TraitRepository"]

_TRAITS = [
    Column("worker", "key", required=True),
    Column("attribute", "key", required=True),
    Column("value", "key", required=True),
    Column("source", "key", required=True),
]
_TYPES = {each.name: each.type for each in _TRAITS} | {"at": pa.timestamp("us", "UTC")}


class TraitRepository(Repository):
    """Attributes of the workers of a campaign: personal data."""

    def put(self, campaign: int, frame: Any, *, at: datetime | None = None) -> int:
        """Store attributes: ``worker, attribute, value, source``; return how many are new or have changed.

        A value takes the place of an older one; the same again, or one told earlier than what is stored, changes
        nothing.

        Parameters
        ----------
        campaign : int
            Its id.
        frame : pandas.DataFrame or pyarrow.Table
            One row for each worker and attribute; ``source`` is the platform whose worker it is.
        at : datetime, optional
            When it was told, aware; now by default.
        """
        moment = self._session.now() if at is None else as_utc(at, name="at")
        table = read_frame(frame, _TRAITS, name="traits")
        query = sa.select(*WorkerTrait.table().c).where(WorkerTrait.campaign_id == campaign)
        rows = self._session.rows(query)
        held = {(row.worker, row.attribute): (row.value, row.at) for row in rows}
        keys = zip(table["worker"].to_pylist(), table["attribute"].to_pylist(), strict=True)
        old = [held.get(key) for key in keys]
        values = table["value"].to_pylist()
        new = [was is None or (was[0] != value and was[1] <= moment) for was, value in zip(old, values, strict=True)]
        table = table.filter(pa.array(new, pa.bool_()))
        table = table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
        table = table.append_column("at", pa.repeat(pa.scalar(moment, _TYPES["at"]), len(table)))
        return bulk_insert(self._session, WorkerTrait, table, conflict="replace")

    def read(self, campaign: int, attribute: str | None = None) -> pd.DataFrame:
        """Return ``worker, attribute, value, source, at``, by worker and attribute; of one attribute, or of all."""
        table = WorkerTrait.table()
        query = sa.select(*(table.c[name] for name in _TYPES)).where(table.c.campaign_id == campaign)
        if attribute is not None:
            query = query.where(table.c.attribute == attribute)
        return to_pandas(fetch(self._session, query.order_by(table.c.worker, table.c.attribute), _TYPES), ())

    def attributes(self, campaign: int) -> dict[str, int]:
        """Return the attributes that are stored, each with how many workers told it."""
        table = WorkerTrait.table()
        query = sa.select(table.c.attribute, sa.func.count().label("people")).where(table.c.campaign_id == campaign)
        rows = self._session.rows(query.group_by(table.c.attribute).order_by(table.c.attribute))
        return {row.attribute: int(row.people) for row in rows}

    def withdraw(self, campaign: int, attribute: str, workers: Iterable[str]) -> int:
        """Erase an attribute of workers who took it back; return how many had it."""
        self._session.erase_for_good()
        which = (WorkerTrait.campaign_id == campaign, WorkerTrait.attribute == attribute)
        mine = self._session.among(WorkerTrait.worker, workers)
        return self._session.run(sa.delete(WorkerTrait.table()).where(*which, mine))

    def count_old(self, before: datetime) -> int:
        """Return how many attributes, of all campaigns, were last needed before a moment."""
        query = sa.select(sa.func.count()).select_from(WorkerTrait.table()).where(*_old(before))
        return int(self._session.connection.execute(query).scalar_one())

    def erase_old(self, before: datetime) -> int:
        """Erase the attributes, of all campaigns, that were last needed before a moment: told and worked before it."""
        self._session.erase_for_good()
        return self._session.run(sa.delete(WorkerTrait.table()).where(*_old(before)))


def _old(before: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    moment = as_utc(before, name="before")
    last = sa.func.coalesce(Submission.submitted_at, Submission.accepted_at)
    works = sa.exists().where(Submission.worker == WorkerTrait.worker, last >= moment)
    return WorkerTrait.at < moment, sa.not_(works)
