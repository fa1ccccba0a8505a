"""What must somebody look at now? Rules on the campaign's figures, said once while they last, and when they are over.

Notices go to the log, to the webhooks that want alerts, and to the board, in one transaction with the state that the
next look starts from: of two processes that look at the same moment, one says it.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._appeals import to_settle
from hmc_crowd.campaign._gating import waiting_since
from hmc_crowd.campaign._pool_figures import POOL_FIGURES, pool_figures
from hmc_crowd.campaign._standing import quality_table
from hmc_crowd.campaign._wages import fair_pay
from hmc_crowd.errors import InputError
from hmc_crowd.quality import ALERT_RULES, AlertNotice, AlertRule, AlertState, check_alerts
from hmc_crowd.store import NoticeRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["RULES", "AlertLook", "Lasting", "look", "rules", "set_rules", "show"]

_LOG = logging.getLogger("hmc_crowd.alerts")
_SETTING = "alert_rules"
_LEAST_GOLD, _LEAST_WORK = 5, 10
_MOST_AT_ONCE = 20
_DRIFT_LASTS = timedelta(days=7)
_ASKED = ("worker quality", "spend rate", "return rate", "queue age", "underpayment", "uptime")
RULES = (
    *(rule for rule in ALERT_RULES if rule.name in _ASKED),
    AlertRule("drift", "drifting", 0.5, "above", hint="show this worker more gold, and look at the answers since"),
    AlertRule(
        "expert queue",
        "expert_queue_age_s",
        86_400.0,
        "above",
        recovers_at=43_200.0,
        hint="give out, or find experts",
    ),
    AlertRule("appeals", "appeals_for_a_person", 0.5, "above", hint="settle them: three experts said three things"),
)
"""What is watched unless a campaign sets rules of its own: those whose figures a campaign has, and drift.

Targets of the pools (`POOL_FIGURES`) are watched once a campaign sets them: how many people are enough, it knows.
"""


@dataclass(frozen=True)
class Lasting:
    """An alert that is not over."""

    rule: str
    subject: str
    since: datetime
    severity: str
    hint: str
    figure: str
    beyond: str = ""

    def __str__(self) -> str:
        who = f" of {self.subject}" if self.subject else ""
        hint = f": {self.hint}" if self.hint else ""
        beyond = f" {self.beyond}" if self.beyond else ""
        return f"{self.rule}{who}{beyond}, since {self.since:%Y-%m-%d %H:%M} UTC{hint}"


@dataclass(frozen=True)
class AlertLook:
    """What a look found: what is said now, and what lasts."""

    notices: tuple[AlertNotice, ...]
    lasting: tuple[Lasting, ...]

    def __str__(self) -> str:
        return f"{len(self.lasting):,} alerts last, {len(self.notices):,} notices new"


def rules(context: Context) -> tuple[AlertRule, ...]:
    """Return the rules in force."""
    return _rules(context.settings())


def set_rules(context: Context, given: Iterable[AlertRule] | None) -> tuple[AlertRule, ...]:
    """Put rules of the campaign's own in force; None brings the usual ones back. What lasted is over, unsaid."""
    own = None if given is None else tuple(given)
    check_alerts(own or (), {}, at=context.clock.now())  # refuses two rules of one name
    figures = {rule.figure for rule in RULES} | set(POOL_FIGURES)
    odd = sorted({rule.figure for rule in own or ()} - figures)
    if odd:
        raise InputError(f"figure is {odd[0]!r}; a campaign has {', '.join(sorted(figures))}")
    with context.store.begin() as tx:
        before = tx.campaigns.settings_to_change(context.campaign_id)
        settings = {key: value for key, value in before.items() if key != _SETTING}
        if own is not None:
            settings[_SETTING] = [asdict(rule) for rule in own]
        tx.campaigns.save_settings(context.campaign_id, settings)
        kept = {rule.name for rule in _rules(settings)}
        state = tx.alerts.state(context.campaign_id)
        tx.alerts.keep(context.campaign_id, {key: value for key, value in state.items() if key[0] in kept})
        context.log(tx, "alert rules", rules=sorted(kept))
    return _rules(settings)


def look(context: Context) -> AlertLook:
    """Look at all figures once: keep the state, and say what is new to the log, the webhooks and the board."""
    pay = fair_pay(context)
    now = context.clock.now()
    with context.store.begin() as tx:
        cid = context.campaign_id
        in_force = _rules(context.settings_in(tx))
        share = None if pay.floor_minor is None or pay.hourly_minor is None else pay.hourly_minor / pay.floor_minor
        targets = pool_figures(context, tx, {rule.figure for rule in in_force})
        known = {**_figures(context, tx, now), **targets, "pay_share_of_floor": share}
        before = {key: AlertState(*value) for key, value in tx.alerts.state(cid).items()}
        notices, after = check_alerts(in_force, known, before, at=now)
        if after != before:
            kept = {key: (each.wrong_in_a_row, each.since, each.said) for key, each in after.items()}
            tx.alerts.keep(cid, kept)
        for content in _contents(context, notices):
            tx.hooks.tell(cid, "alert", content)
        if notices:
            names = [field.name for field in fields(NoticeRecord)]
            tx.alerts.say(cid, [NoticeRecord(**{name: getattr(each, name) for name in names}) for each in notices])
    for each in notices:
        _LOG.log(logging.INFO if each.kind == "recovery" else logging.WARNING, "%s: %s", context.name, each)
    return AlertLook(notices, _lasting(in_force, {key: each.since for key, each in after.items()}))


