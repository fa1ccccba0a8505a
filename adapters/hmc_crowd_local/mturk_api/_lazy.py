"""What time alone does: work is abandoned, submissions approve themselves, HITs expire and are disposed of (rule R8).

Nothing runs in the background: whoever looks next writes down what has become due, dated when it became due.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT, M_HIT
from hmc_crowd_local.mturk_api._call import hold, spend
from hmc_crowd_local.mturk_api._policies import review_hit

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd_local.mturk_api._call import Call
    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["is_due", "settle"]


def _abandoned(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(ASSIGNMENT.c.state == "accepted", ASSIGNMENT.c.deadline_at < now)


def _approved(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(ASSIGNMENT.c.state == "submitted", ASSIGNMENT.c.auto_approve_at <= now)


def _expired(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(M_HIT.c.is_expiry_settled.is_(False), M_HIT.c.expires_at <= now)


def _old(now: datetime, settings: Settings) -> sa.ColumnElement[bool]:
    return sa.and_(M_HIT.c.disposed_at.is_(None), M_HIT.c.created_at <= now - timedelta(seconds=settings.disposal_s))


def is_due(connection: sa.Connection, account_id: str, now: datetime, settings: Settings) -> bool:
    """Whether anything of an account has become due that nobody wrote down."""
    # Every request asks this, so it is one statement.
    work = [
        sa.exists().where(ASSIGNMENT.c.account_id == account_id, each) for each in (_abandoned(now), _approved(now))
    ]
    hits = [sa.exists().where(M_HIT.c.account_id == account_id, each) for each in (_expired(now), _old(now, settings))]
    return bool(connection.execute(sa.select(sa.or_(*work, *hits))).scalar())


def settle(call: Call) -> None:
    """Write down everything of the account that has become due."""
    touched = _settle_assignments(call)
    rows = call.connection.execute(
        sa.select(M_HIT).where(M_HIT.c.account_id == call.account_id, _expired(call.now))
    ).all()
    for row in rows:
        call.update_hit(row.hit_id, is_expiry_settled=True)
        call.tell("HITExpired", row)
        touched[row.hit_id] = None
    for hit_id in touched:
        hold(call, hit_id)
        review_hit(call, hit_id)
    old = call.connection.execute(
        sa.select(M_HIT).where(M_HIT.c.account_id == call.account_id, _old(call.now, call.settings))
    ).all()
    for row in old:
        dispose(call, row, at=row.created_at + timedelta(seconds=call.settings.disposal_s))


def dispose(call: Call, hit: Any, *, at: datetime) -> None:
    """Remove a HIT from the lists; the rows stay for the workplace's own books."""
    call.update_hit(hit.hit_id, disposed_at=at, is_expiry_settled=True)
    hold(call, hit.hit_id)
    call.tell("HITDisposed", hit)


def _settle_assignments(call: Call) -> dict[str, None]:
    """Let abandoned work free its place and let submissions approve themselves; return the HITs concerned."""
    touched: dict[str, None] = {}
    mine = ASSIGNMENT.c.account_id == call.account_id
    for row in call.connection.execute(sa.select(ASSIGNMENT).where(mine, _abandoned(call.now))).all():
        _move(call, row, state="expired")
        call.tell("AssignmentAbandoned", call.hit(row.hit_id), row.assignment_id)
        touched[row.hit_id] = None
    for row in call.connection.execute(sa.select(ASSIGNMENT).where(mine, _approved(call.now))).all():
        hit = call.hit(row.hit_id)
        _move(call, row, state="approved", approved_at=row.auto_approve_at, is_auto=True)
        spend(call, hit.unit_minor)
        call.tell("AssignmentApproved", hit, row.assignment_id)
        touched[row.hit_id] = None
    return touched


def _move(call: Call, row: Any, **values: Any) -> None:
    mine = sa.and_(ASSIGNMENT.c.assignment_id == row.assignment_id, ASSIGNMENT.c.worker == row.worker)
    call.connection.execute(sa.update(ASSIGNMENT).where(mine).values(values))
