"""How do many rows get into a table quickly? ``executemany`` on SQLite, COPY on PostgreSQL, both from Arrow columns.

No SQL is built from values. On PostgreSQL the text that COPY reads is made by Arrow, a batch at a time, without a
Python object per cell. Where rows may exist already, COPY fills a temporary table and one INSERT ... ON CONFLICT moves
it over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hmc_crowd.store._session import Session
    from hmc_crowd.store._tables import Base

__all__ = ["bulk_insert", "fetch"]

_ROWS = 50_000
_BYTES = 16 << 20
_UNIQUE_VIOLATION = "23505"


def bulk_insert(
    session: Session,
    model: type[Base],
    table: Any,
    *,
    conflict: Literal["error", "skip", "replace"] = "error",
) -> int:
    """Insert an Arrow table whose column names are the model's; return how many rows were written.

    Parameters
    ----------
    session : Session
        In a writing transaction.
    model : type of Base
        The table.
    table : pyarrow.Table
        Typed rows.
    conflict : {"error", "skip", "replace"}, default "error"
        What happens to a row that breaks a uniqueness rule: refuse all, leave out the row, or (by primary key) take its
        values over.
    """
    if not len(table):
        return 0
    statement = session.insert(model).values({name: sa.bindparam(name) for name in table.column_names})
    statement = _on_conflict(statement, model, table.column_names, conflict)
    if session.is_sqlite:
        return _executemany(session, statement, table)
    return _copy(session, model, table, conflict)


def _on_conflict(statement: Any, model: type[Base], names: Sequence[str], conflict: str) -> Any:
    if conflict == "skip":
        return statement.on_conflict_do_nothing()
    if conflict == "replace":
        keys = [column.name for column in model.table().primary_key]
        values = {name: statement.excluded[name] for name in names if name not in keys}
        return statement.on_conflict_do_update(index_elements=keys, set_=values)
    return statement


def _batches(table: Any) -> Iterator[Any]:
    """Cut a table so that a batch stays small in rows and in bytes."""
    rows = max(1, min(_ROWS, _BYTES * len(table) // max(1, table.nbytes)))
    for start in range(0, len(table), rows):
        yield table.slice(start, rows)


def _executemany(session: Session, statement: Any, table: Any) -> int:
    # Compiled once; qmark parameters come in the order of the compiled statement.
    compiled = statement.compile(dialect=session.connection.dialect)
    names = compiled.positiontup or table.column_names
    changed = 0
    for batch in _batches(table):
        rows = list(zip(*(_sqlite_values(batch[name]) for name in names), strict=True))
        changed += int(session.connection.exec_driver_sql(str(compiled), rows).rowcount)
    return changed


def _sqlite_values(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = _time_text(column)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int64())
    if column.null_count == 0 or pa.types.is_large_string(column.type):
        # numpy's tolist is several times quicker than Arrow's; missing texts come out as None.
        values: list[Any] = column.to_numpy().tolist()
        return values
    listed: list[Any] = column.to_pylist()
    return listed


def _time_text(column: Any) -> Any:
    # Arrow prints YYYY-MM-DD HH:MM:SS.ffffff, always six decimals, many times quicker than strftime.
    return column.cast(pa.timestamp("us")).cast(pa.large_string())


def _copy(session: Session, model: type[Base], table: Any, conflict: str) -> int:
    target = model.table()
    if conflict == "error":
        _copy_into(session, target.name, table)
        return len(table)
    if conflict == "skip" and _copied_whole(session, target.name, table):
        return len(table)
    quote = session.connection.dialect.identifier_preparer.quote
    waiting = sa.Table(
        f"hmc_load_{target.name}",
        sa.MetaData(),
        *(sa.Column(name, target.c[name].type) for name in table.column_names),
        prefixes=["TEMPORARY"],
        postgresql_on_commit="DROP",
    )
    waiting.create(session.connection)
    _copy_into(session, waiting.name, table)
    move = session.insert(model).from_select(table.column_names, sa.select(*waiting.c))
    changed = session.run(_on_conflict(move, model, table.column_names, conflict))
    session.connection.exec_driver_sql(f"DROP TABLE {quote(waiting.name)}")
    return changed


def _copied_whole(session: Session, name: str, table: Any) -> bool:
    """Try to copy straight into the table: mostly no row is there yet, and a conflict shows at the first that is."""
    attempt = session.connection.begin_nested()
    try:
        _copy_into(session, name, table)
    except Exception as error:
        attempt.rollback()
        if getattr(error, "sqlstate", None) == _UNIQUE_VIOLATION:
            return False
        raise
    attempt.commit()
    return True


def _copy_into(session: Session, name: str, table: Any) -> None:
    quote = session.connection.dialect.identifier_preparer.quote
    columns = ", ".join(quote(each) for each in table.column_names)
    raw: Any = session.connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"COPY {quote(name)} ({columns}) FROM STDIN") as copy:
        for batch in _batches(table):
            copy.write(_copy_text(batch))


def _copy_text(batch: Any) -> Any:
    """Return rows in COPY's text format: tab between cells, newline after rows, backslash escapes."""
    cells = [_copy_cells(batch[name].combine_chunks()) for name in batch.column_names]
    tab, newline, null = (pa.scalar(each, pa.large_string()) for each in ("\t", "\n", "\\N"))
    lines = pc.binary_join_element_wise(*cells, tab, null_handling="replace", null_replacement=null.as_py())
    ended = pc.binary_join_element_wise(lines, pa.scalar("", pa.large_string()), newline)
    # The rows lie one after another in the array's data buffer: that is the stream already.
    if isinstance(ended, pa.ChunkedArray):
        ended = ended.combine_chunks()
    offsets = ended.buffers()[1]
    last = int.from_bytes(offsets[len(ended) * 8 : len(ended) * 8 + 8].to_pybytes(), "little")
    return memoryview(ended.buffers()[2])[:last]


def _copy_cells(column: Any) -> Any:
    if pa.types.is_large_string(column.type):
        for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            column = pc.replace_substring(column, plain, escaped)
        return column
    if pa.types.is_timestamp(column.type):
        return pc.binary_join_element_wise(
            _time_text(column),
            pa.scalar("+00", pa.large_string()),
            pa.scalar("", pa.large_string()),
        )
    return column.cast(pa.large_string())


def fetch(session: Session, statement: sa.Executable, types: dict[str, Any]) -> Any:
    """Run a query and return an Arrow table of its columns, in the given types, without a row object per row."""
    parts = []
    with session.connection.execute(statement) as result:
        cursor: Any = result.cursor
        while rows := cursor.fetchmany(_ROWS):
            cells = zip(types.items(), zip(*rows, strict=True), strict=True)
            parts.append(pa.table({name: _column(values, kind) for (name, kind), values in cells}))
    empty = pa.table({name: pa.array([], kind) for name, kind in types.items()})
    return pa.concat_tables(parts) if parts else empty


def _column(values: Any, kind: Any) -> Any:
    if pa.types.is_timestamp(kind) and any(isinstance(each, str) for each in values):  # SQLite holds times as text
        return pa.array(values, pa.large_string()).cast(pa.timestamp("us")).cast(kind)
    if pa.types.is_boolean(kind):
        return pa.array([None if each is None else bool(each) for each in values], kind)
    return pa.array(values, kind)
