"""Paying bonuses: prepared and stored, sent once, and believed only when the platform shows it.

Where sending again could pay again, an unknown outcome is never sent again: the platform is asked for a day, and then
a person. That makes a lost bonus possible, which is asked about, and a double one impossible. After PLATFORMS.md, P4.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._effect import Effect, Outcome
from hmc_crowd.errors import BudgetError, InputError, NeedsHumanError, PlatformUnavailableError
from hmc_crowd.platform import BonusOrder, BonusRow, PaysBonuses

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import IntentRecord, Transaction

__all__ = ["Paying"]

_GIVE_UP = timedelta(hours=24)
_LOOK_AGAIN_S = 120.0


class Paying(Effect):
    """Bonuses of one HIT for one reason."""

    operation = "pay"
    verb = "paying"
    raises_refusals = False

    def __init__(self, context: Context, platform: Platform) -> None:
        self._context = context
        self._platform = platform

    def prepare(self, intent: IntentRecord) -> dict[str, Any]:
        """Prepare the payment, which moves no money; one at a time for a submission, so that each can be told apart."""
        mine = {each["submission_id"] for each in (intent.payload or {})["rows"]}
        with self._context.store.read() as tx:
            sent = tx.work.intents(self._context.campaign_id, state="sent")
            asked = tx.work.intents(self._context.campaign_id, state="needs_human")
        for other in (*sent, *(each for each in asked if each.sent_at is not None)):
            if other.operation == self.operation and other.key != intent.key and other.lane == intent.lane:
                shared = mine & {each["submission_id"] for each in (other.payload or {})["rows"]}
                if shared:
                    raise PlatformUnavailableError(
                        f"an earlier bonus of {len(shared)} of these submissions is not confirmed yet"
                    )
        prepared = self._payer().prepare_bonus(self._order(intent))
        self._require_reserved(intent, prepared)
        return prepared

    @staticmethod
    def _require_reserved(intent: IntentRecord, prepared: dict[str, Any]) -> None:
        """Refuse what would cost more than is set aside, such as a tax that the fees here leave out."""
        rows = (intent.payload or {})["rows"]
        total = int(prepared.get("total_minor") or 0)
        if total > intent.amount_minor + len(rows):  # each may be rounded otherwise
            asked, held = Money(total, intent.currency), Money(intent.amount_minor, intent.currency)
            raise BudgetError(
                f"{intent.lane} asks {asked} for these bonuses with fees and tax, and {held} are set aside; nothing "
                "was paid: cancel it, correct the fees of the platform's settings, and pay under another reason_code"
            )

    def settle(self, intent: IntentRecord) -> Outcome | None:
        """See whether the payment shows; only what may be repeated, or surely did not happen, is sent."""
        if intent.state == "planned":
            return None  # the platform said that nothing was paid
        order = self._order(intent)
        shown = self._payer().bonus_paid(order, (intent.result or {}).get("prepared") or {})
        missing = [each.submission_id for each in order.rows if each.submission_id not in shown]
        if not missing:
            return self._done(intent)
        if self._platform.capabilities.bonus_is_repeatable:
            return None
        if intent.sent_at is None or self._context.clock.now() - intent.sent_at < _GIVE_UP:
            why = f"{len(missing)} of {len(order.rows)} bonuses do not show yet; they are never sent again"
            return Outcome("sent", {"why": why}, wait_s=_LOOK_AGAIN_S)
        return Outcome("needs_human", {"question": self._question(intent, order, missing)})

    def call(self, intent: IntentRecord) -> Outcome:
        """Send, and look whether it shows."""
        order = self._order(intent)
        prepared = (intent.result or {}).get("prepared") or {}
        try:
            self._payer().send_bonus(order, prepared)
        except PlatformUnavailableError as error:
            return Outcome("planned", {"why": f"nothing was paid: {error}"}, wait_s=_LOOK_AGAIN_S)
        except NeedsHumanError as error:
            if self._platform.capabilities.bonus_is_repeatable:
                raise
            return Outcome("sent", {"why": str(error)}, wait_s=0.0)
        self._context.at("after_pay", intent.key)
        try:
            shown = self._payer().bonus_paid(order, prepared)
        except PlatformUnavailableError as error:
            return Outcome("sent", {"why": str(error)}, wait_s=_LOOK_AGAIN_S)
        if {each.submission_id for each in order.rows} <= shown:
            return self._done(intent)
        return Outcome("sent", {"why": "the payment was taken and does not show yet"}, wait_s=_LOOK_AGAIN_S)

    def _question(self, intent: IntentRecord, order: BonusOrder, missing: list[str]) -> str:
        total = Money(sum(each.amount_minor for each in order.rows), order.currency)
        sent = intent.sent_at.isoformat() if intent.sent_at is not None else "earlier"
        return (
            f"Were the bonuses {order.reason_code!r} of {total}, sent to {self._platform.name} at {sent}, paid? "
            f"{len(missing)} of {len(order.rows)} submissions do not show them, the first is {missing[0]}. They are "
            "never sent again by themselves: answer done (paid), retry (surely not paid, send them), or cancel."
        )

    def _payer(self) -> PaysBonuses:
        if not isinstance(self._platform, PaysBonuses):
            raise InputError(f"platform {self._platform.name!r} pays no bonuses")
        return self._platform

    def _order(self, intent: IntentRecord) -> BonusOrder:
        """Return the order with the workers' own ids, which stand in one table only and in no intent."""
        payload = intent.payload or {}
        names = [each["submission_id"] for each in payload["rows"]]
        with self._context.store.read() as tx:
            workers = tx.work.submission_workers(self._platform.name, names)
            raw = tx.workers.raw_ids(self._platform.name, set(workers.values()))
        rows = tuple(
            BonusRow(name, raw.get(workers.get(name, ""), ""), int(each["amount_minor"]))
            for each in payload["rows"]
            for name in [each["submission_id"]]
        )
        return BonusOrder(
            intent.key, payload["hit_id"], payload["reason_code"], payload["reason"], intent.currency, rows
        )

    def _done(self, intent: IntentRecord) -> Outcome:
        def apply(tx: Transaction) -> None:
            self._paid(tx, intent)

        return Outcome("done", {}, apply)

    def _paid(self, tx: Transaction, intent: IntentRecord) -> None:
        tx.payments.set_state(self._context.campaign_id, intent.key, "paid")
        tx.budget.settle(self._context.campaign_id, intent.key, intent.amount_minor)
        payload = intent.payload or {}
        self._context.log(tx, "bonuses paid", bonuses=len(payload["rows"]), reason=payload["reason_code"])

    def ask(self, tx: Transaction, intent: IntentRecord, question: str) -> None:  # noqa: ARG002
        """Hold the payments back."""
        tx.payments.set_state(self._context.campaign_id, intent.key, "needs_human")
