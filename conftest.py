"""What holds for tests and examples alike: what needs torch, how hypothesis runs, databases that cost little.

Tests that need torch carry the marker ``text`` and are skipped, saying so, where it is not installed.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterator

# Modules whose examples run an encoder.
EXAMPLES = ("hmc_crowd.confidence.text._classifier.", "hmc_crowd.confidence.text._encoder.")

# How long an example takes is the machine's matter: a busy one would fail tests that are right.
hypothesis.settings.register_profile("house", hypothesis.settings.default, deadline=None)
hypothesis.settings.load_profile("house")


def _only_sqlite_opens_databases(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a module of ours that opens a database file itself: closing it drops SQLite's locks (_base/sqlite.py)."""
    if event != "open" or not isinstance(arguments[0], str | bytes):
        return
    if not os.fsdecode(arguments[0]).endswith((".db", ".db-wal", ".db-shm", ".db-journal")):
        return
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("hmc_crowd"):
            raise RuntimeError(f"{name} opens {arguments[0]!r} outside SQLite")
        frame = None if name.startswith(("tests", "test_", "conftest")) else frame.f_back


sys.addaudithook(_only_sqlite_opens_databases)


def pytest_configure() -> None:
    """Hear Ctrl-C also where a shell started us in the background: the processes that tests interrupt inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the examples, and skip whatever is marked where torch is missing."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.startswith(EXAMPLES):
            item.add_marker("text")
        if missing and item.get_closest_marker("text"):
            item.add_marker(pytest.mark.skip(reason=f"{' and '.join(missing)} not installed: run make test-text"))


@sa.event.listens_for(sa.Pool, "checkout")
def _wait_for_no_disk(connection: Any, record: Any, _proxy: Any) -> None:
    """Let SQLite trust the machine: a commit that waits for the disk takes milliseconds, and no test cuts the power."""
    if isinstance(connection, sqlite3.Connection) and not record.info.get("trusts"):
        connection.execute("PRAGMA synchronous = OFF")
        record.info["trusts"] = True


class Histories:
    """Migrates the first empty SQLite file of each history, and gives the next ones what came out: 20 times as fast."""

    def __init__(self, upgrade: Any) -> None:
        self.upgrade = upgrade
        self.outcomes: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
        self.is_on = True

    def __call__(self, config: Any, revision: str) -> None:
        connection: sa.Connection = config.attributes["connection"]
        if not (self.is_on and revision == "head" and connection.dialect.name == "sqlite") or _tables(connection):
            self.upgrade(config, revision)
            return
        history = config.get_main_option("script_location")
        if history not in self.outcomes:
            self.upgrade(config, revision)
            self.outcomes[history] = list(_as_statements(connection))
            return
        for statement, values in self.outcomes[history]:
            connection.exec_driver_sql(statement, values)


def _tables(connection: sa.Connection) -> list[str]:
    return sa.inspect(connection).get_table_names()


def _as_statements(connection: sa.Connection) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield what makes this schema again, tables first, and the few rows that a history leaves."""
    made = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type != 'table'"
    for (statement,) in connection.exec_driver_sql(made).all():
        yield statement, ()
    for name in _tables(connection):
        for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"').all():
            yield f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', tuple(row)


@pytest.fixture(scope="session")
def histories() -> Iterator[Histories]:
    """Put itself in the place of Alembic's upgrade."""
    from alembic import command

    upgrade = command.upgrade
    command.upgrade = made = Histories(upgrade)
    yield made
    command.upgrade = upgrade


@pytest.fixture(autouse=True)
def migrations_run_once(request: pytest.FixtureRequest, histories: Histories) -> None:
    """Leave alone the tests about migrations, which carry the marker ``migrations``."""
    histories.is_on = request.node.get_closest_marker("migrations") is None


@pytest.fixture(scope="session")
def folder_of_examples(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where examples keep the files they make."""
    return str(tmp_path_factory.mktemp("examples"))


@pytest.fixture(autouse=True)
def examples_leave_nothing(
    request: pytest.FixtureRequest, folder_of_examples: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let what a doctest makes with `tempfile` go with the other files of this run."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr("tempfile.tempdir", folder_of_examples)
