"""Commands that bring things in: init, items, effort, quote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    AsJson,
    CampaignName,
    Database,
    Redundancy,
    app,
    count_or_share,
    open_campaign,
    read_money,
)
from hmc_crowd.cli._show import emit, table, to_plain
from hmc_crowd.errors import InputError


@app.command()
def init(
    db: Database = DEFAULT_DATABASE,
    name: Annotated[str, typer.Option("--name", help="Name of the campaign, unique in the database.")] = "campaign",
    labels: Annotated[str, typer.Option("--labels", help="The answers people may give: a,b,c.")] = "",
    positive: Annotated[
        str, typer.Option("--positive", help="Labels that take time (malevolent, toxic): effort features count them.")
    ] = "",
    currency: Annotated[str, typer.Option("--currency", help="Of pay and budgets.")] = "USD",
    seed: Annotated[int | None, typer.Option("--seed", help="Of everything that is drawn; random when absent.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a campaign, and its database if there is none (an older one is brought up to date)."""
    from hmc_crowd.campaign import Campaign

    split = {"labels": labels, "positive_labels": positive}
    named = {key: [part.strip() for part in text.split(",") if part.strip()] for key, text in split.items()}
    with Campaign.create(db, name, currency=currency, seed=seed, **named) as campaign:
        status = campaign.status()
    emit(status, as_json=as_json, text=f"campaign {name!r} is ready in {status.database}; next: hmc-crowd items FILE")


