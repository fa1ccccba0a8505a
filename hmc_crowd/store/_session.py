"""What do repositories share? The connection with few helpers: which database it is, the clock, the artefacts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.errors import StateError
from hmc_crowd.store._types import check_text, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd._base.clock import Clock
    from hmc_crowd.store._artefacts import Artefacts
    from hmc_crowd.store._tables import Base

__all__ = ["Repository", "Session"]


class Session:
    """One transaction's connection, clock, artefacts and the size above which frames leave SQL."""

    def __init__(self, connection: sa.Connection, *, clock: Clock, artefacts: Artefacts, large: int) -> None:
        self.connection = connection
        self.artefacts = artefacts
        self.large = large
        self._clock = clock

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.connection.dialect.name == "sqlite"

    def version(self) -> tuple[int, int] | None:
        """Return what stays the same while no other connection changes the database; None where that is not known."""
        if not self.is_sqlite:
            return None
        raw = self.connection.connection.driver_connection
        number = 0 if raw is None else raw.execute("PRAGMA data_version").fetchone()[0]
        return id(raw), int(number)

    def now(self) -> datetime:
        """Return the present moment."""
        return self._clock.now()

    def erase_for_good(self) -> None:
        """Overwrite what this transaction deletes or changes, where the database would leave it lying in its file."""
        if self.is_sqlite:
            self.connection.exec_driver_sql("PRAGMA secure_delete = ON")

    def insert(self, model: type[Base]) -> Any:
        """Return the database's own INSERT, which knows ON CONFLICT; both spell it the same."""
        return sqlite.insert(model.table()) if self.is_sqlite else postgresql.insert(model.table())

    def insert_new(self, model: type[Base]) -> Any:
        """Return the INSERT that leaves out what is there already; built once, for what is asked again and again."""
        return _insert_new(model, self.connection.dialect.name)

    def rows(self, statement: sa.Executable) -> list[Any]:
        """Run a query; return its rows, types converted."""
        return list(self.connection.execute(statement).all())

    def one(self, statement: sa.Executable, parameters: Any = None) -> Any | None:
        """Run a query; return its only row or None."""
        return self.connection.execute(statement, parameters).one_or_none()

    def run(self, statement: sa.Executable, parameters: Any = None) -> int:
        """Run a statement; return how many rows it changed."""
        result = self.connection.execute(statement, parameters, execution_options={"preserve_rowcount": True})
        return int(result.rowcount)

    def among(self, column: Any, values: Iterable[str]) -> sa.ColumnElement[bool]:
        """Say "column is one of these" with a single parameter, however many values there are."""
        listed = [check_text(value, name="item") for value in values]
        if self.is_sqlite:
            each = sa.func.json_each(to_json(listed)).table_valued("value")
            return sa.type_coerce(column, sa.Text).in_(sa.select(each.c.value))
        return sa.type_coerce(column, sa.Text) == sa.any_(sa.literal(listed, postgresql.ARRAY(sa.Text)))


@cache
def _insert_new(model: type[Base], dialect: str) -> Any:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(model.table()).on_conflict_do_nothing()


class Repository:
    """Base of the repositories."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _require(self, row: Any | None, message: str) -> Any:
        if row is None:
            raise StateError(message)
        return row
