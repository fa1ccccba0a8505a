"""Commands on experts: experts review, standing, load, tiers, and appeals."""

from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._gate_campaign import ItemsFile
from hmc_crowd.cli._show import busy, emit_json, give, notes, say, table, tell
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

experts_app = typer.Typer(
    cls=HelpfulGroup,
    help="Who checks the experts? Second looks, escalation, appeals, samples of auditors, load and bottlenecks.",
)
app.add_typer(experts_app, name="experts", rich_help_panel=PEOPLE)
appeal_app = typer.Typer(
    cls=HelpfulGroup, help="Somebody objects to a label: another expert judges it blind. Open, list, settle."
)
experts_app.add_typer(appeal_app, name="appeal")

Item = Annotated[str, typer.Argument(metavar="ITEM", help="The item.")]


@experts_app.command("review")
def review(
    second_look: Annotated[
        list[str] | None,
        typer.Option(
            "--second-look",
            metavar="[WHAT=]SHARE",
            help="Share that a second expert judges blind: 0.1; of a tier: 1=0.2; of a risk: high=1; repeatable.",
        ),
    ] = None,
    top: Annotated[int | None, typer.Option("--top", metavar="TIER", help="The highest tier there is: 1 to 3.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Say how much of what one expert decided a second one judges blind; where they differ it goes to the next tier."""
    with open_campaign(db, campaign) as opened:
        policy = opened.set_reviews(None if second_look is None else _shares(second_look), top=top)
    tell(policy, as_json=as_json)


@experts_app.command("standing")
def standing(
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show what experts' words on each item came to, and which tier must look next."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.reviews(aspect=aspect)
    give(found, found, out, as_json=as_json, overwrite=overwrite, rows="items")


@experts_app.command("load")
def load(
    add: Annotated[
        int | None, typer.Option("--add", min=0, metavar="N", help="Also say what N more experts would change.")
    ] = None,
    tier: Annotated[int, typer.Option("--tier", metavar="TIER", help="Of which tier they would be.")] = 1,
    over: Annotated[float, typer.Option("--over", metavar="HOURS", help="Arrivals are counted over so long.")] = 24.0,
    items: ItemsFile = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show how busy experts are, which tier falls behind, and what waits while later items are settled."""
    with open_campaign(db, campaign) as opened, busy("counting"):
        found = opened.expert_load(
            add=None if add is None else {tier: add}, aspect=aspect, items=items, over_hours=over
        )
    if as_json:
        emit_json(found)
        return
    say(str(found))
    if len(found.experts):
        table(found.experts)
    table(found.plan.table, title=f"By tier, arrivals of the last {found.hours:,.1f} hours:")
    if found.then is not None:
        table(found.then.table, title="With more people:")
    if len(found.waiting):
        table(found.waiting, title="What waits:")
    notes(found.notes)


@experts_app.command("tiers")
def tiers(
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show how often each tier is wrong against known labels (written with --out), and how often it is overturned."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.tier_figures(aspect=aspect)
    if as_json:
        emit_json(found)
        return
    if out is None:
        table(found.judgements)
        table(found.overturned, title="Not upheld by a higher tier:")
    give(
        found.errors, found.errors, out, as_json=False, overwrite=overwrite, head="Blind labels against known ones:",
        said=found.notes,
    )  # fmt: skip


@appeal_app.command("open")
def appeal_open(
    item: Item,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who appeals.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; no expert sees it.")],
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="author, worker or owner.")] = "author",
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Of a worker: whose id --by is.")
    ] = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Object to a label: an expert who has not judged the item does so, blind, among the other cases."""
    with open_campaign(db, campaign) as opened:
        found = opened.appeal(item, by=by, reason=reason, role=role, platform=platform, aspect=aspect)
    tell(found, as_json=as_json, said=found.notes)


@appeal_app.command("list")
def appeal_list(
    open_only: Annotated[bool, typer.Option("--open", help="Only those that are not settled.")] = False,
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the appeals and what came of them."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.appeals(aspect=aspect, open_only=open_only)
    shown = found[["item", "number", "state", "first_label", "label", "role", "by", "reason"]]
    give(found, shown, out, as_json=as_json, overwrite=overwrite, rows="appeals")


@appeal_app.command("settle")
def appeal_settle(
    item: Item,
    label: Annotated[
        str | None, typer.Option("--label", metavar="LABEL", help="What a person decides where three experts differ.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who that person is.")] = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Say what the appeal about an item comes to; with --label settle what three experts could not."""
    with open_campaign(db, campaign) as opened:
        found = opened.settle_appeal(item, label=label, by=by, aspect=aspect)
    tell(found, as_json=as_json, said=found.notes)


def _shares(given: list[str]) -> dict[int | str, float]:
    """Return shares by what they are of."""
    found: dict[int | str, float] = {}
    for each in given:
        what, sign, text = each.rpartition("=")
        try:
            found[what.strip() if sign else "all"] = float(text)
        except ValueError:
            raise InputError(
                f"--second-look is {each!r}; write a share, or WHAT=SHARE, such as 1=0.2 or high=1"
            ) from None
    return found
