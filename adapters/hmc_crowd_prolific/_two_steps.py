"""Bonuses as the campaign's outbox pays them: set up and stored, paid once, believed when the submissions show it.

``pay`` is not idempotent, so `send_bonus` is never to be repeated after an unknown outcome; what the submissions had
before, kept in what `prepare_bonus` returns, tells whether the payment was made.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError
from hmc_crowd_prolific._bonuses import Bonus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.platform import BonusOrder
    from hmc_crowd_prolific._client import ProlificClient

__all__ = ["TwoStepBonuses"]


class TwoStepBonuses:
    """The part of the platform that implements `hmc_crowd.platform.PaysBonuses`."""

    client: ProlificClient

    @property
    def workspace(self) -> str:
        """The workspace whose money is spent."""
        raise NotImplementedError

    def prepare_bonus(self, order: BonusOrder) -> dict[str, Any]:
        """Set the bonuses up, which pays nothing, and note what each submission was paid before.

        Raises
        ------
        InputError
            The workspace keeps its money in another currency.
        PlatformError
            Refused, for example because somebody did not take part in the study.
        """
        held = self.client.workspaces.balance(self.workspace).available.currency
        if held != order.currency:
            raise InputError(f"the bonuses are in {order.currency}, but the workspace keeps its money in {held}")
        setup = self.client.bonuses.set_up(
            order.hit_id, [Bonus(each.submission_id, each.amount_minor) for each in order.rows]
        )
        return {
            "setup_id": setup.id,
            "total_minor": setup.total_minor,
            "paid_before": {each.submission_id: self._bonuses_of(each.submission_id) for each in order.rows},
        }

    def send_bonus(self, order: BonusOrder, prepared: Mapping[str, Any]) -> None:  # noqa: ARG002 because of the port
        """Pay what was set up; **calling it again pays again**.

        Raises
        ------
        PlatformUnavailableError
            It never left this machine: nothing was paid.
        NeedsHumanError
            It may have been paid: `bonus_paid` tells.
        """
        self.client.bonuses.pay(str(prepared["setup_id"]))

    def bonus_paid(self, order: BonusOrder, prepared: Mapping[str, Any]) -> frozenset[str]:
        """Return the submissions that show a bonus of this amount which they did not have before."""
        before = prepared.get("paid_before") or {}
        return frozenset(
            each.submission_id
            for each in order.rows
            if (Counter(self._bonuses_of(each.submission_id)) - Counter(before.get(each.submission_id, ())))[
                each.amount_minor
            ]
        )

    def _bonuses_of(self, submission_id: str) -> list[int]:
        return list(self.client.submissions.get(submission_id).bonuses_minor)
