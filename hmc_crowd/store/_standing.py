"""How did a worker's standing change? Approval rates as they were read, reviews of ours, gold met, alarms of drift.

Everything is dated, so that what was known at a moment can be asked for later and nothing of the future leaks in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ApprovalRate, DriftAlarm, HitItem, Submission

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StandingRepository"]

_RATES = [
    Column("worker", "key", required=True),
    Column("source", "key", required=True),
    Column("at", "time", required=True),
    Column("rate", "number"),
    Column("reviewed", "integer"),
]
_ALARMS = [
    Column("worker", "key", required=True),
    Column("at", "time", required=True),
    Column("answers", "integer", required=True),
    Column("since", "time"),
    Column("statistic", "number", required=True),
    Column("threshold", "number", required=True),
    Column("reason", "text", required=True),
]


class StandingRepository(Repository):
    """Approval rates, gold exposures and drift of the workers of a campaign."""

    def add_rates(self, campaign: int, frame: Any) -> int:
        """Store approval rates as they were read: ``worker, source, at[, rate, reviewed]``; a reading never changes.

        ``source`` is the platform whose rate it is. Returns how many readings were new.

        Raises
        ------
        InputError
            A rate outside [0, 1].
        """
        table = read_frame(frame, _RATES, name="rates")
        rates = [each for each in table["rate"].to_pylist() if each is not None and not 0 <= each <= 1]
        if rates:
            raise InputError(f"rate is {rates[0]}; give a share in [0, 1], or leave it missing where nobody knows")
        return bulk_insert(self._session, ApprovalRate, _of(campaign, table), conflict="skip")

    def rates(self, campaign: int, source: str | None = None) -> pd.DataFrame:
        """Return the readings in the order of time: ``worker, source, at, rate, reviewed``."""
        table = ApprovalRate.table()
        query = sa.select(*(table.c[each.name] for each in _RATES)).where(table.c.campaign_id == campaign)
        if source is not None:
            query = query.where(table.c.source == source)
        types = {each.name: each.type for each in _RATES}
        return to_pandas(fetch(self._session, query.order_by(table.c.at, table.c.worker), types), ())

    def exposures(self, campaign: int) -> pd.DataFrame:
        """Return who was shown which gold, and when first: ``item, aspect, worker, times, first_at``.

        Whoever took a HIT has met what is in it, also where the work was given back.
        """
        asked, took = HitItem.table(), Submission.table()
        columns = (asked.c.item, asked.c.aspect, took.c.worker)
        times, first = sa.func.count(), sa.func.min(sa.func.coalesce(took.c.accepted_at, took.c.submitted_at))
        query = (
            sa.select(*columns, times.label("times"), first.label("first_at"))
            .select_from(asked.join(took, asked.c.hit_key == took.c.hit_key))
            .where(took.c.campaign_id == campaign, asked.c.is_gold.is_(True))
            .group_by(*columns)
            .order_by(*columns)
        )
        types: dict[str, Any] = {each.name: pa.large_string() for each in columns}
        types |= {"times": pa.int64(), "first_at": pa.timestamp("us", "UTC")}
        return to_pandas(fetch(self._session, query, types), ())

    def add_alarms(self, campaign: int, frame: Any) -> int:
        """Store alarms of drift, each once: ``worker, at, answers, since, statistic, threshold, reason``."""
        table = _of(campaign, read_frame(frame, _ALARMS, name="alarms"))
        found_at = pa.scalar(self._session.now(), pa.timestamp("us", "UTC"))
        table = table.append_column("found_at", pa.repeat(found_at, len(table)))
        return bulk_insert(self._session, DriftAlarm, table, conflict="skip")

    def alarms(self, campaign: int) -> pd.DataFrame:
        """Return the alarms in the order of time: the columns of `add_alarms`, and ``found_at``."""
        table = DriftAlarm.table()
        types = {each.name: each.type for each in _ALARMS} | {"found_at": pa.timestamp("us", "UTC")}
        query = sa.select(*(table.c[name] for name in types)).where(table.c.campaign_id == campaign)
        return to_pandas(fetch(self._session, query.order_by(table.c.at, table.c.worker), types), ())


def _of(campaign: int, table: Any) -> Any:
    return table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