@app.command()
def items(
    file: Annotated[Path | None, typer.Argument(help="Items: item[, group, position, text] and numeric features.")] = None,
    predictions: Annotated[Path | None, typer.Option(help="item, label, confidence[, p_<label> ...]")] = None,
    gold: Annotated[Path | None, typer.Option(help="Known labels: item, label.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Predicted times of your own: item, seconds.")] = None,
    aspect: Annotated[str | None, typer.Option(help="Which question, when the campaign asks several.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Add items, predictions, gold and efforts from CSV, JSONL or Parquet files."""
    if not any((file, predictions, gold, effort)):
        raise InputError("nothing to add: give a file of items, --predictions, --gold or --effort")
    added: dict[str, int] = {}
    with open_campaign(db, campaign) as opened:
        if file is not None:
            added["items"] = opened.add_items(file)
        if predictions is not None:
            added["predictions"] = opened.add_predictions(predictions, aspect=aspect)
        if gold is not None:
            added["gold"] = opened.add_gold(gold, aspect=aspect)
        if effort is not None:
            added["effort"] = opened.add_effort(effort)
    emit(added, as_json=as_json, text=", ".join(f"{count:,} {what}" for what, count in added.items()) + " stored")


effort_app = typer.Typer(no_args_is_help=True, help="How long will people need? Estimate, train, evaluate.")
app.add_typer(effort_app, name="effort")


@effort_app.command("estimate")
def effort_estimate(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Predict the time of every item, by the newest model or else by reading speed."""
    with open_campaign(db, campaign) as opened:
        emit(opened.estimate_effort(), as_json=as_json)


Times = Annotated[Path, typer.Argument(help="One row a timed group: numeric features and the column of seconds.")]
Column = Annotated[str, typer.Option("--seconds", help="The column that holds the seconds.")]
Groups = Annotated[str | None, typer.Option("--groups", help="Column whose values never share a fold, such as worker.")]
Kind = Annotated[str, typer.Option("--kind", help="random_forest or xgboost.")]


@effort_app.command("train")
def effort_train(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    kind: Kind = "random_forest",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Train the campaign's effort model on times logged elsewhere."""
    features, times, clusters = _timed(file, seconds, groups)
    with open_campaign(db, campaign) as opened:
        emit(opened.train_effort(features, times, kind=kind, groups=clusters), as_json=as_json)


@effort_app.command("evaluate")
def effort_evaluate(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    kind: Kind = "random_forest",
    folds: Annotated[int, typer.Option(min=2)] = 5,
    as_json: AsJson = False,
) -> None:
    """Cross-validate an effort model on a file; nothing is stored."""
    from hmc_crowd.effort import EffortModel

    features, times, clusters = _timed(file, seconds, groups)
    model = EffortModel(kind, max_features=min(8, features.shape[1]))
    scores = model.evaluate(features, times, folds, clusters)
    emit(scores, as_json=as_json)
    if not as_json:
        table(scores.to_frame().reset_index())


def _timed(file: Path, seconds: str, groups: str | None):
    from hmc_crowd.io import read_frame

    frame = read_frame(file).frame
    missing = [column for column in (seconds, groups) if column is not None and column not in frame]
    if missing:
        raise InputError(f"{file} lacks the column {missing[0]}; it has {', '.join(map(str, frame.columns))}")
    clusters = frame[groups].to_numpy() if groups else None
    import pandas as pd

    left = frame.drop(columns=[seconds])
    numeric = left.apply(pd.to_numeric, errors="coerce").dropna(axis="columns", how="all")
    times = pd.to_numeric(frame[seconds], errors="coerce").to_numpy()
    return numeric, times, clusters


@app.command()
def quote(
    file: Annotated[Path, typer.Argument(help="Items: item, text or seconds[, confidence].")],
    money: Annotated[str, typer.Option("--money", help="All there is to spend, such as 1500USD.")],
    pay: Annotated[str, typer.Option("--pay", help="What an hour of work earns, such as 12/h.")],
    platform: Annotated[str, typer.Option("--platform", help="Whose fees: local, prolific, prolific-academic, mturk.")] = "local",
    redundancy: Redundancy = 3,
    predictions: Annotated[Path | None, typer.Option(help="item, label, confidence: who is judged first.")] = None,
    machine_accuracy: Annotated[float | None, typer.Option(help="When there are no predictions yet.")] = None,
    audit: Annotated[str | None, typer.Option(help="Items (200) or share of the kept ones (0.05) to audit.")] = None,
    target_minutes: Annotated[float, typer.Option(min=0.1)] = 12.0,
    level: Annotated[float, typer.Option(help="Confidence of the certificate.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Say what a sum of money buys before anything is published."""
    import pandas as pd

    from hmc_crowd._base.money import parse_pay
    from hmc_crowd.campaign import quote as make_quote
    from hmc_crowd.effort import prior_effort
    from hmc_crowd.io import read_frame

    amount = read_money(money, name="--money")
    hourly, is_hourly = parse_pay(pay, currency=amount.currency, name="--pay")
    if not is_hourly:
        raise InputError(f"--pay is {pay!r}; a quote needs a rate per hour, such as {pay}/h")
    frame = read_frame(file, kind="items").frame
    features = pd.DataFrame([each if isinstance(each, dict) else {} for each in frame["features"]]) if "features" in frame else frame
    seconds = features["seconds"] if "seconds" in features else prior_effort(frame["text"].tolist()).seconds
    confidence = _confidence(frame, features, predictions)
    result = make_quote(
        seconds,
        amount,
        pay_per_hour=hourly,
        platform=platform,
        redundancy=redundancy,
        confidence=confidence,
        machine_accuracy=machine_accuracy,
        audit=count_or_share(audit, name="--audit"),
        target_minutes=target_minutes,
        level=level,
    )
    emit(result, as_json=as_json)
    if not as_json:
        table(pd.DataFrame(to_plain(result.coverage)), title="How far the money reaches, without an audit")
        for line in result.assumptions:
            typer.echo(f"assuming: {line}")


def _confidence(frame, features, predictions: Path | None):
    from hmc_crowd.io import read_frame

    if predictions is None:
        return features["confidence"] if "confidence" in features else None
    given = read_frame(predictions, kind="predictions").frame.set_index("item")["confidence"]
    missing = frame["item"][~frame["item"].isin(given.index)]
    if len(missing):
        raise InputError(f"{predictions} has no prediction for item {missing.iloc[0]!r} and {len(missing) - 1} more")
    return given.loc[frame["item"]].to_numpy()
