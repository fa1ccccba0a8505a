"""Commands that review and pay: approve, reject, pay."""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    connect,
    connect_pages,
    open_campaign,
)
from hmc_crowd.cli._arguments import read_budget, read_money, require_budget
from hmc_crowd.cli._outside_facts import approved_facts, leave_unless_done, paid_facts, rejected_facts
from hmc_crowd.cli._outside_files import is_file, read_bonuses, read_proposals, read_signal
from hmc_crowd.cli._show import emit_json, facts, notes, progress_bar, say, to_plain
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEND = "nothing was sent; add --yes --budget AMOUNT to do it"
_DO = "nothing was sent; add --yes and --signed-off-by NAME to do it"

By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decided; kept with what was done.")]


@dataclass(frozen=True)
class Outside:
    """An open campaign with the platform and the pages that a command works with."""

    campaign: Any
    place: Any
    pages: Any
    progress: Any

    def options(self) -> dict[str, Any]:
        """Return what every step takes."""
        return {"pages": self.pages, "progress": self.progress}


@contextmanager
def outside(
    db: str, campaign: str | None, platform: str, workplace: str | None, endpoint: str | None, pages: str | None
) -> "Iterator[Outside]":
    """Open a campaign and connect to where its people are."""
    with (
        open_campaign(db, campaign) as opened,
        connect(platform, workplace, endpoint) as place,
        connect_pages(place, pages, workplace) as shown_by,
        progress_bar() as progress,
    ):
        yield Outside(opened, place, shown_by, progress)


def show_sheet(sheet: Any, said: Any, *, as_json: bool, dry: str | None) -> None:
    """Print a cost sheet for people or for programs."""
    if as_json:
        total = {"total_minor": sheet.total_minor} if hasattr(sheet, "total_minor") else {}
        emit_json({**to_plain(sheet), **total})
        return
    facts(*said)
    notes(getattr(sheet, "notes", ()))
    if dry is not None:
        say(dry)


@app.command(rich_help_panel=PEOPLE)
def approve(
    submissions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUBMISSION]...", help="The platform's ids; all complete work that waits for it by default."
        ),
    ] = None,
    override: Annotated[
        bool, typer.Option("--override", help="Also approve what was rejected before, where the platform can.")
    ] = False,
    by: By = "",
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
    """Approve and pay submissions; a dry run unless --yes --budget AMOUNT. Late work is approved by name alone."""
    require_budget(budget, yes=yes)
    if override and not submissions:
        raise InputError("--override needs the submissions by name: `hmc-crowd approve SUBMISSION --override`")
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        sheet = at.campaign.approve(
            at.place,
            submissions or None,
            budget_minor=read_budget(budget, at.campaign.status().currency),
            dry_run=not yes,
            by=by,
            override=override,
            **at.options(),
        )
    show_sheet(sheet, approved_facts(sheet), as_json=as_json, dry=None if yes or not sheet.submissions else SPEND)
    leave_unless_done(asked=sheet.disputed, later=sheet.deferred)


@app.command(rich_help_panel=PEOPLE)
def reject(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|SUBMISSION",
            help="A table submission, rule, evidence, message[, count], a row for each signal; or one submission's id.",
        ),
    ],
    message: Annotated[
        str, typer.Option("--message", metavar="TEXT", help="What the worker reads, at least 100 characters.")
    ] = "",
    signal: Annotated[
        list[str] | None,
        typer.Option(
            "--signal",
            metavar="RULE[:N]=EVIDENCE",
            help="A reason with its figures, such as gold:4='4 of 5 known items wrong'; at least two rules.",
        ),
    ] = None,
    signed_off_by: Annotated[
        str, typer.Option("--signed-off-by", metavar="NAME", help="The person who looked at each of them.")
    ] = "",
    cap: Annotated[
        float, typer.Option("--cap", metavar="SHARE", help="Most of all submissions that may be rejected.")
    ] = 0.02,
    yes: Annotated[bool, typer.Option("--yes", help="Do reject; without it this is a dry run.")] = False,
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Refuse to pay submissions, if all of them keep the rules; otherwise none. A dry run unless --yes."""
    from hmc_crowd.quality import RejectionProposal

    if is_file(what):
        if message or signal:
            raise InputError(f"--message and --signal go with one submission, and {what} is a file; put them in it")
        proposals = read_proposals(Path(what))
    else:
        proposals = [RejectionProposal(what, tuple(read_signal(each) for each in signal or ()), message)]
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        sheet = at.campaign.reject(
            at.place, proposals, signed_off_by=signed_off_by, cap=cap, dry_run=not yes, **at.options()
        )
    show_sheet(sheet, rejected_facts(sheet), as_json=as_json, dry=None if yes or not sheet.submissions else _DO)
    leave_unless_done(asked=sheet.disputed, later=sheet.deferred)


@app.command(rich_help_panel=PEOPLE)
def pay(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|SUBMISSION]",
            help="A table submission, amount (or amount_minor)[, code, reason]; or one submission's id. Without it, "
            "payments under way are looked after.",
        ),
    ] = None,
    amount: Annotated[str | None, typer.Argument(metavar="[AMOUNT]", help="Such as 1.50USD, with one id.")] = None,
    code: Annotated[
        str | None, typer.Option("--code", metavar="CODE", help="Each submission is paid once for each; bonus if none.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="What the worker may read; thanks if none.")
    ] = None,
    by: By = "",
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
    """Pay bonuses, each submission once for each code; a dry run unless --yes --budget AMOUNT."""
    require_budget(budget, yes=yes)
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        currency = at.campaign.status().currency
        sheet = at.campaign.pay(
            at.place,
            _bonuses(what, amount, code, reason, currency),
            budget_minor=read_budget(budget, currency),
            dry_run=not yes,
            by=by,
            **at.options(),
        )
    show_sheet(sheet, paid_facts(sheet), as_json=as_json, dry=None if yes or not sheet.bonuses else SPEND)
    leave_unless_done(asked=sheet.asked, later=sheet.deferred)


def _bonuses(what: str | None, amount: str | None, code: str | None, reason: str | None, currency: str) -> list[Any]:
    """Return what is to be paid: the rows of a file, one submission, or nothing new."""
    from hmc_crowd.campaign import Bonus

    given = {"reason_code": code, "reason": reason}
    words = {name: word for name, word in given.items() if word is not None}
    if what is not None and not is_file(what):
        if amount is None:
            raise InputError(f"{what!r} is no file and has no AMOUNT; write `hmc-crowd pay SUBMISSION 1.50{currency}`")
        return [Bonus(what, read_money(amount, currency=currency, name="AMOUNT").minor, **words)]
    if amount is not None or words:
        raise InputError("AMOUNT, --code and --reason go with one submission; a file has columns of its own for them")
    return [] if what is None else read_bonuses(Path(what), currency)
