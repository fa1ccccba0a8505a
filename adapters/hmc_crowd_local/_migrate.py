"""Is the database at the version this code needs? Bring it there, or say in one sentence why not.

The history is found in the source tree first: an editable install keeps an old copy of the files that a wheel carries.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from hmc_crowd.errors import NotOurDatabaseError, SchemaVersionError
from hmc_crowd_local import _tables_mturk, _tables_pages  # noqa: F401 because METADATA must know every table of the history
from hmc_crowd_local._tables import PREFIX, VERSION_TABLE

if TYPE_CHECKING:
    from hmc_crowd_local._database import Database

__all__ = ["migrations_folder", "revisions", "upgrade"]

# Any number would do, as long as every process of ours takes the same one.
_POSTGRES_LOCK = 0x686D63_77


def migrations_folder() -> Path:
    """Return the folder of the Alembic history: the source tree's, or the one inside the wheel."""
    here = Path(__file__).resolve().parent
    for folder in (here.parents[1] / "migrations" / "workplace", here / "_migrations"):
        if (folder / "env.py").exists():
            return folder
    raise SchemaVersionError(f"no migrations found beside {here}; install the package again")


def revisions() -> tuple[str, ...]:
    """Return the revisions of the history, newest first."""
    return _revisions(migrations_folder())


@cache
def _revisions(folder: Path) -> tuple[str, ...]:
    # Alembic imports every migration to know their order: most of the time that connecting would take.
    return tuple(each.revision for each in ScriptDirectory(str(folder)).walk_revisions())


def upgrade(database: Database, target: str = "head") -> None:
    """Bring the database to ``target``; two processes at once do it once, in a transaction each.

    Raises
    ------
    NotOurDatabaseError
        An SQLite file that holds other tables.
    SchemaVersionError
        The database was written by a newer version of this package.
    """
    database.make()
    with database.read() as connection:
        if _check(connection, database) == revisions()[0] and target == "head":
            return
    with database.write() as connection:
        _lock(connection)
        _check(connection, database)
        command.upgrade(_config(connection), target)


def downgrade(database: Database, target: str) -> None:
    """Take the database back to ``target`` ("base" drops everything); for tests of the history."""
    with database.write() as connection:
        _lock(connection)
        command.downgrade(_config(connection), target)


def _lock(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_POSTGRES_LOCK)))


def _config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _check(connection: sa.Connection, database: Database) -> str | None:
    """Return the version the database is at, None for a new one; refuse what is newer or not ours."""
    tables = set(sa.inspect(connection).get_table_names())
    if VERSION_TABLE in tables:
        version = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608
        if version is not None and version not in revisions():
            raise SchemaVersionError(
                f"workplace {database.shown} is at version {version}, newer than this code; upgrade hmc-crowd"
            )
        return version
    strangers = sorted(name for name in tables if not name.startswith(PREFIX))
    if (database.is_sqlite and strangers) or tables - set(strangers):
        first = strangers[0] if strangers else min(tables)
        raise NotOurDatabaseError(
            f"workplace {database.shown} is no workplace of ours, it holds the table {first!r}; give another address"
        )
    return None
