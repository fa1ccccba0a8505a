"""The tables of how people judge: versions of guidelines, and what experts said before and after they saw the rest."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  # because the mapping reads the annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from hmc_crowd.store._tables_base import Base, campaign_key

__all__ = ["Adjudication", "Guideline"]


class Guideline(Base):
    """One version of an aspect's guideline; ``seq`` counts them from 1.

    ``meaning`` is the version that it says the same as in other words; empty where it means something of its own.
    """

    __tablename__ = "guideline"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[str] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(sa.Integer)
    text: Mapped[str]
    at: Mapped[datetime]
    meaning: Mapped[str] = mapped_column(server_default="")


class Adjudication(Base):
    """What an expert said of an item: blind, and then knowing what the crowd and the machine had said."""

    __tablename__ = "adjudication"
    campaign_id: Mapped[int] = campaign_key(primary_key=True)
    aspect: Mapped[str] = mapped_column(primary_key=True)
    item: Mapped[str] = mapped_column(primary_key=True)
    expert: Mapped[str] = mapped_column(primary_key=True)
    guideline_version: Mapped[str] = mapped_column(primary_key=True)
    blind_label: Mapped[str]
    blind_at: Mapped[datetime]
    crowd_label: Mapped[str | None]
    machine_label: Mapped[str | None]
    final_label: Mapped[str | None]
    final_at: Mapped[datetime | None]
    tier: Mapped[int | None]
