"""Bonuses of the workplace: a ledger of what own people are owed besides the reward.

The workplace holds no money: paying means writing down, once per order and submission. So an order may be sent again
however often, and nothing is owed twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd_local._repository import chunks
from hmc_crowd_local._steps import Steps
from hmc_crowd_local._tables import BONUS, SUBMISSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.platform import BonusOrder

__all__ = ["Bonuses"]


class Bonuses(Steps):
    """The part of the workplace that implements `hmc_crowd.platform.PaysBonuses`."""

    def prepare_bonus(self, order: BonusOrder) -> dict[str, Any]:
        """Check the order and return what is needed to send it: nothing besides the order itself.

        Raises
        ------
        InputError
            No rows, a submission twice, or an amount below 1.
        PlatformError
            A submission is unknown here, or is another worker's.
        """
        _check(order)
        with self._database.read() as connection:
            workers = _workers(connection, order)
        for row in order.rows:
            if workers.get(row.submission_id) != row.worker:
                # The worker's id stays out of what is stored and shown.
                raise PlatformError(
                    f"submission {row.submission_id!r} is not that of the worker who is meant; check the id and the "
                    "database address"
                )
        return {"rows": len(order.rows)}

    def send_bonus(self, order: BonusOrder, prepared: Mapping[str, Any]) -> None:  # noqa: ARG002 because of the port
        """Write the bonuses of an order down, all or none; those that stand there already stay as they are.

        Raises
        ------
        PlatformError
            The order was sent before with another amount.
        """
        self.prepare_bonus(order)
        with self._database.write() as connection:
            held = _paid(connection, order)
            for row in order.rows:
                if held.get(row.submission_id, row.amount_minor) != row.amount_minor:
                    raise PlatformError(
                        f"bonus {order.key!r} of submission {row.submission_id!r} was sent before with "
                        f"{held[row.submission_id]} minor units, not {row.amount_minor}; give the order a new key"
                    )
            rows = [
                {
                    "order_key": order.key,
                    "submission_id": row.submission_id,
                    "worker": row.worker,
                    "amount_minor": row.amount_minor,
                    "currency": order.currency,
                    "reason_code": order.reason_code,
                    "reason": order.reason,
                    "paid_at": self._now(),
                }
                for row in order.rows
                if row.submission_id not in held
            ]
            if rows:
                connection.execute(sa.insert(BONUS), rows)

    def bonus_paid(self, order: BonusOrder, prepared: Mapping[str, Any]) -> frozenset[str]:  # noqa: ARG002 because of the port
        """Return the submissions of the order that show its payment."""
        with self._database.read() as connection:
            return frozenset(_paid(connection, order))

    def bonuses(self, worker: str) -> list[tuple[str, int, str, str]]:
        """Return what a worker got besides rewards: submission, amount in minor units, currency and reason."""
        query = sa.select(BONUS.c.submission_id, BONUS.c.amount_minor, BONUS.c.currency, BONUS.c.reason)
        with self._database.read() as connection:
            found = connection.execute(
                query.where(BONUS.c.worker == worker).order_by(BONUS.c.paid_at, BONUS.c.order_key)
            )
            return [(row[0], row[1], row[2], row[3]) for row in found]


def _check(order: BonusOrder) -> None:
    ids = [row.submission_id for row in order.rows]
    if not ids or len(set(ids)) != len(ids):
        raise InputError(f"rows of bonus {order.key!r} are empty or name a submission twice; give each once")
    for row in order.rows:
        if row.amount_minor < 1:
            raise InputError(f"amount_minor of submission {row.submission_id!r} is {row.amount_minor}; give 1 or more")


def _workers(connection: sa.Connection, order: BonusOrder) -> dict[str, str]:
    found: dict[str, str] = {}
    for ids in chunks([row.submission_id for row in order.rows]):
        query = sa.select(SUBMISSION.c.submission_id, SUBMISSION.c.worker)
        rows = connection.execute(query.where(SUBMISSION.c.submission_id.in_(ids)))
        found.update((row[0], row[1]) for row in rows)
    return found


def _paid(connection: sa.Connection, order: BonusOrder) -> dict[str, int]:
    query = sa.select(BONUS.c.submission_id, BONUS.c.amount_minor).where(BONUS.c.order_key == order.key)
    return {row[0]: row[1] for row in connection.execute(query)}
