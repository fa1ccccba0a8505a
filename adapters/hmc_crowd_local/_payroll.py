"""What is a worker owed, and what did he get? Earnings by state, and the list that a payroll is made from.

The workplace moves no money. Work that is handed in is pending, approved work is owed, and what the organiser says was
paid out is paid: written down once, with its amount.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from hmc_crowd.platform import SubmissionState
from hmc_crowd_local._repository import chunks
from hmc_crowd_local._spans import PAGES
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import BONUS, HIT, SUBMISSION, WORK_SPAN
from hmc_crowd_local._tables_pages import PAYOUT
from hmc_crowd_local._terms import earned_of, read_terms
from hmc_crowd_local._timing import beyond, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_local._timing import Span

__all__ = ["Earnings", "Owed", "Payroll"]

_MOST_AT_ONCE = 500
_STATES = {SubmissionState.SUBMITTED.value: "pending", SubmissionState.APPROVED.value: "approved"}


@dataclass(frozen=True)
class Owed:
    """One amount: the reward of a submission (no order), or a bonus of an order; ``state`` says how far it came."""

    submission_id: str
    order_key: str
    worker: str
    amount_minor: int
    currency: str
    state: str
    what: str
    active_s: float | None = None


@dataclass(frozen=True)
class Earnings:
    """What a worker earned, in minor units by currency and state: ``pending``, ``approved`` or ``paid``."""

    totals: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    salaried: int = 0


class Payroll(Steps):
    """The part of the workplace that reckons what people earned."""

    def earnings(self, worker: str) -> Earnings:
        """Return what a worker earned, by currency and state; submissions of salaried work are only counted."""
        totals: dict[str, dict[str, int]] = defaultdict(lambda: {"pending": 0, "approved": 0, "paid": 0})
        rows, salaried = self._rows(SUBMISSION.c.worker == worker)
        for each in [*rows, *self._bonuses_of(BONUS.c.worker == worker)]:
            totals[each.currency][each.state] += each.amount_minor
        return Earnings({name: dict(totals[name]) for name in sorted(totals)}, salaried)

    def owed(self) -> list[Owed]:
        """Return what is approved and not paid out yet, by worker; people of other platforms are paid there."""
        rows, _ = self._rows(SUBMISSION.c.state == SubmissionState.APPROVED.value)
        found = [*rows, *self._bonuses_of(sa.true())]
        some = [each for each in found if each.state == "approved" and each.amount_minor]
        return sorted(some, key=lambda each: (each.worker, each.submission_id, each.order_key))

    def paid_out(self, amounts: Sequence[Owed]) -> int:
        """Write down that these amounts reached their workers; said again nothing changes. Return how many are new."""
        now = self._now()
        rows = [
            {name: getattr(each, name) for name in ("submission_id", "order_key", "worker", "amount_minor", "currency")}
            | {"at": now}
            for each in amounts
        ]
        if not rows:
            return 0
        insert = (sqlite.insert if self._database.is_sqlite else postgresql.insert)(PAYOUT)
        with self._database.write() as connection:
            before = connection.execute(sa.select(sa.func.count()).select_from(PAYOUT)).scalar() or 0
            connection.execute(insert.on_conflict_do_nothing(), rows)
            after = connection.execute(sa.select(sa.func.count()).select_from(PAYOUT)).scalar() or 0
        return int(after - before)

    def _rows(self, which: sa.ColumnElement[bool]) -> tuple[list[Owed], int]:
        """Return the rewards of submissions that are handed in, and how many are salaried work."""
        same = sa.and_(PAYOUT.c.submission_id == SUBMISSION.c.submission_id, PAYOUT.c.order_key == "")
        columns = (HIT.c.title, HIT.c.pay_minor, HIT.c.currency, HIT.c.terms, HIT.c.time_limit_s)
        query = (
            sa.select(SUBMISSION, *columns, PAYOUT.c.amount_minor.label("paid"))
            .join(HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
            .outerjoin(PAYOUT, same)
            .where(which, SUBMISSION.c.recruited_by.is_(None), SUBMISSION.c.state.in_(list(_STATES)))
        )
        found, salaried = [], 0
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(SUBMISSION.c.submission_id)).all()
            hourly = {
                row.worker for row in rows if row.active_s is None and read_terms(row.terms).pay_form == "per_hour"
            }
            unmeasured = _unmeasured(connection, hourly)
            for row in rows:
                elapsed = unmeasured.get(row.submission_id)
                amount = earned_of(
                    read_terms(row.terms), row.pay_minor, row.time_limit_s, active_s=row.active_s, elapsed_s=elapsed
                )
                if amount is None:
                    salaried += 1
                    continue
                state = "paid" if row.paid is not None else _STATES[row.state]
                amount = row.paid if row.paid is not None else amount
                found.append(
                    Owed(row.submission_id, "", row.worker, amount, row.currency, state, row.title, row.active_s)
                )
        return found, salaried

    def _bonuses_of(self, which: sa.ColumnElement[bool]) -> list[Owed]:
        same = sa.and_(PAYOUT.c.submission_id == BONUS.c.submission_id, PAYOUT.c.order_key == BONUS.c.order_key)
        query = (
            sa.select(BONUS, PAYOUT.c.at.label("out_at"))
            .join(SUBMISSION, SUBMISSION.c.submission_id == BONUS.c.submission_id)
            .outerjoin(PAYOUT, same)
            .where(which, SUBMISSION.c.recruited_by.is_(None))
        )
        with self._database.read() as connection:
            return [
                Owed(
                    row.submission_id,
                    row.order_key,
                    row.worker,
                    row.amount_minor,
                    row.currency,
                    "approved" if row.out_at is None else "paid",
                    row.reason,
                )
                for row in connection.execute(query)
            ]


def _unmeasured(connection: sa.Connection, workers: set[str]) -> dict[str, float]:
    """Return the seconds of hourly work whose page measured nothing: from taking to handing in, none of them twice.

    A person has one clock: what was counted as active elsewhere, or lies in another such HIT that was handed in before,
    is not time of this one.
    """
    found: dict[str, float] = {}
    for some in chunks(sorted(workers), _MOST_AT_ONCE):
        counted: dict[str, list[Span]] = defaultdict(list)
        spans = sa.select(WORK_SPAN).where(WORK_SPAN.c.door == PAGES, WORK_SPAN.c.worker.in_(some))
        for row in connection.execute(spans):
            counted[row.worker].append((row.begins_at, row.ends_at))
        mine = (SUBMISSION.c.worker.in_(some), SUBMISSION.c.active_s.is_(None), SUBMISSION.c.submitted_at.is_not(None))
        query = sa.select(SUBMISSION, HIT.c.terms, HIT.c.time_limit_s).join(HIT, HIT.c.hit_id == SUBMISSION.c.hit_id)
        query = query.where(*mine, SUBMISSION.c.state.in_(list(_STATES)))
        for row in connection.execute(query.order_by(SUBMISSION.c.submitted_at, SUBMISSION.c.submission_id)):
            if read_terms(row.terms).pay_form != "per_hour":
                continue
            end = min(row.submitted_at, row.accepted_at + timedelta(seconds=row.time_limit_s))
            own = beyond([(row.accepted_at, end)], counted[row.worker])
            counted[row.worker] += own
            found[row.submission_id] = seconds_of(own)
    return found
