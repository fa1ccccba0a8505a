"""What the main results say to people: a headline and a few facts, times counted both ways, money with its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign import CampaignCertificate, CampaignPlan, CostSheet, GoldSheet, Quote, Status
    from hmc_crowd.platform import Account

__all__ = ["account_rows", "certificate_facts", "count", "plan_facts", "quote_facts", "sheet_facts", "status_facts"]

_SHOWN = 10

Facts = tuple[str, list[tuple[str, str | None]]]

# What `Status.next_step` is on the command line.
_COMMANDS = {
    "items": "hmc-crowd items FILE",
    "predictions": "hmc-crowd items --predictions FILE",
    "effort": "hmc-crowd effort estimate",
    "plan": "hmc-crowd plan",
    "publish": "hmc-crowd publish --pay 12/h (a dry run; then --yes --budget AMOUNT)",
    "lift": "hmc-crowd stop --lift, then hmc-crowd plan",
    "collect": "hmc-crowd collect",
    "aggregate": "hmc-crowd check, then hmc-crowd aggregate",
    "certify": "hmc-crowd certify",
    "report": "hmc-crowd report",
}


def count(number: int, one: str, many: str | None = None) -> str:
    """Count things in words.

    Examples
    --------
    >>> count(1, "HIT"), count(2, "HIT"), count(0, "person", "people")
    ('1 HIT', '2 HITs', '0 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def account_rows(account: Account) -> list[tuple[str, str | None]]:
    """Say whose money is spent, and in which world: before anything is."""
    has = "" if account.balance is None else f", {account.balance} available"
    return [("endpoint", account.endpoint), ("account", f"{account.account}, mode {account.mode}{has}")]


def status_facts(status: Status) -> Facts:
    """Say where the campaign stands."""
    started = f"round {status.round}" if status.round else "not planned yet"
    money = Money(status.reserved_minor + status.settled_minor, status.currency)
    reserved = Money(status.reserved_minor, status.currency)
    at_least = status.agreement_at_least
    answered = f"{count(status.answers, 'answer')} in {count(status.submissions, 'submission')}"
    return f"{status.campaign}: {started}", [
        ("database", status.database),
        ("items", f"{status.items:,}, {status.predictions:,} predictions, {status.gold:,} gold"),
        ("plan", f"{status.people:,} to people, {status.audited:,} to the audit" if status.round else None),
        (
            "work",
            f"{count(status.hits, 'HIT')}, {count(status.open_places, 'place')} open; {answered}, "
            f"{_hours(status.human_s)} of people"
            if status.hits
            else None,
        ),
        ("stopped", None if status.stopped is None else _stopped(status.stopped)),
        ("without an answer", _without(status)),
        ("stale", _stale(status)),
        *(("arms", str(each)) for each in status.arms),
        ("quotas", "; ".join(status.quotas) or None),
        ("appeals", _appeals(status)),
        ("labels", f"{status.labels:,} by people, {status.tied:,} tied" if status.labels else None),
        ("review", _review(status)),
        ("until sure", None if status.sure is None else str(status.sure)),
        *(("", why) for why in (() if status.sure is None else status.sure.why_none)),
        ("left to do", f"{count(status.work_left, 'item')} need answers" if status.work_left else None),
        ("money", f"{money} committed, of which {reserved} still reserved" if status.hits else None),
        ("certificate", f"agreement with our people at least {at_least:.2%}" if at_least is not None else None),
        ("next", _COMMANDS.get(status.next_step, status.next_step)),
    ]


def _stopped(since: datetime) -> str:
    """Say that a stop holds."""
    return f"since {since:%Y-%m-%d %H:%M} UTC: nothing is offered to anybody; hmc-crowd stop --lift"


def _without(status: Status) -> str | None:
    """Say what people left open."""
    if not status.skipped and not status.flagged:
        return None
    return f"{count(status.skipped, 'question')} skipped, {status.flagged:,} reported"


def _stale(status: Status) -> str | None:
    """Say what a changed guideline has made of the answers before."""
    said = f"{count(status.stale, 'answer')} under another guideline: not counted, the next plan asks again"
    return said if status.stale else None


def _review(status: Status) -> str | None:
    """Say what waits for a word from us: pay, above all."""
    late = ", ".join(name for _, name in status.unpaid_late[:_SHOWN])
    more = f" and {len(status.unpaid_late) - _SHOWN:,} more" if len(status.unpaid_late) > _SHOWN else ""
    said = [
        f"{count(status.not_reviewed, 'submission')} to approve" if status.not_reviewed else "",
        f"{len(status.unpaid_late):,} late and unpaid, approve them by name: {late}{more}" if late else "",
        f"{count(status.unmatched, 'submission')} without work on our pages" if status.unmatched else "",
        f"{count(status.set_aside, 'submission')} set aside, nothing in them can be read" if status.set_aside else "",
    ]
    return "; ".join(part for part in said if part) or None


def plan_facts(plan: CampaignPlan) -> Facts:
    """Say who judges what, and what it costs in time, counted both ways."""
    before = f" ({plan.asked_before:,} of them asked before)" if plan.asked_before else ""
    cap = "no cap" if plan.max_human is None else f"cap {plan.max_human:g}"
    headline = (
        f"round {plan.round}: {plan.people:,} of {plan.items:,} items to people{before}, "
        f"{plan.audit:,} of the others to the audit"
    )
    return headline, [
        ("time of one person", f"{_hours(plan.human_s)}, {plan.time_share:.1%} of all, if an item costs its share"),
        ("", f"{_hours(plan.human_s_read_whole)}, {plan.time_share_read_whole:.1%}, if touched groups are read whole"),
        ("price of effort", f"{plan.trade_off:g}; {cap}; effort by {plan.effort_model}"),
        ("next", "hmc-crowd publish --pay 12/h (a dry run)"),
    ]


def sheet_facts(sheet: CostSheet) -> Facts:
    """Say what publishing costs, or did."""
    total, budget = Money(sheet.total_minor, sheet.currency), sheet.budget_minor
    where = f"on {sheet.account.platform}"
    if not sheet.hits:
        return f"round {sheet.round}: nothing to publish, every item of the plan has its answers", []
    if sheet.dry_run:
        headline = f"round {sheet.round}: would publish {count(sheet.hits, 'HIT')} {where}"
    elif not sheet.new_hits:
        headline = f"round {sheet.round}: {count(sheet.hits, 'HIT')} are {where} since before; nothing new was sent"
    else:
        earlier = sheet.hits - sheet.new_hits
        more = f" ({earlier:,} more since before)" if earlier else ""
        headline = f"round {sheet.round}: published {count(sheet.new_hits, 'HIT')} {where}{more}"
    return headline, [
        *account_rows(sheet.account),
        (
            "work",
            f"{count(sheet.submissions, 'submission')} with {count(sheet.answers, 'answer')}, about "
            f"{_hours(sheet.expected_human_s)} of people",
        ),
        *([] if sheet.gold is None else _gold_rows(sheet.gold)),
        ("rewards", str(Money(sheet.reward_minor, sheet.currency))),
        ("fees", str(Money(sheet.fee_minor, sheet.currency))),
        *((f"pool {each.pool}", str(each).partition(": ")[2]) for each in sheet.pools),
        ("total", f"{total}" + ("" if budget is None else f" of a budget of {Money(budget, sheet.currency)}")),
        *_sure_rows(sheet),
    ]


def _sure_rows(sheet: CostSheet) -> list[tuple[str, str]]:
    """Say how many labels are sure, and what rounds after this one may cost."""
    if sheet.sure is None:
        return []
    said = [("until sure", str(sheet.sure)), ("later rounds", sheet.sure.cost_text(sheet.currency))]
    return [row for row in said if row[1]]


def _gold_rows(gold: GoldSheet) -> list[tuple[str, str]]:
    said = [("gold", gold.cost_text()), ("", gold.use_text())]
    return [row for row in said if row[1]]


def quote_facts(quote: Quote, *, target_minutes: float) -> Facts:
    """Say what a sum of money buys."""
    currency = quote.money.currency
    expected = quote.agreement_expected
    kept = quote.items - quote.people_items
    people = count(quote.redundancy, "person", "people")
    headline = f"{quote.money} on {quote.platform}, {people} an item at {quote.pay_per_hour} an hour"
    return headline, [
        ("affordable", f"{quote.items_affordable:,} of {count(quote.items, 'item')}, if nothing is audited"),
        ("judged by people", f"{quote.people_items:,} of {count(quote.items, 'item')}"),
        ("audited", f"{quote.audit_items:,} of the other {kept:,}, drawn at random"),
        (
            "certificate",
            "none can be foretold: give --predictions or --machine-accuracy"
            if expected is None
            else f"expect at least {expected:.1%} agreement with our people, at {quote.level:.0%} confidence",
        ),
        (
            "people's work",
            f"{quote.hours:,.1f} hours in {count(quote.submissions, 'submission')} of about {target_minutes:g} minutes",
        ),
        ("people needed", f"at least {quote.people_at_least:,}"),
        ("rewards", str(Money(quote.reward_minor, currency))),
        ("fees", str(Money(quote.fee_minor, currency))),
        ("total", f"{Money(quote.total_minor, currency)}, {Money(quote.left_minor, currency)} left"),
    ]


def certificate_facts(certificate: CampaignCertificate) -> Facts:
    """Say what may be promised of the batch."""
    headline = (
        f"at least {certificate.agreement_at_least:.2%} of the {certificate.items:,} labels agree with our people, "
        f"with {certificate.level:.0%} confidence"
    )
    return headline, [
        (
            "expected",
            f"{certificate.agreement_estimate:.2%}; at most {count(certificate.wrong_at_most, 'label')} wrong",
        ),
        ("by people", f"{certificate.human:,}" + (f", {certificate.pending:,} pending" if certificate.pending else "")),
        (
            "audited",
            f"{certificate.audited:,} of the others, {certificate.wrong:,} wrong"
            + (f", {certificate.audit_pending:,} without an answer yet" if certificate.audit_pending else ""),
        ),
        ("method", certificate.method),
    ]


def _hours(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def _appeals(status: Status) -> str | None:
    """Say about which items a person must settle an appeal, and how."""
    if not status.appeals:
        return None
    some = ", ".join(status.appeals[:5])
    more = f" and {len(status.appeals) - 5:,} more" if len(status.appeals) > 5 else ""
    return f"yours to settle: {some}{more} (hmc-crowd experts appeal settle ITEM --label LABEL --by NAME)"
