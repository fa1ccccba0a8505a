"""Commands that bring things in: init, items."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.cli._app import (
    BEGIN,
    CAMPAIGN,
    DEFAULT_DATABASE,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import names
from hmc_crowd.cli._show import busy, emit_json, facts, say
from hmc_crowd.errors import DuplicateError, InputError

if TYPE_CHECKING:
    from hmc_crowd.campaign import Campaign


@app.command(rich_help_panel=BEGIN)
def init(
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Unique in the database; `campaign` by default. Without any option a database that has campaigns is "
            "only brought up to date.",
            rich_help_panel=CAMPAIGN,
        ),
    ] = None,
    labels: Annotated[
        str,
        typer.Option("--labels", metavar="A,B,C", help="The answers people may give; absent: the predictions' labels."),
    ] = "",
    positive: Annotated[
        str,
        typer.Option(
            "--positive", metavar="A,B", help="Those that take time (unkind, wrong): effort models count them."
        ),
    ] = "",
    aspects: Annotated[
        Path | None,
        typer.Option(
            "--aspects", metavar="FILE", help="The questions, where there are several or other kinds: a TOML file."
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="One question: which of two responses is better, a, b or tie?")
    ] = False,
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="blind, or suggest: people see the machine's label.")
    ] = "blind",
    suggest_share: Annotated[
        float | None,
        typer.Option("--suggest-share", metavar="SHARE", help="With --mode suggest: the chance of seeing it; 1."),
    ] = None,
    currency: Annotated[str, typer.Option("--currency", metavar="CODE", help="Of pay and budgets.")] = "USD",
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, metavar="N", help="Of everything drawn; a random one is kept when absent."),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """Make a campaign, and its database if there is none; bring an older database up to date."""
    from hmc_crowd._base.money import Money
    from hmc_crowd.campaign import Aspect, Campaign, read_aspects

    if name is not None and not name.strip():
        raise InputError("--name is empty; give the campaign a name")
    if pairs and (labels or aspects is not None):
        raise InputError("--pairs asks one question of its own; leave --labels and --aspects out")
    # Refuses what is no currency before a database is made.
    money = Money(0, currency.upper())
    wanted = names(labels)
    asked = () if aspects is None else read_aspects(aspects)
    if pairs:
        asked = (Aspect("better", kind="pair", question="Which response is better?"),)
    told = (name, labels, positive, aspects, pairs, mode, suggest_share, currency, seed)
    if told == (None, "", "", None, False, "blind", None, "USD", None) and (there := _brought_up(db)):
        # Who was told to bring an older database up to date asked for no further campaign.
        if len(there) > 1:
            _say_all(db, there, as_json=as_json)
            return
        name = there[0]
    name = "campaign" if name is None else name
    try:
        campaign = Campaign.create(
            db,
            name,
            labels=wanted,
            aspects=asked,
            positive_labels=names(positive),
            currency=money.currency,
            mode=mode,
            suggest_share=suggest_share,
            seed=seed,
        )
        made = "is ready"
    except DuplicateError:
        if asked or mode != "blind":
            raise
        campaign, made = _as_it_is(db, name, wanted, currency=money.currency), "is there already"
    with campaign:
        status = campaign.status()
    if as_json:
        emit_json(status)
    else:
        after = "hmc-crowd items FILE" if not status.items else "hmc-crowd status"
        facts(f"campaign {name!r} {made}", [("database", status.database), ("next", after)])


def _brought_up(db: str) -> list[str]:
    """Bring the database up to date, or make it, and return the names of its campaigns."""
    from hmc_crowd.store import open_store

    with open_store(db, create=True) as store, store.read() as tx:
        return list(tx.campaigns.names())


def _say_all(db: str, there: list[str], *, as_json: bool) -> None:
    shown = shown_address(db)
    if as_json:
        emit_json({"database": shown, "campaigns": there})
    else:
        after = "hmc-crowd status --campaign NAME"
        rows = [("database", shown), ("campaigns", ", ".join(there)), ("next", after)]
        facts(f"{len(there)} campaigns are there already", rows)


def _as_it_is(db: str, name: str, labels: list[str], *, currency: str) -> "Campaign":
    """Open a campaign that exists already, if it is the one that was asked for."""
    campaign = open_campaign(db, name)
    known = campaign.aspects[0].labels
    kept = campaign.status().currency
    if (labels and list(known) != labels) or kept != currency:
        campaign.close()
        raise InputError(
            f"--name is {name!r}, a campaign that is there already with the labels {', '.join(known) or '(none)'} and "
            f"{kept}; give another --name, or leave the labels and the currency as they are"
        )
    return campaign


@app.command(rich_help_panel=BEGIN)
def items(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Items: item[, group, position, text, audience, sensitive, response_a, response_b] and any numeric "
            "features.",
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Pairs of responses instead of FILE: item, instruction, response_a, response_b[, audience]; people "
            "never see their reference.",
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="The machine's: item, label, confidence[, p_<label> ...]."),
    ] = None,
    gold: Annotated[Path | None, typer.Option("--gold", metavar="FILE", help="Known labels: item, label.")] = None,
    effort: Annotated[
        Path | None, typer.Option("--effort", metavar="FILE", help="Predicted times of your own: item, seconds.")
    ] = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Add items, predictions, gold and efforts from CSV, TSV, JSONL or Parquet files: all of them, or none."""
    if not any((file, pairs, predictions, gold, effort)):
        raise InputError("nothing to add: give a file of items, --pairs, --predictions, --gold or --effort")
    if file and pairs:
        raise InputError("FILE and --pairs both bring items; give one of them")
    with open_campaign(db, campaign) as opened, busy("reading and storing"):
        steps: dict[str, tuple[Path | None, Any]] = {
            "items": (file, opened.add_items),
            "pairs": (pairs, lambda source: _add_pairs(opened, source, aspect)),
            "predictions": (predictions, lambda source: opened.add_predictions(source, aspect=aspect)),
            "gold": (gold, lambda source: opened.add_gold(source, aspect=aspect)),
            "effort": (effort, opened.add_effort),
        }
        with opened.together():
            added = {what: add(source) for what, (source, add) in steps.items() if source is not None}
    if as_json:
        emit_json(added)
    else:
        say(f"stored {', '.join(f'{count:,} {_called(what, count)}' for what, count in added.items())}")


def _add_pairs(campaign: "Campaign", file: Path, aspect: str | None) -> int:
    from hmc_crowd.cli._judges_work import pairs_of

    return campaign.add_pairs(pairs_of(file), aspect=aspect)


def _called(what: str, count: int) -> str:
    words = {"items": "item", "pairs": "pair", "predictions": "prediction", "gold": "gold label", "effort": "effort"}
    return words[what] + ("" if count == 1 else "s")
