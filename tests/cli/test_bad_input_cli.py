"""Bad input: one sentence that names the file and its first wrong rows, exit 2, and the database as it was before."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def dump(database: Path) -> list[str]:
    """Return everything a database holds."""
    connection = sqlite3.connect(database)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def one_sentence(told: Any, *words: str) -> None:
    """Require exit 2, one line on standard error that holds the words, and no result."""
    assert told.code == 2
    assert told.err.startswith("hmc-crowd: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert "fault of hmc-crowd" not in told.err
    assert [word for word in words if word not in told.err] == [], told.err
    assert told.out == ""


def text(content: str) -> bytes:
    return content.encode()


# How the table is added, what stands in it, and what the sentence must say.
TABLES: dict[str, tuple[str, str, bytes, tuple[str, ...]]] = {
    "NaN confidence": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\ni0000,good,0.5\ni0001,bad,nan\n"),
        ("p.csv", "confidence", "[0, 1]", "line 3", "correct or drop"),
    ),
    "empty confidence": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\ni0000,good,\n"),
        ("p.csv", "confidence", "line 2"),
    ),
    "confidence above 1": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\n" + "".join(f"i{n:04d},good,1.5\n" for n in range(9))),
        ("p.csv", "confidence", "lines 2", "1.5", "and 4 more"),
    ),
    "negative confidence": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\ni0000,good,-0.5\n"),
        ("confidence", "-0.5"),
    ),
    "unknown label": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\ni0000,ugly,0.5\n"),
        ("p.csv", "good, bad", "line 2 ('ugly')"),
    ),
    "unknown item": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\nnobody,good,0.5\n"),
        ("nobody",),
    ),
    "twice the same prediction": (
        "--predictions",
        "p.csv",
        text("item,label,confidence\ni0000,good,0.5\ni0000,bad,0.6\n"),
        ("p.csv", "more than once", "line 3 ('i0000')"),
    ),
    "probabilities that do not sum to 1": (
        "--predictions",
        "p.csv",
        text("item,label,p_good,p_bad\ni0000,good,0.5,0.1\n"),
        ("p.csv", "sum to 1", "line 2 (0.6)"),
    ),
    "gold without labels": ("--gold", "g.csv", text("item\ni0000\n"), ("g.csv", "lacks the column label")),
    "gold of unknown label": ("--gold", "g.csv", text("item,label\ni0000,ugly\n"), ("g.csv", "ugly")),
    "negative effort": (
        "--effort",
        "e.csv",
        text("item,seconds\ni0000,-5\n"),
        ("seconds", "at least 0", "-5"),
    ),
    "effort without seconds": ("--effort", "e.csv", text("item,time\ni0000,5\n"), ("seconds",)),
    "the same item twice": (
        "",
        "i.csv",
        text("item,text\nx,a\ny,b\nx,c\n"),
        ("i.csv", "the same item more than once", "line 4 ('x')", "keep one row of each"),
    ),
    "an item that is there already": ("", "i.csv", text("item,text\ni0000,a\n"), ("i0000",)),
    "no column item": ("", "i.csv", text("id,text\n1,a\n"), ("i.csv", "lacks the column item", "it has: id, text")),
    "an empty file": ("", "i.csv", b"", ("i.csv is empty", "give a file with a header")),
    "a header alone": ("", "i.csv", text("item,text\n"), ("i.csv has no rows", "give at least one")),
    "another encoding": (
        "",
        "i.csv",
        "item,text\nx,café\n".encode("latin-1"),
        ("i.csv is not UTF-8", "line 2", "save it as UTF-8"),
    ),
    "a row that is too long": ("", "i.csv", text("item,text\nx,a,b,c\n"), ("i.csv", "line 2")),
    "broken JSON lines": ("", "i.jsonl", text('{"item": "x"}\n{"item": \n'), ("i.jsonl", "line 2")),
    "no Parquet at all": ("", "i.parquet", text("item,text\nx,a\n"), ("i.parquet is not a whole Parquet file",)),
    "an unknown ending": ("", "i.xlsx", b"PK", ("i.xlsx", "'.xlsx'", ".csv")),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_bad_table_is_refused_whole(hmc: Any, at: Callable[[str], Path], case: str) -> None:
    folder = at("planned")
    option, name, content, words = TABLES[case]
    (folder / name).write_bytes(content)
    before = dump(folder / "hmc-crowd.db")
    told = hmc("items", *([option] if option else []), name)
    one_sentence(told, *words)
    assert dump(folder / "hmc-crowd.db") == before


def test_a_truncated_parquet_is_refused(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("planned")
    pd.DataFrame({"item": [f"x{n}" for n in range(500)]}).to_parquet("i.parquet")
    (folder / "i.parquet").write_bytes((folder / "i.parquet").read_bytes()[:-200])
    before = dump(folder / "hmc-crowd.db")
    one_sentence(hmc("items", "i.parquet"), "i.parquet is not a whole Parquet file", "write or copy it again")
    assert dump(folder / "hmc-crowd.db") == before


def test_a_folder_is_no_file(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    one_sentence(hmc("items", "."), ". is a folder; name a file in it")


def test_a_file_that_is_not_there(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    one_sentence(hmc("items", "nowhere.csv"), "nowhere.csv does not exist", "check the path")


def test_of_several_tables_all_are_taken_or_none(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("files")
    hmc("init", "--labels", "good,bad")
    (folder / "p.csv").write_text("item,label,confidence\ni0000,good,7\n")
    before = dump(folder / "hmc-crowd.db")
    one_sentence(hmc("items", "items.csv", "--gold", "gold.csv", "--predictions", "p.csv"), "p.csv", "confidence")
    assert dump(folder / "hmc-crowd.db") == before
    # So the same command goes through once the file is corrected.
    assert hmc("items", "items.csv", "--gold", "gold.csv", "--predictions", "predictions.csv").code == 0


def test_predictions_for_some_items_only_are_named_when_planning(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("files")
    hmc("init", "--labels", "good,bad")
    (folder / "p.csv").write_text("item,label,confidence\ni0000,good,0.7\n")
    hmc("items", "items.csv", "--predictions", "p.csv")
    hmc("effort", "estimate")
    one_sentence(hmc("plan"), "159 items have no prediction", "'i0001'", "`hmc-crowd items --predictions FILE`")


ROUTABLE: dict[str, tuple[str, tuple[str, ...]]] = {
    "NaN confidence": ("item,confidence,effort\na,nan,1\nb,0.5,1\n", ("f.csv", "confidence", "line 2 ('nan')")),
    "confidence above 1": ("item,confidence,effort\na,1.2,1\n", ("f.csv", "numbers in [0, 1]", "line 2 (1.2)")),
    "negative effort": ("item,confidence,effort\na,.5,1\nb,.5,-1\n", ("f.csv", "effort", "line 3 (-1)")),
    "infinite effort": ("item,confidence,effort\na,.5,inf\n", ("f.csv", "effort", "finite")),
    "no effort": ("item,confidence\na,.5\n", ("f.csv lacks the column effort",)),
    "twice the same item": ("item,confidence,effort\na,.5,1\na,.5,1\n", ("f.csv", "line 3 ('a')")),
}


@pytest.mark.parametrize("command", ["route", "sweep"])
@pytest.mark.parametrize("case", ROUTABLE)
def test_what_cannot_be_routed_is_refused(hmc: Any, tmp_path: Path, command: str, case: str) -> None:
    content, words = ROUTABLE[case]
    (tmp_path / "f.csv").write_text(content)
    one_sentence(hmc(command, "f.csv", "--out", "out.csv"), *words)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("route", "routable.csv", "--max-human", "1.5"), ("--max-human is '1.5'", "a share such as 0.5")),
        (("route", "routable.csv", "--max-human", "161"), ("161",)),
        (("route", "routable.csv", "--trade-off", "nan"), ("--trade-off is nan",)),
        (("route", "routable.csv", "--trade-off", "-1"), ("--trade-off is -1",)),
        (("route", "routable.csv", "--trade-off", "inf"), ("--trade-off is inf", "exactly")),
        (("route", "routable.csv", "--cap", "about"), ("'about'", "at_most")),
        (("route", "routable.csv", "--out", "plan.xls"), ("--out is 'plan.xls'", ".csv")),
        (("route", "routable.csv", "--out", "no/plan.csv"), ("the folder no does not exist",)),
        (("route", "routable.csv", "--out", "items.csv"), ("--out is 'items.csv'", "--overwrite")),
        (("sweep", "routable.csv", "--trade-offs", "0:1"), ("--trade-offs is '0:1'", "start:stop:step")),
        (("sweep", "routable.csv", "--max-humans", "0,2"), ("--max-humans is 2", "[0, 1]")),
        (("quote", "items.csv", "--money", "10", "--pay", "12/h"), ("--money is '10' without a currency",)),
        (("quote", "items.csv", "--money", "10USD", "--pay", "12"), ("--pay is '12'", "12/h")),
        (("quote", "items.csv", "--money", "10USD", "--pay", "12EUR/h"), ("mixes the currencies EUR, USD",)),
        (("quote", "items.csv", "--money", "9USD", "--pay", "1/h", "--platform", "x"), ("platform is 'x'", "prolific")),
        (("quote", "items.csv", "--money", "9USD", "--pay", "1/h", "--level", "2"), ("level",)),
        (("quote", "gold.csv", "--money", "9USD", "--pay", "1/h"), ("gold.csv has neither text nor",)),
        (("quote", "items.csv", "--money", "9USD", "--pay", "1/h", "--predictions", "gold.csv"), ("confidence",)),
        (("certify", "--items", "10"), ("go together",)),
        (("certify", "--items", "10", "--human", "1", "--audited", "2", "--wrong", "3"), ("wrong is 3",)),
        (("certify", "--at-least", "2"), ("--at-least is 2",)),
        (("aggregate", "items.csv"), ("items.csv lacks the columns task, worker, label", "rename 'item' to 'task'")),
        (("aggregate", "answers.csv", "--method", "guess"), ("'guess'",)),
        (("effort", "evaluate", "times.csv", "--seconds", "time"), ("lacks the column time that --seconds names",)),
        (("effort", "evaluate", "times.csv", "--groups", "who"), ("lacks the column who that --groups names",)),
        (("effort", "evaluate", "times.csv", "--kind", "tree"), ("kind is 'tree'",)),
        (("effort", "evaluate", "gold.csv", "--seconds", "label"), ("label must be", "lines 2 ('")),
        (("reproduce", "hmceval", "--data", "."), ("per_dialogue.tsv is not there", "--data")),
        (("init", "--currency", "dollars"), ("currency is 'DOLLARS'",)),
        (("init", "--labels", "a,a"), ("labels", "repeat")),
        (("demo", "--out", "."), ("holds other things",)),
        (("collect", "--crowd", "items.csv"), ("items.csv is no crowd",)),
    ],
    ids=lambda each: " ".join(each)[:60],
)
def test_a_bad_argument_is_refused_by_name(
    hmc: Any, at: Callable[[str], Path], arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    folder = at("files")
    before = sorted(folder.iterdir())
    one_sentence(hmc(*arguments), *words)
    assert sorted(folder.iterdir()) == before


CAMPAIGN_ARGUMENTS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("planned", ("plan", "--trade-off", "nan"), ("--trade-off is nan",)),
    ("planned", ("plan", "--max-human", "-1"), ("--max-human is '-1'",)),
    ("planned", ("plan", "--audit", "150%"), ("--audit is '150%'",)),
    ("planned", ("plan", "--effort", "hours"), ("effort is 'hours'",)),
    ("planned", ("plan", "--max-hours", "nan"), ("--max-hours is nan",)),
    ("planned", ("plan", "--max-money", "5"), ("--max-money needs --pay",)),
    ("planned", ("publish", "--pay", "free"), ("--pay is 'free'",)),
    ("planned", ("publish", "--pay", "12/h", "--gold-share", "2"), ("--gold-share is 2",)),
    ("planned", ("publish", "--pay", "12EUR/h"), ("mixes the currencies EUR, USD",)),
    ("planned", ("publish", "--pay", "12/h", "--platform", "mars"), ("platform is 'mars'", "local")),
    ("planned", ("run", "--pay", "12/h", "--yes"), ("--yes needs --budget",)),
    ("planned", ("explain", "nobody"), ("item is 'nobody'",)),
    ("planned", ("status", "--campaign", "other"), ("'other'",)),
    ("planned", ("explain", "i0001", "--aspect", "tone"), ("aspect is 'tone'", "label")),
    ("collected", ("check", "--minimum", "2"), ("minimum",)),
    ("collected", ("check", "--level", "1"), ("level",)),
    ("collected", ("aggregate", "--method", "guess"), ("'guess'",)),
    ("collected", ("aggregate", "--out", "items.csv"), ("--out is 'items.csv'", "--overwrite")),
    ("collected", ("aggregate", "--gold", "gold.csv"), ("`hmc-crowd items --gold FILE`",)),
    ("certified", ("certify", "--level", "0"), ("level",)),
    ("certified", ("learn", "--kind", "tree"), ("kind is 'tree'",)),
    ("certified", ("report", "--truth", "items.csv"), ("items.csv", "label")),
    ("published", ("collect", "--crowd", "truth.csv", "--accuracy", "2"), ("--accuracy is 2",)),
]


@pytest.mark.parametrize(
    ("stage", "arguments", "words"), CAMPAIGN_ARGUMENTS, ids=[" ".join(each[1]) for each in CAMPAIGN_ARGUMENTS]
)
def test_a_bad_argument_leaves_the_campaign_as_it_was(
    hmc: Any, at: Callable[[str], Path], stage: str, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    folder = at(stage)
    before = dump(folder / "hmc-crowd.db")
    one_sentence(hmc(*arguments), *words)
    assert dump(folder / "hmc-crowd.db") == before


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a lock for an instant only."""
    monkeypatch.setattr("hmc_crowd.campaign._campaign.open_store", partial(open_store, busy_s=0.05))


