"""Alembic's entry to the workplace's history; the connection is handed in by hmc_crowd_local._migrate."""

from __future__ import annotations

from alembic import context
from hmc_crowd_local._tables import METADATA, PREFIX, VERSION_TABLE


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or (name or "").startswith(PREFIX)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    include_name=is_ours,
    compare_type=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
