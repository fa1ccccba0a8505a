"""How does a stream stand? The watch's state, its closed windows, and what came through the door in a span of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.store._arrow import to_pandas
from hmc_crowd.store._bulk import fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Allocation, Answer, StreamState, StreamWindow

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

__all__ = ["StreamRepository"]


class StreamRepository(Repository):
    """The watched stream of a campaign."""

    def save(self, campaign: int, state: dict[str, Any]) -> None:
        """Keep the state in place of the one before."""
        values = {"state": state, "updated_at": self._session.now()}
        insert = self._session.insert(StreamState).values(values | {"campaign_id": campaign})
        self._session.run(insert.on_conflict_do_update(index_elements=["campaign_id"], set_=values))

    def state(self, campaign: int, *, lock: bool = False) -> dict[str, Any] | None:
        """Return the state; None where nothing is watched. With ``lock`` others wait until this transaction ends."""
        query = sa.select(*StreamState.table().c).where(StreamState.campaign_id == campaign)
        row = self._session.one(query.with_for_update() if lock else query)
        return None if row is None else dict(row.state)

    def close(self, campaign: int, number: int, content: dict[str, Any]) -> None:
        """Keep what was said of a window."""
        row = {"campaign_id": campaign, "number": number, "content": content, "closed_at": self._session.now()}
        self._session.run(sa.insert(StreamWindow.table()), row)

    def windows(self, campaign: int, *, last: int | None = None) -> list[dict[str, Any]]:
        """Return what was said of the windows, oldest first; the last ones only."""
        table = StreamWindow.table()
        query = sa.select(table.c.content).where(table.c.campaign_id == campaign).order_by(table.c.number.desc())
        return [row.content for row in self._session.rows(query if last is None else query.limit(last))][::-1]

    def counts(self, campaign: int, start: datetime, end: datetime) -> dict[str, int]:
        """Count by destination what came through the door from ``start`` to before ``end``."""
        table = Allocation.table()
        query = sa.select(table.c.destination, sa.func.count()).where(*_span(campaign, start, end))
        return {row[0]: int(row[1]) for row in self._session.rows(query.group_by(table.c.destination))}

    def audit(self, campaign: int, aspect: str, start: datetime, end: datetime) -> pd.DataFrame:
        """Return what was audited, a row for each answer: ``item, machine, probability, is_open, label``.

        ``label`` is empty where nobody has answered, ``machine`` where the door was not told the machine's label.
        """
        table, said = Allocation.table(), Answer.table()
        types = {"item": pa.large_string(), "machine": pa.large_string(), "probability": pa.float64()}
        types |= {"is_open": pa.bool_(), "label": pa.large_string()}
        on = sa.and_(
            said.c.campaign_id == table.c.campaign_id,
            said.c.item == table.c.item,
            said.c.aspect == aspect,
            said.c.round == 0,
            said.c.mode == "blind",
        )
        query = (
            sa.select(table.c.item, table.c.label, table.c.inclusion_probability, table.c.is_open, said.c.label)
            .outerjoin_from(table, said, on)
            .where(*_span(campaign, start, end), table.c.destination == "audit")
            .order_by(table.c.item, said.c.worker)
        )
        return to_pandas(fetch(self._session, query, types), ())

    def kept(self, campaign: int, start: datetime, end: datetime) -> dict[float, int]:
        """Count what the machine kept, audited or not, by the chance with which people saw it."""
        table = Allocation.table()
        query = sa.select(table.c.inclusion_probability, sa.func.count()).where(
            *_span(campaign, start, end), table.c.destination != "people"
        )
        return {float(row[0]): int(row[1]) for row in self._session.rows(query.group_by(table.c.inclusion_probability))}

    def scores(self, campaign: int, start: datetime, end: datetime, *, most: int) -> list[float]:
        """Return confidences of what came, the first so many."""
        table = Allocation.table()
        where = (*_span(campaign, start, end), table.c.confidence.is_not(None))
        query = sa.select(table.c.confidence).where(*where).order_by(table.c.at, table.c.item).limit(most)
        return [float(row[0]) for row in self._session.rows(query)]

    def human_s(self, campaign: int, start: datetime, end: datetime) -> float:
        """Return the seconds of people whose answers came through the door in a span of time, where they are known."""
        said = Answer.table()
        query = sa.select(said.c.started, said.c.submitted).where(
            said.c.campaign_id == campaign,
            said.c.round == 0,
            said.c.started.is_not(None),
            said.c.submitted >= as_utc(start, name="start"),
            said.c.submitted < as_utc(end, name="end"),
        )
        return float(sum((row.submitted - row.started).total_seconds() for row in self._session.rows(query)))

    def next_at(self, campaign: int, since: datetime) -> datetime | None:
        """Return when the first item since then came; None where nothing did."""
        table = Allocation.table()
        query = sa.select(table.c.at).where(table.c.campaign_id == campaign, table.c.at >= as_utc(since, name="since"))
        rows = self._session.rows(query.order_by(table.c.at).limit(1))
        return rows[0].at if rows else None


def _span(campaign: int, start: datetime, end: datetime) -> tuple[Any, ...]:
    table = Allocation.table()
    return (
        table.c.campaign_id == campaign,
        table.c.at >= as_utc(start, name="start"),
        table.c.at < as_utc(end, name="end"),
    )
