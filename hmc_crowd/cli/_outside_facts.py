"""What acting outside costs and did: endpoint, account and mode first, then the money with its fees, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hmc_crowd._base.money import Money
from hmc_crowd.cli._facts import account_rows, count
from hmc_crowd.cli._show import echo, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign import Approved, Extended, Paid, Question, Reconciled, Rejected
    from hmc_crowd.cli._facts import Facts

__all__ = [
    "approved_facts",
    "ask",
    "extended_facts",
    "leave_unless_done",
    "paid_facts",
    "reconciled_facts",
    "rejected_facts",
]

_SHOWN = 10


def approved_facts(sheet: Approved) -> Facts:
    """Say what approving costs, or did."""
    what = f"{count(sheet.submissions, 'submission')} on {sheet.account.platform}"
    extra = Money(sheet.extra_minor, sheet.currency)
    total = str(Money(sheet.total_minor, sheet.currency))
    return f"would approve {what}" if sheet.dry_run else f"approving {what}", [
        *account_rows(sheet.account),
        ("rewards", str(Money(sheet.reward_minor, sheet.currency))),
        ("fees", str(Money(sheet.fee_minor, sheet.currency))),
        ("total", f"{total}, of which {extra} was not reserved before" if sheet.extra_minor else total),
        ("approved", None if sheet.dry_run else f"{sheet.approved:,}"),
        ("by itself", f"{sheet.auto_approved:,} approved by the platform before us" if sheet.auto_approved else None),
        ("put off", f"{sheet.deferred:,}" if sheet.deferred else None),
        ("disputed", f"{sheet.disputed:,}" if sheet.disputed else None),
        ("paid before", f"{sheet.paid_before:,}" if sheet.paid_before else None),
        ("incomplete", _named(sheet.incomplete) if sheet.incomplete else None),
    ]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{len(names):,} left alone; approve them by name: {', '.join(names[:_SHOWN])}{more}"


def rejected_facts(sheet: Rejected) -> Facts:
    """Say what rejecting would do, or did."""
    what = f"{count(sheet.submissions, 'submission')} on {sheet.account.platform}"
    return f"would reject {what}" if sheet.dry_run else f"rejecting {what}", [
        *account_rows(sheet.account),
        ("share", f"{sheet.share:.1%} of all that were handed in, earlier rejections included"),
        ("not paid", str(Money(sheet.unpaid_minor, sheet.currency))),
        ("rejected", None if sheet.dry_run else f"{sheet.rejected:,}"),
        ("put off", f"{sheet.deferred:,}" if sheet.deferred else None),
        ("disputed", f"{sheet.disputed:,}" if sheet.disputed else None),
        ("before", f"{sheet.rejected_before:,} rejected already" if sheet.rejected_before else None),
    ]


def paid_facts(sheet: Paid) -> Facts:
    """Say what bonuses cost, or what became of them."""
    what = f"{count(sheet.bonuses, 'bonus', 'bonuses')} on {sheet.account.platform}"
    return f"would pay {what}" if sheet.dry_run else f"paying {what}", [
        *account_rows(sheet.account),
        ("bonuses", str(Money(sheet.amount_minor, sheet.currency))),
        ("fees", str(Money(sheet.fee_minor, sheet.currency))),
        ("total", str(Money(sheet.total_minor, sheet.currency))),
        ("paid", None if sheet.dry_run else f"{sheet.paid:,}"),
        ("sent", f"{sheet.waiting:,} do not show yet and are never sent again" if sheet.waiting else None),
        ("put off", f"{sheet.deferred:,}" if sheet.deferred else None),
        ("disputed", f"{sheet.asked:,}" if sheet.asked else None),
        ("before", f"{sheet.before:,} paid or under way already" if sheet.before else None),
    ]


def extended_facts(sheet: Extended) -> Facts:
    """Say what more answers cost."""
    if not sheet.more:
        return f"HIT {sheet.hit_key} has as many people as that; nothing to do", account_rows(sheet.account)
    verb = "would ask" if sheet.dry_run else "asked"
    people = count(sheet.more, "more person", "more people")
    return f"{verb} {people} about HIT {sheet.hit_key} on {sheet.account.platform}", [
        *account_rows(sheet.account),
        ("rewards", str(Money(sheet.reward_minor, sheet.currency))),
        ("fees", str(Money(sheet.fee_minor, sheet.currency))),
        ("total", str(Money(sheet.total_minor, sheet.currency))),
        ("as", f"HIT {sheet.new_key}" if sheet.new_key else None),
    ]


def reconciled_facts(result: Reconciled) -> Facts:
    """Say whether what we believe is what the platform holds."""
    gap = Money(result.ledger_gap_minor, result.currency)
    return "settled: nothing is open" if result.is_settled else "not everything is settled", [
        ("calls", f"{result.settled:,} settled now, {result.waiting:,} still without an outcome"),
        ("work", str(result.collected)),
        ("questions", f"{result.asked:,}" if result.asked else None),
        ("unknown there", ", ".join(result.orphans) or None),
        ("ledger", f"OFF BY {gap}: stop spending and report it" if result.ledger_gap_minor else None),
        ("busy", result.busy or None),
    ]


def ask(questions: Sequence[Question]) -> None:
    """Print every open question as it is, and how to answer it."""
    for each in questions:
        say(f"a person is needed: {each.operation} {each.key}")
        say(f"  {each.text}")
        say(f"  answer: hmc-crowd answer {each.key} {'|'.join(each.choices)} --note TEXT")


def leave_unless_done(*, asked: int, later: int = 0) -> None:
    """Leave with 3 where a person must decide, or where calling again goes on."""
    if asked:
        echo("hmc-crowd: a person must decide; hmc-crowd status shows the questions", err=True)
        raise typer.Exit(3)
    if later:
        echo(f"hmc-crowd: {later:,} put off by the platform; call it again to go on with them", err=True)
        raise typer.Exit(3)
