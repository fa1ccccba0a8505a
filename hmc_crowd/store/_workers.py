"""Who answered, and how good are they? Pseudonyms everywhere; raw ids in one table only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import WorkerIdentity, WorkerScore
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    import pandas as pd

__all__ = ["WorkerRepository"]

_SCORES = [
    Column("worker", "key", required=True),
    Column("right", "integer", required=True),
    Column("n", "integer", required=True),
    Column("score", "number"),
    Column("low", "number"),
    Column("high", "number"),
    Column("as_of", "time", required=True),
]


class WorkerRepository(Repository):
    """Identities and gold scores of workers."""

    def identify(self, platform: str, raw_ids: Iterable[str], *, pseudonyms: Mapping[str, str]) -> None:
        """Keep which pseudonym stands for which raw id of a platform; known ones are left as they are.

        Parameters
        ----------
        platform : str
            Whose ids they are.
        raw_ids : iterable of str
            The platform's worker ids.
        pseudonyms : mapping of str to str
            Raw id to pseudonym; must have every raw id.

        Raises
        ------
        InputError
            A raw id has no pseudonym.
        DuplicateError
            A raw id has another pseudonym already, or two raw ids would share one.
        """
        wanted = list(dict.fromkeys(check_text(raw, name="raw_ids") for raw in raw_ids))
        without = sum(raw not in pseudonyms for raw in wanted)
        if without:
            raise InputError(f"pseudonyms lacks {without} of {len(wanted)} raw_ids; give one for each")
        known = self.known(platform)
        _require_same({raw: pseudonyms[raw] for raw in wanted}, known, platform)
        rows = [
            {
                "platform": check_text(platform, name="platform"),
                "raw_id": raw,
                "worker": check_text(pseudonyms[raw], name="pseudonyms"),
                "seen_at": self._session.now(),
            }
            for raw in wanted
            if raw not in known
        ]
        if rows:
            # Another process may collect the same people at this moment: what it wrote is looked at afterwards.
            self._session.run(self._session.insert(WorkerIdentity).on_conflict_do_nothing(), rows)
            known = self.known(platform)
            lost = [row["worker"] for row in rows if row["raw_id"] not in known]
            if lost:
                raise DuplicateError(f"{len(lost)} pseudonym(s) of {platform} are another's, the first is {lost[0]!r}")
            _require_same({raw: pseudonyms[raw] for raw in wanted}, known, platform)

    def known(self, platform: str) -> dict[str, str]:
        """Return raw id to pseudonym of one platform: personal data, hand it no further than the platform's adapter."""
        query = sa.select(WorkerIdentity.raw_id, WorkerIdentity.worker).where(WorkerIdentity.platform == platform)
        return {row.raw_id: row.worker for row in self._session.rows(query.order_by(WorkerIdentity.raw_id))}

    def raw_ids(self, platform: str, workers: Iterable[str]) -> dict[str, str]:
        """Return the raw ids behind these pseudonyms: personal data, as in `known`; forgotten ones are absent."""
        which = (WorkerIdentity.platform == platform, self._session.among(WorkerIdentity.worker, workers))
        query = sa.select(WorkerIdentity.worker, WorkerIdentity.raw_id).where(*which)
        return {row.worker: row.raw_id for row in self._session.rows(query)}

    def is_known(self, worker: str) -> bool:
        """Say whether a pseudonym stands for somebody of any platform who was not forgotten."""
        query = sa.select(WorkerIdentity.worker).where(WorkerIdentity.worker == worker).limit(1)
        return bool(self._session.rows(query))

    def add_scores(self, campaign: int, frame: Any, *, as_of: datetime | None = None) -> int:
        """Store gold scores as known at a moment; the same worker and moment again are replaced.

        Parameters
        ----------
        campaign : int
            Its id.
        frame : pandas.DataFrame or pyarrow.Table
            ``worker, right, n`` and optional ``score, low, high``; ``as_of`` per row unless given.
        as_of : datetime, optional
            The moment for all rows, aware.
        """
        columns = _SCORES if as_of is None else _SCORES[:-1]
        table = read_frame(frame, columns, name="scores")
        if as_of is not None:
            moment = pa.scalar(as_utc(as_of, name="as_of"), pa.timestamp("us", "UTC"))
            table = table.append_column("as_of", pa.repeat(moment, len(table)))
        table = table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
        return bulk_insert(self._session, WorkerScore, table, conflict="replace")

    def scores(self, campaign: int, as_of: datetime | None = None) -> pd.DataFrame:
        """Return each worker's latest score, or the latest known at a moment: what a plan of that day could use.

        Returns
        -------
        pandas.DataFrame
            ``worker, right, n, score, low, high, as_of``, by worker.
        """
        table = WorkerScore.table()
        which = [WorkerScore.campaign_id == campaign]
        if as_of is not None:
            which.append(WorkerScore.as_of <= as_utc(as_of, name="as_of"))
        last = (
            sa.select(WorkerScore.worker, sa.func.max(WorkerScore.as_of).label("last"))
            .where(*which)
            .group_by(WorkerScore.worker)
            .subquery()
        )
        newest = sa.and_(table.c.worker == last.c.worker, table.c.as_of == last.c.last)
        query = sa.select(*(table.c[each.name] for each in _SCORES)).join(last, newest)
        query = query.where(WorkerScore.campaign_id == campaign).order_by(WorkerScore.worker)
        return to_pandas(fetch(self._session, query, {each.name: each.type for each in _SCORES}), ())


def _require_same(wanted: Mapping[str, str], known: Mapping[str, str], platform: str) -> None:
    """Refuse other pseudonyms than those that are known; raw ids are personal, so the message gives pseudonyms only."""
    changed = [raw for raw, name in wanted.items() if known.get(raw, name) != name]
    if changed:
        raise DuplicateError(
            f"{len(changed)} worker(s) of {platform} have other pseudonyms already, "
            f"the first is {known[changed[0]]!r}; keep the key"
        )
