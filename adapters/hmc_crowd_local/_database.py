"""The workplace's database: how it is opened, what a transaction is, and how a driver's error becomes a sentence."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.extras import require
from hmc_crowd._base.private import make_private_file
from hmc_crowd._base.sqlite import holds_anything, keep_write_ahead_log, open_by_house
from hmc_crowd.errors import (
    DatabaseBusyError,
    DuplicateError,
    InputError,
    NotOurDatabaseError,
    ReadOnlyDatabaseError,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Database", "resolve_address"]

_BUSY_MS = 30_000
_LOCK_CODES = {"40001", "40P01", "55P03"}  # serialization failure, deadlock, lock not available


def resolve_address(address: str | None) -> sa.URL:
    """Turn a URL, a file path or nothing (environment, then ``workplace.db``) into a database URL."""
    text = address or os.environ.get("HMC_CROWD_WORKPLACE_URL") or "workplace.db"
    if "://" not in text:
        if text == ":memory:":
            raise InputError("address is ':memory:', which every connection sees for itself; give a file path")
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("address is no database URL; write sqlite:///file.db or postgresql://user@host/db") from None
    if "@" in (url.host or ""):
        # Half of the password would be taken for the host, looked up, and said in the error.
        raise InputError("address holds an @ in its user name or password; write it as %40")
    backend = url.get_backend_name()
    if backend == "postgresql":
        require("psycopg", extra="postgres", purpose="a PostgreSQL workplace")
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or not url.database or url.database == ":memory:":
        raise InputError(f"address is a {backend} URL; the workplace needs an SQLite file or PostgreSQL")
    return url


class Database:
    """An engine with two kinds of transaction; a writing one locks an SQLite file when it begins, not half way."""

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        # A server answers about a dozen requests at a time; a connection opened for each beyond the pool costs more
        # than the work on it.
        self._engine = sa.create_engine(url, pool_size=15, max_overflow=15, hide_parameters=True)
        self._reading = self._engine
        if self.is_sqlite:
            open_by_house(self._engine, option="--workplace", shown=self.file)
            sa.event.listen(self._engine, "connect", _prepare_sqlite)
            sa.event.listen(self._engine, "begin", _begin_sqlite)
        else:
            # Each statement sees the latest commits in either case; without BEGIN and ROLLBACK around them a read
            # takes a third of the exchanges with the server.
            self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    @property
    def engine(self) -> sa.Engine:
        """What makes its connections."""
        return self._engine

    @property
    def shown(self) -> str:
        """The address without its password."""
        return shown_address(self.url.render_as_string(hide_password=True))

    @property
    def file(self) -> Path | None:
        """The file where it is SQLite; None for PostgreSQL."""
        return Path((self.url.database or "").removeprefix("file:")) if self.is_sqlite else None

    def make(self) -> None:
        """Make the file where there is none, for its owner's eyes alone.

        Raises
        ------
        StoreError
            It is a folder, or may not be read.
        ReadOnlyDatabaseError
            Its folder is missing or cannot be written.
        """
        if self.file is None or holds_anything(self.file, option="--workplace"):
            return
        try:
            make_private_file(self.file)
        except OSError as error:
            raise ReadOnlyDatabaseError(
                f"workplace {self.shown}: {error.strerror or error}; check that file and folder can be written"
            ) from None

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Open a connection for reading: one snapshot on SQLite, what is committed by now on PostgreSQL."""
        with self._translate(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Open a writing transaction: committed at the end, or nothing of it when anything is raised."""
        with self._translate(), self._engine.connect() as plain:
            connection = plain.execution_options(workplace_write=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    @contextmanager
    def _translate(self) -> Iterator[None]:
        """Turn a driver's error into one of ours, with the address and the next step."""
        try:
            yield
        except sa.exc.IntegrityError as error:
            raise DuplicateError(f"workplace {self.shown}: {_first_line(error)}; somebody else was quicker") from error
        except sa.exc.DBAPIError as error:
            raise self._own_error(error) from error

    def _own_error(self, error: sa.exc.DBAPIError) -> StoreError:
        text = _first_line(error)
        lower = text.lower()
        if "database is locked" in lower or getattr(error.orig, "sqlstate", None) in _LOCK_CODES:
            return DatabaseBusyError(f"workplace {self.shown} is locked by another process; try again when it is done")
        if "readonly" in lower or "read-only" in lower or "unable to open database file" in lower:
            return ReadOnlyDatabaseError(f"workplace {self.shown}: {text}; check that file and folder can be written")
        if "not a database" in lower or "malformed" in lower:
            return NotOurDatabaseError(f"workplace {self.shown} is no database of ours ({text}); give another address")
        return StoreError(f"workplace {self.shown}: {text}; check the address and that the database runs")


def _first_line(error: sa.exc.DBAPIError) -> str:
    return str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Let SQLAlchemy begin transactions itself; wait for locks; keep foreign keys; let readers and a writer coexist."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={_BUSY_MS}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    keep_write_ahead_log(cursor, patience_s=_BUSY_MS / 1000)
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    is_write = connection.get_execution_options().get("workplace_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")
