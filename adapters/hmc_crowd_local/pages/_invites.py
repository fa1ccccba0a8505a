"""Who may work here without another platform? Signed links for people whom we know, which expire and can be revoked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import InputError
from hmc_crowd_local._quotas import checked_attributes
from hmc_crowd_local._records import check_text
from hmc_crowd_local._tables_pages import INVITE
from hmc_crowd_local._terms import checked_skills
from hmc_crowd_local._tokens import read_token, sign_token

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hmc_crowd_local._platform import LocalPlatform

__all__ = ["Invite", "Invites"]

_PURPOSE = "invite"
_MONTH_S = 30 * 24 * 3600.0
_CENTURY_S = 36_525 * 24 * 3600.0


@dataclass(frozen=True)
class Invite:
    """An invitation of one worker; ``token`` opens the pages, in ``{public_url}/work/i/{token}``.

    ``pool`` and ``skills`` say which HITs he is offered; languages are written ``language:de``. ``attributes`` are what
    he said of himself: quotas count by them, and nobody is shown them.
    """

    invite_id: str
    worker: str
    label: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    token: str
    pool: str = ""
    skills: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)

    def is_live(self, at: datetime) -> bool:
        """Whether the link works at this moment."""
        return self.revoked_at is None and at < self.expires_at

    def url(self, public_url: str) -> str:
        """Return the link to be sent."""
        return f"{public_url.rstrip('/')}/work/i/{self.token}"


class Invites:
    """The invitations of a workplace.

    Parameters
    ----------
    local : LocalPlatform
        The workplace.
    secret : bytes
        As for `make_pages_app`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hmc_crowd_local import connect
    >>> with TemporaryDirectory() as folder, connect(f"{folder}/w.db") as local:
    ...     invites = Invites(local, secret=b"secret")
    ...     invite = invites.issue("ann", lifetime_s=3600)
    ...     before = invites.open(invite.token).worker
    ...     invites.revoke(invite.invite_id)
    ...     before, [each.revoked_at is None for each in invites.of("ann")]
    ('ann', [False])
    """

    def __init__(self, local: LocalPlatform, *, secret: bytes) -> None:
        self._local = local
        self._database = local._database
        self._secret = secret

    def issue(
        self,
        worker: str,
        *,
        lifetime_s: float = _MONTH_S,
        label: str = "",
        pool: str = "",
        skills: Sequence[str] = (),
        attributes: Mapping[str, str] | None = None,
    ) -> Invite:
        """Invite a worker.

        Parameters
        ----------
        worker : str
            Under which name the work is kept; the link does not show it.
        lifetime_s : float, default 30 days
            How long the link works.
        label : str
            For your own list, for example the person's real name.
        pool : str
            To which pool he belongs; HITs of other pools are not offered to him.
        skills : sequence of str
            What he can do; a language is written ``language:de``. Who names no language is offered all of them.
        attributes : mapping of str to str, optional
            What he said of himself and agrees to have used for quotas, such as ``{"region": "south"}``; by default what
            his newest invitation says.
        """
        if not worker or not 0 < lifetime_s <= _CENTURY_S:
            raise InputError(
                f"worker is {worker!r} and lifetime_s {lifetime_s}; give a name, a time above 0 and at most 100 years"
            )
        for name, text in (("worker", worker), ("label", label), ("pool", pool)):
            check_text(text, name=name)
        known = checked_skills(skills)
        now = self._local._now()
        invite_id, expires = self._local._ids.new(), now + timedelta(seconds=lifetime_s)
        row = {"invite_id": invite_id, "worker": worker, "label": label, "created_at": now, "expires_at": expires}
        row |= {"pool": pool, "skills": json.dumps(known)}
        told = None if attributes is None else checked_attributes(attributes)
        with self._database.write() as connection:
            before = _told(connection, worker)
            said = before if told is None else _replaced(before, told)
            connection.execute(sa.insert(INVITE), [{**row, "attributes": json.dumps(said)}])
        token = self._token(invite_id, expires)
        return Invite(invite_id, worker, label, now, expires, None, token, pool, known, _kept(said))

    def set_attributes(self, worker: str, attributes: Mapping[str, str]) -> None:
        """Keep what a worker says of himself from now on, on all his invitations; an empty mapping forgets it.

        Raises
        ------
        InputError
            He has no invitation.
        """
        told = checked_attributes(attributes)
        with self._database.write() as connection:
            said = json.dumps(_replaced(_told(connection, worker), told))
            mine = sa.update(INVITE).where(INVITE.c.worker == worker)
            if not connection.execute(mine.values(attributes=said)).rowcount:
                raise InputError(f"worker {worker!r} has no invitation; issue one first")

    def revoke(self, invite_id: str) -> None:
        """Make the link useless from now on; said twice, the first time counts.

        Raises
        ------
        InputError
            There is no such invitation.
        """
        with self._database.write() as connection:
            known = connection.execute(sa.select(INVITE.c.invite_id).where(INVITE.c.invite_id == invite_id)).scalar()
            if known is None:
                raise InputError(f"invitation {invite_id!r} is unknown here; list them to see their ids")
            mine = (INVITE.c.invite_id == invite_id, INVITE.c.revoked_at.is_(None))
            connection.execute(sa.update(INVITE).where(*mine).values(revoked_at=self._local._now()))

    def all(self) -> list[Invite]:
        """Return all invitations, oldest first."""
        return self._read()

    def of(self, worker: str) -> list[Invite]:
        """Return the invitations of one worker, oldest first."""
        return self._read(INVITE.c.worker == worker)

    def latest(self, worker: str) -> Invite | None:
        """Return a worker's newest invitation that works now: it says his pool and skills; None without one."""
        now = self._local._now()
        return next((each for each in reversed(self.of(worker)) if each.is_live(now)), None)

    def open(self, token: str) -> Invite:
        """Return the invitation of a link.

        Raises
        ------
        InputError
            The link is not one of ours, is over, or was revoked.
        """
        now = self._local._now()
        found = self._read(INVITE.c.invite_id == read_token(self._secret, token, now=now, purpose=_PURPOSE))
        if not found or not found[0].is_live(now):
            raise InputError("this link is no longer valid; ask for a new one")
        return found[0]

    def _read(self, *which: sa.ColumnElement[bool]) -> list[Invite]:
        with self._database.read() as connection:
            rows = connection.execute(sa.select(INVITE).where(*which).order_by(INVITE.c.invite_id)).all()
        return [
            Invite(
                row.invite_id,
                row.worker,
                row.label,
                row.created_at,
                row.expires_at,
                row.revoked_at,
                self._token(row.invite_id, row.expires_at),
                row.pool,
                tuple(json.loads(row.skills)),
                _kept(json.loads(row.attributes)),
            )
            for row in rows
        ]

    def _token(self, invite_id: str, expires_at: datetime) -> str:
        return sign_token(self._secret, invite_id, expires_at=expires_at, purpose=_PURPOSE)


def _told(connection: sa.Connection, worker: str) -> dict[str, str]:
    """Return what a worker's newest invitation says; an empty value is what he took back."""
    query = sa.select(INVITE.c.attributes).where(INVITE.c.worker == worker).order_by(INVITE.c.invite_id.desc())
    found: dict[str, str] = json.loads(connection.execute(query.limit(1)).scalar() or "{}")
    return found


def _replaced(before: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """Return what is said now, and as empty what was said before and is not any more: campaigns drop it then."""
    return {**dict.fromkeys(before, ""), **told}


def _kept(said: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in said.items() if value}
