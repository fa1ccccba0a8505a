"""The workplace's part of a backup: which tables it has, and how they come to a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import command

from hmc_crowd._base.copies import Keeper
from hmc_crowd_local._migrate import _check, _config, _lock, revisions
from hmc_crowd_local._tables import METADATA

if TYPE_CHECKING:
    from collections.abc import Sequence

    import sqlalchemy as sa

    from hmc_crowd_local._database import Database

__all__ = ["keeper_of"]


class WorkplaceSchema:
    """The workplace's tables and history; see `hmc_crowd._base.copies.Schema`."""

    name = "workplace"

    def __init__(self, database: Database) -> None:
        self._database = database

    def tables(self) -> Sequence[str]:
        """Return the tables, each after those that it refers to."""
        return [table.name for table in METADATA.sorted_tables]

    def revisions(self) -> Sequence[str]:
        """Return the revisions, newest first."""
        return revisions()

    def revision(self, connection: sa.Connection) -> str | None:
        """Return a database's revision."""
        return _check(connection, self._database)

    def migrate(self, connection: sa.Connection, to: str) -> None:
        """Bring a database to a revision."""
        _lock(connection)
        known = revisions()
        found = self.revision(connection)
        down = to == "base" or (found is not None and to in known and known.index(to) > known.index(found))
        (command.downgrade if down else command.upgrade)(_config(connection), to)


def keeper_of(database: Database) -> Keeper:
    """Return who copies this workplace."""
    return Keeper(WorkplaceSchema(database), database.engine, file=database.file, where=database.shown)
