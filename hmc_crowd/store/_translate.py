"""What does a driver's error mean to the user? One context manager turns it into one of ours, in one sentence."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import (
    DatabaseBusyError,
    DuplicateError,
    InputError,
    ReadOnlyDatabaseError,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["translated"]

_BUSY = "{where} is locked by another process; wait until it is done and try again"
_READ_ONLY = (
    "{where} cannot be written here; check the permissions of the file and its folder, and that this is no read()"
)
_NOT_A_DATABASE = "{where} is not a SQLite database or is damaged; restore it from a copy or give another --db"
_NOT_OPENED = "{where} cannot be opened; check that the folder exists and may be read, or run: hmc-crowd init --db ..."
_FULL = "{where} cannot grow, the disk is full; nothing was saved, make room and try again"
_DUPLICATE = "{where} holds such a row already: {detail}; nothing was saved"
_REFERENCE = "{where} refuses a row whose parent is missing: {detail}; nothing was saved"
_NO_DATABASE = "{where} does not exist on its server; create it first (createdb) or give another --db"
_NO_CONNECTION = (
    "{where} cannot be reached: {detail}; check that the server runs and that the address and password are right"
)
_CUT = "{where} closed the connection: {detail}; nothing of this transaction was saved, try again"

# SQLite: the primary result code is the low byte (https://www.sqlite.org/rescode.html).
_SQLITE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (DatabaseBusyError, _BUSY),
    sqlite3.SQLITE_LOCKED: (DatabaseBusyError, _BUSY),
    sqlite3.SQLITE_READONLY: (ReadOnlyDatabaseError, _READ_ONLY),
    sqlite3.SQLITE_PERM: (ReadOnlyDatabaseError, _READ_ONLY),
    sqlite3.SQLITE_NOTADB: (StoreError, _NOT_A_DATABASE),
    sqlite3.SQLITE_CORRUPT: (StoreError, _NOT_A_DATABASE),
    sqlite3.SQLITE_CANTOPEN: (StoreError, _NOT_OPENED),
    sqlite3.SQLITE_FULL: (StoreError, _FULL),
}
# PostgreSQL: SQLSTATE, or its class (appendix A of its manual).
_POSTGRES: dict[str, tuple[type[StoreError], str]] = {
    "55P03": (DatabaseBusyError, _BUSY),
    "40001": (DatabaseBusyError, _BUSY),
    "40P01": (DatabaseBusyError, _BUSY),
    "57014": (DatabaseBusyError, _BUSY),
    "53300": (DatabaseBusyError, _BUSY),
    "25006": (ReadOnlyDatabaseError, _READ_ONLY),
    "42501": (ReadOnlyDatabaseError, _READ_ONLY),
    "23505": (DuplicateError, _DUPLICATE),
    "23503": (StoreError, _REFERENCE),
    "3D000": (StoreError, _NO_DATABASE),
    "53100": (StoreError, _FULL),
}


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


def _from_sqlite(error: BaseException, where: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, sqlite3.IntegrityError):
        # A broken append-only trigger, a foreign key or a unique constraint, told apart by the extended code.
        if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            return StoreError(_REFERENCE.format(where=where, detail=_first_line(error)))
        if code in {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}:
            return DuplicateError(_DUPLICATE.format(where=where, detail=_first_line(error)))
    elif code is not None and code & 0xFF in _SQLITE:
        kind, text = _SQLITE[code & 0xFF]
        return kind(text.format(where=where))
    return StoreError(f"{where} refused: {_first_line(error)}; nothing was saved")


def _from_postgres(error: BaseException, where: str) -> StoreError:
    state = getattr(error, "sqlstate", None)
    detail = _first_line(error)
    if state is None:  # never reached the server, or lost it
        cut = "closed" in detail or "terminat" in detail or "consuming input" in detail
        if 'database "' in detail and "does not exist" in detail:
            return StoreError(_NO_DATABASE.format(where=where))
        return StoreError((_CUT if cut else _NO_CONNECTION).format(where=where, detail=detail))
    if state in _POSTGRES:
        kind, text = _POSTGRES[state]
        return kind(text.format(where=where, detail=detail))
    if state.startswith(("08", "57P")):
        return StoreError(_CUT.format(where=where, detail=detail))
    return StoreError(f"{where} refused: {detail}; nothing was saved")


def _own(error: BaseException, where: str) -> StoreError | None:
    """Return our error for a driver's, None for one that is no driver's."""
    cause: Any = getattr(error, "orig", None) if isinstance(error, sa.exc.DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return _from_sqlite(cause, where)
    if type(cause).__module__.partition(".")[0] == "psycopg":
        return _from_postgres(cause, where)
    return None


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn what SQLAlchemy and the drivers raise inside the block into the package's errors.

    Parameters
    ----------
    where : str
        The database as the user knows it, password masked; starts the sentence.
    """
    try:
        yield
    except sa.exc.StatementError as error:
        # SQLAlchemy wraps what a column type refuses (a naive time, NaN in JSON): hand out our own error as it was.
        if isinstance(error.orig, InputError):
            raise error.orig from None
        own = _own(error, where)
        if own is None:
            raise
        raise own from error
    except sa.exc.TimeoutError as error:
        raise DatabaseBusyError(_BUSY.format(where=where)) from error
    except Exception as error:
        own = _own(error, where)
        if own is None:
            raise
        raise own from error
