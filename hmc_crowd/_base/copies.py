"""How does a database become files, and files a database again? The same for every database of the house.

A copy is one state of the database: SQLite's own online backup, or every table of one REPEATABLE READ snapshot of
PostgreSQL, while others go on writing. Putting it back is one transaction: all of it, or the database as it was.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hmc_crowd._base.extras import HOW_TO_INSTALL
from hmc_crowd._base.private import make_private_file
from hmc_crowd._base.sqlite import open_by_house, open_sqlite
from hmc_crowd.errors import DatabaseBusyError, SchemaVersionError, StoreError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection, Engine

__all__ = ["MARK", "Copy", "Keeper", "Schema", "Unfinished", "unfinished"]

MARK = "hmc_crowd_restoring"
"""A table of this name is in a database that was restored while the one that belongs to it was not yet."""

# So long another process's lock is waited for.
_BUSY_S = 30.0
_CHUNK = 1 << 20


class Schema(Protocol):
    """What a database of the house holds, and how it comes to a revision."""

    @property
    def name(self) -> str:
        """Which database: "store" or "workplace"."""
        ...

    def tables(self) -> Sequence[str]:
        """Return the tables of this code's revision, each after those that it refers to."""
        ...

    def revisions(self) -> Sequence[str]:
        """Return all revisions that this code knows, newest first."""
        ...

    def revision(self, connection: Connection) -> str | None:
        """Return a database's revision, None where there is nothing of ours; refuse a stranger's."""
        ...

    def migrate(self, connection: Connection, to: str) -> None:
        """Bring a database to a revision inside the caller's transaction; "base" takes everything down."""
        ...


@dataclass(frozen=True)
class Copy:
    """What a copy is: the kind of database, its revision, and by table its columns and how many rows it has."""

    kind: str
    revision: str
    rows: Mapping[str, int]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def files(self, name: str) -> list[str]:
        """Return the names of its files."""
        return [f"{name}.sqlite"] if self.kind == "sqlite" else [f"{name}.{table}.rows" for table in self.rows]


@dataclass(frozen=True)
class Unfinished:
    """A restoring that was cut off between two databases: of which backup, and when that was made."""

    source: str
    made_at: str


