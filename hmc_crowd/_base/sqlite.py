"""How does a SQLite file get its write-ahead log when several processes make it at once?

Turning the log on needs the file for itself for a moment, and there SQLite does not wait: it answers "locked" at once,
whatever the busy timeout says. So who is turned away asks again.
"""

from __future__ import annotations

import sqlite3
import time

__all__ = ["keep_write_ahead_log"]


def keep_write_ahead_log(connection: sqlite3.Connection | sqlite3.Cursor, *, patience_s: float = 30.0) -> None:
    """Turn on the write-ahead log of a file, which lets readers and one writer work side by side.

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
    >>> keep_write_ahead_log(sqlite3.connect(":memory:"))
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