@pytest.fixture
def lock() -> Iterator[Callable[[Path], None]]:
    """Let another process hold a database's write lock."""
    holders: list[subprocess.Popen[str]] = []

    def hold(database: Path) -> None:
        code = (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"

    yield hold
    for holder in holders:
        holder.communicate("")


@pytest.mark.parametrize(
    "command",
    [
        ("items", "--gold", "gold.csv"),
        ("effort", "estimate"),
        ("plan",),
        ("publish", "--pay", "12/h", "--yes", "--budget", "300"),
        ("init", "--name", "another"),
    ],
    ids=lambda each: each[0],
)
def test_a_locked_database_is_left_alone(
    hmc: Any,
    at: Callable[[str], Path],
    impatient: None,
    lock: Callable[[Path], None],
    command: tuple[str, ...],
) -> None:
    folder = at("planned")
    before = dump(folder / "hmc-crowd.db")
    lock(folder / "hmc-crowd.db")
    one_sentence(hmc(*command), "hmc-crowd.db is locked by another process", "try again")
    assert dump(folder / "hmc-crowd.db") == before


def test_a_locked_database_can_still_be_looked_at(
    hmc: Any, at: Callable[[str], Path], lock: Callable[[Path], None]
) -> None:
    folder = at("planned")
    lock(folder / "hmc-crowd.db")
    assert hmc("status").code == 0


@pytest.mark.parametrize("command", [("plan",), ("items", "--gold", "gold.csv"), ("effort", "estimate")])
def test_a_read_only_database_is_left_alone(hmc: Any, at: Callable[[str], Path], command: tuple[str, ...]) -> None:
    folder = at("planned")
    before = dump(folder / "hmc-crowd.db")
    # Root may write whatever the permissions say, so SQLite itself is told not to.
    told = hmc(*command, "--db", "sqlite:///file:hmc-crowd.db?mode=ro&uri=true")
    one_sentence(told, "hmc-crowd.db cannot be written", "check the permissions")
    assert dump(folder / "hmc-crowd.db") == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_database_without_write_permission_is_left_alone(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("planned")
    (folder / "hmc-crowd.db").chmod(0o444)
    one_sentence(hmc("plan"), "hmc-crowd.db", "permissions")


FOREIGN: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "newer": (
        lambda file: _execute(file, "UPDATE hmc_crowd_store_version SET version_num = '9999'"),
        ("newer hmc-crowd", "upgrade: pip install . in its checkout"),
    ),
    "not ours": (
        lambda file: (file.unlink(), _execute(file, "CREATE TABLE songs (title TEXT)")),
        ("belongs to another program", "songs", "give another --db"),
    ),
    "no database": (lambda file: file.write_text("Dear Sir or Madam, " * 50), ("is not a SQLite database", "--db")),
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:5000]), ("is truncated", "restore it from a copy")),
}


