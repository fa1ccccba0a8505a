"""Who gets which bonus, and was it paid? One row per submission and reason: nobody is paid twice for one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.money import Money
from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Payment
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import PaymentRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PaymentRepository"]

_STATES = ("planned", "paid", "needs_human", "cancelled")


class PaymentRepository(Repository):
    """The bonuses of a campaign, in minor units."""

    def add(self, campaign: int, payments: Sequence[PaymentRecord]) -> int:
        """Store payments; one for the same submission and reason again is left as it is. Return how many are new.

        Raises
        ------
        DuplicateError
            A submission has another amount for that reason already, here or in another campaign. Nothing was stored.
        InputError
            An amount is no positive integer, or the state is unknown.
        """
        if not payments:
            return 0
        rows = [_checked(each) | {"campaign_id": campaign} for each in payments]
        new = self._session.run(self._session.insert(Payment).on_conflict_do_nothing(), rows)
        among = self._session.among(Payment.submission_id, sorted({each.submission_id for each in payments}))
        stored = {
            (row.platform, row.submission_id, row.reason_code): (row.campaign_id, row.amount_minor, row.currency)
            for row in self._session.rows(sa.select(*Payment.table().c).where(among))
        }
        for each in payments:
            owner, amount, currency = stored[each.platform, each.submission_id, each.reason_code]
            if (owner, amount, currency) != (campaign, each.amount_minor, each.currency):
                where = "" if owner == campaign else " in another campaign"
                raise DuplicateError(
                    f"submission {each.submission_id!r} has {Money(amount, currency)} for {each.reason_code!r} "
                    f"already{where}, not {Money(each.amount_minor, each.currency)}; give a further payment a reason "
                    "of its own"
                )
        return new

    def read(self, campaign: int, *, state: str | None = None, reason_code: str | None = None) -> list[PaymentRecord]:
        """Return payments, oldest first."""
        table = Payment.table()
        which = [Payment.campaign_id == campaign]
        if state is not None:
            which.append(Payment.state == state)
        if reason_code is not None:
            which.append(Payment.reason_code == reason_code)
        columns = [column for column in table.c if column.name != "campaign_id"]
        query = sa.select(*columns).where(*which)
        order = (Payment.at, Payment.platform, Payment.submission_id, Payment.reason_code)
        return [PaymentRecord(**row._mapping) for row in self._session.rows(query.order_by(*order))]

    def set_state(self, campaign: int, which: str | Iterable[PaymentRecord], state: str) -> int:
        """Move payments to a state: those of an intent, or the given rows. Return how many changed."""
        if state not in _STATES:
            raise InputError(f"state is {state!r}; choose {', '.join(_STATES)}")
        change = sa.update(Payment.table()).where(Payment.campaign_id == campaign, Payment.state != state)
        if isinstance(which, str):
            return self._session.run(change.where(Payment.intent_key == which).values(state=state))
        keys = [(each.platform, each.submission_id, each.reason_code) for each in which]
        return sum(
            self._session.run(
                change.where(
                    Payment.platform == platform, Payment.submission_id == submission, Payment.reason_code == reason
                ).values(state=state)
            )
            for platform, submission, reason in keys
        )


def _checked(payment: PaymentRecord) -> dict[str, Any]:
    """Return the row of a payment that makes sense."""
    row = {name: getattr(payment, name) for name in PaymentRecord.__dataclass_fields__}
    for name in ("platform", "submission_id", "reason_code", "by"):
        check_text(row[name], name=name)
    for name, least in (("amount_minor", 1), ("fee_minor", 0)):
        value = row[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value!r}; give minor units (cents) as an integer, at least {least}")
    if payment.state not in _STATES:
        raise InputError(f"state is {payment.state!r}; choose {', '.join(_STATES)}")
    Money(payment.amount_minor, payment.currency)
    return row | {"at": as_utc(payment.at, name="at")}
