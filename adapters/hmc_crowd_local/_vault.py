"""The workplace's key, and the secrets that are sealed under it in the database.

The key lies in a file of mode 600: beside an SQLite workplace as ``NAME.key``, for PostgreSQL in the user's
configuration folder; or in ``HMC_CROWD_WORKPLACE_KEY``. Whoever gets the database, or a backup of it, without the key
can make no link, no session and no signature.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.keys import config_folder, is_sealed, load_key, new_key, seal, unseal
from hmc_crowd.errors import DuplicateError, StateError
from hmc_crowd_local._tables_mturk import KEY, SECRET

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd_local._database import Database

__all__ = ["VARIABLE", "Renewed", "Vault", "seal_what_is_open"]

VARIABLE = "HMC_CROWD_WORKPLACE_KEY"
# Names the file of the key where the database is no file; no secret itself.
_NUMBER = "key"
#: Says which conditions of a study somebody sees; it opens nothing, and a new one would change running studies.
_KEPT = "arms"


@dataclass(frozen=True)
class Renewed:
    """What `Vault.renew` made useless: secrets that signed links, and keys of scripts."""

    secrets: int
    keys: int
    file: str


class Vault:
    """Seals and unseals what one workplace must keep."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def file(self) -> Path | None:
        """Where the key lies; None where the environment holds it, or where none is made yet."""
        if os.environ.get(VARIABLE):
            return None
        if self._database.is_sqlite:
            return Path(f"{self._database.url.database}.key")
        number = self._number()
        return None if number is None else config_folder() / f"workplace-{number}.key"

    def seal(self, place: str, value: str) -> str:
        """Return a value as the database may hold it."""
        return seal(self._key(), place, value)

    def unseal(self, place: str, held: str) -> str:
        """Return what the database holds for a place.

        Raises
        ------
        StateError
            The key is not there, or is another one.
        """
        if not is_sealed(held):
            return held  # an older version's, until `seal_what_is_open` has been
        key = load_key(VARIABLE, self._path(), create=False)
        if key is None:
            raise StateError(f"{self._path()} is missing, the key of workplace {self._database.shown}; {_NEXT}")
        try:
            return unseal(key, place, held)
        except StateError:
            where = VARIABLE if os.environ.get(VARIABLE) else str(self._path())
            raise StateError(f"{where} is not the key of workplace {self._database.shown}; {_NEXT}") from None

    def is_readable(self) -> bool:
        """Whether what is sealed can be read: the right key is there, or nothing is sealed."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(SECRET.c.name, SECRET.c.value)).all()
        try:
            for name, value in rows:
                if is_sealed(value):
                    self.unseal(f"secret/{name}", value)
        except StateError:
            return False
        return True

    def renew(self, *, at: datetime) -> Renewed:
        """Make a new key and new secrets: links, sessions and keys of scripts that were given out before are void."""
        arms = self._held(_KEPT)
        kept = None
        if arms is not None:
            with suppress(StateError):  # the old key is lost: then its conditions are, too
                kept = self.unseal(f"secret/{_KEPT}", arms)
        gone, keys = self._forget(kept, at=at)
        if os.environ.get(VARIABLE):
            return Renewed(gone, keys, VARIABLE)
        # Who is stopped between these steps leaves nothing that only the old key opens: the next start seals what lies
        # open, and the call can be repeated.
        new_key(VARIABLE, self._path(), overwrite=True)
        # Again, for what a server that runs has sealed under the old key meanwhile.
        more = self._forget(None if kept is None else self.seal(f"secret/{_KEPT}", kept), at=at)
        return Renewed(gone + more[0], keys + more[1], str(self._path()))

    def _forget(self, kept: str | None, *, at: datetime) -> tuple[int, int]:
        """Delete all secrets and revoke all keys, conditions aside; return how many of each there were."""
        with self._database.write() as connection:
            gone = connection.execute(sa.delete(SECRET).where(SECRET.c.name.not_in([_NUMBER, _KEPT]))).rowcount
            lost = connection.execute(sa.delete(SECRET).where(SECRET.c.name == _KEPT)).rowcount
            keys = connection.execute(sa.update(KEY).where(KEY.c.revoked_at.is_(None)).values(revoked_at=at)).rowcount
            connection.execute(sa.update(KEY).values(secret=""))
            if kept is not None:
                connection.execute(sa.insert(SECRET).values(name=_KEPT, value=kept))
        return gone + (lost if kept is None else 0), keys

    def counts(self) -> tuple[int, int]:
        """Return how many secrets and keys of scripts `renew` would make useless."""
        with self._database.read() as connection:
            count = sa.select(sa.func.count())
            names = SECRET.c.name.not_in([_NUMBER, _KEPT])
            secrets_ = connection.execute(count.select_from(SECRET).where(names)).scalar_one()
            keys = connection.execute(count.select_from(KEY).where(KEY.c.revoked_at.is_(None))).scalar_one()
        return int(secrets_), int(keys)

    def _key(self) -> bytes:
        """Return the key, made on first use, but never while something is sealed under another one."""
        key = load_key(VARIABLE, self._path(), create=False)
        if key is not None:
            return key
        if self._is_in_use():
            raise StateError(f"{self._path()} is missing, the key of workplace {self._database.shown}; {_NEXT}")
        return new_key(VARIABLE, self._path())

    def _is_in_use(self) -> bool:
        with self._database.read() as connection:
            held = [*connection.execute(sa.select(SECRET.c.value)).scalars()]
            held += connection.execute(sa.select(KEY.c.secret).where(KEY.c.revoked_at.is_(None))).scalars()
        return any(is_sealed(each) for each in held)

    def _path(self) -> Path:
        if self._database.is_sqlite:
            return Path(f"{self._database.url.database}.key")
        number = self._number()
        if number is None:
            with suppress(DuplicateError), self._database.write() as connection:  # or somebody else was quicker
                connection.execute(sa.insert(SECRET).values(name=_NUMBER, value=secrets.token_hex(6)))
            number = self._number()
        return config_folder() / f"workplace-{number}.key"

    def _number(self) -> str | None:
        return self._held(_NUMBER)

    def _held(self, name: str) -> str | None:
        with self._database.read() as connection:
            found: str | None = connection.execute(sa.select(SECRET.c.value).where(SECRET.c.name == name)).scalar()
        return found


_NEXT = (
    f"put its copy back, or set {VARIABLE}; if it is lost, `hmc-crowd keys renew` makes a new one, and links and keys "
    "that were given out before it stop working"
)


def seal_what_is_open(database: Database) -> int:
    """Seal the secrets that an older version left readable in the database; return how many were.

    They stay what they were, so links and keys that were given out go on working. The readable values are overwritten:
    SQLite zeroes them and empties its log, PostgreSQL writes the two small tables anew.
    """
    if not _open_rows(database):
        return 0
    vault = Vault(database)
    done = 0
    vault._key()
    with database.write() as connection:
        if database.is_sqlite:
            connection.exec_driver_sql("PRAGMA secure_delete = ON")
        for table, place, name, value in _TABLES:
            rows = connection.execute(sa.select(name, value).where(_is_open(name, value)).with_for_update()).all()
            for each, held in rows:
                sealed = vault.seal(f"{place}/{each}", held)
                connection.execute(sa.update(table).where(name == each).values({value.name: sealed}))
                done += 1
    _forget_old_pages(database)
    return done


_TABLES: tuple[tuple[Any, str, Any, Any], ...] = (
    (SECRET, "secret", SECRET.c.name, SECRET.c.value),
    (KEY, "mturk key", KEY.c.access_key, KEY.c.secret),
)


def _is_open(name: Any, value: Any) -> Any:
    return sa.and_(name != _NUMBER, value != "", value.not_like("sealed:%"))


def _open_rows(database: Database) -> bool:
    with database.read() as connection:
        return any(
            connection.execute(sa.select(name).where(_is_open(name, value)).limit(1)).first() is not None
            for _, _, name, value in _TABLES
        )


def _forget_old_pages(database: Database) -> None:
    """Let the overwritten values leave the disk, too; whoever is in the way only puts that off."""
    with suppress(sa.exc.DBAPIError), database.engine.connect() as connection:
        if database.is_sqlite:
            raw: Any = connection.connection.driver_connection
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        alone.exec_driver_sql("SET lock_timeout = '5s'")
        for table, *_ in _TABLES:
            alone.exec_driver_sql(f"VACUUM FULL {table.name}")
        alone.exec_driver_sql("RESET lock_timeout")
