"""The one place that touches SQLite files: how they are made, opened and looked at.

POSIX drops every lock that a process holds on a file when the process closes any descriptor of it. A database that is
opened once more by ``open()``, if only to read its first bytes, thereby loses the lock under which SQLite holds its
log, and the next process that closes the file deletes that log with all it holds. So nothing but SQLite opens a
database file: whether it is there is asked of the folder (``stat``), what it holds is asked of SQLite.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.private import make_private_file
from hmc_crowd.errors import NotOurDatabaseError, StoreError

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["holds_anything", "keep_write_ahead_log", "open_by_house", "open_sqlite"]


def holds_anything(file: Path, *, option: str = "--db") -> bool:
    """Return whether there is a file that is not empty; it is not opened.

    Parameters
    ----------
    file : Path
    option : str, default "--db"
        How the user names the file, for the message.

    Raises
    ------
    StoreError
        It is a folder, or may not be read.

    Examples
    --------
    >>> holds_anything(Path("no-such-file.db"))
    False
    """
    try:
        size = file.stat().st_size
        is_folder = file.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(
            f"{file} cannot be read: {error.strerror}; check its permissions or give another {option}"
        ) from None
    if is_folder:
        raise StoreError(f"{file} is a folder; give the database file in it: {option} {file / 'campaign.db'}")
    if not os.access(file, os.R_OK):
        raise StoreError(f"{file} cannot be read: Permission denied; check its permissions or give another {option}")
    return size > 0


def open_sqlite(
    file: str | Path, *, create: bool = False, option: str = "--db", shown: str | Path | None = None, **options: Any
) -> sqlite3.Connection:
    """Open a database by SQLite, and say in plain words what is none.

    Parameters
    ----------
    file : path
        A path, or with ``uri=True`` SQLite's own form of one; ":memory:" as everywhere.
    create : bool, default False
        Make the file where there is none, for its owner's eyes alone.
    option : str, default "--db"
        How the user names the file, for messages.
    shown : str or Path, optional
        What the user calls it, where that is not ``file``.
    **options
        For `sqlite3.connect`.

    Raises
    ------
    NotOurDatabaseError
        It is no SQLite database.
    StoreError
        Its end is missing.
    sqlite3.Error
        Whatever else keeps SQLite from it: a lock, the folder, the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     database = open_sqlite(Path(folder, "a.db"), create=True)
    ...     database.execute("PRAGMA schema_version").fetchone(), oct(Path(folder, "a.db").stat().st_mode)
    ...     database.close()
    ((0,), '0o100600')
    """
    text = str(file)
    if text == ":memory:":
        in_memory: sqlite3.Connection = sqlite3.connect(text, **options)
        return in_memory
    connection: sqlite3.Connection
    if options.pop("uri", False):
        connection = sqlite3.connect(text, uri=True, **options)
        path = Path(text.removeprefix("file:").partition("?")[0])
    else:
        path = Path(text)
        if create:
            make_private_file(path)
        # Without this mode SQLite makes a new file, readable for everybody, in the place of one that was moved away.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, **options)
    try:
        _require_whole(connection, path, option, shown or path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_by_house(engine: sa.Engine, *, option: str = "--db", shown: str | Path | None = None) -> None:
    """Let an engine of SQLAlchemy open its SQLite file by `open_sqlite`; the words are for its messages."""
    import sqlalchemy as sa

    @sa.event.listens_for(engine, "do_connect")
    def _open(_dialect: Any, _record: Any, arguments: Any, options: Any) -> sqlite3.Connection:
        return open_sqlite(*arguments, option=option, shown=shown, **options)


def _require_whole(connection: sqlite3.Connection, file: Path, option: str, shown: str | Path) -> None:
    """Ask SQLite whether it is a database, and whether all of it is there, its log taken into account."""
    try:
        # Reads the first page alone, under a lock, and needs no table: what SQLite refuses now is the file itself.
        connection.execute("PRAGMA schema_version").fetchone()
        page = connection.execute("PRAGMA page_size").fetchone()[0]
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_NOTADB:
            raise NotOurDatabaseError(
                f"{shown} is not a SQLite database; give another {option}, or move the file away"
            ) from None
        if code is not None and code & 0xFF == sqlite3.SQLITE_CORRUPT:
            raise _truncated(file, option, shown) from None
        raise
    # A last page that is there in part passes SQLite's own look. Pages may still wait in the log, then it is mended.
    real = file.resolve()
    log = real.with_name(real.name + "-wal")
    try:
        rest = real.stat().st_size % page
        waits = log.exists() and log.stat().st_size > 0
    except OSError:
        return
    if rest and not waits:
        raise _truncated(file, option, shown)


def _truncated(file: Path, option: str, shown: str | Path) -> StoreError:
    size = file.stat().st_size
    return StoreError(
        f"{shown} is truncated: {size:,} bytes are there, fewer than its own first page says; restore it from a copy "
        f"or give another {option}"
    )


def keep_write_ahead_log(connection: sqlite3.Connection | sqlite3.Cursor, *, patience_s: float = 30.0) -> None:
    """Turn on the write-ahead log of a file, which lets readers and one writer work side by side.

    Turning it on needs the file for itself for a moment, and there SQLite does not wait: it answers "locked" at once,
    whatever the busy timeout says. So who is turned away asks again.

    Parameters
    ----------
    connection : sqlite3.Connection or sqlite3.Cursor
        Outside a transaction.
    patience_s : float, default 30
        How long to ask again while another connection holds the file.

    Raises
    ------
    sqlite3.OperationalError
        The file is still held, or cannot be written.

    Examples
    --------
    >>> keep_write_ahead_log(open_sqlite(":memory:"))
    """
    until = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
