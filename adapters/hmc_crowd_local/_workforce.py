"""Who belongs to a pool, when do they work, what did they skip, what were they paid? The workplace's side of pools.

Turns of a pool come from campaigns and are shown to its people; turns of single people are agreed here, by the
organiser or by the person's own page, and a campaign counts them as capacity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.ids import natural_key
from hmc_crowd._base.pools import RemoteSkip, Turn, Workforce
from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._records import check_text
from hmc_crowd_local._repository import chunks
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import ANSWER, HIT, SUBMISSION
from hmc_crowd_local._tables_pages import INVITE, MESSAGE, OPT_OUT, SHIFT, SKIP, STANDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["Staff"]

_HANDED_IN = tuple(state.value for state in SubmissionState if state.has_work)
_MOST_TURNS = 200


class Staff(Steps):
    """The part of the workplace that implements `hmc_crowd.platform.KeepsPools` and `TellsSkips`."""

    def put_turns(self, scope: str, turns: Iterable[Turn]) -> None:
        """Show people the turns that a campaign plans for its pools, in place of those it planned before."""
        rows = [_row(scope, each) for each in turns]
        with self._database.write() as connection:
            connection.execute(sa.delete(SHIFT).where(SHIFT.c.scope == scope, SHIFT.c.worker == ""))
            if rows:
                connection.execute(sa.insert(SHIFT), list({row["shift_id"]: row for row in rows}.values()))

    def add_turn(self, turn: Turn) -> str:
        """Agree on a turn of one worker and return its id; the same again changes nothing.

        Raises
        ------
        InputError
            It names nobody, its end is not after its start, or the worker has very many.
        """
        if not turn.worker:
            raise InputError("worker of the turn is empty; a turn of a whole pool is planned by a campaign")
        row = _row("", turn)
        with self._database.write() as connection:
            mine = sa.select(SHIFT.c.shift_id).where(SHIFT.c.worker == turn.worker, SHIFT.c.ends_at > self._now())
            held = set(connection.execute(mine).scalars())
            if row["shift_id"] not in held:
                if len(held) >= _MOST_TURNS:
                    raise InputError(f"worker {turn.worker!r} has {len(held)} turns to come; take one back first")
                connection.execute(sa.insert(SHIFT), [row])
        return str(row["shift_id"])

    def remove_turn(self, shift_id: str, *, worker: str) -> bool:
        """Take back a turn of this worker; say whether there was one."""
        mine = (SHIFT.c.shift_id == shift_id, SHIFT.c.worker == worker, SHIFT.c.worker != "")
        with self._database.write() as connection:
            return bool(connection.execute(sa.delete(SHIFT).where(*mine)).rowcount)

    def turns(self, *, pool: str, worker: str, starts_at: datetime) -> list[tuple[str, Turn]]:
        """Return id and turn of what a worker and his pool have from a moment on, earliest first."""
        of_pool = sa.and_(SHIFT.c.pool == pool, SHIFT.c.worker == "") if pool else sa.false()
        query = sa.select(SHIFT).where(sa.or_(of_pool, SHIFT.c.worker == worker), SHIFT.c.ends_at > starts_at)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(SHIFT.c.starts_at, SHIFT.c.shift_id).limit(_MOST_TURNS)).all()
        return [(row.shift_id, Turn(row.pool, row.starts_at, row.ends_at, row.people, row.worker)) for row in rows]

    def workforce(self, pool: str, *, starts_at: datetime) -> Workforce:
        """Say who belongs to a pool now, how many opted out of what, and the turns of its people from a moment on."""
        now = self._now()
        live = sa.and_(INVITE.c.revoked_at.is_(None), INVITE.c.expires_at > now)
        with self._database.read() as connection:
            rows = connection.execute(
                sa.select(INVITE.c.worker, INVITE.c.pool).where(live).order_by(INVITE.c.invite_id)
            )
            # Whoever has several invitations belongs where the newest says.
            newest = {row.worker: row.pool for row in rows}
            members = sorted(worker for worker, where in newest.items() if where == pool)
            opted: dict[str, int] = {}
            found: list[Turn] = []
            for some in chunks(members):
                query = sa.select(OPT_OUT.c.category, sa.func.count()).where(OPT_OUT.c.worker.in_(some))
                for category, count in connection.execute(query.group_by(OPT_OUT.c.category)):
                    opted[category] = opted.get(category, 0) + count
                mine = sa.select(SHIFT).where(SHIFT.c.worker.in_(some), SHIFT.c.ends_at > starts_at)
                found += [
                    Turn(pool, row.starts_at, row.ends_at, 1, row.worker)
                    for row in connection.execute(mine.order_by(SHIFT.c.starts_at))
                ]
        return Workforce(len(members), opted, tuple(found))

    def tell_standing(self, scope: str, standing: Mapping[str, tuple[int, int]]) -> None:
        """Keep how many of their answers to known questions are right; a study decides whether they see it."""
        now = self._now()
        rows = [
            {"worker": worker, "scope": scope, "right": right, "n": n, "at": now}
            for worker, (right, n) in standing.items()
        ]
        with self._database.write() as connection:
            connection.execute(sa.delete(STANDING).where(STANDING.c.scope == scope))
            if rows:
                connection.execute(sa.insert(STANDING), rows)

    def standing(self, worker: str) -> list[tuple[str, int, int]]:
        """Return what was said of a worker: scope, right and all answers to known questions."""
        query = sa.select(STANDING).where(STANDING.c.worker == worker).order_by(STANDING.c.scope)
        with self._database.read() as connection:
            return [(row.scope, row.right, row.n) for row in connection.execute(query)]

    def waiting_threads(self, scope: str) -> int:
        """Return in how many threads about a campaign's items a worker waits for an answer."""
        newest = sa.select(sa.func.max(MESSAGE.c.message_id)).group_by(MESSAGE.c.submission_id, MESSAGE.c.item)
        last = sa.and_(MESSAGE.c.author == "worker", MESSAGE.c.message_id.in_(newest))
        # A changed guideline adds to the campaign's scope.
        of_campaign = sa.or_(HIT.c.scope == scope, HIT.c.scope.startswith(f"{scope}:", autoescape=True))
        query = sa.select(sa.func.count()).select_from(sa.join(MESSAGE, SUBMISSION).join(HIT))
        with self._database.read() as connection:
            return connection.execute(query.where(last, of_campaign)).scalar() or 0

    def skips(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteSkip, ...]]:
        """Return what was skipped or reported, and never answered, in submissions that are handed in."""
        found: dict[str, list[RemoteSkip]] = {}
        same = (ANSWER.c.submission_id == SKIP.c.submission_id, ANSWER.c.item == SKIP.c.item)
        answered = sa.exists().where(*same, ANSWER.c.aspect == SKIP.c.aspect)
        came = sa.and_(SUBMISSION.c.recruited_by.is_not(None), SUBMISSION.c.submitted_at.is_not(None))
        with self._database.read() as connection:
            for some in chunks(list(dict.fromkeys(submission_ids))):
                query = sa.select(SKIP).join(SUBMISSION).where(SKIP.c.submission_id.in_(some), ~answered)
                query = query.where(sa.or_(SUBMISSION.c.state.in_(_HANDED_IN), came))
                for row in connection.execute(query.order_by(SKIP.c.submission_id, SKIP.c.item, SKIP.c.aspect)):
                    reason, _, note = row.reason.partition(": ")
                    skip = RemoteSkip(row.item, row.aspect, row.kind, reason, note)
                    found.setdefault(row.submission_id, []).append(skip)
        return {name: tuple(each) for name, each in found.items()}


def _row(scope: str, turn: Turn) -> dict[str, object]:
    start, end = as_utc(turn.starts_at, name="starts_at"), as_utc(turn.ends_at, name="ends_at")
    if end <= start or turn.people < 1:
        raise InputError(f"the turn from {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC ends before it begins")
    for name, text in (("pool", turn.pool), ("worker", turn.worker)):
        check_text(text, name=name)
    return {
        "shift_id": natural_key(scope, turn.pool, turn.worker, start.isoformat(), end.isoformat()),
        "scope": scope,
        "pool": turn.pool,
        "worker": turn.worker,
        "starts_at": start,
        "ends_at": end,
        "people": turn.people,
    }
