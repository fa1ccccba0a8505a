"""A backup holds everything at one moment, its restoring goes on from there, and nobody who is killed leaves a half."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import stat
import time
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local import connect

from hmc_crowd.cli._backup import has_workplace
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Start = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

PUBLISH = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2")
SETTING_UP = (
    ("init", "--labels", "good,bad", "--seed", "7"),
    ("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv"),
    ("effort", "estimate"),
    ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20"),
    PUBLISH,
)
# Kills its own process at the n-th time that a file is opened to write, renamed or linked, or a database is opened.
STRIKE = """
import os, signal, sys
left = [{nth}]
def strike(event, arguments):
    writes = event == "open" and (arguments[1] or "r")[0] in "wax" or event == "open" and arguments[2] & 0x3
    if writes or event in ("os.rename", "os.link", "sqlite3.connect"):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
from hmc_crowd.cli import main
import hmc_crowd.cli._app, hmc_crowd.backup, hmc_crowd_local, hmc_crowd.store
sys.addaudithook(strike)
"""


def work(workplace: str, worker: str, n: int | None = None) -> str:
    """Take the first HIT; answer it and hand it in, or give ``n`` answers and leave."""
    place: Any = find_platform("local", workplace)
    try:
        hit = place.hit(next(iter(place.find_all().values())).hit_id)
        hit_id = place.find(hit.key).hit_id
        name: str = place.accept(hit_id, worker).submission_id
        given = place.saved_answers([name]).get(name, ())
        for each in [each for each in hit.items if each.item not in {answer.item for answer in given}][:n]:
            place.save_answer(name, worker, item=each.item, aspect=each.aspect, label=each.labels[0])
        if n is None:
            place.submit(name, worker)
        return name
    finally:
        place.close()


def drafts(workplace: str, name: str) -> int:
    place: Any = find_platform("local", workplace)
    try:
        return len(place.saved_answers([name])[name])
    finally:
        place.close()


@pytest.fixture
def busy_campaign(at: Callable[[str], Path]) -> Path:
    """A published campaign: one submission is handed in, another one is half done."""
    folder = at("published")
    work("workplace.db", "ann")
    work("workplace.db", "ben", 2)
    return folder


def test_a_restored_campaign_goes_on_where_the_backup_was_made(hmc: Any, busy_campaign: Path) -> None:
    told = hmc("backup", "--to", "kept.zip", "--json")
    assert told.code == 0, told.err
    assert told.json["rows"]["workplace"] > 0
    assert stat.S_IMODE(Path("kept.zip").stat().st_mode) == 0o600
    work("workplace.db", "ben")  # after the backup: not in it
    other = ("--db", "other.db", "--workplace", "others.db")
    done = hmc("restore", "--from", "kept.zip", *other, "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == told.json["rows"]
    ben = work("others.db", "ben", 0)
    assert drafts("others.db", ben) == 2
    # What the campaign knows is what the workplace holds; the work goes on to its end.
    Path("other.db.key").write_bytes(Path("hmc-crowd.db.key").read_bytes())
    assert work("others.db", "ben") == ben
    assert hmc("collect", *other, "--json").json["submissions"] == 2
    assert hmc("collect", "--crowd", "truth.csv", "--accuracy", "0.9", *other).code == 0
    for command in (("check",), ("aggregate",), ("certify",)):
        assert hmc(*command, "--db", "other.db").code == 0
    assert stat.S_IMODE(Path("others.db").stat().st_mode) == 0o600


def test_a_restored_campaign_goes_on_on_postgresql(
    hmc: Any, at: Callable[[str], Path], postgres_url: str, tmp_path: Path
) -> None:
    at("files")
    here = ("--db", postgres_url, "--workplace", postgres_url)
    for command in SETTING_UP:
        assert hmc(*command, *(here if command[0] == "publish" else here[:2])).code == 0
    work(postgres_url, "ann")
    ben = work(postgres_url, "ben", 2)
    told = hmc("backup", "--to", "kept.zip", *here, "--json")
    assert told.code == 0, told.err
    work(postgres_url, "ben")
    refused = hmc("restore", "--from", "kept.zip", *here)
    assert (refused.code, "holds something; add --yes" in refused.err) == (2, True)
    done = hmc("restore", "--from", "kept.zip", *here, "--yes", "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == told.json["rows"]
    assert drafts(postgres_url, ben) == 2
    assert work(postgres_url, "ben") == ben
    # Numbers that the database gives go on behind those that were put back.
    assert hmc("collect", *here, "--json").json["submissions"] == 2
    assert hmc("collect", "--crowd", "truth.csv", "--accuracy", "0.9", *here).code == 0
    assert hmc("aggregate", *here[:2]).code == hmc("certify", *here[:2]).code == 0


def test_what_is_there_is_never_replaced_unasked(hmc: Any, busy_campaign: Path) -> None:
    assert hmc("backup", "--to", "kept.zip").code == 0
    before = Path("kept.zip").read_bytes()
    again = hmc("backup", "--to", "kept.zip")
    assert (again.code, "which exists; add --yes" in again.err) == (2, True)
    assert Path("kept.zip").read_bytes() == before
    held = drafts("workplace.db", work("workplace.db", "cem", 1))
    refused = hmc("restore", "--from", "kept.zip")
    assert (refused.code, "holds something; add --yes" in refused.err) == (2, True)
    assert held == drafts("workplace.db", work("workplace.db", "cem", 0)) == 1
    assert hmc("backup", "--to", "kept.zip", "--yes").code == 0


def test_a_campaign_without_a_workplace_is_copied_alone(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("backup", "--to", "kept.zip")
    assert "there is no workplace yet" in told.out
    assert not Path("workplace.db").exists()
    assert hmc("restore", "--from", "kept.zip", "--db", "other.db").code == 0
    assert not Path("workplace.db").exists()
    assert hmc("status", "--db", "other.db", "--json").json["items"] == 160


def damage(how: str) -> None:
    """Change the file in one way."""
    path = Path("kept.zip")
    data = bytearray(path.read_bytes())
    if how == "cut off":
        path.write_bytes(bytes(data[: len(data) // 2]))
    elif how == "a byte":
        data[len(data) // 3] ^= 0xFF
        path.write_bytes(bytes(data))
    elif how == "no archive":
        path.write_text("a letter")
    else:
        with zipfile.ZipFile(path) as old:
            members = {name: old.read(name) for name in old.namelist()}
        manifest = json.loads(members["manifest.json"])
        if how == "no manifest":
            del members["manifest.json"]
        elif how == "a stranger":
            members["../../stranger.txt"] = b"gotcha"
        elif how == "a path":
            members["../stranger.txt"] = members.pop("store.sqlite")
            manifest["members"]["../stranger.txt"] = manifest["members"].pop("store.sqlite")
        elif how == "another content":
            members["store.sqlite"] = members["store.sqlite"][:-1] + b"!"
        elif how == "too few rows":
            manifest["copies"]["store"]["rows"]["item"] = 5
        elif how == "newer":
            manifest["copies"]["workplace"]["revision"] = "w9999_later"
        if "manifest.json" in members:
            members["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(path, "w") as new:
            for name, content in members.items():
                new.writestr(name, content)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("cut off", "is no backup or is damaged"),
        ("a byte", "damaged"),
        ("no archive", "is no backup or is damaged"),
        ("no manifest", "it has no manifest of ours"),
        ("a stranger", "archive and manifest differ in '../../stranger.txt'"),
        ("a path", "archive and manifest differ in '../stranger.txt'"),
        ("another content", "store.sqlite is not what its manifest says"),
        ("newer", "was made by a newer hmc-crowd"),
    ],
)
def test_a_damaged_backup_changes_nothing(hmc: Any, busy_campaign: Path, how: str, said: str) -> None:
    assert hmc("backup", "--to", "kept.zip").code == 0
    work("workplace.db", "ben")
    before = hmc("collect", "--json").json
    damage(how)
    told = hmc("restore", "--from", "kept.zip", "--yes")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert said in told.err
    assert hmc("status", "--json").json["answers"] == before["answers"] > 0
    assert list(busy_campaign.parent.rglob("stranger.txt")) == list(busy_campaign.glob(".*.part")) == []


def test_a_file_that_is_not_there_makes_no_database(hmc: Any, tmp_path: Path) -> None:
    told = hmc("restore", "--from", "none.zip")
    assert (told.code, "which is no file" in told.err) == (2, True)
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.parametrize("nth", [4, 9, 11])
def test_a_killed_backup_leaves_the_one_before(hmc: Any, start: Start, busy_campaign: Path, nth: int) -> None:
    assert hmc("backup", "--to", "kept.zip").code == 0
    before = Path("kept.zip").read_bytes()
    work("workplace.db", "ben")
    child = start("backup", "--to", "kept.zip", "--yes", before=STRIKE.format(nth=nth))
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    assert Path("kept.zip").read_bytes() == before
    assert hmc("backup", "--to", "kept.zip", "--yes").code == 0
    assert Path("kept.zip").read_bytes() != before
    assert list(busy_campaign.glob(".*.part")) == []


@pytest.mark.parametrize("nth", [2, 7, 10])
def test_a_killed_restoring_is_finished_by_the_same_command(
    hmc: Any, start: Start, busy_campaign: Path, nth: int
) -> None:
    assert hmc("backup", "--to", "kept.zip").code == 0
    ben = work("workplace.db", "ben")
    assert hmc("collect").code == 0
    child = start("restore", "--from", "kept.zip", "--yes", before=STRIKE.format(nth=nth))
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    # Whatever it reached, both databases are whole, and the campaign knows of nothing that the workplace lacks.
    for name in ("hmc-crowd.db", "workplace.db"):
        with closing(sqlite3.connect(name)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    told = hmc("status", "--json")
    if told.code == 2:
        assert "is half restored" in told.err
    else:
        # Both are as they were, or both are of the backup.
        assert (told.json["answers"] == 0) == (drafts("workplace.db", ben) == 2)
    assert hmc("restore", "--from", "kept.zip", "--yes").code == 0
    assert drafts("workplace.db", ben) == 2
    assert list(busy_campaign.glob(".*.part")) == []


# Kills its own process when the workplace would follow the campaigns, or when it has and is about to be said.
BETWEEN = """
import os, signal
from hmc_crowd._base import copies
{step} = copies.Keeper.{step}
def strike(self, *given, **named):
    if self.name == {name!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    return {step}(self, *given, **named)
copies.Keeper.{step} = strike
"""


@pytest.mark.parametrize(
    ("kind", "step", "name"),
    [
        ("sqlite", "load", "workplace"),
        ("sqlite", "finish", "store"),
        # Where one database holds both, the workplace's own transaction ends it.
        ("postgresql", "load", "workplace"),
    ],
)
def test_half_a_restoring_is_opened_by_nobody_but_the_command_that_finishes_it(
    hmc: Any, start: Start, request: pytest.FixtureRequest, kind: str, step: str, name: str
) -> None:
    places: tuple[str, ...] = ()
    workplace = "workplace.db"
    if kind == "sqlite":
        request.getfixturevalue("busy_campaign")
    else:
        request.getfixturevalue("at")("files")
        workplace = request.getfixturevalue("postgres_url")
        places = ("--db", workplace, "--workplace", workplace)
        for command in SETTING_UP:
            assert hmc(*command, *(places if command[0] == "publish" else places[:2])).code == 0
        work(workplace, "ann")
        work(workplace, "ben", 2)
    assert hmc("backup", "--to", "kept.zip", *places).code == 0
    ben = work(workplace, "ben")
    assert hmc("collect", *places).code == 0
    child = start("restore", "--from", "kept.zip", "--yes", *places, before=BETWEEN.format(step=step, name=name))
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    for command in (("status",), ("collect",), ("backup", "--to", "other.zip"), ("init", "--labels", "a,b")):
        told = hmc(*command, *(places if command[0] in {"collect", "backup"} else places[:2]))
        assert (told.code, told.err.count("\n")) == (2, 1)
        assert "is half restored: it is as of the backup of" in told.err
        assert f"hmc-crowd restore --from {Path('kept.zip').absolute()} --yes" in told.err
    assert hmc("restore", "--from", "kept.zip", "--yes", *places).code == 0
    assert hmc("status", *places[:2], "--json").json["answers"] == 0
    assert drafts(workplace, ben) == 2


@pytest.mark.slow
def test_a_restoring_killed_at_random_moments_leaves_both_or_says_so(
    hmc: Any, start: Start, busy_campaign: Path
) -> None:
    assert hmc("backup", "--to", "kept.zip").code == 0
    ben = work("workplace.db", "ben")
    assert hmc("collect").code == 0
    assert hmc("backup", "--to", "later.zip").code == 0
    began = time.monotonic()
    start("restore", "--from", "later.zip", "--yes").communicate(timeout=300)
    whole = time.monotonic() - began
    rng, seen = random.Random(16), Counter[str]()
    for _ in range(25):
        child = start("restore", "--from", "kept.zip", "--yes")
        # The last part of it is where databases change.
        time.sleep(rng.uniform(0.4, 1.0) * whole)
        child.kill()
        child.communicate()
        told = hmc("status", "--json")
        if told.code:
            assert "is half restored" in told.err
            seen["half"] += 1
        else:
            is_old = told.json["answers"] > 0
            assert is_old == (drafts("workplace.db", ben) > 2)
            seen["old" if is_old else "new"] += 1
        assert hmc("restore", "--from", "later.zip", "--yes").code == 0
        assert drafts("workplace.db", ben) > 2
    print(dict(seen))


@pytest.mark.parametrize("address", ["~/w.db", "sqlite:///{home}/w.db?timeout=5"])
def test_a_workplace_is_found_as_it_is_opened(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    asked = address.format(home=tmp_path)
    assert not has_workplace(asked)
    with connect(asked):
        assert has_workplace(asked)
