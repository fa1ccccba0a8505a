"""Commands that steer what is out: extend, stop, reconcile, answer."""

from typing import Annotated

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
    open_campaign,
)
from hmc_crowd.cli._arguments import read_budget, require_budget
from hmc_crowd.cli._outside import SPEND, outside, show_sheet
from hmc_crowd.cli._outside_facts import ask, extended_facts, leave_unless_done, reconciled_facts
from hmc_crowd.cli._show import emit_json, facts, notes, say, to_plain


@app.command(rich_help_panel=PEOPLE)
def extend(
    hit: Annotated[str, typer.Argument(metavar="HIT", help="Its key, as `hmc-crowd hits` shows it.")],
    target: Annotated[
        int, typer.Option("--target", min=1, metavar="N", help="How many people in all; asked again, nothing changes.")
    ],
    reopen: Annotated[
        bool, typer.Option("--reopen", help="Also where the study is full or over: it recruits again (prolific).")
    ] = False,
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
    """Ask more people about the questions of a HIT; a dry run unless --yes --budget AMOUNT."""
    require_budget(budget, yes=yes)
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        sheet = at.campaign.extend(
            at.place,
            hit,
            target=target,
            budget_minor=read_budget(budget, at.campaign.status().currency),
            reopen=reopen,
            dry_run=not yes,
            **at.options(),
        )
    show_sheet(sheet, extended_facts(sheet), as_json=as_json, dry=None if yes or not sheet.more else SPEND)


@app.command(rich_help_panel=PEOPLE)
def stop(
    lift: Annotated[bool, typer.Option("--lift", help="Let work be offered again; what was closed stays so.")] = False,
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Offer nothing more, until --lift: drop what was not sent, close what is out; work under way may be ended."""
    if lift:
        with open_campaign(db, campaign) as opened:
            was_stopped = opened.lift_stop()
        if as_json:
            emit_json({"lifted": was_stopped})
        else:
            say("lifted: hmc-crowd plan and publish ask for what is missing" if was_stopped else "no stop was there")
        return
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        result = at.campaign.stop(at.place, **at.options())
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.notes)
    leave_unless_done(asked=0, later=result.failed)


@app.command(rich_help_panel=PEOPLE)
def reconcile(
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Settle calls without an outcome, bring submissions up to date, add up the ledger; leaves with 3 on a question."""
    with outside(db, campaign, platform, workplace, endpoint, pages) as at:
        result = at.campaign.reconcile(at.place, **at.options())
        questions = at.campaign.questions()
    if as_json:
        emit_json({**to_plain(result), "is_settled": result.is_settled, "questions": questions})
    else:
        facts(*reconciled_facts(result))
        ask(questions)
    leave_unless_done(asked=len(questions) + (result.ledger_gap_minor != 0))


@app.command(rich_help_panel=PEOPLE)
def answer(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Of the question, as `hmc-crowd status` shows it.")],
    decision: Annotated[
        str,
        typer.Argument(
            metavar="retry|done|cancel", help="It surely did not happen: do it; it happened; it shall not happen."
        ),
    ],
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What was seen, and by whom; kept for good.")],
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question that only a person can; money and HITs follow in the same transaction."""
    with open_campaign(db, campaign) as opened:
        opened.answer_question(key, decision, note)
        left = opened.questions()
    if as_json:
        emit_json({"key": key, "decision": decision, "questions_left": len(left)})
        return
    more = "; `hmc-crowd reconcile` goes on with it" if decision == "retry" else ""
    say(f"noted: {decision}{more}; {len(left):,} questions left")
