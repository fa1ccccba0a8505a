"""Taking a person out of the workplace: the raw id goes, what he wrote goes, the work stays under a new name.

Answers, times and money stay, under a random name that nobody can trace; invitations, page events, messages, opt-outs,
what was typed into surveys and what the MTurk door knows of the person go. Whoever wants to work again begins anew.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.erasing import Erased, ErasureRequest, wipe
from hmc_crowd._base.money import Money
from hmc_crowd.errors import InputError
from hmc_crowd_local import _tables_mturk as mturk
from hmc_crowd_local import _tables_pages as pages
from hmc_crowd_local._payroll import Payroll
from hmc_crowd_local._secrets import erased_name
from hmc_crowd_local._tables import EVENT, HIT, HIT_ITEM, METADATA, SUBMISSION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

__all__ = ["Erasing"]

_GONE = (
    pages.INVITE,
    pages.EXPOSURE,
    pages.OPT_OUT,
    pages.SHIFT,
    pages.STANDING,
    mturk.M_EVENT,
    mturk.MESSAGE,
    mturk.BLOCK,
    mturk.WORKER,
)
# What the requester wrote for everybody: a word of it that is spelt like an id is no trace of the person.
_CONTENT = {HIT.name, HIT_ITEM.name, mturk.M_HIT.name, mturk.HIT_TYPE.name, mturk.QUALIFICATION_TYPE.name}
_ERASED = "[erased]"
_WORD = "0-9A-Za-z_-"


class _DryRunError(Exception):
    """Rolls a dry run back; never leaves this module."""


class Erasing(Payroll):
    """The part of the workplace that forgets people; `hmc_crowd._base.erasing.ErasesPeople`."""

    def erasure_requests(self) -> Sequence[ErasureRequest]:
        """Return who left a study, asked to be erased and was not yet, oldest first."""
        table = pages.CONSENT
        asked = sa.select(table.c.worker, table.c.study, sa.func.min(table.c.withdrawn_at).label("at"))
        asked = asked.where(table.c.wants_erasure, table.c.withdrawn_at.is_not(None))
        asked = asked.group_by(table.c.worker, table.c.study).order_by(sa.literal_column("3"), table.c.worker)
        with self._database.read() as connection:
            typed = asked.with_only_columns(
                table.c.worker, table.c.study, sa.type_coerce(sa.func.min(table.c.withdrawn_at), table.c.given_at.type)
            )
            return [ErasureRequest(row[0], row[1], row[2]) for row in connection.execute(typed)]

    def erase_person(self, worker: str, *, dry_run: bool = False) -> Erased:
        """Take a person out of the workplace, by raw id; repeating it changes nothing.

        Raises
        ------
        InputError
            No id was given.
        """
        if not worker.strip():
            raise InputError("worker is empty; give a raw worker id")
        sums: dict[str, int] = {}
        for each in self._owed_to(worker):
            sums[each.currency] = sums.get(each.currency, 0) + each.amount_minor
        unpaid = tuple(str(Money(amount, currency)) for currency, amount in sorted(sums.items()))
        counts: dict[str, int] = {}
        refused_as = erased_name(self.secret("door"), worker)
        try:
            with self._database.write() as connection:
                if self._database.is_sqlite:
                    connection.exec_driver_sql("PRAGMA secure_delete = ON")
                _keep_refused(connection, worker, refused_as, self._now())
                _erase(connection, worker, f"gone-{secrets.token_hex(10)}", counts)
                if dry_run:
                    raise _DryRunError
        except _DryRunError:
            return Erased(self._database.shown, counts, unpaid)
        return Erased(self._database.shown, counts, unpaid, wipe(self._database.engine, [worker], METADATA))

    def _owed_to(self, worker: str) -> list[Any]:
        rows, _ = self._rows(SUBMISSION.c.worker == worker)
        return [each for each in rows if each.state != "paid" and each.amount_minor]


def _keep_refused(connection: sa.Connection, worker: str, name: str, now: datetime) -> None:
    """Keep without the id that keys of the worker's were taken back: else the first one would open pages again."""
    link = mturk.LINK
    mine = link.c.worker == worker
    connection.execute(sa.delete(link).where(mine, link.c.revoked_at.is_(None), link.c.number == 0))
    since = sa.func.coalesce(link.c.revoked_at, sa.bindparam("now", now, link.c.revoked_at.type))
    connection.execute(sa.update(link).where(mine).values(worker=name, made_at=None, revoked_at=since))


def _erase(connection: sa.Connection, worker: str, fresh: str, counts: dict[str, int]) -> None:
    def run(table: sa.Table, statement: Any) -> None:
        changed = connection.execute(statement).rowcount
        if changed:
            counts[table.name] = counts.get(table.name, 0) + changed

    mine = sa.select(SUBMISSION.c.submission_id).where(SUBMISSION.c.worker == worker).scalar_subquery()
    for table in (EVENT, pages.MESSAGE):
        run(table, sa.delete(table).where(table.c.submission_id.in_(mine)))
    run(pages.FEEDBACK, sa.update(pages.FEEDBACK).where(pages.FEEDBACK.c.submission_id.in_(mine)).values(text=""))
    _shorten_reasons(connection, mine)
    for table in _GONE:
        run(table, sa.delete(table).where(table.c.worker == worker))
    asked = mturk.QUALIFICATION_REQUEST
    connection.execute(sa.update(asked).where(asked.c.worker == worker).values(answer=None))
    step = pages.STEP
    connection.execute(sa.update(step).where(step.c.worker == worker).values(detail="[]"))
    consent = pages.CONSENT
    connection.execute(sa.update(consent).where(consent.c.worker == worker).values(wants_erasure=False))
    work = mturk.ASSIGNMENT
    connection.execute(sa.update(work).where(work.c.worker == worker).values(draft=None))
    for table in METADATA.sorted_tables:
        if "worker" in table.c:
            run(table, sa.update(table).where(table.c.worker == worker).values(worker=fresh))
    _scrub(connection, worker, counts)


def _shorten_reasons(connection: sa.Connection, mine: Any) -> None:
    """Leave of a skip's reason the code, and drop what was typed behind it."""
    skip = pages.SKIP
    rows = connection.execute(sa.select(skip).where(skip.c.submission_id.in_(mine))).all()
    for row in rows:
        code = row.reason.partition(":")[0]
        if code != row.reason:
            same = [skip.c[key.name] == getattr(row, key.name) for key in skip.primary_key]
            connection.execute(sa.update(skip).where(*same).values(reason=code))


def _scrub(connection: sa.Connection, worker: str, counts: dict[str, int]) -> None:
    """Take the id out of words that name it: reasons of refusals, reviews, tokens of calls."""
    pattern = re.compile(f"(?<![{_WORD}]){re.escape(worker)}(?![{_WORD}])")
    for table in METADATA.sorted_tables:
        keys = list(table.primary_key)
        for column in table.c:
            if table.name in _CONTENT or column.primary_key or not isinstance(column.type, sa.Text):
                continue
            near = sa.select(*keys, column.label("found")).where(column.contains(worker, autoescape=True))
            for row in connection.execute(near).all():
                text = pattern.sub(_ERASED, row.found)
                if text != row.found:
                    same = [key == value for key, value in zip(keys, row, strict=False)]
                    connection.execute(sa.update(table).where(*same).values({column.name: text}))
                    counts[table.name] = counts.get(table.name, 0) + 1
