"""The history goes up, down and up again with data in the tables, and makes exactly the models' tables."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from hmc_crowd.store import _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url
from hmc_crowd.store._tables import Base

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

pytestmark = pytest.mark.migrations


def writing(url: str) -> sa.Engine:
    return make_engine(parse_url(url), busy_s=5.0).execution_options(writes=True)


def test_models_and_schema_do_not_differ(store: Store, made_url: str) -> None:
    engine = writing(made_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": _migrate.VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_up_down_up_with_data_in_the_tables(database_url: str, clock: VirtualClock, build: SimpleNamespace) -> None:
    with open_store(database_url, create=True) as store, store.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.frames.add_items(made, build.items("a", "b"))
        tx.work.add_hits(made, 1, [build.hit("h1", "a", "b")])
        tx.work.put_submissions(made, 1, [build.submission("s1")])
        tx.events.append(made, "planned", {"x": 1}, at=clock.now())
        tx.budget.reserve(made, "k", 1, "USD", 10)
    engine = writing(database_url)
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="base")
    with engine.connect() as connection:
        assert set(sa.inspect(connection).get_table_names()) == {_migrate.VERSION_TABLE}
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url) as again, again.begin() as tx:
        assert tx.campaigns.names() == []
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.events.append(made, "planned", {"x": 1}, at=clock.now())


def test_creating_twice_keeps_what_is_stored(store: Store, campaign: int, made_url: str) -> None:
    with open_store(made_url, create=True) as again, again.read() as tx:
        assert tx.campaigns.get().items == 3


def test_a_migration_that_fails_leaves_nothing(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from alembic import op

    def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(op, "create_index", broken)
    with pytest.raises(RuntimeError, match="power cut"):
        open_store(database_url, create=True)
    monkeypatch.undo()
    engine = writing(database_url)
    with engine.connect() as connection:
        assert sa.inspect(connection).get_table_names() == []
    engine.dispose()


def test_the_source_trees_history_comes_before_the_packed_copy() -> None:
    folder = _migrate.migrations_folder()
    assert (folder.parts[-2:], (folder / "versions").is_dir()) == (("migrations", "store"), True)


def test_without_a_source_tree_the_packed_history_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "hmc_crowd" / "_migrations"
    packed.mkdir(parents=True)
    (packed / "env.py").touch()
    monkeypatch.setattr(_migrate, "__file__", str(tmp_path / "hmc_crowd" / "store" / "_migrate.py"))
    assert _migrate.migrations_folder() == packed


def test_migrating_gives_no_warnings(database_url: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_store(database_url, create=True).close()
