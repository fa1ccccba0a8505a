"""The history goes up, down and up with data in the tables, and ends where the models are."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hmc_crowd_local import connect
from hmc_crowd_local._database import Database, resolve_address
from hmc_crowd_local._migrate import downgrade, migrations_folder, upgrade
from hmc_crowd_local._tables import METADATA, PREFIX, VERSION_TABLE

from hmc_crowd.errors import InputError, NotOurDatabaseError, ReadOnlyDatabaseError, SchemaVersionError
from hmc_crowd.platform import SeatRule, Seats

pytestmark = pytest.mark.migrations


@pytest.fixture
def database(database_url):
    opened = Database(resolve_address(database_url))
    yield opened
    opened.close()


def differences(database):
    options = {"include_name": lambda name, kind, _: kind != "table" or name.startswith(PREFIX), "compare_type": True}
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={**options, "version_table": VERSION_TABLE})
        return compare_metadata(context, METADATA)


def test_history_and_models_agree(database) -> None:
    upgrade(database)
    assert differences(database) == []


def test_up_down_up_with_data_in_the_tables(database, database_url, clock, hit, finish) -> None:
    for _ in range(2):
        with connect(database_url, clock=clock) as platform:
            one = hit()
            name = finish(platform, platform.publish(one).hit_id, one, "ann")
            assert len(platform.answers([name])[name]) == 2
        downgrade(database, "base")
        with database.read() as connection:
            assert [each for each in sa.inspect(connection).get_table_names() if each.startswith(PREFIX)] == []
    upgrade(database)
    assert differences(database) == []


def test_constraints_are_in_the_database(database, database_url, clock, hit) -> None:
    from hmc_crowd_local._tables import SUBMISSION

    with connect(database_url, clock=clock) as platform:
        remote = platform.publish(hit(redundancy=2))
        platform.accept(remote.hit_id, "ann")
    row = {
        "submission_id": "s", "hit_id": remote.hit_id, "worker": "bob", "place": 1, "state": "accepted",
        "accepted_at": clock.now(), "deadline_at": clock.now(), "time_quality": "ok", "is_late": False,
    }  # fmt: skip
    from hmc_crowd.errors import DuplicateError

    for change in ({"worker": "ann"}, {"place": 0}, {"state": "paid"}, {"hit_id": "none"}):
        with pytest.raises(DuplicateError), database.write() as connection:
            connection.execute(sa.insert(SUBMISSION), [{**row, **change}])


def test_processes_that_connect_at_once_migrate_once(database, database_url) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(lambda: connect(database_url).close()) for _ in range(4)]:
            done.result()
    assert differences(database) == []


def test_it_shares_a_postgresql_database_with_other_tables(postgres_url) -> None:
    database = Database(resolve_address(postgres_url))
    with database.write() as connection:
        connection.execute(sa.text("CREATE TABLE campaign (id int)"))
    with connect(postgres_url) as platform:
        assert platform.find("x") is None
    assert differences(database) == []
    downgrade(database, "base")
    with database.read() as connection:
        assert "campaign" in sa.inspect(connection).get_table_names()
    database.close()


def test_a_newer_database_is_refused(tmp_path) -> None:
    path = tmp_path / "w.db"
    connect(str(path)).close()
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE {VERSION_TABLE} SET version_num = 'w9999'")
    raw.close()
    with pytest.raises(SchemaVersionError, match="at version w9999, newer than this code; upgrade hmc-crowd"):
        connect(str(path))


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE songs (id int)")
    raw.close()
    with pytest.raises(NotOurDatabaseError, match="holds the table 'songs'; give another address"):
        connect(str(path))
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("songs",)]
    raw.close()


def test_tables_of_ours_without_a_version_are_refused(tmp_path) -> None:
    path = tmp_path / "half.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE workplace_hit (id int)")
    raw.close()
    with pytest.raises(NotOurDatabaseError, match="workplace_hit"):
        connect(str(path))


def test_a_file_that_is_no_database_is_refused(tmp_path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database at all, but long enough to be looked at\n" * 50)
    with pytest.raises(NotOurDatabaseError, match="is not a SQLite database; give another --workplace"):
        connect(str(path))
    assert path.read_text().startswith("not a database at all")


def test_a_folder_that_does_not_exist_is_one_sentence(tmp_path) -> None:
    with pytest.raises(ReadOnlyDatabaseError, match="No such file or directory; check that file and folder"):
        connect(str(tmp_path / "nowhere" / "w.db"))


def test_a_locked_database_says_so(tmp_path, monkeypatch, hit) -> None:
    from hmc_crowd.errors import DatabaseBusyError

    monkeypatch.setattr("hmc_crowd_local._database._BUSY_MS", 1)
    path = tmp_path / "w.db"
    with connect(str(path)) as platform:
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusyError, match="locked by another process; try again"):
            platform.publish(hit())
        raw.execute("ROLLBACK")
        raw.close()
        assert platform.publish(hit()).is_open


@pytest.mark.parametrize("address", ["mysql://u@h/d", "sqlite://", ":memory:", "sqlite:///:memory:", "://"])
def test_an_address_we_cannot_use_is_refused(address) -> None:
    with pytest.raises(InputError, match="address is"):
        connect(address)


def test_the_default_address(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HMC_CROWD_WORKPLACE_URL", raising=False)
    connect().close()
    assert (tmp_path / "workplace.db").exists()
    monkeypatch.setenv("HMC_CROWD_WORKPLACE_URL", f"sqlite:///{tmp_path / 'elsewhere.db'}")
    connect().close()
    assert (tmp_path / "elsewhere.db").exists()


def test_a_password_is_never_shown() -> None:
    assert "secret" not in Database(resolve_address("postgresql://me:secret@host/db")).shown


def test_the_source_tree_history_comes_first() -> None:
    assert migrations_folder().parts[-2:] == ("migrations", "workplace")


def test_the_wheel_history_is_used_without_a_source_tree(tmp_path, monkeypatch) -> None:
    package = tmp_path / "site" / "packages" / "hmc_crowd_local"
    (package / "_migrations").mkdir(parents=True)
    (package / "_migrations" / "env.py").touch()
    monkeypatch.setattr("hmc_crowd_local._migrate.__file__", str(package / "_migrate.py"))
    assert migrations_folder() == package / "_migrations"


def test_the_entry_point_finds_it(tmp_path, clock) -> None:
    from hmc_crowd.platform import TaskPages, find_platform

    platform = find_platform("local", str(tmp_path / "w.db"), clock=clock)
    assert platform.name == "local"
    assert isinstance(platform, TaskPages)
    platform.close()


def test_what_was_known_of_tests_is_carried_over_and_tries_are_counted_anew(database, clock) -> None:
    from hmc_crowd_local._tables_pages import ATTEMPT, STEP

    upgrade(database, "w0006")
    rows = [
        {"worker": worker, "study": "s", "kind": kind, "version": "v", "tries": 1, "passed": passed, "score": score,
         "detail": detail, "at": clock.now()}
        for worker, kind, passed, score, detail in (
            ("ann", "test", True, 0.75, '["a", "a", "a", "b"]'),
            ("bob", "test", False, 0.0, '["b"]'),
            ("cyd", "test", None, 1.0, '["a"]'),
            ("ann", "training", True, 1.0, '["a"]'),
        )
    ]  # fmt: skip
    with database.write() as connection:
        connection.execute(sa.insert(STEP), rows)
    for _ in range(2):
        upgrade(database)
        with database.read() as connection:
            kept = connection.execute(sa.select(ATTEMPT).order_by(ATTEMPT.c.worker)).all()
            tries = connection.execute(sa.select(STEP.c.tries).order_by(STEP.c.worker, STEP.c.kind)).scalars().all()
        assert [(each.worker, each.test, each.right, each.n, each.passed, each.at) for each in kept] == [
            ("ann", "s", 3, 4, True, clock.now()),
            ("bob", "s", 0, 1, False, clock.now()),
        ]
        assert tries == [1, 1, 1, 0]  # cyd's is under way
        downgrade(database, "w0006")
        with database.read() as connection:
            assert set(connection.execute(sa.select(STEP.c.tries)).scalars()) == {1}


def test_invitations_of_before_say_nothing_of_their_people(database, database_url, clock) -> None:
    upgrade(database, "w0007")
    row = {
        "invite_id": "i", "worker": "ann", "label": "", "created_at": clock.now(), "expires_at": clock.now(),
        "pool": "", "skills": "[]",
    }  # fmt: skip
    before = sa.table("workplace_invite", *(sa.column(name) for name in row))
    with database.write() as connection:
        connection.execute(sa.insert(before), [row])
    with connect(database_url, clock=clock) as platform:
        assert [each.attributes for each in platform.invites().all()] == [{}]
        platform.invites().set_attributes("ann", {"region": "south"})
        platform.put_seats("study", Seats(2, (SeatRule("region", {"south": 1}),)))
    downgrade(database, "w0007")
    with database.read() as connection:
        assert connection.execute(sa.select(before.c.worker)).scalars().all() == ["ann"]
        assert "workplace_quota" not in sa.inspect(connection).get_table_names()
