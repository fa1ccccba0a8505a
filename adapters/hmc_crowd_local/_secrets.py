"""Secrets of the workplace that every process of it shares: made once, kept in the database."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError
from hmc_crowd_local._tables_mturk import SECRET

if TYPE_CHECKING:
    from hmc_crowd_local._database import Database

__all__ = ["secret_of"]


def secret_of(database: Database, name: str) -> bytes:
    """Return the secret of this name; of two processes that make it at once, the first one's counts."""
    query = sa.select(SECRET.c.value).where(SECRET.c.name == name)
    with database.read() as connection:
        held = connection.execute(query).scalar()
    if held is None:
        try:
            with database.write() as connection:
                connection.execute(sa.insert(SECRET).values(name=name, value=secrets.token_hex(32)))
        except DuplicateError:
            pass  # another process was quicker
        with database.read() as connection:
            held = connection.execute(query).scalar_one()
    return bytes.fromhex(held)
