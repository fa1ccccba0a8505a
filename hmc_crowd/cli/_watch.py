"""The command watch: reconcile on a timer until nothing is open, or until a person is needed."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.money import Money
from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    LOCAL,
    PEOPLE,
    AsJson,
    Budget,
    CampaignName,
    Database,
    Endpoint,
    Pages,
    PlatformName,
    Workplace,
    Yes,
    app,
)
from hmc_crowd.cli._arguments import read_budget, read_duration, require_budget
from hmc_crowd.cli._outside import By, Outside, outside
from hmc_crowd.cli._outside_facts import ask, leave_unless_done
from hmc_crowd.cli._show import as_json_text, echo
from hmc_crowd.errors import DatabaseBusyError, InputError, PlatformUnavailableError, StateError

_LEAST_S = 1.0


@dataclass(frozen=True)
class Tick:
    """One look: ``open`` (people are at work), ``satisfied``, ``needs_human``, or ``unavailable`` (tried again)."""

    at: datetime
    state: str
    reconciled: Any = None
    approved: Any = None
    questions: tuple[Any, ...] = ()
    why: str = ""
    alerts: tuple[Any, ...] = ()

    def __str__(self) -> str:
        said = [f"{self.at:%Y-%m-%d %H:%M:%S} UTC  {self.state.replace('_', ' ')}"]
        if self.reconciled is not None:
            settled = self.reconciled.settled
            said.append(str(self.reconciled.collected) + (f", {settled:,} calls settled" if settled else ""))
        if self.approved is not None and self.approved.submissions:
            paid = self.approved.approved + self.approved.auto_approved
            said.append(f"{paid:,} approved for {Money(self.approved.total_minor, self.approved.currency)}")
        return "; ".join([*said, *([self.why] if self.why else []), *(str(each) for each in self.alerts)])


@app.command(rich_help_panel=PEOPLE)
def watch(
    every: Annotated[str, typer.Option("--every", metavar="TIME", help="How long from one look to the next.")] = "2m",
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="How long to watch: 30m, 8h, 2d; no end by default.")
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Approve and pay complete work; needs --yes --budget AMOUNT.")
    ] = False,
    by: By = "watch",
    budget: Budget = None,
    yes: Yes = False,
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Reconcile and collect on a timer, a line for each look; ends when nothing is open (0) or a person is needed (3).

    A platform that does not answer is told and tried again. With --json each line is an object of its own. Ctrl-C
    leaves with 130 and nothing half done.
    """
    require_budget(budget, yes=yes)
    if approve != yes:
        raise InputError("--approve goes with --yes --budget AMOUNT, because it pays; give all three, or none")
    pause = read_duration(every, name="--every")
    if pause < _LEAST_S:
        raise InputError(f"--every is {every!r}; give at least 1s")
    end = None if duration is None else time.monotonic() + read_duration(duration, name="--for")
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        status = at.campaign.status()
        if not status.hits:
            raise StateError(f"campaign {status.campaign!r} has nothing out to watch; publish() first")
        limit = read_budget(budget, status.currency)
        while True:
            tick = _look(at, limit, by)
            _print(tick, as_json=as_json)
            left = None if end is None else end - time.monotonic()
            if tick.state in {"satisfied", "needs_human"} or (left is not None and left <= 0):
                break
            time.sleep(pause if left is None else min(pause, left))
    if not as_json:
        ask(tick.questions)
    leave_unless_done(asked=tick.state == "needs_human")


def _look(at: Outside, limit: int | None, by: str) -> Tick:
    """Reconcile, approve where that is wanted, and say where things stand."""
    now = SystemClock().now()
    try:
        found = at.campaign.reconcile(at.place, **at.options())
        approved = None
        if limit is not None and not found.asked:
            approved = at.campaign.approve(at.place, budget_minor=limit, dry_run=False, by=by, **at.options())
    except (PlatformUnavailableError, DatabaseBusyError) as error:
        return Tick(now, "unavailable", why=str(error))
    if found.collected.answers:
        at.campaign.watch_drift()
    status, alerts = at.campaign.status(), at.campaign.check_alerts().notices
    if status.questions or found.ledger_gap_minor:
        gap = Money(found.ledger_gap_minor, found.currency)
        why = f"the ledger is off by {gap}: stop spending and report it" if found.ledger_gap_minor else ""
        return Tick(now, "needs_human", found, approved, status.questions, why, alerts)
    is_over = found.is_settled and not status.open_places and not (approved is not None and approved.deferred)
    why = "; ".join(part for part in (found.busy, _waiting(at, now)) if part)
    return Tick(now, "satisfied" if is_over else "open", found, approved, why=why, alerts=alerts)


def _waiting(at: Outside, now: datetime) -> str:
    """Say what waits for a review, and how long the oldest has: platforms approve by themselves in the end."""
    work = at.campaign.submissions()
    work = work[work["state"] == "submitted"]
    if work.empty:
        return ""
    days = (now - work["submitted_at"].min()).days if work["submitted_at"].notna().any() else 0
    since = f", the oldest for {days:,} days" if days > 0 else ""
    return f"{len(work):,} submissions to approve{since}"


def _print(tick: Tick, *, as_json: bool) -> None:
    if as_json:
        echo(as_json_text(tick))
    else:
        echo(str(tick))  # one line for each look, however wide the terminal is