class Keeper:
    """Copies one database into a folder and puts it back.

    Parameters
    ----------
    schema : Schema
        What belongs to it.
    engine : sqlalchemy.Engine
        Where it is; lives as long as its owner.
    file : Path, optional
        The file, where it is SQLite.
    where : str
        What to call it in messages, password masked.
    """

    def __init__(self, schema: Schema, engine: Engine, *, file: Path | None, where: str) -> None:
        self.name = schema.name
        self.where = where
        self.file = file
        self._schema = schema
        self._engine = engine

    @property
    def kind(self) -> str:
        """The database's kind: "sqlite" or "postgresql"."""
        return "postgresql" if self.file is None else "sqlite"

    def is_empty(self) -> bool:
        """Whether no table of ours holds a row."""
        import sqlalchemy as sa

        with self._said(), self._engine.connect() as connection:
            if self._schema.revision(connection) is None:
                return True
            known = set(sa.inspect(connection).get_table_names())
            return not any(_first(connection, table) for table in self._schema.tables() if table in known)

    def save(self, folder: Path) -> Copy:
        """Write a copy of one moment into a folder."""
        with self._said():
            return self._save_file(folder) if self.file is not None else self._save_tables(folder)

    def check(self, copy: Copy) -> None:
        """Refuse a copy that cannot go into this database.

        Raises
        ------
        StoreError
            It is of another kind of database.
        SchemaVersionError
            It was made by a newer version of this code.
        """
        if copy.kind != self.kind:
            raise StoreError(
                f"the copy of the {self.name} is of {copy.kind}, and {self.where} is {self.kind}; give a database of "
                "the same kind"
            )
        if copy.revision not in self._schema.revisions():
            raise SchemaVersionError(
                f"the copy of the {self.name} was made by a newer hmc-crowd (schema {copy.revision}); upgrade: "
                f"{HOW_TO_INSTALL}"
            )

    def prepare(self, folder: Path, copy: Copy) -> None:
        """Look through an unpacked copy before any database is changed; on SQLite it comes to this code's revision.

        Raises
        ------
        StoreError
            It is damaged, or holds what no database of ours holds.
        """
        if self.file is not None:
            with self._said():
                self._prepare_file(folder / copy.files(self.name)[0], copy)

    def load(self, folder: Path, copy: Copy, *, unfinished: Unfinished | None = None) -> None:
        """Put a copy that was prepared in the place of what is there; all of it or nothing.

        ``unfinished`` is left in it in the same transaction: who opens it learns that another database is to follow.
        """
        with self._said():
            if self.file is not None:
                self._load_file(folder / copy.files(self.name)[0], unfinished)
            else:
                self._load_tables(folder, copy, unfinished)

    def finish(self) -> None:
        """Take back what `load` left: the other database followed."""
        with self._said(), self._engine.connect().execution_options(writes=True) as connection, connection.begin():
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {MARK}")

    # SQLite.

    def _save_file(self, folder: Path) -> Copy:
        target = folder / f"{self.name}.sqlite"
        _copy_sqlite(_path(self.file), target)
        engine = _plain_engine(target)
        try:
            with engine.connect() as connection:
                _require_sound(connection, self.where)
                revision = self._known_revision(connection)
                return Copy("sqlite", revision, {table: _count(connection, table) for table in self._schema.tables()})
        finally:
            engine.dispose()

    def _prepare_file(self, staged: Path, copy: Copy) -> None:
        engine = _plain_engine(staged)
        try:
            with engine.begin() as connection:
                # Nothing that its schema names may run before we know that the schema is ours.
                connection.exec_driver_sql("PRAGMA trusted_schema = OFF")
                _require_sound(connection, self.where)
                _require_exact(connection, staged, self.name)
                with self._fresh(staged, copy.revision) as fresh:
                    _require_same_schema(connection, fresh, self.name)
                _require_rows(connection, copy, self.name)
                self._schema.migrate(connection, "head")
        finally:
            engine.dispose()

    @contextmanager
    def _fresh(self, staged: Path, revision: str) -> Iterator[Connection]:
        """Give a new database of a revision, beside the copy."""
        file = staged.with_name(f"fresh.{staged.name}")
        make_private_file(file)
        engine = _plain_engine(file)
        try:
            with engine.begin() as connection:
                self._schema.migrate(connection, "head" if revision == self._schema.revisions()[0] else revision)
                yield connection
        finally:
            engine.dispose()
            file.unlink(missing_ok=True)

    def _load_file(self, staged: Path, unfinished: Unfinished | None) -> None:
        engine = _plain_engine(staged)
        try:
            with engine.begin() as connection:
                _mark(connection, unfinished)
        finally:
            engine.dispose()
        _copy_sqlite(staged, _path(self.file))
        # Secrets and people's ids may be in it, whatever was there before.
        _path(self.file).chmod(0o600)

    # PostgreSQL.

    def _save_tables(self, folder: Path) -> Copy:
        options: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._engine.connect().execution_options(**options) as connection:
            revision = self._known_revision(connection)
            columns = {table: _columns(connection, table) for table in self._schema.tables()}
            rows = {
                table: _copy_out(connection, table, columns[table], folder / f"{self.name}.{table}.rows")
                for table in columns
            }
        return Copy("postgresql", revision, rows, columns)

    def _load_tables(self, folder: Path, copy: Copy, unfinished: Unfinished | None) -> None:
        import sqlalchemy as sa

        with self._engine.begin() as connection:
            if self._schema.revision(connection) is not None:
                self._schema.migrate(connection, "base")
            others = set(sa.inspect(connection).get_table_names())
            self._schema.migrate(connection, copy.revision)
            for table in copy.rows:
                # The server may hold other programs' tables beside ours.
                if table in others or set(copy.columns[table]) - set(_columns(connection, table)):
                    raise StoreError(f"the copy of the {self.name} names {table!r}, which is none of ours; use another")
                _copy_in(connection, table, copy.columns[table], folder / f"{self.name}.{table}.rows")
                _set_sequences(connection, table)
            _require_rows(connection, copy, self.name)
            self._schema.migrate(connection, "head")
            _mark(connection, unfinished)

    def _known_revision(self, connection: Connection) -> str:
        found = self._schema.revision(connection)
        if found != self._schema.revisions()[0]:
            raise SchemaVersionError(
                f"{self.where} is of schema {found}, and this hmc-crowd makes copies of {self._schema.revisions()[0]}; "
                "bring it up with: hmc-crowd init"
            )
        return found

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Turn a driver's error into one of ours."""
        import sqlalchemy as sa

        try:
            yield
        except Exception as error:
            # Rows of PostgreSQL go through its driver, not through SQLAlchemy.
            is_driver = isinstance(error, sa.exc.DBAPIError | sqlite3.Error)
            if not is_driver and type(error).__module__.partition(".")[0] != "psycopg":
                raise
            text = (str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__])[0]
            kind = DatabaseBusyError if "locked" in text or "lock timeout" in text else StoreError
            raise kind(f"the {self.name} {self.where}: {text}; nothing was changed") from error


