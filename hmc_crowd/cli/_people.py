"""Commands that work with people: publish, collect, check, aggregate, certify, learn, run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    AsJson,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    PlatformName,
    Redundancy,
    Seed,
    Workplace,
    app,
    connect,
    count_or_share,
    open_campaign,
    read_money,
    read_pay,
)
from hmc_crowd.cli._crowd import read_crowd
from hmc_crowd.cli._planning import MaxHuman, TradeOff
from hmc_crowd.cli._show import emit, progress_bar, table
from hmc_crowd.errors import InputError

Pay = Annotated[str, typer.Option("--pay", help="Per hour (12/h) or per submission (1.50USD).")]
Budget = Annotated[str | None, typer.Option("--budget", help="Most to spend over the whole campaign, fees included.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do spend; without it this is a dry run.")]
Minutes = Annotated[float, typer.Option("--target-minutes", min=0.1, help="Length of a HIT.")]
Method = Annotated[str, typer.Option("--method", help="dawid_skene (or dawid-skene), or majority.")]
CrowdFile = Annotated[
    Path | None,
    typer.Option(
        "--crowd",
        help="Rehearse with simulated workers: a file of the truth (item, label) or of recorded answers "
        "(task, worker, label[, seconds]).",
    ),
]
Workers = Annotated[int, typer.Option("--workers", min=1, help="How many simulated workers.")]
Accuracy = Annotated[float, typer.Option("--accuracy", help="Their mean share of right answers.")]


@app.command()
def publish(
    pay: Pay,
    platform: PlatformName = "local",
    workplace: Workplace = None,
    redundancy: Redundancy = 3,
    budget: Budget = None,
    yes: Yes = False,
    target_minutes: Minutes = 12.0,
    gold_share: Annotated[float, typer.Option(help="Share of gold questions in a HIT.")] = 0.1,
    title: Annotated[str | None, typer.Option(help="What workers read first.")] = None,
    description: Annotated[str, typer.Option(help="What they read next.")] = "",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bundle the plan's items into HITs and offer them to people; a dry run unless --yes --budget AMOUNT."""
    if yes and budget is None:
        raise InputError("--yes needs --budget AMOUNT: the most that may be spent")
    with open_campaign(db, campaign) as opened, connect(platform, workplace) as place, progress_bar() as progress:
        currency = opened.status().currency
        sheet = opened.publish(
            place,
            redundancy=redundancy,
            **read_pay(pay, currency),
            budget_minor=None if budget is None else read_money(budget, currency=currency, name="--budget").minor,
            target_minutes=target_minutes,
            gold_share=gold_share,
            title=title,
            description=description,
            dry_run=not yes,
            progress=progress,
        )
    emit(sheet, as_json=as_json)
    if not (yes or as_json):
        typer.echo("nothing was sent; add --yes --budget AMOUNT to publish")


