"""Commands that work with people: publish, collect, check, run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    LOCAL,
    PEOPLE,
    REHEARSAL,
    AsJson,
    Budget,
    CampaignName,
    ContentWarning,
    Database,
    Endpoint,
    Language,
    Minutes,
    Pages,
    PlatformName,
    Redundancy,
    Skill,
    Workplace,
    Yes,
    app,
    connect,
    connect_pages,
    open_campaign,
)
from hmc_crowd.cli._arguments import count_or_share, read_budget, read_pay, require_budget, skill_words
from hmc_crowd.cli._facts import plan_facts, sheet_facts
from hmc_crowd.cli._gold_options import Encoder, ExpectedPeople, GoldLimit, GoldShare, Similar
from hmc_crowd.cli._planning import Audit, MaxHuman, TradeOff
from hmc_crowd.cli._quality_text import show_alerts, show_check
from hmc_crowd.cli._show import busy, emit_json, facts, notes, progress_bar, say, to_plain
from hmc_crowd.cli._sure_options import MostAnswers, StopError
from hmc_crowd.errors import InputError

Pay = Annotated[
    str, typer.Option("--pay", metavar="RATE", help="Per expected hour (12/h), or per submission (1.50USD).")
]
PayOrPool = Annotated[
    str | None,
    typer.Option("--pay", metavar="RATE", help="Per expected hour (12/h), or per submission (1.50USD)."),
]
Method = Annotated[
    str, typer.Option("--method", metavar="METHOD", help="How answers become a label, as in `hmc-crowd aggregate`.")
]
CrowdFile = Annotated[
    Path | None,
    typer.Option(
        "--crowd",
        metavar="FILE",
        help="Let simulated people do the work: a file of the truth (item, label[, aspect]), or of recorded "
        "answers (task, worker, label[, seconds]).",
        rich_help_panel=REHEARSAL,
    ),
]
Workers = Annotated[int, typer.Option("--workers", min=1, metavar="N", help="How many.", rich_help_panel=REHEARSAL)]
Accuracy = Annotated[
    float,
    typer.Option("--accuracy", metavar="SHARE", help="Their mean share of right answers.", rich_help_panel=REHEARSAL),
]
CrowdSeed = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="Of who they are and what they do.", rich_help_panel=REHEARSAL)
]

Short = Annotated[bool, typer.Option("--short", help="Publish although too few people are known for the quotas.")]

PassedTest = Annotated[
    str | None,
    typer.Option(
        "--test", metavar="NAME", help="MTurk, Prolific: only who passed this test, as `tests sync` told the platform."
    ),
]
Panel = Annotated[
    bool, typer.Option("--panel/--no-panel", help="Only who was drawn for the platform's panel, where one was.")
]

DRY = "nothing was sent; add --yes --budget AMOUNT to publish"


@app.command(rich_help_panel=PEOPLE)
def publish(
    pay: PayOrPool = None,
    budget: Budget = None,
    yes: Yes = False,
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    redundancy: Redundancy = 3,
    most: MostAnswers = None,
    error: StopError = 0.05,
    target_minutes: Minutes = 12.0,
    gold_share: GoldShare = 0.1,
    gold_limit: GoldLimit = None,
    people: ExpectedPeople = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="What workers read first; the campaign's name by default."),
    ] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What they read next.")] = "",
    content_warning: ContentWarning = "",
    pool: Annotated[
        str | None, typer.Option("--pool", metavar="NAME", help="Only its people, for its price: no --pay.")
    ] = None,
    skill: Skill = None,
    language: Language = None,
    short: Short = False,
    test: PassedTest = None,
    panel: Panel = True,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bundle the plan's items into HITs and offer them to people; a dry run unless --yes --budget AMOUNT."""
    require_budget(budget, yes=yes)
    if (pay is None) == (pool is None):
        raise InputError("give --pay, or --pool, whose price counts")
    with (
        open_campaign(db, campaign) as opened,
        connect(platform, workplace, endpoint) as place,
        connect_pages(place, pages, workplace) as shown_by,
        progress_bar() as progress,
    ):
        currency = opened.status().currency
        sheet = opened.publish(
            place,
            redundancy=redundancy,
            most=most,
            error=error,
            **read_pay(pay, currency),
            budget_minor=read_budget(budget, currency),
            target_minutes=target_minutes,
            gold_share=gold_share,
            gold_limit=gold_limit,
            people=people,
            title=title,
            description=description,
            content_warning=content_warning,
            pool=pool,
            skills=skill_words(skill, language),
            short=short,
            test=test,
            panel=panel,
            pages=shown_by,
            dry_run=not yes,
            progress=progress,
        )
    if as_json:
        emit_json(sheet)
        return
    facts(*sheet_facts(sheet))
    notes(sheet.notes)
    if not yes:
        say(DRY)


