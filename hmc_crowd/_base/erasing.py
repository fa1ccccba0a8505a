"""Taking a person out of a place where people work: who asked for it, what is done, where the id still stands.

What an erased text was may lie on in a database's file: in its write-ahead log, and in pages that were once split. So
the bytes are looked at afterwards, by a process of its own: on POSIX, a process that opens and closes an SQLite file by
itself loses the locks that its connections hold.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import sqlalchemy as sa

from hmc_crowd.errors import DatabaseBusyError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

__all__ = ["Erased", "ErasesPeople", "ErasureRequest", "files_holding", "still_in", "wipe"]

_LOOK_S = 3_600
# What an id is made of: "ann" does not stand in "annotator".
_WORD = "0-9A-Za-z_-"


@dataclass(frozen=True)
class ErasureRequest:
    """Somebody who left a study and asked that what they said is erased."""

    worker: str
    study: str
    asked_at: datetime


@dataclass(frozen=True)
class Erased:
    """What was taken out of one place, or would be: counts, and where the letters of the id stand on.

    Parameters
    ----------
    place : str
        The database, without a password.
    rows : mapping of str to int
        Rows by table that were erased or got another name.
    unpaid : tuple of str
        Amounts that the place still owes the person; once nobody knows who it was, they cannot be paid.
    still_in : tuple of str
        Where the id still stands, in words; nothing where it stands nowhere.
    """

    place: str
    rows: Mapping[str, int] = field(default_factory=dict)
    unpaid: tuple[str, ...] = ()
    still_in: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Rows in all."""
        return sum(self.rows.values())


@runtime_checkable
class ErasesPeople(Protocol):
    """A place where people work that can forget one of them."""

    def erase_person(self, worker: str, *, dry_run: bool = False) -> Erased:
        """Take a person, by raw id, out of every table; work stays under a random name. Repeating changes nothing."""
        ...

    def erasure_requests(self) -> Sequence[ErasureRequest]:
        """Return who asked to be erased and was not yet, oldest first."""
        ...


def files_holding(words: Sequence[str], paths: Iterable[Path]) -> dict[str, int]:
    """Return how often any of the words stands in each file, those in which it does not left out.

    A ZIP archive is looked through part by part. The files are read by another process; see the module's text.
    """
    wanted = [str(each) for each in paths if each.is_file()]
    if not wanted or not words:
        return {}
    asked = json.dumps({"words": list(words), "paths": wanted})
    # The words go in as input, not as arguments, which every user of the machine may read.
    # By its file and apart from all else: with -m, a json.py in the folder of work would be run.
    done = subprocess.run(  # noqa: S603 because the program is a file of ours
        [sys.executable, "-I", str(Path(__file__).with_name("look_for.py"))],
        input=asked,
        capture_output=True,
        text=True,
        timeout=_LOOK_S,
        check=False,
    )
    if done.returncode != 0:
        raise StoreError(f"the files could not be looked through ({done.stderr.strip()[-200:]}); look at them yourself")
    found: dict[str, int] = json.loads(done.stdout)
    return found


def wipe(engine: sa.Engine, words: Sequence[str], metadata: sa.MetaData) -> tuple[str, ...]:
    """Make sure that erased words stand nowhere in a database's file; return where they still do, in words.

    The write-ahead log is emptied; where a file still has the letters, all of it is written anew (SQLite's VACUUM),
    which is safe beside a running server: it waits for its turn, and so do the others. What is left then stands in
    rows that are not of the person, for example in the text of an item; a longer id with these letters is none.
    """
    if engine.dialect.name != "sqlite":
        return still_in(engine, words, metadata)
    file = Path(str(engine.url.database))
    files = [file, *(file.with_name(file.name + each) for each in ("-wal", "-journal"))]
    _empty_log(engine)
    if not files_holding(words, files):
        return ()
    _run(engine, "VACUUM")
    is_held_up = _empty_log(engine)
    found = files_holding(words, files)
    if not found:
        return ()
    rows = still_in(engine, words, metadata)
    if is_held_up and not rows:
        names = ", ".join(found)
        return (f"{names}: somebody reads the database just now; repeat the command later, it writes this anew",)
    return rows


def _empty_log(engine: sa.Engine) -> bool:
    """Put what waits in the write-ahead log in its place; return whether a reader kept some of it there."""
    return any(row[0] for row in _run(engine, "PRAGMA wal_checkpoint(TRUNCATE)"))


def _run(engine: sa.Engine, statement: str) -> list[tuple[int, ...]]:
    with engine.connect() as connection:
        raw = connection.connection.driver_connection
        try:
            return [] if raw is None else list(raw.execute(statement).fetchall())
        except sqlite3.OperationalError as error:
            raise DatabaseBusyError(
                f"the person is taken out, but the file could not be written anew ({error}), and may hold erased text "
                "until it is; repeat the command when less goes on"
            ) from error


def still_in(engine: sa.Engine, words: Sequence[str], metadata: sa.MetaData) -> tuple[str, ...]:
    """Return the columns of a database whose rows hold any of the words, as whole words, with how many rows."""
    found = []
    pattern = re.compile("|".join(f"(?<![{_WORD}]){re.escape(each)}(?![{_WORD}])" for each in words))
    with engine.connect() as connection:
        for table in metadata.sorted_tables:
            for column in table.c:
                text = sa.type_coerce(column, sa.Text)
                if not isinstance(getattr(column.type, "impl", column.type), sa.Text | sa.String):
                    continue
                holds = sa.or_(*(text.contains(word, autoescape=True) for word in words))
                texts = connection.execute(sa.select(text).select_from(table).where(holds)).scalars()
                count = sum(pattern.search(each) is not None for each in texts)
                if count:
                    found.append(f"{table.name}, column {column.name}: {count:,} rows")
    return tuple(found)
