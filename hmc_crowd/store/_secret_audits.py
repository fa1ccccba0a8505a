"""Which samples did auditors draw for themselves? How many, committed to which key; never which items, until opened."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import StateError
from hmc_crowd.store._records_reviews import SecretAuditRecord
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import SecretAudit, SecretAuditLabel
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["SecretAuditRepository"]

_HIDDEN = ("campaign_id", "labels")


class SecretAuditRepository(Repository):
    """Auditors' samples; a draw never changes, opening it adds the key and what was found."""

    def add(self, campaign: int, drawn: SecretAuditRecord, labels: bytes) -> None:
        """Store a draw, with all labels as they stand (packed by the caller)."""
        self._session.run(sa.insert(SecretAudit.table()), asdict(drawn) | {"campaign_id": campaign, "labels": labels})

    def all(self, campaign: int, *, aspect: str | None = None) -> list[SecretAuditRecord]:
        """Return the draws, oldest first."""
        table = SecretAudit.table()
        query = sa.select(*(column for column in table.c if column.name not in _HIDDEN))
        query = query.where(table.c.campaign_id == campaign)
        if aspect is not None:
            query = query.where(table.c.aspect == aspect)
        rows = self._session.rows(query.order_by(table.c.drawn_at, table.c.aspect, table.c.number))
        return [SecretAuditRecord(**row._mapping) for row in rows]

    def labels(self, campaign: int, aspect: str, number: int) -> bytes:
        """Return all labels as they stood at a draw, packed as they were given."""
        query = sa.select(SecretAudit.labels).where(*_which(SecretAudit.table(), campaign, aspect, number))
        found: bytes = self._require(self._session.one(query), f"there is no secret audit {number}").labels
        return found

    def judge(self, campaign: int, aspect: str, number: int, *, tag: str, label: str, at: datetime) -> bool:
        """Keep an auditor's label under its tag; the first one counts. Return whether it is new."""
        row = {"campaign_id": campaign, "aspect": aspect, "number": number, "tag": check_text(tag, name="tag")}
        row |= {"label": check_text(label, name="label"), "at": as_utc(at, name="at")}
        insert = self._session.insert(SecretAuditLabel).values(row)
        return bool(self._session.run(insert.on_conflict_do_nothing()))

    def judged(self, campaign: int, aspect: str, number: int) -> dict[str, str]:
        """Return the auditors' labels by tag."""
        table = SecretAuditLabel.table()
        query = sa.select(table.c.tag, table.c.label).where(*_which(table, campaign, aspect, number))
        return {row.tag: row.label for row in self._session.rows(query.order_by(table.c.tag))}

    def open(
        self, campaign: int, aspect: str, number: int, *, audit_key: str, result: dict[str, Any], at: datetime
    ) -> None:
        """Publish the key and what was found.

        Raises
        ------
        StateError
            It is opened already.
        """
        table = SecretAudit.table()
        which = (*_which(table, campaign, aspect, number), table.c.opened_at.is_(None))
        values = {"audit_key": audit_key, "result": result, "opened_at": as_utc(at, name="at")}
        if not self._session.run(sa.update(table).where(*which).values(values)):
            raise StateError(f"secret audit {number} is opened already; see its result in the list")


def _which(table: sa.Table, campaign: int, aspect: str, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.campaign_id == campaign, table.c.aspect == aspect, table.c.number == number
