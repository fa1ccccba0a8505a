"""Secrets of the workplace that every process of it shares: made once, kept in the database sealed under its key."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError
from hmc_crowd_local._tables_mturk import SECRET
from hmc_crowd_local._vault import Vault

if TYPE_CHECKING:
    from hmc_crowd_local._database import Database

__all__ = ["erased_name", "secret_of"]


def secret_of(database: Database, name: str) -> bytes:
    """Return the secret of this name; of two processes that make it at once, the first one's counts.

    Raises
    ------
    StateError
        The workplace's key is missing, or is another one.
    """
    vault, place = Vault(database), f"secret/{name}"
    query = sa.select(SECRET.c.value).where(SECRET.c.name == name)
    with database.read() as connection:
        held = connection.execute(query).scalar()
    if held is None:
        sealed = vault.seal(place, secrets.token_hex(32))
        try:
            with database.write() as connection:
                connection.execute(sa.insert(SECRET).values(name=name, value=sealed))
        except DuplicateError:
            pass  # another process was quicker
        with database.read() as connection:
            held = connection.execute(query).scalar_one()
    return bytes.fromhex(vault.unseal(place, held))


def erased_name(door: bytes, worker: str) -> str:
    """Return what stands for the id of an erased worker in the list of links that were taken back.

    Only whoever has the door's secret and the id can tell that they belong together: a link that leaked stays refused,
    and nobody reads the id.
    """
    return f"gone-{hmac.new(door, f'erased:{worker}'.encode(), hashlib.sha256).hexdigest()[:40]}"
