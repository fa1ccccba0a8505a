"""Which browsers are signed in at the board? A row for each, so that signing out ends it wherever its cookie is.

A cookie holds 32 random bytes and the row their hash alone: who reads the database can sign in nowhere. A sign-in ends
when it is over, when its browser signs out, when its key is revoked or has another role, or when somebody ends it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store._keys import _record as key_of
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ApiKey, BoardSignIn

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.store.records import KeyRecord

__all__ = ["SignInRecord", "SignInRepository"]

_MOST_OF_A_KEY = 20
_REMEMBERED = timedelta(days=30)


@dataclass(frozen=True)
class SignInRecord:
    """A browser that signed in with a key, without what its cookie holds."""

    id: str
    key_id: str
    role: str
    created_at: datetime
    expires_at: datetime
    ended_at: datetime | None = None


class SignInRepository(Repository):
    """The sign-ins at the board, over all campaigns of the database."""

    def start(self, key: KeyRecord, *, lasts_s: float) -> tuple[SignInRecord, str]:
        """Sign a browser in; return the record and the token, which is stored nowhere.

        A key has at most twenty sign-ins at a time; the oldest end. What ended a month ago is forgotten.

        Raises
        ------
        InputError
            It would not last.
        """
        if not lasts_s > 0:
            raise InputError(f"lasts_s is {lasts_s}; give a time above 0")
        table, now = BoardSignIn.table(), self._session.now()
        self._session.run(sa.delete(table).where(table.c.expires_at < now - _REMEMBERED))
        live = [each.id for each in self.all() if each.key_id == key.id]
        old = live[: max(0, len(live) - _MOST_OF_A_KEY + 1)]
        self._end(table.c.id.in_(old))  # another process may have ended some meanwhile, which is as good
        token = secrets.token_urlsafe(32)
        made = SignInRecord(secrets.token_hex(6), key.id, key.role, now, now + timedelta(seconds=lasts_s))
        row = {name: getattr(made, name) for name in ("id", "key_id", "role", "created_at", "expires_at")}
        self._session.run(sa.insert(table), row | {"hash": _hash(token)})
        return made, token

    def find(self, token: str) -> tuple[SignInRecord, KeyRecord] | None:
        """Return whose sign-in a token is; None where it is unknown or over, or its key is not what it was."""
        if len(token) > 200 or not token.isascii() or not token.isprintable():
            return None
        table, keys = BoardSignIn.table(), ApiKey.table()
        query = sa.select(table).where(table.c.hash == _hash(token), *self._live())
        row = self._session.one(query)
        key = None if row is None else self._session.one(sa.select(*keys.c).where(keys.c.id == row.key_id))
        if row is None or key is None or key.revoked_at is not None or key.role != row.role:
            return None
        return _record(row), key_of(key)

    def all(self) -> list[SignInRecord]:
        """Return the sign-ins that are not over, oldest first."""
        table = BoardSignIn.table()
        query = sa.select(table).where(*self._live()).order_by(table.c.created_at, table.c.id)
        return [_record(row) for row in self._session.rows(query)]

    def end(self, sign_in: str) -> None:
        """End a sign-in.

        Raises
        ------
        StateError
            There is no such sign-in, or it is over.
        """
        if not self._end(BoardSignIn.id == sign_in):
            raise StateError(f"sign-in {sign_in!r} is unknown, or over; see the list of sign-ins")

    def end_all(self, *, key_id: str | None = None) -> int:
        """End all sign-ins, or all of a key; return how many that were."""
        return self._end(*([] if key_id is None else [BoardSignIn.key_id == key_id]))

    def end_token(self, token: str) -> None:
        """End the sign-in of a browser by what its cookie holds; one that is over, or unknown, stays as it is."""
        found = self.find(token)
        if found is not None:
            self._end(BoardSignIn.id == found[0].id)

    def _end(self, *which: Any) -> int:
        change = sa.update(BoardSignIn.table()).where(*which, *self._live())
        return self._session.run(change.values(ended_at=self._session.now()))

    def _live(self) -> tuple[Any, ...]:
        return BoardSignIn.ended_at.is_(None), BoardSignIn.expires_at > self._session.now()


def _record(row: Any) -> SignInRecord:
    return SignInRecord(row.id, row.key_id, row.role, row.created_at, row.expires_at, row.ended_at)


def _hash(token: str) -> str:
    return digest("hmc-crowd sign-in", token)
