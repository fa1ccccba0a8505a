"""Commands about how people judge: guideline set, guideline use, guideline show."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hmc_crowd._base.texts import read_text
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

if TYPE_CHECKING:
    from hmc_crowd.campaign import GuidelineChanged

DoIt = Annotated[bool, typer.Option("--yes", help="Do it; without it this is a dry run.")]

guideline_app = typer.Typer(help="How people are to judge: the text on their pages, and its versions.")
app.add_typer(guideline_app, name="guideline", rich_help_panel=PEOPLE)


@guideline_app.command("set")
def set_guideline(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The text; a blank line begins a paragraph.")],
    version: Annotated[
        str | None, typer.Option("--version", metavar="NAME", help="Of this text; the next number by default.")
    ] = None,
    wording: Annotated[
        bool, typer.Option("--wording", help="It says the same in other words: all answers stay good.")
    ] = False,
    yes: DoIt = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Put another guideline in force; a dry run unless --yes, which counts what becomes stale and is asked again."""
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read ({error}); give a text file in UTF-8") from None
    with open_campaign(db, campaign) as opened:
        changed = opened.set_guideline(text.strip(), aspect=aspect, version=version, wording=wording, dry_run=not yes)
    _tell(changed, as_json=as_json, lesser=True)


@guideline_app.command("use")
def use_guideline(
    version: Annotated[str, typer.Argument(metavar="VERSION", help="As `hmc-crowd guideline show` names it.")],
    yes: DoIt = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Put an earlier version in force again: answers under it count, later ones do not; a dry run unless --yes."""
    with open_campaign(db, campaign) as opened:
        changed = opened.use_guideline(version, aspect=aspect, dry_run=not yes)
    _tell(changed, as_json=as_json)


def _tell(changed: "GuidelineChanged", *, as_json: bool, lesser: bool = False) -> None:
    if as_json:
        emit_json(changed)
        return
    say(str(changed))
    if changed.dry_run:
        words = " (--wording where it only says the same in other words)" if lesser and changed.stale else ""
        say(f"nothing was changed; add --yes to do it{words}")


@guideline_app.command("show")
def show_guideline(
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show every version of the guidelines, oldest first, and which is in force."""
    with open_campaign(db, campaign) as opened:
        known = opened.guidelines(aspect)
        current = {(each.name, each.guideline_version) for each in opened.aspects}
    if as_json:
        emit_json([{**each.__dict__, "in_force": (each.aspect, each.version) in current} for each in known])
        return
    for each in known:
        said = [("since", f"{each.at:%Y-%m-%d %H:%M} UTC")]
        if each.meaning != each.version:
            said.append(("wording", f"means the same as version {each.meaning}"))
        now = ", in force" if (each.aspect, each.version) in current else ""
        facts(f"{each.aspect}, version {each.version}{now}", said)
        say(each.text or "(no text)", indent="    ")
