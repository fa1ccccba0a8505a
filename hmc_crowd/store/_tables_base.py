"""What do all tables have in common? Column types, constraint names, and the columns that many of them share."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from hmc_crowd.store._types import Json, UtcDateTime

__all__ = ["BIG_KEY", "Base", "campaign_key", "key_part", "money"]

_CAMPAIGN = "campaign.id"
# 64 bits everywhere; SQLite numbers rows by itself only in a column declared INTEGER.
BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class Base(DeclarativeBase):
    """Types and names common to all tables; fixed constraint names let later migrations find them."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: sa.Text(),
        float: sa.Double(),
        datetime: UtcDateTime(),
        dict[str, Any]: Json(),
        list[str]: Json(),
    }

    @classmethod
    def table(cls) -> sa.Table:
        """Return the table of this model."""
        table = cls.__table__
        if not isinstance(table, sa.Table):  # a model is never mapped to a join here
            raise TypeError(f"{cls.__name__} is not mapped to a table")
        return table


def campaign_key(*, primary_key: bool = False) -> Mapped[int]:
    return mapped_column(sa.ForeignKey(_CAMPAIGN), primary_key=primary_key)


def key_part(*, primary_key: bool = False) -> Mapped[int]:
    """Map a plain integer; inside a key it is never handed out by the database."""
    return mapped_column(sa.Integer, primary_key=primary_key, autoincrement=False)


def money() -> Mapped[int]:
    """Minor units; 64 bits on PostgreSQL too."""
    return mapped_column(sa.BigInteger)
