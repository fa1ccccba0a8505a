"""What does publishing cost, and does the budget leave that much? Worked out before anything is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._gold_sheet import GoldSheet, gold_sheet
from hmc_crowd.campaign._wages import PoolLine, floor_notes, pool_lines, wages_minor
from hmc_crowd.errors import BudgetError, InputError
from hmc_crowd.platform import Account, Recruiter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._orders import Unit
    from hmc_crowd.campaign._publish import PublishRequest
    from hmc_crowd.campaign._sure_sheet import SureSheet
    from hmc_crowd.platform import Platform

__all__ = ["CostSheet", "cost_sheet", "require_budget"]


@dataclass(frozen=True)
class CostSheet:
    """What publishing costs: printed before anything is spent, and the same after it was.

    Parameters
    ----------
    new_hits : int
        How many HITs this call published: 0 in a dry run, and when it had been done before.
    committed_minor : int
        What the campaign has reserved and spent, apart from what this sheet is about.
    orders : int
        Calls for people: one for each HIT, or few where people are recruited for many HITs at once.
    per_worker : int or None
        Most submissions of one worker in an order, where people are recruited for many HITs at once.
    pools : tuple of PoolLine
        What each pool's part costs; hours are paid beside the rewards, and salaried people cost nothing more.
    wages_minor : int
        What the hours of all hourly pools of the campaign are expected to cost: counted against the budget with the
        total, though the platform does not pay them.
    gold : GoldSheet or None
        What the gold among the answers costs and shows.
    sure : SureSheet or None
        Where labels are asked for until they are sure: how many are, and what later rounds may cost.
    """

    account: Account
    round: int
    hits: int
    submissions: int
    answers: int
    expected_human_s: float
    reward_minor: int
    fee_minor: int
    total_minor: int
    budget_minor: int | None
    currency: str
    dry_run: bool
    new_hits: int
    notes: tuple[str, ...] = ()
    committed_minor: int = 0
    orders: int = 0
    per_worker: int | None = None
    pools: tuple[PoolLine, ...] = ()
    wages_minor: int = 0
    gold: GoldSheet | None = None
    sure: SureSheet | None = None

    def __str__(self) -> str:
        total, reward = Money(self.total_minor, self.currency), Money(self.reward_minor, self.currency)
        verb = "would publish" if self.dry_run else "published"
        each = f", at most {self.per_worker:,} for one worker" if self.per_worker else ""
        before = f"; {Money(self.committed_minor, self.currency)} committed before" if self.committed_minor else ""
        return (
            f"round {self.round}: {verb} {self.hits:,} HITs, {self.submissions:,} submissions{each}, "
            f"{self.answers:,} answers on {self.account.platform} ({self.account.endpoint}, {self.account.account}, "
            f"{self.account.mode}): {total}, of which rewards {reward}{before}; "
            f"about {self.expected_human_s / 3600:.1f} hours of people{''.join(f'; {each}' for each in self.pools)}"
        )


def cost_sheet(
    context: Context,
    platform: Platform,
    units: Sequence[Unit],
    round_: int,
    request: PublishRequest,
    *,
    notes: tuple[str, ...],
) -> CostSheet:
    """Return what these calls cost, beside what the campaign has reserved and spent for others."""
    records = [record for unit in units for record in unit.records]
    reward = sum(record.redundancy * record.pay_minor for record in records)
    total = sum(unit.total_minor for unit in units)
    with context.store.read() as tx:
        budget = tx.budget.totals(context.campaign_id)
        written = {each.key for each in tx.work.intents(context.campaign_id)}
        others = {each.key: each for each in tx.work.hits(context.campaign_id, with_items=False)}
        gold, on_gold = gold_sheet(
            context,
            tx,
            platform,
            records,
            total_minor=total,
            currency=units[0].currency if units else request.currency,
            limit=request.gold_limit,
            people=request.people,
        )
    committed = budget.reserved_minor + budget.settled_minor
    committed -= sum(unit.total_minor for unit in units if unit.key in written)
    sheet = CostSheet(
        account=platform.account(),
        round=round_,
        hits=len(records),
        submissions=sum(record.redundancy for record in records),
        answers=sum(record.redundancy * len(record.items) for record in records),
        expected_human_s=float(sum(record.redundancy * record.expected_s for record in records)),
        reward_minor=reward,
        fee_minor=total - reward,
        total_minor=total,
        budget_minor=request.budget_minor,
        currency=units[0].currency if units else request.currency,
        dry_run=request.dry_run,
        new_hits=0,
        committed_minor=max(0, committed),
        orders=len(units),
        per_worker=max((unit.per_worker for unit in units if unit.per_worker), default=None),
        pools=pool_lines(records),
        wages_minor=wages_minor({**others, **{each.key: each for each in records}}.values()),
        gold=gold,
    )
    return replace(sheet, notes=(*notes, *_notes(platform, sheet), *on_gold, *floor_notes(context, records)))


def _notes(platform: Platform, sheet: CostSheet) -> list[str]:
    """Say what the figures do not."""
    notes = []
    needed = sheet.total_minor + sheet.committed_minor + sheet.wages_minor
    if sheet.budget_minor is not None and needed > sheet.budget_minor:
        over = Money(needed - sheet.budget_minor, sheet.currency)
        notes.append(f"this and what is committed already are {over} over the budget; it would be refused")
    balance = sheet.account.balance
    if balance is not None and balance.currency == sheet.currency and balance.minor < sheet.total_minor:
        notes.append(f"the account has {balance}, less than this costs")
    shared = isinstance(platform, Recruiter)
    if sheet.round > 1 and sheet.hits and not (shared or platform.capabilities.repeats_are_barred):
        notes.append(
            f"{platform.name} cannot keep a worker from an item that he answered in an earlier round; such an answer "
            "is stored as a repetition and does not count again"
        )
    return notes


def require_budget(sheet: CostSheet) -> None:
    """Refuse what costs more than the budget leaves."""
    if sheet.budget_minor is None:
        raise InputError("budget_minor is missing; publishing spends money, so say how much it may spend at most")
    needed = sheet.total_minor + sheet.committed_minor + sheet.wages_minor
    if needed > sheet.budget_minor:
        before = f" and {Money(sheet.committed_minor, sheet.currency)} are committed" if sheet.committed_minor else ""
        if sheet.wages_minor:
            before += f", with about {Money(sheet.wages_minor, sheet.currency)} for the hours of pools"
        raise BudgetError(
            f"publishing costs {Money(sheet.total_minor, sheet.currency)}{before}, more than the budget of "
            f"{Money(sheet.budget_minor, sheet.currency)}; nothing was sent: raise the budget, lower redundancy or "
            "pay, or plan with a smaller max_human"
        )
