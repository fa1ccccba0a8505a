"""Commands that conclude: certify, learn."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    RESULT,
    AsJson,
    CampaignName,
    Database,
    ModelKind,
    app,
    open_campaign,
)
from hmc_crowd.cli._certify_counts import Counts, certify_counts
from hmc_crowd.cli._facts import certificate_facts
from hmc_crowd.cli._show import busy, echo, emit_json, facts, notes, say
from hmc_crowd.errors import InputError

_ALONE = "Without a campaign"
INCONCLUSIVE = 3


@app.command(rich_help_panel=RESULT)
def certify(
    level: Annotated[
        float | None,
        typer.Option("--level", metavar="SHARE", help="Confidence of the bound: 0.95, or what the plan promised."),
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(
            "--at-least",
            metavar="SHARE",
            help="Judge this agreement, by default what the plan promised: leave with 0 held, 1 failed, 3 not decided.",
        ),
    ] = None,
    accuracy: Annotated[
        bool,
        typer.Option(
            "--accuracy", help="How many labels are right, people's errors counted (`hmc-crowd expert-audit`)."
        ),
    ] = False,
    optimistic: Annotated[
        bool, typer.Option("--optimistic", help="The same with people's errors by gold, which is easier than the rest.")
    ] = False,
    stopping: Annotated[
        bool,
        typer.Option("--stopping", help="How often asking until sure (`publish --most`) kept a wrong label."),
    ] = False,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Size of the batch ...", rich_help_panel=_ALONE)
    ] = None,
    human: Annotated[
        int | None, typer.Option("--human", metavar="N", help="... judged by people ...", rich_help_panel=_ALONE)
    ] = None,
    audited: Annotated[
        int | None,
        typer.Option("--audited", metavar="N", help="... of the others, audited at random ...", rich_help_panel=_ALONE),
    ] = None,
    wrong: Annotated[
        int | None, typer.Option("--wrong", metavar="N", help="... and of those, wrong.", rich_help_panel=_ALONE)
    ] = None,
    design: Annotated[
        str,
        typer.Option(
            "--design", metavar="items|groups", help="What was drawn: items, or whole groups.", rich_help_panel=_ALONE
        ),
    ] = "items",
    sizes: Annotated[
        Path | None,
        typer.Option(
            "--sizes", metavar="FILE", help="Drawn groups, in order: columns size, wrong.", rich_help_panel=_ALONE
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option("--groups", metavar="N", help="Groups that hold a kept item ...", rich_help_panel=_ALONE),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option("--largest", metavar="N", help="... and kept items of the largest.", rich_help_panel=_ALONE),
    ] = None,
    future: Annotated[
        bool,
        typer.Option(
            "--future",
            help="Of items to come, not of a batch: needs only --audited, --wrong.",
            rich_help_panel=_ALONE,
        ),
    ] = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bound how many of the batch's labels agree with our people, from the audit; exact for this very batch."""
    if at_least is not None and not 0 <= at_least <= 1:
        raise InputError(f"--at-least is {at_least}; a share of labels lies in [0, 1]")
    counts = Counts(items, human, audited, wrong, design, sizes, groups, largest, future)
    if stopping:
        if counts.given or accuracy or optimistic or at_least is not None:
            raise InputError("--stopping goes alone: it bounds what stopping early changed, and judges no agreement")
        _certify_stopping(db, campaign, level=level, as_json=as_json)
        return
    if accuracy or optimistic:
        if counts.given or (accuracy and optimistic):
            raise InputError("--accuracy and --optimistic are of the campaign's own audit; give one of them, no counts")
        bound, most = _certify_accuracy(db, campaign, optimistic=optimistic, level=level, as_json=as_json)
    elif counts.given:
        bound, most = certify_counts(counts, level=level or 0.95, as_json=as_json)
    else:
        with open_campaign(db, campaign) as opened, busy("certifying"):
            result = opened.certify(level=level)
        at_least = result.target if at_least is None else at_least
        bound, most = result.agreement_at_least, result.agreement_at_most
        if as_json:
            emit_json(result)
        else:
            facts(*certificate_facts(result))
            notes(result.assumptions, kind="assuming")
    if at_least is not None and bound < at_least:
        echo(f"hmc-crowd: {bound:.4f} is below the {at_least:g} asked for{_why(most, at_least)}", err=True)
        raise typer.Exit(1 if most < at_least else INCONCLUSIVE)


def _why(most: float, at_least: float) -> str:
    if most < at_least:
        return f", and it failed: the audit shows at most {most:.4f}"
    return f", but not ruled out (up to {most:.4f}): a larger audit may decide, or more items for people"


def _certify_accuracy(
    db: str, campaign: str | None, *, optimistic: bool, level: float | None, as_json: bool
) -> tuple[float, float]:
    """Print a bound that counts people's errors too; return it, and that nothing is ruled out from above."""
    with open_campaign(db, campaign) as opened, busy("certifying"):
        if optimistic:
            by_gold = opened.optimistic_accuracy(level=level or 0.95)
            bound = by_gold.optimistic_accuracy_at_least
        else:
            by_experts = opened.certify_accuracy(level=level or 0.95)
            bound = by_experts.accuracy_at_least
    result = by_gold if optimistic else by_experts
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.assumptions, kind="assuming")
    return float(bound), 1.0


def _certify_stopping(db: str, campaign: str | None, *, level: float | None, as_json: bool) -> None:
    with open_campaign(db, campaign) as opened, busy("replaying"):
        result = opened.certify_stopping(level=level or 0.95)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    notes(result.assumptions, kind="assuming")


@app.command(rich_help_panel=RESULT)
def learn(
    kind: ModelKind = "random_forest",
    per: Annotated[
        str, typer.Option("--per", metavar="group|item", help="What is timed as one and predicted as one.")
    ] = "group",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Retrain the effort model from the campaign's logged times (also: retrain)."""
    with open_campaign(db, campaign) as opened, busy("training"):
        result = opened.learn(kind=kind, per=per)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    if result.version:
        notes(result.notes)


app.command("retrain", hidden=True, help="The same as learn.")(learn)
