"""Run by Alembic: brings the store's tables to a revision on the connection that `hmc_crowd.store` hands over."""

from __future__ import annotations

from typing import Any

from alembic import context

from hmc_crowd.store._migrate import VERSION_TABLE
from hmc_crowd.store._tables import Base


def of_ours(_object: Any, name: str | None, kind: str, reflected: bool, _against: Any) -> bool:
    """Leave alone what the workplace or its version table keep in the same database."""
    return not (kind == "table" and reflected and name not in Base.metadata.tables)


def run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise RuntimeError("the store's migrations run through hmc_crowd.store.open_store(url, create=True)")
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        version_table=VERSION_TABLE,
        include_object=of_ours,
        compare_type=True,
        # SQLite cannot alter a table in place: later migrations copy it.
        render_as_batch=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
