"""A copy is of one moment while others write; artefacts go with it; an older copy comes up to this code's revision."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd._base import copies
from hmc_crowd._base.copies import Copy
from hmc_crowd.backup import back_up, unpacked
from hmc_crowd.backup._archive import Manifest, sha256_of, working_folder, write_archive
from hmc_crowd.errors import DatabaseBusyError, InputError, StateError, StoreError
from hmc_crowd.store import AspectRecord, open_store

if TYPE_CHECKING:
    from hmc_crowd.store import Store

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


def campaign(store: Store, name: str, n: int = 5) -> None:
    items = pd.DataFrame({"item": [f"i{each}" for each in range(n)], "text": ["Zeile\n\t\\N 🙂"] * n})
    with store.begin() as tx:
        made = tx.campaigns.create(name, {}, created_at=NOW).id
        tx.campaigns.add_aspect(made, AspectRecord("m", "nominal", ("yes", "no")))
        tx.frames.add_items(made, items)


def names(store: Store) -> list[str]:
    with store.read() as tx:
        return list(tx.campaigns.names())


def items(store: Store) -> Any:
    with store.read() as tx:
        return tx.frames.read(tx.campaigns.get("one").id, "items")


@pytest.fixture
def target_url(database_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Another empty database of the same kind."""
    if database_url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'other.db'}"
    server: str = request.getfixturevalue("postgres_server")
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute('DROP DATABASE IF EXISTS "copy_target"')
        connection.execute('CREATE DATABASE "copy_target"')
    return server.replace("/postgres?", "/copy_target?")


def test_what_is_written_meanwhile_is_in_the_next_copy(
    database_url: str, target_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(database_url, create=True) as store, open_store(target_url, create=True) as other:
        campaign(store, "one")
        for module, name in ((copies, "_copy_out"), (copies, "_require_sound")):
            before = getattr(module, name)

            def late(*given: Any, before: Any = before) -> Any:
                if names(store) == ["one"]:
                    campaign(store, "two")
                return before(*given)

            monkeypatch.setattr(module, name, late)
        back_up([store.keeper()], tmp_path / "kept.zip", artefacts=None, now=NOW)
        monkeypatch.undo()
        assert names(store) == ["one", "two"]
        with unpacked(tmp_path / "kept.zip") as found:
            found.restore([other.keeper()], artefacts=tmp_path / "none")
        assert names(other) == ["one"]
        pd.testing.assert_frame_equal(items(other), items(store))
        # Numbers go on behind those that were put back.
        campaign(other, "three")
        assert names(other) == ["one", "three"]


def test_frames_in_files_go_with_their_database(database_url: str, target_url: str, tmp_path: Path) -> None:
    with (
        open_store(database_url, create=True, artefacts=tmp_path / "here", large=3) as store,
        open_store(target_url, create=True, artefacts=tmp_path / "there", large=3) as other,
    ):
        campaign(store, "one")
        (tmp_path / "here" / ".half.parquet.part").write_bytes(b"half")
        done = back_up([store.keeper()], tmp_path / "kept.zip", artefacts=store.artefacts, now=NOW)
        assert done.artefacts == len(list((tmp_path / "here").glob("*.parquet"))) > 0
        with unpacked(tmp_path / "kept.zip") as found:
            found.restore([other.keeper()], artefacts=other.artefacts)
        pd.testing.assert_frame_equal(items(other), items(store))
        assert not list((tmp_path / "there").glob(".*"))


def archive_of(database: Path, revision: str, rows: dict[str, int], target: Path) -> None:
    """An archive as an older version of this code would have written it."""
    with working_folder(target) as folder:
        member = {"store.sqlite": Path(shutil.copy(database, folder / "store.sqlite"))}
        members = {name: (path.stat().st_size, sha256_of(path)) for name, path in member.items()}
        manifest = Manifest(NOW.isoformat(), "0.0.9", {"store": Copy("sqlite", revision, rows)}, members)
        write_archive(target, member, manifest, folder=folder)


def test_an_older_copy_is_brought_up_on_the_way(tmp_path: Path) -> None:
    with open_store(tmp_path / "old.db", create=True) as store:
        campaign(store, "one")
        keeper = store.keeper()
        with keeper._engine.connect().execution_options(writes=True) as connection, connection.begin():
            keeper._schema.migrate(connection, "0003")
        store.flush_log()
    archive_of(tmp_path / "old.db", "0003", {"campaign": 1, "item": 5}, tmp_path / "kept.zip")
    with open_store(tmp_path / "new.db", create=True) as other, unpacked(tmp_path / "kept.zip") as found:
        found.restore([other.keeper()], artefacts=tmp_path / "none")
    with open_store(tmp_path / "new.db") as again:
        assert names(again) == ["one"]


def test_a_copy_that_lacks_rows_is_refused_whole(tmp_path: Path) -> None:
    with open_store(tmp_path / "old.db", create=True) as store:
        campaign(store, "one")
        revision = store.keeper()._schema.revisions()[0]
        store.flush_log()
    archive_of(tmp_path / "old.db", revision, {"campaign": 1, "item": 6}, tmp_path / "kept.zip")
    with open_store(tmp_path / "new.db", create=True) as other, unpacked(tmp_path / "kept.zip") as found:
        with pytest.raises(StoreError, match="holds 5 of 6 rows of item"):
            found.restore([other.keeper()], artefacts=tmp_path / "none")
        assert names(other) == []


def test_a_copy_goes_only_into_its_own_kind_of_database(tmp_path: Path, postgres_url: str) -> None:
    with open_store(tmp_path / "a.db", create=True) as store, open_store(postgres_url, create=True) as other:
        campaign(store, "one")
        back_up([store.keeper()], tmp_path / "kept.zip", artefacts=None, now=NOW)
        with unpacked(tmp_path / "kept.zip") as found:
            with pytest.raises(StoreError, match=r"is of sqlite, and .* is postgresql"):
                found.restore([other.keeper()], artefacts=tmp_path / "none")
            with pytest.raises(InputError, match="no database is given for it"):
                found.restore([], artefacts=tmp_path / "none")
            with pytest.raises(StateError, match="holds something"):
                found.restore([store.keeper()], artefacts=tmp_path / "none")


def test_a_database_that_somebody_writes_to_is_waited_for_and_then_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_BUSY_S", 0.0)
    with open_store(tmp_path / "a.db", create=True) as store, open_store(tmp_path / "b.db", create=True) as other:
        campaign(store, "one")
        back_up([store.keeper()], tmp_path / "kept.zip", artefacts=None, now=NOW)
        with closing(sqlite3.connect(tmp_path / "b.db", isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            with (
                unpacked(tmp_path / "kept.zip") as found,
                pytest.raises(DatabaseBusyError, match="nothing was changed"),
            ):
                found.restore([other.keeper()], artefacts=tmp_path / "none")
        assert names(other) == []
