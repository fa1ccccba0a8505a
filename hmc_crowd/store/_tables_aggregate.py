"""The tables of aggregation: how an aspect was aggregated last, how good each worker was, and what the counts were."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key
from hmc_crowd.store._types import Json

__all__ = ["Aggregation", "WorkerCount", "WorkerQuality"]


class Aggregation(Base):
    """The newest aggregation of an aspect: what a stream goes on from."""

    __tablename__ = "aggregation"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    method: Mapped[str]
    labels: Mapped[list[str]]
    class_share: Mapped[Any | None] = mapped_column(Json())
    prior: Mapped[float | None]
    answers: Mapped[int] = mapped_column(sa.BigInteger)
    at: Mapped[datetime]


class WorkerQuality(Base):
    """How good a worker was in it."""

    __tablename__ = "worker_quality"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    n_answers: Mapped[int]
    accuracy: Mapped[float | None]
    se: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]


class WorkerCount(Base):
    """How often a worker answered ``label`` where the truth was ``truth``, as expected: a row of the worker table."""

    __tablename__ = "worker_count"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    worker: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[str] = mapped_column(primary_key=True)
    truth: Mapped[str] = mapped_column(primary_key=True)
    count: Mapped[float]
