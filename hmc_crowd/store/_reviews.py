"""Who objected to which label, what came of it, and of which tier is an expert without a pool?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import StateError
from hmc_crowd.store._records_reviews import AppealRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Appeal, ExpertSeat
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["ReviewRepository"]

# Names this lock among those of the database; any number that nothing else uses.
_LOCK = 0x484D43


class ReviewRepository(Repository):
    """Appeals of a campaign, and the tiers of its experts."""

    def one_at_a_time(self, campaign: int) -> None:
        """Let nobody else judge, decide, appeal or give out until this ends: two words at once are two words.

        SQLite has one writer at a time anyway.
        """
        if not self._session.is_sqlite:
            self._session.rows(sa.select(sa.func.pg_advisory_xact_lock(_LOCK, campaign)))

    def seat(self, campaign: int, tiers: Mapping[str, int]) -> None:
        """Keep the tier of experts; said again, the last one counts."""
        for expert, tier in tiers.items():
            row = {"campaign_id": campaign, "expert": check_text(expert, name="expert"), "tier": tier}
            insert = self._session.insert(ExpertSeat).values(row)
            self._session.run(
                insert.on_conflict_do_update(index_elements=["campaign_id", "expert"], set_={"tier": tier})
            )

    def seats(self, campaign: int) -> dict[str, int]:
        """Return the tiers that were kept, by expert."""
        table = ExpertSeat.table()
        query = sa.select(table.c.expert, table.c.tier).where(table.c.campaign_id == campaign)
        return {row.expert: row.tier for row in self._session.rows(query.order_by(table.c.expert))}

    def open_appeal(self, campaign: int, appeal: AppealRecord) -> None:
        """Add an appeal; two of one item and number are refused by the database."""
        row = asdict(appeal) | {"campaign_id": campaign, "judges": list(appeal.judges)}
        row["reason"] = check_text(appeal.reason, name="reason")
        self._session.run(sa.insert(Appeal.table()), row)

    def close_appeal(
        self, campaign: int, appeal: AppealRecord, *, outcome: str, label: str | None, at: datetime, by: str | None
    ) -> None:
        """Keep what came of an appeal.

        Raises
        ------
        StateError
            It is closed already.
        """
        table = Appeal.table()
        which = (
            table.c.campaign_id == campaign,
            table.c.aspect == appeal.aspect,
            table.c.item == appeal.item,
            table.c.number == appeal.number,
            table.c.outcome.is_(None),
        )
        values = {"outcome": outcome, "label": label, "closed_at": as_utc(at, name="at"), "closed_by": by}
        if not self._session.run(sa.update(table).where(*which).values(values)):
            raise StateError(f"the appeal about item {appeal.item!r} is closed; see the list of appeals")

    def appeals(self, campaign: int, *, aspect: str | None = None) -> list[AppealRecord]:
        """Return all appeals, oldest first."""
        table = Appeal.table()
        query = sa.select(*(column for column in table.c if column.name != "campaign_id"))
        query = query.where(table.c.campaign_id == campaign)
        if aspect is not None:
            query = query.where(table.c.aspect == aspect)
        rows = self._session.rows(query.order_by(table.c.opened_at, table.c.item, table.c.number))
        return [AppealRecord(**{**row._mapping, "judges": tuple(row.judges)}) for row in rows]
