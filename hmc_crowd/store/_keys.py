"""Who may ask the server what? Keys with a role; only their hash is kept.

A key holds 32 random bytes, so that a plain SHA-256 of it cannot be guessed back.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import ApiKey, BoardSignIn
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import KeyRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ROLES", "KeyRepository", "key_name"]

ROLES = ("worker", "expert", "auditor", "reviewer", "owner")
_PREFIX = "hmck"


class KeyRepository(Repository):
    """The keys of the board and the machine door, over all campaigns of the database."""

    def issue(
        self, role: str, *, label: str = "", skills: Iterable[str] = (), per_hour: float | None = None
    ) -> tuple[KeyRecord, str]:
        """Make a key; return its record and the key itself, which is stored nowhere.

        Parameters
        ----------
        role : str
            What it opens.
        label : str
            Whose it is.
        skills : iterable of str
            What its holder knows, languages too; items that ask for it go there first.
        per_hour : float, optional
            How many items its holder can do in an hour; not known where absent.

        Raises
        ------
        InputError
            The role is unknown, or the capacity is no number above 0.
        """
        if role not in ROLES:
            raise InputError(f"role is {role!r}; choose {', '.join(ROLES)}")
        if per_hour is not None and not 0 < per_hour < float("inf"):
            raise InputError(f"per_hour is {per_hour}; give how many items an hour, more than 0")
        name, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        known = tuple(dict.fromkeys(check_text(each, name="skill").strip().casefold() for each in skills))
        made = KeyRecord(name, role, check_text(label, name="label"), self._session.now(), None, known, per_hour)
        row = {"id": made.id, "role": made.role, "label": made.label, "created_at": made.created_at}
        row |= {"skills": list(known), "per_hour": per_hour}
        self._session.run(sa.insert(ApiKey.table()), row | {"hash": _hash(name, secret)})
        return made, f"{_PREFIX}_{name}_{secret}"

    def find(self, key: str) -> KeyRecord | None:
        """Return whose key this is; None where it is unknown, wrong or revoked."""
        prefix, _, rest = key.partition("_")
        name, _, secret = rest.partition("_")
        if prefix != _PREFIX or not key.isascii() or not key.isprintable() or len(key) > 200:
            return None
        row = self._session.one(sa.select(*ApiKey.table().c).where(ApiKey.id == name))
        held = "" if row is None else row.hash
        # Compared whether or not there is such a key: both take as long.
        is_right = hmac.compare_digest(_hash(name, secret), held or "0" * 64)
        if row is None or not is_right or row.revoked_at is not None:
            return None
        return _record(row)

    def get(self, key_id: str) -> KeyRecord | None:
        """Return a key's record by its id, revoked or not."""
        row = self._session.one(sa.select(*ApiKey.table().c).where(ApiKey.id == key_id))
        return None if row is None else _record(row)

    def all(self) -> list[KeyRecord]:
        """Return all keys, oldest first."""
        query = sa.select(*ApiKey.table().c).order_by(ApiKey.created_at, ApiKey.id)
        return [_record(row) for row in self._session.rows(query)]

    def revoke(self, key_id: str) -> None:
        """Take a key back.

        Raises
        ------
        StateError
            There is no such key.
        """
        self._require(self.get(key_id), f"key {key_id!r} is unknown; see the list of keys")
        change = sa.update(ApiKey.table()).where(ApiKey.id == key_id, ApiKey.revoked_at.is_(None))
        self._session.run(change.values(revoked_at=self._session.now()))
        # Who signed in with it is out.
        signed_in = sa.update(BoardSignIn.table()).where(BoardSignIn.key_id == key_id, BoardSignIn.ended_at.is_(None))
        self._session.run(signed_in.values(ended_at=self._session.now()))


def key_name(key: str) -> str:
    """Return under whose name a key, right or wrong, was given; empty where it has no form of ours.

    Examples
    --------
    >>> key_name("hmck_0123456789ab_secret"), key_name("password")
    ('0123456789ab', '')
    """
    prefix, _, rest = key.partition("_")
    return rest.partition("_")[0][:64] if prefix == _PREFIX else ""


def _record(row: Any) -> KeyRecord:
    skills = tuple(row.skills or ())
    return KeyRecord(row.id, row.role, row.label, row.created_at, row.revoked_at, skills, row.per_hour)


def _hash(name: str, secret: str) -> str:
    return digest("hmc-crowd key", name, secret)
