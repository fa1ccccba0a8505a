"""What was decided about an item, and which expert has it? Decisions are only added; the newest one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ExpertAssignment, GateDecision

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["GateRepository"]

_DECISIONS = [
    Column("aspect", "key", required=True),
    Column("item", "key", required=True),
    Column("decided_at", "time", required=True),
    Column("decided_by", "text", required=True),
    Column("decider", "text", required=True),
    Column("policy", "text", required=True),
    Column("policy_version", "text", required=True),
    Column("decision", "text", required=True),
    Column("reason_code", "text", required=True),
    Column("evidence", "text", required=True),
    Column("label", "text"),
    Column("score", "number"),
]
_ASSIGNED = [
    Column("aspect", "key", required=True),
    Column("item", "key", required=True),
    Column("expert", "text", required=True),
    Column("tier", "integer", required=True),
    Column("place", "integer", required=True),
    Column("score", "number", required=True),
    Column("assigned_at", "time", required=True),
    Column("due_at", "time"),
]


# Who has an item that asks for a tier and waits for somebody with room.
_NOBODY = ""


class GateRepository(Repository):
    """Decisions of gates and people, and what experts have to do."""

    def add(self, campaign: int, frame: Any) -> int:
        """Store decisions, as `hmc_crowd.quality.decision_records` has them with a column ``aspect``."""
        return bulk_insert(self._session, GateDecision, _of(campaign, read_frame(frame, _DECISIONS, name="decisions")))

    def has_decided(self, campaign: int, aspect: str) -> bool:
        """Say whether a gate has decided about any item."""
        table = GateDecision.table()
        query = sa.select(table.c.id).where(
            table.c.campaign_id == campaign,
            table.c.aspect == aspect,
            table.c.decider == "gate",
            # That experts' words lead to another look is no gate's doing.
            table.c.policy != "tiers",
        )
        return self._session.one(query.limit(1)) is not None

    def decisions(
        self, campaign: int, *, aspect: str | None = None, newest: bool = False, items: Iterable[str] | None = None
    ) -> pd.DataFrame:
        """Return the decisions in the order in which they were made; with ``newest`` the last one of each item."""
        table = GateDecision.table()
        query = sa.select(*(table.c[each.name] for each in _DECISIONS)).where(table.c.campaign_id == campaign)
        if aspect is not None:
            query = query.where(table.c.aspect == aspect)
        which = () if items is None else (self._session.among(table.c.item, items),)
        query = query.where(*which)
        if newest:
            last = sa.select(sa.func.max(table.c.id)).where(table.c.campaign_id == campaign, *which)
            query = query.where(table.c.id.in_(last.group_by(table.c.aspect, table.c.item)))
        types = {each.name: each.type for each in _DECISIONS}
        return to_pandas(fetch(self._session, query.order_by(table.c.id), types), ())

    def assign(self, campaign: int, frame: Any) -> int:
        """Give items to experts: ``aspect, item, expert, tier, place, score, assigned_at[, due_at]``; last wins.

        Where ``expert`` is missing, the item waits for somebody of its tier.
        """
        frame = frame.assign(expert=frame["expert"].fillna(_NOBODY), score=frame["score"].fillna(0.0))
        table = _of(campaign, read_frame(frame, _ASSIGNED, name="assignments"))
        return bulk_insert(self._session, ExpertAssignment, table, conflict="replace")

    def release(self, campaign: int, aspect: str, items: Iterable[str]) -> int:
        """Take items back from their experts."""
        table = ExpertAssignment.table()
        which = (table.c.campaign_id == campaign, table.c.aspect == aspect, self._session.among(table.c.item, items))
        return self._session.run(sa.delete(table).where(*which))

    def release_waiting(self, campaign: int, aspect: str) -> int:
        """Forget which tiers are asked for by what nobody has; it is worked out anew."""
        table = ExpertAssignment.table()
        which = (table.c.campaign_id == campaign, table.c.aspect == aspect, table.c.expert == _NOBODY)
        return self._session.run(sa.delete(table).where(*which))

    def tiers(self, campaign: int, aspect: str) -> dict[str, int]:
        """Return which tier each item asks for, by item: of what experts have, and of what waits for one."""
        table = ExpertAssignment.table()
        query = sa.select(table.c.item, table.c.tier).where(table.c.campaign_id == campaign, table.c.aspect == aspect)
        return {row.item: row.tier for row in self._session.rows(query)}

    def assigned(self, campaign: int, *, aspect: str | None = None) -> pd.DataFrame:
        """Return who has what, by expert and place: the columns of `assign`."""
        table = ExpertAssignment.table()
        query = sa.select(*(table.c[each.name] for each in _ASSIGNED)).where(
            table.c.campaign_id == campaign, table.c.expert != _NOBODY
        )
        if aspect is not None:
            query = query.where(table.c.aspect == aspect)
        types = {each.name: each.type for each in _ASSIGNED}
        order = (table.c.expert, table.c.place, table.c.item)
        return to_pandas(fetch(self._session, query.order_by(*order), types), ())


def _of(campaign: int, table: Any) -> Any:
    return table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