def _execute(file: Path, statement: str) -> None:
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("command", [("status",), ("init", "--name", "x"), ("plan",), ("items", "--gold", "gold.csv")])
@pytest.mark.parametrize("case", FOREIGN)
def test_a_database_that_is_not_to_be_used_is_left_alone(
    hmc: Any, at: Callable[[str], Path], case: str, command: tuple[str, ...]
) -> None:
    folder = at("planned")
    change, words = FOREIGN[case]
    change(folder / "hmc-crowd.db")
    before = (folder / "hmc-crowd.db").read_bytes()
    one_sentence(hmc(*command), "hmc-crowd.db", *words)
    assert (folder / "hmc-crowd.db").read_bytes() == before


@pytest.mark.parametrize(
    ("database", "words"),
    [
        (".", (". is a folder",)),
        ("no/such/folder/x.db", ("the folder of no/such/folder/x.db does not exist",)),
        ("sqlite://", ("a database in memory",)),
        ("mysql://me@here/x", ("names a mysql database", "sqlite:///file.db")),
        ("postgresql://me:secret@localhost:1/x", ("cannot be reached", "***")),
        ("://", ("--db",)),
    ],
)
def test_a_bad_address_is_refused_and_leaves_nothing(
    hmc: Any, tmp_path: Path, database: str, words: tuple[str, ...]
) -> None:
    told = hmc("init", "--db", database)
    one_sentence(told, *words)
    assert "secret" not in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_real_process_shows_no_traceback_either(
    at: Callable[[str], Path], start: Callable[..., subprocess.Popen[str]]
) -> None:
    folder = at("planned")
    (folder / "hmc-crowd.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    child = start("status")
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (2, "")
    assert err.startswith("hmc-crowd: hmc-crowd.db")
    assert err.count("\n") == 1


COMMAND_WORDS = st.one_of(
    st.sampled_from(["plan", "route", "routable.csv", "sweep", "certify", "status", "quote", "items.csv", "gold.csv"]),
    st.sampled_from(["--max-human", "--audit", "--trade-off", "--items", "--human", "--audited", "--wrong", "--cap"]),
    st.sampled_from(["--money", "--pay", "--db", "--json", "--trade-offs", "--max-humans", "--level", "--redundancy"]),
    st.sampled_from(["1", "0.5", "nan", "-1", "inf", "1e999", "0:1:0.5", "10USD", "12/h", "exactly", "", "🙂", "\x00"]),
    st.text(max_size=8),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(COMMAND_WORDS, min_size=1, max_size=6))
def test_no_words_bring_a_traceback(hmc: Any, at: Callable[[str], Path], words: list[str]) -> None:
    at("files")
    told = hmc(*words)
    assert told.code in {0, 1, 2, 3}
    assert "fault of hmc-crowd" not in told.err, told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("out", ["taken", "taken/below"])
def test_a_demo_needs_a_folder_that_can_be_made(hmc: Any, tmp_path: Path, out: str) -> None:
    (tmp_path / "taken").write_text("a file")
    one_sentence(hmc("demo", "--out", str(tmp_path / out)), "--out", "cannot be made", "name another folder")
    assert (tmp_path / "taken").read_text() == "a file"
