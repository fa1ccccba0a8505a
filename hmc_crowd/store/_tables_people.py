"""The tables of who can work when: pools, their shifts, questions that people left open, minutes of the server."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import BIG_KEY, Base, campaign_key, money
from hmc_crowd.store._types import Json

__all__ = ["Heartbeat", "MissingAnswer", "Pool", "Shift"]


class Pool(Base):
    """People who are paid alike; what their workplace said of them last stands beside it."""

    __tablename__ = "pool"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    pay_form: Mapped[str]
    price_minor: Mapped[int] = money()
    currency: Mapped[str]
    capacity_per_hour: Mapped[float]
    skills: Mapped[list[str]]
    members: Mapped[int]
    opted_out: Mapped[dict[str, int]] = mapped_column(Json())
    asked_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


class Shift(Base):
    """When a pool, or one worker of it, is at work."""

    __tablename__ = "shift"
    __table_args__ = (sa.Index(None, "campaign_id", "pool"),)
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    pool: Mapped[str]
    worker: Mapped[str | None]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    people: Mapped[int]


class MissingAnswer(Base):
    """A question that somebody skipped or reported, and why."""

    __tablename__ = "missing_answer"
    submission: Mapped[int] = mapped_column(
        BIG_KEY, sa.ForeignKey("submission.id"), primary_key=True, autoincrement=False
    )
    item: Mapped[str] = mapped_column(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    campaign_id: Mapped[int] = campaign_key()
    round: Mapped[int]
    worker: Mapped[str]
    kind: Mapped[str]
    reason: Mapped[str]
    note: Mapped[str]
    __table_args__ = (sa.Index(None, "campaign_id"),)


class Heartbeat(Base):
    """A minute, counted from 1970, in which a server was up, and how long the calls that it answered took together."""

    __tablename__ = "heartbeat"
    minute: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    calls: Mapped[int] = mapped_column(sa.Integer, server_default="0")
    seconds: Mapped[float] = mapped_column(sa.Float, server_default="0")
