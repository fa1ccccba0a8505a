"""The store's part of a backup: which tables it has, and how they come to a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.copies import Keeper
from hmc_crowd.store._migrate import _known, migrate, revision

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from hmc_crowd.store._engine import Address

__all__ = ["keeper_of"]


class StoreSchema:
    """The store's tables and history; see `hmc_crowd._base.copies.Schema`."""

    name = "store"

    def __init__(self, where: str) -> None:
        self._where = where

    def tables(self) -> Sequence[str]:
        """Return the tables, each after those that it refers to."""
        from hmc_crowd.store._tables import Base

        return [table.name for table in Base.metadata.sorted_tables]

    def revisions(self) -> Sequence[str]:
        """Return the revisions, newest first."""
        return _known()

    def revision(self, connection: sa.Connection) -> str | None:
        """Return a database's revision."""
        return revision(connection, where=self._where)

    def migrate(self, connection: sa.Connection, to: str) -> None:
        """Bring a database to a revision."""
        migrate(connection, where=self._where, to=to)


def keeper_of(address: Address, engine: sa.Engine) -> Keeper:
    """Return who copies this store."""
    return Keeper(StoreSchema(address.shown), engine, file=address.file, where=address.shown)