def unfinished(connection: Connection, tables: Collection[str]) -> Unfinished | None:
    """Return the restoring that left this database before the other one followed; None almost always.

    Parameters
    ----------
    connection : sqlalchemy.Connection
    tables : collection of str
        The names of its tables.
    """
    if MARK not in tables:
        return None
    row = connection.exec_driver_sql(f"SELECT source, made_at FROM {MARK}").first()  # noqa: S608 because the name is ours
    return Unfinished("FILE", "?") if row is None else Unfinished(str(row[0]), str(row[1]))


def _mark(connection: Connection, left: Unfinished | None) -> None:
    import sqlalchemy as sa

    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {MARK}")
    if left is not None:
        connection.exec_driver_sql(f"CREATE TABLE {MARK} (source TEXT NOT NULL, made_at TEXT NOT NULL)")
        table = sa.table(MARK, sa.column("source"), sa.column("made_at"))
        connection.execute(sa.insert(table).values(source=left.source, made_at=left.made_at))


def _path(file: Path | None) -> Path:
    if file is None:
        raise StoreError("a PostgreSQL database is no file")
    return file


def _plain_engine(file: Path) -> Engine:
    """Return an engine whose transactions SQLAlchemy begins, also around changes of tables."""
    import sqlalchemy as sa

    engine = sa.create_engine(sa.URL.create("sqlite", database=str(file)), poolclass=sa.pool.NullPool)
    open_by_house(engine)
    sa.event.listen(engine, "connect", lambda connection, _record: setattr(connection, "isolation_level", None))
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database in one transaction of the target: whoever is killed leaves it as it was."""
    until = time.monotonic() + _BUSY_S

    def patience(status: int, _remaining: int, _total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > until:
            raise sqlite3.OperationalError("database is locked by another process; try again when it is done")

    with closing(open_sqlite(source)) as old, closing(open_sqlite(target, create=True)) as new:
        old.backup(new, pages=-1, progress=patience)
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _require_sound(connection: Connection, where: str) -> None:
    said = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
    if said != "ok":
        raise StoreError(f"{where} is damaged ({said}); use a copy that was made before")


def _require_exact(connection: Connection, file: Path, name: str) -> None:
    """Refuse bytes behind the last page, which SQLite would pass over."""
    pages, page = (connection.exec_driver_sql(f"PRAGMA {each}").scalar_one() for each in ("page_count", "page_size"))
    if pages * page != file.stat().st_size:
        raise StoreError(f"the copy of the {name} is larger than its database; use another copy")


def _require_same_schema(connection: Connection, fresh: Connection, name: str) -> None:
    """Refuse a copy that is not as a new database of its revision: a trigger of others would run with us."""
    held, wanted = _objects(connection), _objects(fresh)
    if held != wanted:
        first = min(set(held.items()) ^ set(wanted.items()), key=repr)[0]
        raise StoreError(
            f"the copy of the {name} is not what hmc-crowd writes: its {first[0]} {first[1][:60]!r} is none of ours, "
            "is changed or is missing; use another copy"
        )


def _objects(connection: Connection) -> dict[tuple[str, str, str], str]:
    """Return all that a schema names: triggers, views and indexes by their text, tables by their columns."""
    found = {}
    rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").all()
    for kind, name, table, text in rows:
        if kind == "table" and name in {"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"}:
            continue
        said = " ".join(str(text).split())
        if kind == "table":
            columns = connection.exec_driver_sql("SELECT * FROM pragma_table_xinfo(?)", (name,)).all()
            said = repr([tuple(each)[1:] for each in columns])
        found[kind, name, table] = said
    return found


def _require_rows(connection: Connection, copy: Copy, name: str) -> None:
    for table, rows in copy.rows.items():
        found = _count(connection, table)
        if found != rows:
            raise StoreError(f"the copy of the {name} holds {found:,} of {rows:,} rows of {table}; use another copy")


def _count(connection: Connection, table: str) -> int:
    import sqlalchemy as sa

    return int(connection.execute(sa.select(sa.func.count()).select_from(sa.table(table))).scalar_one())


def _first(connection: Connection, table: str) -> bool:
    import sqlalchemy as sa

    return connection.execute(sa.select(sa.literal(1)).select_from(sa.table(table)).limit(1)).first() is not None


def _columns(connection: Connection, table: str) -> list[str]:
    import sqlalchemy as sa

    # What the database computes itself cannot be put back.
    return [each["name"] for each in sa.inspect(connection).get_columns(table) if "computed" not in each]


def _statement(connection: Connection, template: str, table: str, columns: Sequence[str]) -> str:
    quote = connection.dialect.identifier_preparer.quote
    return template.format(table=quote(table), columns=", ".join(map(quote, columns)))


def _copy_out(connection: Connection, table: str, columns: Sequence[str], file: Path) -> int:
    """Write a table in PostgreSQL's text form, a line a row; return how many."""
    raw: Any = connection.connection.driver_connection
    rows = 0
    statement = _statement(connection, "COPY {table} ({columns}) TO STDOUT", table, columns)
    with file.open("wb") as stream, raw.cursor() as cursor, cursor.copy(statement) as out:
        for part in out:
            # A line break inside a value is written as two other characters.
            rows += bytes(part).count(b"\n")
            stream.write(part)
    return rows


def _copy_in(connection: Connection, table: str, columns: Sequence[str], file: Path) -> None:
    raw: Any = connection.connection.driver_connection
    statement = _statement(connection, "COPY {table} ({columns}) FROM STDIN", table, columns)
    with file.open("rb") as stream, raw.cursor() as cursor, cursor.copy(statement) as into:
        while part := stream.read(_CHUNK):
            into.write(part)


def _set_sequences(connection: Connection, table: str) -> None:
    """Let the numbers that the database gives go on behind the largest that was put back."""
    import sqlalchemy as sa

    for each in sa.inspect(connection).get_columns(table):
        quoted = connection.dialect.identifier_preparer.quote(table)
        found = sa.select(sa.func.pg_get_serial_sequence(quoted, each["name"]))
        sequence = connection.execute(found).scalar()
        if sequence is not None:
            largest: sa.ColumnElement[int] = sa.func.max(sa.column(each["name"]))
            value = sa.func.setval(sequence, sa.func.coalesce(largest, 1), largest.is_not(None))
            connection.execute(sa.select(value).select_from(sa.table(table)))
