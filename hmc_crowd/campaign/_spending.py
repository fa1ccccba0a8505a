"""What every step that spends has in common: an intent, and a budget that is asked before anything is written."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.errors import BudgetError, InputError
from hmc_crowd.store import IntentRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform

__all__ = ["new_intent", "require_within"]


def require_within(context: Context, budget_minor: int | None, more_minor: int, currency: str, *, what: str) -> None:
    """Refuse a step without a budget, or one whose costs together with what is committed exceed it.

    Parameters
    ----------
    budget_minor : int or None
        Most that the campaign may have reserved and spent in all.
    more_minor : int
        What the step needs beyond what is reserved already.
    """
    if budget_minor is None:
        raise InputError(f"budget_minor is missing; {what} spends money, so say how much may be spent at most")
    if isinstance(budget_minor, bool) or not isinstance(budget_minor, Integral) or budget_minor < 0:
        raise InputError(f"budget_minor is {budget_minor!r}; give a whole number of minor units (cents), at least 0")
    with context.store.read() as tx:
        budget = tx.budget.totals(context.campaign_id)
    committed = budget.reserved_minor + budget.settled_minor
    if committed + more_minor > budget_minor:
        raise BudgetError(
            f"{what} needs {Money(more_minor, currency)} and {Money(committed, currency)} are committed, more than the "
            f"budget of {Money(int(budget_minor), currency)}; nothing was sent: raise the budget"
        )


def new_intent(
    context: Context,
    platform: Platform,
    *,
    key: str,
    operation: str,
    payload: dict[str, Any],
    amount_minor: int,
    currency: str,
    payload_hash: str | None = None,
) -> IntentRecord:
    """Return an intent that is yet to be stored."""
    now = context.clock.now()
    return IntentRecord(
        key=key,
        campaign_id=context.campaign_id,
        operation=operation,
        payload_hash=payload_hash or digest(operation, repr(sorted(payload.items()))),
        state="planned",
        amount_minor=amount_minor,
        currency=currency,
        created_at=now,
        updated_at=now,
        lane=platform.name,
        payload=payload,
    )
