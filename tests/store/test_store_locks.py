"""Whatever a process does with a database file, the locks under which SQLite holds it stay.

Without them the next process that closes the file believes it is the last one, and deletes the log with all it holds.
"""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd._base.sqlite import open_sqlite
from hmc_crowd.backup import back_up, unpacked
from hmc_crowd.campaign import Campaign
from hmc_crowd.judges import Completion, JudgeCache
from hmc_crowd.platform import find_platform
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)
LOCKS = Path("/proc/locks")


def locks_on(file: Path) -> int:
    """Count the locks that this process holds on a file."""
    inode, process = file.stat().st_ino, os.getpid()
    rows = [line.split() for line in LOCKS.read_text().splitlines()]
    return sum(row[4] == str(process) and row[5].rpartition(":")[2] == str(inode) for row in rows if row[1] == "POSIX")


def open_and_close(file: Path) -> None:
    open_store(file).close()


def make_again(file: Path) -> None:
    open_store(file, create=True).close()


def open_a_campaign(file: Path) -> None:
    Campaign.open(file, "one").close()


def fail_to_open(file: Path) -> None:
    for name in ("nothing.db", "notes.db"):
        (file.parent / "notes.db").write_text("no database" * 100)
        with pytest.raises(Exception, match=r"does not exist|is not a SQLite database"):
            open_store(file.parent / name)


def back_it_up(file: Path) -> None:
    with open_store(file) as store:
        back_up([store.keeper()], file.parent / "kept.zip", artefacts=store.artefacts, now=NOW, overwrite=True)


def put_it_back(file: Path) -> None:
    back_it_up(file)
    with open_store(file) as store, unpacked(file.parent / "kept.zip") as found:
        found.restore([store.keeper()], artefacts=store.artefacts, overwrite=True)


DEEDS: tuple[Callable[[Path], None], ...] = (
    open_and_close,
    make_again,
    open_a_campaign,
    fail_to_open,
    back_it_up,
    put_it_back,
)


@pytest.mark.skipif(not LOCKS.exists(), reason="/proc/locks of Linux")
@pytest.mark.parametrize("deed", DEEDS)
def test_locks_on_an_open_campaign_stay(tmp_path: Path, deed: Callable[[Path], None]) -> None:
    file = tmp_path / "a.db"
    with Campaign.create(file, labels=["a", "b"], name="one") as campaign:
        campaign.status()
        before = locks_on(file)
        assert before > 0
        deed(file)
        assert locks_on(file) >= before
        assert Path(f"{file}-wal").exists()


@pytest.mark.skipif(not LOCKS.exists(), reason="/proc/locks of Linux")
def test_locks_on_an_open_workplace_stay(tmp_path: Path) -> None:
    file = tmp_path / "w.db"
    place: Any = find_platform("local", str(file))
    other: Any = find_platform("local", str(file))
    with place:
        place.account()
        before = locks_on(file)
        assert before > 0
        with other:
            other.account()
            back_up([other.keeper()], tmp_path / "kept.zip", artefacts=None, now=NOW)
        place.front_door().issue_key("lab")
        assert locks_on(file) >= before
        assert Path(f"{file}-wal").exists()


CLOSES = "import sys; from hmc_crowd.store import open_store; open_store(sys.argv[1]).close()"


def test_another_process_does_not_take_the_log_from_under_an_open_campaign(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    open_store(file, create=True).close()
    # Two stores, as a server has for its board and its machine door; what another process opens it also closes.
    with open_store(file) as board, open_store(file) as door:
        for number in range(3):
            with (board, door)[number % 2].begin() as tx:
                tx.campaigns.create(f"c{number}", {}, created_at=NOW)
            subprocess.run([sys.executable, "-c", CLOSES, str(file)], check=True)
            assert Path(f"{file}-wal").exists()
        with closing(open_sqlite(file)) as outside:
            assert outside.execute("SELECT count(*) FROM campaign").fetchone() == (3,)


def test_stores_of_one_file_share_their_connections_and_the_last_one_closes_them(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    first = open_store(file, create=True)
    (tmp_path / "link.db").symlink_to(file)
    second = open_store(f"sqlite:///{tmp_path / 'link.db'}")
    assert first._engine is second._engine
    first.close()
    first.close()
    with second.read() as tx:
        assert tx.campaigns.names() == []
    assert Path(f"{file}-wal").exists()
    second.close()
    assert not Path(f"{file}-wal").exists()


def test_a_file_put_in_the_place_of_another_is_another_database(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with open_store(file, create=True) as old:
        with old.begin() as tx:
            tx.campaigns.create("old", {}, created_at=NOW)
        for each in sorted(tmp_path.glob("a.db*")):
            each.rename(tmp_path / each.name.replace("a.db", "moved.db"))
        with open_store(file, create=True) as new, new.read() as tx:
            assert tx.campaigns.names() == []


def test_a_store_knows_what_another_store_of_the_same_file_wrote(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", create=True) as one, open_store(tmp_path / "a.db") as two:
        with one.begin() as tx:
            first = tx.version()
        with one.begin() as tx:
            assert tx.goes_on_from(first)
            second = tx.version()
        with two.begin() as tx:
            tx.campaigns.create("between", {}, created_at=NOW)
        with one.begin() as tx:
            assert not tx.goes_on_from(second)


def test_a_store_that_nobody_closed_is_not_kept(tmp_path: Path) -> None:
    from hmc_crowd.store import _engine

    opened: Any = open_store(tmp_path / "a.db", create=True)
    opened._engine.dispose()
    number = len(_engine._OPEN)
    del opened
    gc.collect()
    assert len(_engine._OPEN) == number - 1


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_a_database_is_for_its_owner_s_eyes_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = open_store(tmp_path / "store.db", create=True)
        place: Any = find_platform("local", str(tmp_path / "workplace.db"))
        cache = JudgeCache(tmp_path / "answers.db")
        cache.put("k", Completion("a"))
    finally:
        os.umask(before)
    with store, place, cache:
        place.front_door()
        with store.begin() as tx:
            tx.campaigns.create("one", {}, created_at=NOW)
        files = [each for each in tmp_path.iterdir() if each.is_file() and not each.name.endswith(".key")]
        assert len(files) >= 9
        modes = {each.name: oct(stat.S_IMODE(each.stat().st_mode)) for each in files}
        assert set(modes.values()) == {"0o600"}, modes
    assert not list(tmp_path.glob(".*"))


def test_a_database_that_was_moved_after_it_was_closed_is_opened_where_it_is(tmp_path) -> None:
    # A new file may have the number of one that was deleted: the file's number alone does not say which one it is.
    first = open_store(tmp_path / "first.db", create=True)
    first.close()
    (tmp_path / "first.db").rename(tmp_path / "second.db")
    with open_store(tmp_path / "second.db") as second, second.read() as tx:
        assert tx.campaigns.names() == []
    assert not (tmp_path / "first.db").exists()
