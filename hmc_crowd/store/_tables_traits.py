"""The table of what workers said of themselves: personal data, under pseudonyms, in no log and no export."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations

from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key

__all__ = ["WorkerTrait"]


class WorkerTrait(Base):
    """One attribute of a worker, as a platform (``source``) told it last."""

    __tablename__ = "worker_trait"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    attribute: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]
    source: Mapped[str]
    at: Mapped[datetime]
