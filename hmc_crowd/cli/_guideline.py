"""Commands about how people judge: guideline set, guideline show."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    app,
    open_campaign,
)
from hmc_crowd.cli._show import emit_json, facts, say
from hmc_crowd.errors import InputError

guideline_app = typer.Typer(help="How people are to judge: the text on their pages, and its versions.")
app.add_typer(guideline_app, name="guideline", rich_help_panel=PEOPLE)


@guideline_app.command("set")
def set_guideline(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The text; a blank line begins a paragraph.")],
    version: Annotated[
        str | None, typer.Option("--version", metavar="NAME", help="Of this text; the next number by default.")
    ] = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Put another guideline in force; answers under the one before become stale, and the next plan asks again."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read ({error}); give a text file in UTF-8") from None
    with open_campaign(db, campaign) as opened:
        changed = opened.set_guideline(text.strip(), aspect=aspect, version=version)
    if as_json:
        emit_json(changed)
    else:
        say(str(changed))


@guideline_app.command("show")
def show_guideline(
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show every version of the guidelines, the one in force last."""
    with open_campaign(db, campaign) as opened:
        known = opened.guidelines(aspect)
    if as_json:
        emit_json([each.__dict__ for each in known])
        return
    for each in known:
        facts(f"{each.aspect}, version {each.version}", [("since", f"{each.at:%Y-%m-%d %H:%M} UTC")])
        say(each.text or "(no text)", indent="    ")
