"""Which alerts last, and what was said of them? The state between two looks, and the log of notices."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.store._records_quality import NoticeRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import AlertNotice, AlertState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

__all__ = ["AlertRepository"]

State = tuple[int, "datetime | None", "datetime | None"]


class AlertRepository(Repository):
    """Alerts of a campaign; a state is ``(wrong_in_a_row, since, said)`` by rule and subject."""

    def state(self, campaign: int) -> dict[tuple[str, str], State]:
        """Return the state that the look before left."""
        query = sa.select(*AlertState.table().c).where(AlertState.campaign_id == campaign)
        rows = self._session.rows(query.order_by(AlertState.rule, AlertState.subject))
        return {(row.rule, row.subject): (row.wrong_in_a_row, row.since, row.said) for row in rows}

    def keep(self, campaign: int, state: Mapping[tuple[str, str], State]) -> None:
        """Replace the state."""
        table = AlertState.table()
        self._session.run(sa.delete(table).where(table.c.campaign_id == campaign))
        rows = [
            {"campaign_id": campaign, "rule": rule, "subject": subject}
            | {"wrong_in_a_row": count, "since": since, "said": said}
            for (rule, subject), (count, since, said) in state.items()
        ]
        if rows:
            self._session.run(sa.insert(table), rows)

    def say(self, campaign: int, notices: Sequence[NoticeRecord]) -> None:
        """Add to the log."""
        rows = [asdict(each) | {"campaign_id": campaign} for each in notices]
        if rows:
            self._session.run(sa.insert(AlertNotice.table()), rows)

    def notices(self, campaign: int, *, limit: int = 100) -> list[NoticeRecord]:
        """Return the log, newest first."""
        table = AlertNotice.table()
        columns = [column for column in table.c if column.name not in {"id", "campaign_id"}]
        query = sa.select(*columns).where(table.c.campaign_id == campaign).order_by(table.c.id.desc()).limit(limit)
        return [NoticeRecord(**row._mapping) for row in self._session.rows(query)]
