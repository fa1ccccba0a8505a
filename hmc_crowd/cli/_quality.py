"""Commands on the people of a campaign: quality workers, gold, drift, incoming, texts, rates, ranking."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    CampaignName,
    Database,
    Endpoint,
    OutFile,
    Overwrite,
    Workplace,
    app,
    connect,
    open_campaign,
)
from hmc_crowd.cli._arguments import read_moment, require_free
from hmc_crowd.cli._gold_options import Encoder, Similar
from hmc_crowd.cli._quality_text import resting, worker_table
from hmc_crowd.cli._quota_words import Quotas, read_quotas
from hmc_crowd.cli._show import busy, emit_json, give, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

quality_app = typer.Typer(
    cls=HelpfulGroup,
    help="Who is good, and who has become worse? Workers, gold, drift, new work, texts to look at, approval rates.",
)
app.add_typer(quality_app, name="quality", rich_help_panel=PEOPLE)

Level = Annotated[float, typer.Option("--level", metavar="SHARE", help="Of the intervals.")]
FalseAlarms = Annotated[
    float,
    typer.Option("--false-alarms", metavar="RATE", help="Alarms about steady workers, for each worker and day."),
]


@quality_app.command("workers")
def workers(
    level: Level = 0.95,
    false_alarms: FalseAlarms = 0.001,
    encoder: Encoder = None,
    similar: Similar = 0.7,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show how good everybody is, with the interval, alarms of drift, approval rate, and whose answers do not count."""
    require_free(out, overwrite=overwrite)
    found = _checked(db, campaign, level, false_alarms, encoder=encoder, similar=similar)
    give(
        found.workers, worker_table(found), out, as_json=as_json, overwrite=overwrite, head=str(found), said=found.notes
    )


@quality_app.command("gold")
def gold(
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show the state of the gold: who met it and may yet, what rests at its limit, how hard it is, what looks wrong."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.gold_table()
    shown = found.drop(columns=["times", "limit", "difficulty"]).rename(columns={"given_out": "given"})
    give(found, shown, out, as_json=as_json, overwrite=overwrite, said=resting(found))


@quality_app.command("tolerance")
def tolerance(
    within: Annotated[
        float | None,
        typer.Argument(
            metavar="[N]", help="Steps of a scale, a number's own unit, labels of a set; the rules alone if none."
        ),
    ] = None,
    aspect: Annotated[
        str | None, typer.Option("--aspect", metavar="NAME", help="Which question, where there are several.")
    ] = None,
    usual: Annotated[bool, typer.Option("--usual", help="Bring the default back.")] = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Set how far an answer to a known question may be off and still be right, and show the rules."""
    if within is not None and usual:
        raise InputError("give a tolerance, or --usual")
    with open_campaign(db, campaign) as opened:
        if within is not None or usual:
            opened.set_gold_tolerance(within, aspect=aspect)
        rules = opened.gold_rules()
    if as_json:
        emit_json(list(rules.values()))
        return
    for rule in rules.values():
        say(str(rule))


@quality_app.command("drift")
def drift(
    level: Level = 0.95,
    false_alarms: FalseAlarms = 0.001,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show the alarms about workers who seem to have become worse; an alarm asks for a look, never for a refusal."""
    require_free(out, overwrite=overwrite)
    found = _checked(db, campaign, level, false_alarms)
    shown = found.drift[["worker", "at", "answers", "reason", "found_at"]]
    give(found.drift, shown, out, as_json=as_json, overwrite=overwrite, head=f"{found.new_alarms:,} alarms are new")


@quality_app.command("incoming")
def incoming(
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Only what came until then, like 2026-01-05T12:00Z.")
    ] = None,
    encoder: Encoder = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show what the gold in each submission says, and how sure that makes us as of its moment; nobody is rejected."""
    require_free(out, overwrite=overwrite)
    until = None if as_of is None else read_moment(as_of, name="--as-of")
    with open_campaign(db, campaign) as opened:
        found = opened.incoming(as_of=until, encoder=encoder)
    shown = found[["at", "worker", "submission_id", "answers", "gold", "right", "n", "rolling", "confidence"]]
    give(found, shown.round({"rolling": 3, "confidence": 3}), out, as_json=as_json, overwrite=overwrite)


@quality_app.command("texts")
def texts(
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show answers in words that look pasted or written by a machine: flags for a person's review, nothing more."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.check_quality().pasted
    give(found, found, out, as_json=as_json, overwrite=overwrite)


@quality_app.command("rates")
def rates(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="worker (the platform's id), rate[, reviewed, at].")],
    platform: Annotated[str, typer.Option("--platform", metavar="NAME", help="Whose lifetime rates these are.")],
    read_at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When they were read, like 2026-01-05T12:00Z; now if none."),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Keep approval rates that were read off a platform, each with its moment; "0% (0/0)" is unknown, not bad."""
    at = None if read_at is None else read_moment(read_at, name="--at")
    with open_campaign(db, campaign) as opened:
        new = opened.add_approval_rates(file, platform=platform, at=at)
    if as_json:
        emit_json({"readings": new})
    else:
        say(f"{new:,} readings are new")


@quality_app.command("ranking")
def ranking(
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Only what happened before it counts; now if none.")
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Rank workers by their approval rate as it was known at a moment: the platform's, ours, or unknown."""
    require_free(out, overwrite=overwrite)
    at = None if as_of is None else read_moment(as_of, name="--as-of")
    with open_campaign(db, campaign) as opened:
        found = opened.approval_ranking(as_of=at)
    shown = found[["worker", "rate", "reviewed", "low", "high", "source", "rank", "ranked"]]
    give(found, shown, out, as_json=as_json, overwrite=overwrite)


@quality_app.command("panel")
def panel(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="worker (the platform's id) and what people said of themselves.")
    ],
    people: Annotated[int, typer.Option("--people", min=1, metavar="N", help="How many to draw.")],
    quota: Quotas,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The same name draws the same people.")] = "panel",
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Have mturk or prolific let in these alone.")
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="Do so too where a quota cannot be kept.")] = False,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Draw people so that quotas are kept; attributes are read for the draw and stored nowhere."""
    quotas = read_quotas(quota)
    with open_campaign(db, campaign) as opened:
        if platform is None:
            found = opened.draw_panel(file, quotas, people, name=name)
        else:
            with connect(platform, workplace, endpoint) as place:
                found = opened.draw_panel(file, quotas, people, name=name, platform=place, short=short)
    if as_json:
        emit_json(found)
        return
    say(str(found))
    table(found.quotas)


def _checked(db: str, campaign: str | None, level: float, false_alarms: float, **meaning: Any) -> Any:
    with open_campaign(db, campaign) as opened, busy("checking"):
        return opened.check_quality(level=level, false_alarms=false_alarms, **meaning)
