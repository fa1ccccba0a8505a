"""Commands on the mix of people that a campaign asks for: quality quotas set, show, clear."""

from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, AsJson, CampaignName, Database, OutFile, Overwrite, open_campaign
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._quality import quality_app
from hmc_crowd.cli._quota_words import Quotas, read_quotas
from hmc_crowd.cli._show import emit_json, give, say
from hmc_crowd.cli._wording import HelpfulGroup

quotas_app = typer.Typer(
    cls=HelpfulGroup, help="The mix of people that is asked for, kept where work is handed out: set, show, clear."
)
quality_app.add_typer(quotas_app, name="quotas")


@quotas_app.command("set")
def quotas_set(
    quota: Quotas,
    people: Annotated[int, typer.Option("--people", min=1, metavar="N", help="How many people there shall be.")],
    target: Annotated[
        bool, typer.Option("--target", help="No more than these shares either; without it they are the least.")
    ] = False,
    filter_id: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="COLUMN=ID", help="How Prolific calls a column; looked up if none; repeatable."
        ),
    ] = None,
    choice: Annotated[
        list[str] | None,
        typer.Option(
            "--choice",
            metavar="COLUMN:VALUE=ID,..",
            help="How Prolific calls a value: choice ids, or ranges as 18-25; looked up if none; repeatable.",
        ),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Ask for a mix of people: who is not needed gets no work on your pages, and Prolific recruits by filters.

    Your pages keep it from the next publish or collect on.
    """
    quotas = read_quotas(quota, kind="target" if target else "minimum", filters=filter_id, choices=choice)
    with open_campaign(db, campaign) as opened:
        found = opened.set_quotas(quotas, people=people)
    _show(found, as_json=as_json)


@quotas_app.command("show")
def quotas_show(
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show how many people each quota wants, how many have started and are done, and who is missing."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.quota_progress()
    _show(found, as_json=as_json, out=out, overwrite=overwrite)


@quotas_app.command("clear")
def quotas_clear(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Ask for no mix any more; your pages learn of it with the next collect."""
    with open_campaign(db, campaign) as opened:
        had = opened.clear_quotas()
    if as_json:
        emit_json({"cleared": had})
    else:
        say("quotas cleared" if had else "there were no quotas")


def _show(found: Any, *, as_json: bool, out: Any = None, overwrite: bool = False) -> None:
    if as_json and out is None:
        emit_json({"people": found.people, "started": found.started, "done": found.done, "quotas": found.quotas})
        return
    give(found.quotas, found.quotas, out, as_json=as_json, overwrite=overwrite, head=str(found))
