"""Bonuses as the campaign's outbox pays them; a request token makes sending one again harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError
from hmc_crowd_mturk._people import People

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.platform import BonusOrder

__all__ = ["TwoStepBonuses"]


class TwoStepBonuses(People):
    """The part of the platform that implements `hmc_crowd.platform.PaysBonuses`."""

    def prepare_bonus(self, order: BonusOrder) -> dict[str, Any]:
        """Check the order; nothing has to be remembered, because a submission is paid once for each reason code."""
        if order.currency != self._currency:
            raise InputError(f"the bonuses are in {order.currency}, but the endpoint pays in {self._currency}")
        return {}

    def send_bonus(self, order: BonusOrder, prepared: Mapping[str, Any]) -> None:  # noqa: ARG002 because of the port
        """Pay each bonus that is not paid yet; see `People.pay_bonus` for what it raises."""
        for each in order.rows:
            self.pay_bonus(
                each.submission_id,
                worker=each.worker,
                amount_minor=each.amount_minor,
                reason=order.reason,
                code=order.reason_code,
            )

    def bonus_paid(self, order: BonusOrder, prepared: Mapping[str, Any]) -> frozenset[str]:  # noqa: ARG002
        """Return the submissions that show a bonus with this code."""
        return frozenset(
            each.submission_id
            for each in order.rows
            if self._paid(each.submission_id, order.reason_code, each.amount_minor) is not None
        )