def show(context: Context, *, limit: int = 50) -> tuple[tuple[Lasting, ...], list[NoticeRecord]]:
    """Return what lasts by the last look, and what was said last, newest first; looks at nothing anew."""
    with context.store.read() as tx:
        state = tx.alerts.state(context.campaign_id)
        said = tx.alerts.notices(context.campaign_id, limit=limit)
        in_force = _rules(context.settings_in(tx))
    return _lasting(in_force, {key: value[1] for key, value in state.items()}), said


def _rules(settings: Mapping[str, Any]) -> tuple[AlertRule, ...]:
    own = settings.get(_SETTING)
    return RULES if own is None else tuple(AlertRule(**each) for each in own)


def _lasting(in_force: Iterable[AlertRule], since: Mapping[tuple[str, str], datetime | None]) -> tuple[Lasting, ...]:
    by_name = {rule.name: rule for rule in in_force}
    found = [
        Lasting(
            rule,
            subject,
            begun,
            by_name[rule].severity,
            by_name[rule].hint,
            by_name[rule].figure,
            f"{by_name[rule].wrong} {by_name[rule].limit:g}",
        )
        for (rule, subject), begun in since.items()
        if begun is not None and rule in by_name
    ]
    grades = ("high", "medium", "low")
    return tuple(sorted(found, key=lambda each: (grades.index(each.severity), each.rule, each.subject)))


def _contents(context: Context, notices: tuple[AlertNotice, ...]) -> list[dict[str, Any]]:
    """Return what webhooks are told; where one rule speaks of very many at once, they are told of these together."""
    alike: dict[tuple[str, str], list[AlertNotice]] = {}
    for each in notices:
        alike.setdefault((each.rule, each.kind), []).append(each)
    found = []
    for (rule, kind), some in alike.items():
        told = [_content(context, each) for each in some]
        if len(some) <= _MOST_AT_ONCE:
            found += told
            continue
        names = ", ".join(each.subject for each in some[:_MOST_AT_ONCE])
        text = f"{kind} {rule!r} is about {len(some):,} at once: {names} and others; hmc-crowd alerts list names them"
        found.append({**told[0], "what": rule, "text": text})
    return found


def _content(context: Context, notice: AlertNotice) -> dict[str, Any]:
    """Return what a webhook is told; the form of the board's own alerts, and when it is over."""
    state = "over" if notice.kind == "recovery" else "act" if notice.severity == "high" else "watch"
    what = f"{notice.rule}:{notice.subject}" if notice.subject else notice.rule
    return {"campaign": context.name, "what": what, "state": state, "text": notice.message, "kind": notice.kind}


def _figures(context: Context, tx: Transaction, now: datetime) -> dict[str, Any]:
    """Return the figures that rules may be about; None where nobody knows."""
    cid = context.campaign_id
    table = quality_table(context, tx)
    known = table[table["n"] >= _LEAST_GOLD]
    waiting = tx.door.queue(cid, limit=10_000)
    return {
        "quality": dict(zip(known["worker"], known["quality"].astype(float), strict=True)),
        "drifting": _drifting(tx, cid, now),
        "spend_share_of_plan": _spent(context, tx),
        "return_rate": _returned(tx, cid),
        "queue_age_s": max(((now - row["at"]).total_seconds() for row in waiting), default=0.0),
        "uptime": tx.uptime.share(),
        "expert_queue_age_s": _expert_queue_age(tx, cid, now),
        "appeals_for_a_person": float(len(to_settle(context, tx))),
    }


def _drifting(tx: Transaction, campaign: int, now: datetime) -> dict[str, float]:
    """Return 1 for whoever has an alarm of the last week, 0 for whose alarm is older."""
    alarms = tx.standing.alarms(campaign)
    last = alarms.groupby("worker")["found_at"].max()
    return {str(worker): float(pd.Timestamp(now) - at <= _DRIFT_LASTS) for worker, at in last.items()}


def _expert_queue_age(tx: Transaction, campaign: int, now: datetime) -> float | None:
    """Return for how long an item has waited for an expert at most; None where none was ever sent to one."""
    decided = tx.gates.decisions(campaign)
    if not (decided["decision"] == "expert").any():
        return None
    last = decided.drop_duplicates(["aspect", "item"], keep="last")
    open_ = last.loc[last["decision"] == "expert", ["aspect", "item"]]
    since = [
        waiting_since(decided[decided["aspect"] == aspect]).reindex(rows["item"]).min()
        for aspect, rows in open_.groupby("aspect")
    ]
    return max(((pd.Timestamp(now) - each).total_seconds() for each in since), default=0.0)


def _spent(context: Context, tx: Transaction) -> float | None:
    """Return what is reserved and spent, as a share of the plan's limit; None without a limit."""
    plan = tx.plans.latest(context.campaign_id)
    limit = None if plan is None else plan.header["made_from"].get("max_money_minor")
    if not limit:
        return None
    held = tx.budget.totals(context.campaign_id)
    return (held.reserved_minor + held.settled_minor) / int(limit)


def _returned(tx: Transaction, campaign: int) -> float | None:
    """Return the share of work that was given back, of all that is over; None of little work."""
    state = tx.work.submissions(campaign)["state"]
    over = state[state != "accepted"]
    return float((over == "returned").mean()) if len(over) >= _LEAST_WORK else None
