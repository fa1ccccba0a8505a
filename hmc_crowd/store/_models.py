"""Which version of a model is in use, on which data was it trained, how good was it? No version is ever replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Campaign, Model
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import ModelRecord

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["ModelRepository"]


class ModelRepository(Repository):
    """Versions of a campaign's models; one version per kind is active."""

    def save(
        self,
        campaign: int,
        kind: str,
        blob: bytes,
        *,
        data_hash: str,
        scores: dict[str, Any],
        created_at: datetime,
        active: bool = True,
    ) -> ModelRecord:
        """Store the next version, counted from 1.

        Parameters
        ----------
        campaign : int
            Its id.
        kind : str
            What it is for, for example "effort".
        blob : bytes
            The model as skops writes it; never a pickle.
        data_hash : str
            Hash of the training data.
        scores : dict
            Its evaluation; JSON.
        created_at : datetime
            Aware.
        active : bool, default True
            Whether it replaces the version in use.
        """
        if not isinstance(blob, bytes) or not blob:
            raise InputError("blob is empty or no bytes; give the bytes of skops.io.dumps")
        # The campaign's row is locked so that two processes do not take the same number.
        self._session.run(sa.update(Campaign.table()).where(Campaign.id == campaign).values(items=Campaign.items))
        which = (Model.campaign_id == campaign, Model.kind == check_text(kind, name="kind"))
        last = self._session.connection.execute(sa.select(sa.func.max(Model.version)).where(*which)).scalar() or 0
        if active:
            self._session.run(sa.update(Model.table()).where(*which).values(active=False))
        row = {
            "campaign_id": campaign,
            "kind": kind,
            "version": last + 1,
            "blob": blob,
            "data_hash": check_text(data_hash, name="data_hash"),
            "scores": scores,
            "active": active,
            "created_at": as_utc(created_at, name="created_at"),
        }
        self._session.run(sa.insert(Model.table()), row)
        saved = self._session.one(sa.select(*Model.table().c).where(*which, Model.version == last + 1))
        return _record(saved, blob=blob)

    def latest(self, campaign: int, kind: str) -> ModelRecord | None:
        """Return the version in use, None where there is none."""
        which = (Model.campaign_id == campaign, Model.kind == kind, Model.active.is_(True))
        row = self._session.connection.execute(
            sa.select(*Model.table().c).where(*which).order_by(Model.version.desc()).limit(1)
        ).one_or_none()
        return None if row is None else _record(row, blob=row.blob)

    def newest(self, campaign: int, kind: str) -> ModelRecord | None:
        """Return the version stored last, whether or not it is in use; None where there is none."""
        which = (Model.campaign_id == campaign, Model.kind == kind)
        row = self._session.connection.execute(
            sa.select(*Model.table().c).where(*which).order_by(Model.version.desc()).limit(1)
        ).one_or_none()
        return None if row is None else _record(row, blob=row.blob)

    def history(self, campaign: int, kind: str) -> list[ModelRecord]:
        """Return all versions, oldest first, without their bytes."""
        columns = [column for column in Model.table().c if column.name != "blob"]
        query = sa.select(*columns).where(Model.campaign_id == campaign, Model.kind == kind).order_by(Model.version)
        return [_record(row, blob=b"") for row in self._session.rows(query)]


def _record(row: Any, *, blob: bytes) -> ModelRecord:
    return ModelRecord(
        version=row.version,
        kind=row.kind,
        data_hash=row.data_hash,
        scores=row.scores,
        created_at=row.created_at,
        active=row.active,
        blob=blob,
    )
