"""A file that several connections make at once gets its write-ahead log."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from hmc_crowd._base.sqlite import keep_write_ahead_log

if TYPE_CHECKING:
    from pathlib import Path


def test_who_is_turned_away_asks_again(tmp_path: Path) -> None:
    first = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    first.execute("CREATE TABLE t (n INTEGER)")
    first.execute("BEGIN IMMEDIATE")
    second = sqlite3.connect(tmp_path / "x.db", isolation_level=None, timeout=5)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        second.execute("PRAGMA journal_mode = WAL")
    timer = threading.Timer(0.1, lambda: first.execute("COMMIT"))
    timer.start()
    keep_write_ahead_log(second)
    timer.join()
    assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_patience_ends(tmp_path: Path) -> None:
    first = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    first.execute("CREATE TABLE t (n INTEGER)")
    first.execute("BEGIN IMMEDIATE")
    second = sqlite3.connect(tmp_path / "x.db", isolation_level=None, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        keep_write_ahead_log(second, patience_s=0.05)
