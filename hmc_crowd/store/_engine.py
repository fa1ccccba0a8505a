"""How is a database reached? URLs, one engine per store, and how transactions begin on each database.

SQLite: write-ahead log, foreign keys on, a busy timeout; writers start with BEGIN IMMEDIATE, so that two of them queue
instead of meeting in a deadlock, and readers see one snapshot. PostgreSQL: writers run READ COMMITTED and take row
locks where they meet, readers run one REPEATABLE READ snapshot; a lock is waited for as long as SQLite's busy timeout.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import sqlalchemy as sa

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.extras import require
from hmc_crowd._base.sqlite import open_by_house
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Address", "Shared", "make_engine", "open_engine", "parse_url"]

_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}


@dataclass(frozen=True)
class Address:
    """Where a store lives: the URL, what to call it in messages, and the file if it is one."""

    url: sa.URL
    shown: str
    file: Path | None

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite file."""
        return self.file is not None


def parse_url(url: str | Path) -> Address:
    """Read a database URL or a plain file path.

    Raises
    ------
    InputError
        Not a URL, a database that is not supported, or one in memory, which would be lost at the end of the process.
    """
    text = str(url)
    if "://" not in text:
        path = Path(text)
        return Address(sa.URL.create("sqlite", database=str(path)), str(path), path)
    try:
        parsed = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(
            "--db cannot be read as a URL; write sqlite:///file.db or postgresql://user@host/name"
        ) from None
    if "@" in (parsed.host or ""):
        # Half of the password would be taken for the host, looked up, and said in the error.
        raise InputError("--db holds an @ in its user name or password; write it as %40")
    if parsed.drivername in _POSTGRES:
        require("psycopg", extra="postgres", purpose="A PostgreSQL database")
        parsed = parsed.set(drivername="postgresql+psycopg")
        return Address(parsed, shown_address(parsed.render_as_string(hide_password=True)), None)
    if parsed.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise InputError(
            f"--db names a {parsed.drivername} database; use sqlite:///file.db or postgresql://user@host/name"
        )
    name = parsed.database
    if not name or name == ":memory:" or parsed.query.get("mode") == "memory":
        raise InputError(
            "--db names a database in memory, which this process would lose; give a file: sqlite:///file.db"
        )
    file = Path(name.removeprefix("file:"))
    return Address(parsed, str(file), file)


def make_engine(address: Address, *, busy_s: float) -> sa.Engine:
    """Return the engine of a store; no connection is made yet.

    Parameters
    ----------
    address : Address
        Where to connect.
    busy_s : float
        How long to wait for a lock, in seconds.
    """
    if address.is_sqlite:
        # What stands in a statement is people's ids and texts: a traceback must not show it.
        # The connection used last is used next: its cache is warm, and it knows whether others have written since.
        engine = sa.create_engine(
            address.url,
            connect_args={"timeout": busy_s},
            hide_parameters=True,
            pool_use_lifo=True,
            pool_size=15,
            max_overflow=15,
        )
        open_by_house(engine, shown=address.shown)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    options = address.url.query.get("options", "")
    ours = f"-c timezone=UTC -c lock_timeout={max(1, int(busy_s * 1000))}"
    arguments: dict[str, Any] = {
        "connect_timeout": 10,
        "options": f"{ours} {options if isinstance(options, str) else ' '.join(options)}".strip(),
    }
    url = address.url.difference_update_query(["options"])
    return sa.create_engine(url, pool_pre_ping=True, connect_args=arguments, hide_parameters=True)


class Shared:
    """An engine that all open stores of one SQLite file share in a process, and the count of what they wrote.

    They share a pool of connections and know of each other's writing transactions; the last one closes it.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.numbers = count(1)
        self._users = 0

    def __enter__(self) -> Shared:
        with _LOCK:
            self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        with _LOCK:
            self._users -= 1
            is_last = self._users <= 0
        if is_last:
            self.engine.dispose()


_LOCK = Lock()
_OPEN: WeakValueDictionary[tuple[object, ...], Shared] = WeakValueDictionary()


def open_engine(address: Address, *, busy_s: float) -> Shared:
    """Return the engine of a store, the one that this process has open already where it is the same file."""
    try:
        found = None if address.file is None else address.file.stat()
    except OSError:
        found = None
    if found is None:
        return Shared(make_engine(address, busy_s=busy_s))
    # The file itself and its name: one that was moved away has connections of its own, and the number of a deleted file
    # is given to the next one, wherever that is. No connection may be used on both sides of a fork.
    key = (
        os.getpid(),
        str(address.file and address.file.resolve()),
        found.st_dev,
        found.st_ino,
        tuple(sorted(address.url.query.items())),
        busy_s,
    )
    with _LOCK:
        shared = _OPEN.get(key)
        if shared is None:
            shared = _OPEN[key] = Shared(make_engine(address, busy_s=busy_s))
        return shared


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # sqlite3 would begin transactions by its own rules; ours are begun by _begin_sqlite.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    # With the write-ahead log, NORMAL loses no consistency: at most the last commits on a power cut of the machine.
    # FULL keeps those too, and an intent that is lost after money moved would be paid twice.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -65536")


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql(f"PRAGMA query_only = {0 if writes else 1}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
