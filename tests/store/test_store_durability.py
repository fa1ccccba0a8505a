"""What a power cut takes: nothing that was committed."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from hmc_crowd.store._engine import _prepare_sqlite


def test_a_commit_reaches_the_disk_before_it_returns() -> None:
    # Tests themselves do without (conftest.py), so that this looks at what a connection is given.
    with closing(sqlite3.connect(":memory:")) as connection:
        _prepare_sqlite(connection, None)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
