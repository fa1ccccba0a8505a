"""What the workplace's owner does at the front door: keys for scripts, money of accounts, layouts.

A signature can only be checked with the secret itself, so secrets are kept in the workplace's database, sealed under
the key that lies outside it. Nothing shows a secret again.
"""

from __future__ import annotations

import secrets
from base64 import b32encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._records import check_text
from hmc_crowd_local._steps import twice
from hmc_crowd_local._tables_mturk import ACCOUNT, KEY, LAYOUT
from hmc_crowd_local._vault import Vault
from hmc_crowd_local.mturk_api._content import require_post

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd._base.ids import IdSource
    from hmc_crowd_local._database import Database
    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["Keeper", "Key", "KeyRecord", "LayoutRecord"]


@dataclass(frozen=True)
class Key:
    """What a requester's script signs with; the secret is shown once and never printed by itself."""

    access_key_id: str
    secret_access_key: str

    def __repr__(self) -> str:
        return f"Key(access_key_id={self.access_key_id!r}, secret_access_key=...)"


@dataclass(frozen=True)
class KeyRecord:
    """A key as the list shows it: without its secret."""

    access_key_id: str
    account: str
    label: str
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True)
class LayoutRecord:
    """A HITLayout as the list shows it."""

    layout_id: str
    name: str
    created_at: datetime
    n_bytes: int


class Keeper:
    """The owner's side of a `FrontDoor`."""

    database: Database
    settings: Settings
    _ids: IdSource

    def now(self) -> datetime:
        """Return the present by the workplace's clock."""
        raise NotImplementedError

    def issue_key(self, account: str = "main", *, label: str = "") -> Key:
        """Make a key for an account, and the account if it is new.

        Parameters
        ----------
        account : str, default "main"
            Whose HITs and money the key reaches.
        label : str
            What the key is for, to know it again in the list.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from hmc_crowd_local.mturk_api import open_front_door
        >>> with TemporaryDirectory() as folder:
        ...     door = open_front_door(f"{folder}/workplace.db")
        ...     key = door.issue_key(label="laptop")
        ...     listed = door.keys()
        ...     door.close()
        >>> key.access_key_id.startswith("HMC"), "secret_access_key=..." in repr(key), listed[0].label
        (True, True, 'laptop')
        """
        if not account.strip():
            raise InputError("account is empty; give it a name")
        for name, text in (("account", account), ("label", label)):
            check_text(text, name=name)
        name = "HMC" + b32encode(secrets.token_bytes(11)).decode("ascii").rstrip("=")[:17]
        key = Key(name, secrets.token_urlsafe(30))

        sealed = Vault(self.database).seal(f"mturk key/{name}", key.secret_access_key)

        def attempt() -> None:
            with self.database.write() as connection:
                known = sa.select(ACCOUNT.c.account_id).where(ACCOUNT.c.account_id == account)
                if connection.execute(known).first() is None:
                    balance = self.settings.start_balance_minor
                    row = {"account_id": account, "balance_minor": balance, "created_at": self.now()}
                    connection.execute(sa.insert(ACCOUNT).values(row))
                row = {"access_key": key.access_key_id, "account_id": account, "secret": sealed}
                connection.execute(sa.insert(KEY).values({**row, "label": label, "created_at": self.now()}))

        twice(attempt)
        return key

    def keys(self) -> list[KeyRecord]:
        """Return the keys that were issued, oldest first, the revoked ones too."""
        query = sa.select(KEY.c.access_key, KEY.c.account_id, KEY.c.label, KEY.c.created_at, KEY.c.revoked_at)
        with self.database.read() as connection:
            return [KeyRecord(*row) for row in connection.execute(query.order_by(KEY.c.created_at, KEY.c.access_key))]

    def revoke_key(self, access_key_id: str) -> None:
        """Take a key back; what it signs from now on is refused."""
        with self.database.write() as connection:
            mine = sa.and_(KEY.c.access_key == access_key_id, KEY.c.revoked_at.is_(None))
            if not connection.execute(sa.update(KEY).where(mine).values(revoked_at=self.now())).rowcount:
                raise InputError(f"access_key_id {access_key_id!r} is no key in use; list the keys that were issued")

    def holder_of(self, access_key_id: str) -> tuple[str, str] | None:
        """Return the account of a key in use, and the secret to check a signature with."""
        query = sa.select(KEY.c.account_id, KEY.c.secret)
        with self.database.read() as connection:
            row = connection.execute(
                query.where(KEY.c.access_key == access_key_id, KEY.c.revoked_at.is_(None))
            ).one_or_none()
        return None if row is None else (row[0], Vault(self.database).unseal(f"mturk key/{access_key_id}", row[1]))

    def add_funds(self, cents: int, *, account: str = "main") -> None:
        """Add money to an account."""
        if cents < 1:
            raise InputError(f"cents is {cents}; give 1 or more")
        with self.database.write() as connection:
            update = sa.update(ACCOUNT).where(ACCOUNT.c.account_id == account)
            if not connection.execute(update.values(balance_minor=ACCOUNT.c.balance_minor + cents)).rowcount:
                raise InputError(f"account {account!r} is unknown; issue a key for it first")

    def add_layout(self, html: str, *, name: str = "layout") -> str:
        """Keep a page with ``${parameters}`` and return the HITLayoutId under which scripts use it.

        Raises
        ------
        InputError
            It is no page, or has no form that is sent by POST; the line to change is named.
        """
        if not html.strip() or "\x00" in html:
            raise InputError("html is empty or holds a NUL character; give the whole page")
        check_text(html, name="html")
        require_post(html)
        check_text(name, name="name")
        layout_id = self._ids.new()
        with self.database.write() as connection:
            row = {"layout_id": layout_id, "name": name, "html": html, "created_at": self.now()}
            connection.execute(sa.insert(LAYOUT).values(row))
        return layout_id

    def layouts(self) -> list[LayoutRecord]:
        """Return the layouts, oldest first."""
        query = sa.select(LAYOUT).order_by(LAYOUT.c.created_at, LAYOUT.c.layout_id)
        with self.database.read() as connection:
            return [
                LayoutRecord(row.layout_id, row.name, row.created_at, len(row.html.encode()))
                for row in connection.execute(query)
            ]
