"""A database that cannot be used gives the typed error in one sentence and stays as it was."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from hmc_crowd.errors import (
    DatabaseBusyError,
    InputError,
    NotOurDatabaseError,
    ReadOnlyDatabaseError,
    SchemaVersionError,
    StoreError,
)
from hmc_crowd.store import open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._migrate import VERSION_TABLE

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

pytestmark = pytest.mark.migrations


def execute(url: str, *statements: str) -> None:
    engine = make_engine(parse_url(url), busy_s=5.0).execution_options(writes=True)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    engine.dispose()


def test_a_missing_file_names_db_and_init_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"none\.db does not exist; .*hmc-crowd init .*--db"):
        open_store(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_database_says_how_to_make_it(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="is empty; make it with: hmc-crowd init"):
        open_store(postgres_url)


def test_a_plain_path_and_a_url_open_the_same_file(tmp_path: Path) -> None:
    open_store(tmp_path / "a.db", create=True).close()
    with open_store(f"sqlite:///{tmp_path / 'a.db'}") as store:
        assert store.is_sqlite


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"folder of .*missing.* does not exist"):
        open_store(tmp_path / "missing" / "a.db", create=True)


def test_a_text_file_is_no_database_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt is not a SQLite database"):
        open_store(file, create=True)
    assert file.read_text() == "hello" * 100


def test_a_truncated_database_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    open_store(file, create=True).close()
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(StoreError, match=r"is truncated: .* bytes are there"):
        open_store(file)


def test_a_damaged_page_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    open_store(file, create=True).close()
    data = bytearray(file.read_bytes())
    data[100:4096] = b"\xff" * 3996
    file.write_bytes(data)
    with pytest.raises(StoreError, match="is damaged"):
        open_store(file)


@pytest.mark.parametrize("create", [True, False])
def test_a_foreign_database_is_refused_and_unchanged(database_url: str, create: bool) -> None:
    execute(database_url, "CREATE TABLE customers (id INTEGER)")
    with pytest.raises(NotOurDatabaseError, match=r"belongs to another program .*customers.*--db"):
        open_store(database_url, create=create)
    with pytest.raises(NotOurDatabaseError):  # still no table of ours
        open_store(database_url)


def test_a_foreign_sqlite_file_keeps_every_byte(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE customers (id INTEGER)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(NotOurDatabaseError):
        open_store(file, create=True)
    assert file.read_bytes() == before


def test_another_database_of_the_house_may_share_the_server(postgres_url: str) -> None:
    execute(postgres_url, "CREATE TABLE hmc_crowd_workplace_version (v TEXT)", "CREATE TABLE workplace_draft (id INT)")
    with open_store(postgres_url, create=True) as store, store.read() as tx:
        assert tx.campaigns.names() == []


def test_a_newer_database_asks_for_an_upgrade(database_url: str) -> None:
    open_store(database_url, create=True).close()
    execute(database_url, f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    for create in (True, False):
        with pytest.raises(
            SchemaVersionError, match=r"newer hmc-crowd .*9999.* upgrade: pip install \. in its checkout"
        ):
            open_store(database_url, create=create)


def test_an_older_database_asks_for_init(store: Store, made_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.store import _migrate

    known = _migrate._known()
    monkeypatch.setattr(_migrate, "_known", lambda: ["9999", *known])
    with pytest.raises(SchemaVersionError, match=r"older hmc-crowd .*hmc-crowd init"):
        open_store(made_url)


def test_a_locked_sqlite_file_is_busy_and_unchanged(tmp_path: Path, clock: VirtualClock) -> None:
    with open_store(tmp_path / "a.db", create=True, busy_s=0.05) as store:
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusyError, match=r"a\.db is locked by another process"), store.begin() as tx:
            tx.campaigns.create("x", {}, created_at=clock.now())
        other.execute("ROLLBACK")
        other.close()
        with store.read() as tx:
            assert tx.campaigns.names() == []


def test_a_locked_postgres_row_is_busy(postgres_url: str, clock: VirtualClock) -> None:
    with open_store(postgres_url, create=True, busy_s=0.05) as store:
        with store.begin() as tx:
            made = tx.campaigns.create("x", {}, created_at=clock.now())
        with store.begin() as one:
            one.campaigns.set_round(made.id, 2)
            with pytest.raises(DatabaseBusyError, match="locked by another process"), store.begin() as two:
                two.campaigns.set_round(made.id, 3)
        with store.read() as tx:
            assert tx.campaigns.get().round == 2


def test_a_read_only_sqlite_file_is_refused_on_writing(tmp_path: Path, clock: VirtualClock) -> None:
    open_store(tmp_path / "a.db", create=True).close()
    with open_store(f"sqlite:///file:{tmp_path / 'a.db'}?mode=ro&uri=true") as store:
        with store.read() as tx:
            assert tx.campaigns.names() == []
        with pytest.raises(ReadOnlyDatabaseError, match="cannot be written"), store.begin() as tx:
            tx.campaigns.create("x", {}, created_at=clock.now())


def test_a_postgres_role_that_may_only_read_is_refused_on_writing(postgres_url: str, clock: VirtualClock) -> None:
    open_store(postgres_url, create=True).close()
    role = postgres_url.rpartition("/")[2].partition("?")[0] + "_reader"
    execute(postgres_url, f"CREATE ROLE {role} LOGIN", f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    store = open_store(postgres_url.replace("postgres:@", f"{role}@"))
    with pytest.raises(ReadOnlyDatabaseError, match="cannot be written"), store, store.begin() as tx:
        tx.campaigns.create("x", {}, created_at=clock.now())


def test_a_read_snapshot_cannot_write(store: Store, campaign: int) -> None:
    with pytest.raises(ReadOnlyDatabaseError), store.read() as tx:
        tx.campaigns.set_round(campaign, 5)
    with store.begin() as tx:  # the connection writes again afterwards
        tx.campaigns.set_round(campaign, 6)


def test_a_read_snapshot_does_not_see_later_writes(store: Store, campaign: int) -> None:
    with store.read() as reader:
        before = reader.campaigns.get().round
        with store.begin() as writer:
            writer.campaigns.set_round(campaign, 9)
        assert reader.campaigns.get().round == before


def test_an_error_in_the_block_rolls_everything_back(store: Store, clock: VirtualClock) -> None:
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        tx.campaigns.create("x", {}, created_at=clock.now()).id / 0
    with store.read() as tx:
        assert tx.campaigns.names() == []


def test_a_server_that_is_down_is_one_sentence_without_the_password() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)


def test_a_database_missing_on_its_server_is_named(postgres_server: str) -> None:
    with pytest.raises(StoreError, match="does not exist on its server; create it first"):
        open_store(postgres_server.replace("/postgres?", "/no_such_database?"), create=True)


@pytest.mark.parametrize("url", ["mysql://host/x", "sqlite://", "sqlite:///:memory:", "postgresql://host:port/x"])
def test_urls_that_make_no_store_are_refused(url: str) -> None:
    with pytest.raises(InputError, match="--db"):
        open_store(url, create=True)


def test_the_shown_url_hides_the_password() -> None:
    assert "secret" not in parse_url("postgresql://me:secret@host/x").shown
