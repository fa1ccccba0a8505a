"""Which plan was made, and what does it say of an item? Rows up to ``large``, a content-hashed Parquet file above."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.store._arrow import Column, bad_rows, read_frame, select, to_pandas
from hmc_crowd.store._artefacts import content_hash
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Plan, PlanItem
from hmc_crowd.store._types import to_json
from hmc_crowd.store.records import PlanRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

__all__ = ["PLAN_COLUMNS", "PlanRepository"]

PLAN_COLUMNS = [
    Column("item", "key", required=True),
    Column("aspect", "key", required=True),
    Column("destination", "text", required=True),
    Column("pool", "text"),
    Column("reason", "text"),
    Column("gain", "number"),
    Column("confidence", "number"),
    Column("effort_s", "number"),
    Column("inclusion_probability", "number"),
    Column("rank", "integer"),
]
_DESTINATIONS = ("machine", "people", "audit")


class PlanRepository(Repository):
    """Plans of a campaign; a round may have several, the last one counts."""

    def save(self, campaign: int, round: int, header: dict[str, Any], frame: Any) -> PlanRecord:
        """Store a plan; the same header and rows for the same round again give the stored plan.

        Where another plan of the round came in between, the plan stored again is the latest from then on, under a new
        id: the last one asked for is the one that counts.

        Parameters
        ----------
        campaign, round : int
            Which pass of which campaign.
        header : dict
            How it was made (trade-off, caps, versions); JSON.
        frame : pandas.DataFrame or pyarrow.Table
            ``item, aspect, destination`` ("machine", "people" or "audit") and optional ``pool, reason, gain,
            confidence, effort_s, inclusion_probability, rank``. Categorical columns save memory in a large one.

        Raises
        ------
        FrameError
            A column is missing or wrong, or a destination is unknown.
        """
        table = read_frame(frame, PLAN_COLUMNS, name="plan")
        wrong = pc.invert(pc.is_in(table["destination"], pa.array(_DESTINATIONS, pa.large_string())))
        if len(table) and pc.any(wrong).as_py():
            raise FrameError(
                f"plan: column destination must be {', '.join(_DESTINATIONS)}: {bad_rows(wrong, table['destination'])}"
            )
        hashed = content_hash(table, header=to_json(header, name="header"))
        known = self._find(Plan.campaign_id == campaign, Plan.round == round, Plan.content_hash == hashed)
        if known and known[0] == self.latest(campaign, round):
            return known[0]
        path = None
        if known:
            self._delete(known[0].id)
        if len(table) > self._session.large:
            path = self._session.artefacts.write(table, prefix=f"c{campaign}-plan-r{round}", hashed=hashed)
        row = {
            "campaign_id": campaign,
            "round": round,
            "header": header,
            "content_hash": hashed,
            "length": len(table),
            "path": path,
            "created_at": self._session.now(),
        }
        self._session.run(sa.insert(Plan.table()), row)
        saved = self._find(Plan.campaign_id == campaign, Plan.round == round, Plan.content_hash == hashed)[0]
        if path is None:
            self._insert_rows(saved.id, table)
        return saved

    def latest(self, campaign: int, round: int | None = None) -> PlanRecord | None:
        """Return the last plan of a round, or of the campaign; None where there is none."""
        which = [Plan.campaign_id == campaign]
        if round is not None:
            which.append(Plan.round == round)
        found = self._find(*which)
        return found[-1] if found else None

    def read(
        self,
        plan: int,
        *,
        people_only: bool = False,
        items: Iterable[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Return a plan's rows in the order in which they were saved.

        Parameters
        ----------
        plan : int
            Its id.
        people_only : bool, default False
            Only what people see: destinations "people" and "audit".
        items : iterable of str, optional
            Only these items.
        columns : sequence of str, optional
            Only these columns.
        """
        wanted = select(PLAN_COLUMNS, columns, name="plans")
        found = self._session.one(sa.select(Plan.path, Plan.content_hash).where(Plan.id == plan))
        if found is None:
            raise InputError(f"no plan has the id {plan}; take it from latest()")
        if found.path is None:
            table = self._read_rows(plan, people_only, items, wanted)
        else:
            rows = pc.field("destination") != "machine" if people_only else None
            if items is not None:
                among = pc.field("item").isin(pa.array(list(items), pa.large_string()))
                rows = among if rows is None else rows & among
            table = self._session.artefacts.read(found.path, hashed=found.content_hash, columns=wanted, rows=rows)
        return to_pandas(table, PLAN_COLUMNS)

    def _delete(self, plan: int) -> None:
        """Take a plan's rows out; a file stays, because the same content gets the same file again."""
        self._session.run(sa.delete(PlanItem.table()).where(PlanItem.plan_id == plan))
        self._session.run(sa.delete(Plan.table()).where(Plan.id == plan))

    def _insert_rows(self, plan: int, table: Any) -> None:
        import numpy as np

        table = table.add_column(0, "plan_id", pa.repeat(pa.scalar(plan, pa.int64()), len(table)))
        bulk_insert(self._session, PlanItem, table.append_column("seq", pa.array(np.arange(len(table)))))

    def _read_rows(self, plan: int, people_only: bool, items: Iterable[str] | None, wanted: Sequence[str]) -> Any:
        table = PlanItem.table()
        types = {each.name: each.type for each in PLAN_COLUMNS}
        query = sa.select(*(table.c[name] for name in wanted)).where(PlanItem.plan_id == plan)
        if people_only:
            query = query.where(PlanItem.destination != "machine")
        if items is not None:
            query = query.where(self._session.among(PlanItem.item, items))
        return fetch(self._session, query.order_by(PlanItem.seq), {name: types[name] for name in wanted})

    def _find(self, *which: Any) -> list[PlanRecord]:
        return [
            PlanRecord(
                id=row.id,
                campaign=row.campaign_id,
                round=row.round,
                header=row.header,
                content_hash=row.content_hash,
                created_at=row.created_at,
                path=None if row.path is None else str(Path(self._session.artefacts.folder) / row.path),
            )
            for row in self._session.rows(sa.select(*Plan.table().c).where(*which).order_by(Plan.id))
        ]