@app.command()
def collect(
    platform: PlatformName = "local",
    workplace: Workplace = None,
    crowd: CrowdFile = None,
    workers: Workers = 30,
    accuracy: Accuracy = 0.85,
    seed: Seed = 0,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Read submissions, answers and times into the database; with --crowd, let simulated workers do the work first."""
    with open_campaign(db, campaign) as opened, connect(platform, workplace) as place, progress_bar() as progress:
        if crowd is not None:
            progress("simulated people at work", 0, 1)
            place.rehearse(read_crowd(crowd, workers=workers, accuracy=accuracy, seed=seed))
        emit(opened.collect(place, progress=progress), as_json=as_json)


@app.command()
def check(
    minimum: Annotated[float, typer.Option(help="Share of gold a worker must reach.")] = 0.6,
    at_least: Annotated[int, typer.Option(help="Gold answers without which nothing is decided.")] = 3,
    level: Annotated[float, typer.Option(help="Level of the workers' intervals.")] = 0.95,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Score workers on gold and leave out of aggregation who is surely too bad; nobody's pay is touched."""
    with open_campaign(db, campaign) as opened:
        result = opened.check_gold(minimum=minimum, at_least=at_least, level=level)
    emit(result, as_json=as_json)
    if not as_json:
        table(result.workers)


@app.command()
def aggregate(
    answers: Annotated[Path | None, typer.Argument(help="A file of answers: task, worker, label. Default: the campaign's.")] = None,
    method: Method = "dawid_skene",
    gold: Annotated[Path | None, typer.Option(help="With a file: known labels, item, label.")] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Turn several answers into one label; --out FILE takes one label for every item back to you."""
    method = method.replace("-", "_")
    if answers is not None:
        _aggregate_file(answers, method, gold, out, overwrite, as_json)
        return
    if gold is not None:
        raise InputError("--gold goes with a file of answers; add a campaign's gold with `hmc-crowd items --gold FILE`")
    with open_campaign(db, campaign) as opened:
        result = opened.aggregate(method=method)
        if out is not None:
            opened.labels(out, overwrite=overwrite)
    if as_json:
        emit({"labels": len(result.labels), "answers": result.answers, "tied": result.tied, "method": result.method,
              "workers": result.workers, "out": out}, as_json=True)  # fmt: skip
    else:
        emit(result, as_json=False)


def _aggregate_file(
    answers: Path, method: str, gold: Path | None, out: Path | None, overwrite: bool, as_json: bool  # noqa: FBT001
) -> None:
    from hmc_crowd.aggregation import aggregate as aggregate_answers
    from hmc_crowd.io import read_frame, write_frame

    known = None if gold is None else read_frame(gold, kind="gold").frame
    result = aggregate_answers(read_frame(answers, kind="answers").frame, method=method, gold=known)
    if out is not None:
        write_frame(result.frame, out, overwrite=overwrite)
    if as_json:
        emit(result, as_json=True)
        return
    emit(result, as_json=False, text=f"{len(result.frame):,} labels by {result.method}")
    for caution in result.cautions:
        typer.echo(f"caution: {caution}")
    if out is None:
        table(result.frame)


@app.command()
def certify(
    level: Annotated[float, typer.Option(help="Confidence of the bound.")] = 0.95,
    at_least: Annotated[float | None, typer.Option("--at-least", help="Leave with 1 unless this agreement is certified.")] = None,
    items: Annotated[int | None, typer.Option(help="Without a campaign: size of the batch ...")] = None,
    human: Annotated[int | None, typer.Option(help="... of them judged by people ...")] = None,
    audited: Annotated[int | None, typer.Option(help="... of the others audited at random ...")] = None,
    wrong: Annotated[int | None, typer.Option(help="... and of those wrong.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bound how many of the batch's labels agree with our people, from the audit; exact for this very batch."""
    counts = (items, human, audited, wrong)
    result: Any
    if any(count is not None for count in counts):
        from hmc_crowd.routing import certify_batch

        if items is None or human is None or audited is None or wrong is None:
            raise InputError("give all of --items, --human, --audited and --wrong, or none to certify the campaign")
        result = certify_batch(items, human, audited, wrong, level=level)
    else:
        with open_campaign(db, campaign) as opened:
            result = opened.certify(level=level)
    emit(result, as_json=as_json)
    if at_least is not None and result.agreement_at_least < at_least:
        typer.echo(f"hmc-crowd: {result.agreement_at_least:.4f} is below the {at_least:g} asked for", err=True)
        raise typer.Exit(1)


@app.command()
def learn(
    kind: Annotated[str, typer.Option(help="random_forest or xgboost.")] = "random_forest",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Retrain the effort model from the campaign's logged times (also: retrain)."""
    with open_campaign(db, campaign) as opened:
        emit(opened.learn(kind=kind), as_json=as_json)


app.command("retrain", hidden=True, help="The same as learn.")(learn)


@app.command()
def run(
    pay: Pay,
    budget: Budget = None,
    yes: Yes = False,
    platform: PlatformName = "local",
    workplace: Workplace = None,
    trade_off: TradeOff = 4.6,
    max_human: MaxHuman = "0.5",
    audit: Annotated[str | None, typer.Option(help="Items (200) or share of the kept ones to audit.")] = None,
    redundancy: Redundancy = 3,
    method: Method = "dawid_skene",
    target_minutes: Minutes = 12.0,
    max_rounds: Annotated[int, typer.Option(min=1)] = 5,
    crowd: CrowdFile = None,
    workers: Workers = 30,
    accuracy: Accuracy = 0.85,
    seed: Seed = 0,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Play rounds (plan, publish, collect, check, aggregate, certify, learn) until the plan is satisfied."""
    if not yes or budget is None:
        raise InputError("run spends money: add --yes --budget AMOUNT (or look first: plan, then publish as a dry run)")
    with open_campaign(db, campaign) as opened, connect(platform, workplace) as place, progress_bar() as progress:
        currency = opened.status().currency
        result = opened.run(
            place,
            crowd=None if crowd is None else read_crowd(crowd, workers=workers, accuracy=accuracy, seed=seed),
            max_rounds=max_rounds,
            method=method.replace("-", "_"),
            plan={
                "trade_off": trade_off,
                "max_human": count_or_share(max_human, name="--max-human"),
                "audit": count_or_share(audit, name="--audit"),
                "redundancy": redundancy,
            },
            publish={
                "redundancy": redundancy,
                **read_pay(pay, currency),
                "budget_minor": read_money(budget, currency=currency, name="--budget").minor,
                "target_minutes": target_minutes,
            },
            progress=progress,
        )
    emit(result, as_json=as_json)
