"""Is this database ours, and of which version? The migration runner; users need no alembic.ini.

The history is looked for in the source tree first: an editable install leaves a stale copy of it inside the package.
Everything runs in the caller's transaction, so a migration that fails leaves nothing behind, on both databases.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.extras import HOW_TO_INSTALL
from hmc_crowd.errors import NotOurDatabaseError, SchemaVersionError, StoreError

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["VERSION_TABLE", "migrate", "migrations_folder", "require_current", "revision"]

VERSION_TABLE = "hmc_crowd_store_version"
# Any table so named marks a database of the house: the workplace may share a PostgreSQL database with the store.
_HOUSE = ("hmc_crowd_", "_version")
# Held for the length of a migration, so that two processes do not make the same tables.
_ADVISORY_LOCK = 0x686D635F63726F77


def migrations_folder() -> Path:
    """Return the folder of the store's migration history.

    Raises
    ------
    StoreError
        The installation lacks it.
    """
    package = Path(__file__).parents[1]
    root = package.parent
    source = root / "migrations" / "store"
    if (root / "pyproject.toml").exists() and (source / "env.py").exists():
        return source
    packed = package / "_migrations"
    if (packed / "env.py").exists():
        return packed
    raise StoreError(f"this installation of hmc-crowd lacks its migrations; install it again: {HOW_TO_INSTALL}")


def _config(connection: sa.Connection) -> Config:
    from alembic.config import Config

    config = Config()
    # Percent signs of a path would be read as interpolation.
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _known() -> list[str]:
    """Return the revisions of the history, newest first."""
    return list(_revisions(migrations_folder()))


@cache
def _revisions(folder: Path) -> tuple[str, ...]:
    # Alembic imports every migration to know their order: most of the time that opening a store would take.
    from alembic.script import ScriptDirectory

    return tuple(script.revision for script in ScriptDirectory(str(folder)).walk_revisions())


def revision(connection: sa.Connection, *, where: str) -> str | None:
    """Return the database's revision, None if it holds nothing of ours yet.

    Raises
    ------
    NotOurDatabaseError
        It holds tables of some other program.
    """
    tables = set(sa.inspect(connection).get_table_names())
    if VERSION_TABLE in tables:
        version = sa.table(VERSION_TABLE, sa.column("version_num"))
        found = connection.execute(sa.select(version.c.version_num)).scalar_one_or_none()
        if found is not None:
            return str(found)
        tables.discard(VERSION_TABLE)
    if not tables:
        return None
    if any(name.startswith(_HOUSE[0]) and name.endswith(_HOUSE[1]) for name in tables):
        from hmc_crowd.store._tables import Base

        if not tables & set(Base.metadata.tables):
            return None
    shown = ", ".join(sorted(tables)[:3]) + (" ..." if len(tables) > 3 else "")
    raise NotOurDatabaseError(f"{where} belongs to another program (it holds the tables {shown}); give another --db")


def require_current(connection: sa.Connection, *, where: str) -> None:
    """Go on only if the database is exactly of this code's version.

    Raises
    ------
    StoreError
        It is empty.
    SchemaVersionError
        It is older or newer than this code.
    NotOurDatabaseError
        It holds tables of some other program.
    """
    found, known = revision(connection, where=where), _known()
    if found is None:
        raise StoreError(f"{where} is empty; make it with: hmc-crowd init --db ...")
    if found not in known:
        raise SchemaVersionError(
            f"{where} was made by a newer hmc-crowd (schema {found}, this one knows up to {known[0]}); "
            f"upgrade: {HOW_TO_INSTALL}"
        )
    if found != known[0]:
        raise SchemaVersionError(
            f"{where} was made by an older hmc-crowd (schema {found}, now {known[0]}); "
            "bring it up with: hmc-crowd init --db ..."
        )


def migrate(connection: sa.Connection, *, where: str, to: str = "head") -> None:
    """Bring the database to a revision, inside the caller's transaction.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a writing transaction.
    where : str
        What to call the database in messages.
    to : str, default "head"
        A revision; "base" takes everything of ours down.
    """
    from alembic import command

    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
    found, known = revision(connection, where=where), _known()
    if found is not None and found not in known:
        require_current(connection, where=where)
    down = to == "base" or (found is not None and to in known and known.index(to) > known.index(found))
    (command.downgrade if down else command.upgrade)(_config(connection), to)