@app.command(rich_help_panel=PEOPLE)
def collect(
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    crowd: CrowdFile = None,
    workers: Workers = 30,
    accuracy: Accuracy = 0.85,
    seed: CrowdSeed = 0,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Read submissions, answers and times into the database; with --crowd, let simulated people work first."""
    simulated = _crowd(crowd, workers, accuracy, seed)
    with (
        open_campaign(db, campaign) as opened,
        connect(platform, workplace, endpoint) as place,
        connect_pages(place, pages, workplace) as shown_by,
        progress_bar() as progress,
    ):
        if simulated is not None:
            _require_rehearsal(place)
            progress("simulated people at work", 0, 0)
            place.rehearse(simulated)
        result = opened.collect(place, pages=shown_by, progress=progress)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    for each in result.set_aside[:_SHOWN]:
        say(f"set aside: {each}")
    if len(result.set_aside) > _SHOWN:
        say(f"and {len(result.set_aside) - _SHOWN:,} more; --json names all of them")
    if result.open_places:
        say("people are still at work: collect again when more have answered")


_SHOWN = 5


def _crowd(path: Path | None, workers: int, accuracy: float, seed: int) -> Any:
    """Make the simulated people, before anything is opened; None without a file."""
    from hmc_crowd.cli._crowd import read_crowd

    if path is None:
        return None
    if not 0 <= accuracy <= 1:
        raise InputError(f"--accuracy is {accuracy}; a share of right answers lies in [0, 1]")
    return read_crowd(path, workers=workers, accuracy=accuracy, seed=seed)


def _require_rehearsal(place: Any) -> None:
    from hmc_crowd.platform import Rehearsal

    if not isinstance(place, Rehearsal):
        raise InputError(
            f"--platform {place.name} takes no simulated people; use --platform local, or leave --crowd out"
        )


@app.command(rich_help_panel=PEOPLE)
def check(
    minimum: Annotated[
        float, typer.Option("--minimum", metavar="SHARE", help="Share of gold a worker must get right.")
    ] = 0.6,
    at_least: Annotated[
        int, typer.Option("--at-least", min=1, metavar="N", help="Gold answers without which nothing is decided.")
    ] = 3,
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Of the workers' intervals.")] = 0.95,
    encoder: Encoder = None,
    similar: Similar = 0.7,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Score workers on gold and leave out of aggregation who is surely too bad; nobody's pay is touched.

    Also says how good everybody is with an interval, who has become worse, which gold is suspect, whether pay is fair,
    and what alerts last.
    """
    with open_campaign(db, campaign) as opened, busy("checking"):
        result = opened.check_gold(minimum=minimum, at_least=at_least, level=level, encoder=encoder, similar=similar)
        quality = opened.check_quality(level=level, encoder=encoder, similar=similar)
        alerts = opened.check_alerts()
    if as_json:
        emit_json({**to_plain(result), "quality": quality, "alerts": alerts})
        return
    say(str(result))
    notes(result.notes)
    show_check(quality, said=result.notes)
    show_alerts(alerts)
    for worker, reason in result.excluded.items():
        say(f"left out: {worker}, {reason}")


@app.command(rich_help_panel=PEOPLE)
def run(
    pay: Pay,
    budget: Budget = None,
    yes: Yes = False,
    platform: PlatformName = LOCAL,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    pages: Pages = None,
    trade_off: TradeOff = 4.6,
    max_human: MaxHuman = "0.5",
    audit: Audit = None,
    redundancy: Redundancy = 3,
    most: MostAnswers = None,
    error: StopError = 0.05,
    method: Method = "dawid_skene",
    target_minutes: Minutes = 12.0,
    gold_share: GoldShare = 0.1,
    gold_limit: GoldLimit = None,
    content_warning: ContentWarning = "",
    short: Short = False,
    test: PassedTest = None,
    panel: Panel = True,
    max_rounds: Annotated[int, typer.Option("--max-rounds", min=1, metavar="N", help="Most rounds to play.")] = 5,
    crowd: CrowdFile = None,
    workers: Workers = 30,
    accuracy: Accuracy = 0.85,
    seed: CrowdSeed = 0,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Play rounds (plan, publish, collect, check, aggregate, certify, learn) until the plan is satisfied.

    Call it again to go on: after an interrupt, or when people have worked. Without --yes it plans, and says what
    publishing would cost.
    """
    require_budget(budget, yes=yes)
    simulated = _crowd(crowd, workers, accuracy, seed)
    planned = {
        "trade_off": trade_off,
        "max_human": count_or_share(max_human, name="--max-human"),
        "audit": count_or_share(audit, name="--audit"),
        "redundancy": redundancy,
    }
    with (
        open_campaign(db, campaign) as opened,
        connect(platform, workplace, endpoint) as place,
        connect_pages(place, pages, workplace) as shown_by,
        progress_bar() as progress,
    ):
        currency = opened.status().currency
        spent = {
            "redundancy": redundancy,
            "most": most,
            "error": error,
            **read_pay(pay, currency),
            "budget_minor": read_budget(budget, currency),
            "target_minutes": target_minutes,
            "gold_share": gold_share,
            "gold_limit": gold_limit,
            "content_warning": content_warning,
            "short": short,
            "test": test,
            "panel": panel,
        }
        if simulated is not None:
            _require_rehearsal(place)
        if yes:
            result = opened.run(
                place,
                crowd=simulated,
                max_rounds=max_rounds,
                method=method.replace("-", "_"),
                plan=planned,
                publish=spent,
                pages=shown_by,
                progress=progress,
            )
        else:
            result = _dry_run(opened, place, planned, {**spent, "pages": shown_by})
    _show_run(result, as_json=as_json, dry=not yes)


def _dry_run(opened: Any, place: Any, planned: dict[str, Any], spent: dict[str, Any]) -> Any:
    """Plan where there is no plan yet, and return it with what publishing it would cost."""
    status = opened.status()
    plan = None
    if not status.round:
        if not status.has_effort:
            opened.estimate_effort()
        plan = opened.plan(**planned)
    return {"plan": plan, "publish": opened.publish(place, dry_run=True, **spent)}


def _show_run(result: Any, *, as_json: bool, dry: bool) -> None:
    if as_json:
        emit_json(result)
    elif not dry:
        say(str(result))
        if result.state == "waiting":
            say("people are at work: call the same command again when they have answered")
    else:
        if result["plan"] is not None:
            headline, rows = plan_facts(result["plan"])
            facts(headline, rows[:-1])
        facts(*sheet_facts(result["publish"]))
        say(DRY)
