"""Commands that rehearse before anything is spent: simulate, pilot, benchmark."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import PLAN, AsJson, OutFile, Overwrite, Redundancy, app
from hmc_crowd.cli._arguments import (
    count_or_share,
    names,
    read_duration,
    read_hourly,
    read_money,
    require_free,
)
from hmc_crowd.cli._rehearse_input import rehearsed_crowd, rehearsed_items
from hmc_crowd.cli._show import busy, emit_json, facts, notes, say, table

_PEOPLE, _LIMITS = "The people", "Budgets whose chance of breaking is told"

ItemsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="item, confidence, seconds (or text); with target and predicted: played as is."
    ),
]
Pay = Annotated[str, typer.Option("--pay", metavar="RATE", help="What an hour of work earns, such as 12/h.")]
Fee = Annotated[float, typer.Option("--fee-rate", metavar="SHARE", help="Platform's share on top of the pay.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed plays the same.")]
Repetitions = Annotated[int, typer.Option("--repetitions", min=1, metavar="N", help="How often it is played.")]
Accuracy = Annotated[
    float, typer.Option("--accuracy", metavar="SHARE", help="How often one of them is right.", rich_help_panel=_PEOPLE)
]
Pilot = Annotated[
    Path | None,
    typer.Option(
        "--fit",
        metavar="ANSWERS",
        help="worker, label, truth (or correct)[, seconds, expected_s] of a pilot: people like those.",
        rich_help_panel=_PEOPLE,
    ),
]
Replay = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        metavar="ANSWERS",
        help="task, worker, label[, seconds] to replay; FILE needs target and predicted.",
        rich_help_panel=_PEOPLE,
    ),
]


@app.command(rich_help_panel=PLAN)
def simulate(
    file: ItemsFile,
    policies: Annotated[
        str,
        typer.Option("--policies", metavar="A,B", help="paper, confidence, effort, random, certified, experts, mix."),
    ] = "paper,confidence,effort,random,certified,experts",
    pay: Pay = "12/h",
    currency: Annotated[str, typer.Option("--currency", metavar="CODE", help="Of the pay.")] = "USD",
    fee_rate: Fee = 0.0,
    redundancy: Redundancy = 3,
    max_human: Annotated[
        str, typer.Option("--max-human", metavar="N|SHARE", help="Most items for people, for the policies with a cap.")
    ] = "0.5",
    trade_off: Annotated[
        float, typer.Option("--trade-off", metavar="PRICE", help="Of effort, as a share of the longest item's.")
    ] = 0.5,
    target_agreement: Annotated[
        float, typer.Option("--target-agreement", metavar="SHARE", help="What the certified policy promises.")
    ] = 0.97,
    accuracy: Accuracy = 0.85,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="How many take part.", rich_help_panel=_PEOPLE)
    ] = 100,
    fit: Pilot = None,
    replay: Replay = None,
    people_per_day: Annotated[
        float, typer.Option("--people-per-day", metavar="N", help="How many come on a day.", rich_help_panel=_PEOPLE)
    ] = 20.0,
    hours_per_day: Annotated[
        float, typer.Option("--hours-per-day", metavar="H", help="How long each works.", rich_help_panel=_PEOPLE)
    ] = 1.0,
    rework: Annotated[
        float,
        typer.Option("--rework", metavar="SHARE", help="Submissions done again.", rich_help_panel=_PEOPLE),
    ] = 0.0,
    clustering: Annotated[
        float,
        typer.Option("--clustering", metavar="R", help="How much the machine's errors cluster in the groups of FILE."),
    ] = 0.0,
    max_hours: Annotated[
        float | None, typer.Option("--max-hours", metavar="HOURS", help="Hours of people.", rich_help_panel=_LIMITS)
    ] = None,
    max_money: Annotated[
        str | None, typer.Option("--max-money", metavar="AMOUNT", help="Money, with fees.", rich_help_panel=_LIMITS)
    ] = None,
    within: Annotated[
        str | None, typer.Option("--within", metavar="TIME", help="Such as 3d.", rich_help_panel=_LIMITS)
    ] = None,
    repetitions: Repetitions = 200,
    seed: Seed = 0,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Play a campaign many times before a cent is spent, under several policies on the same seeds."""
    import numpy as np

    from hmc_crowd.io import write_frame
    from hmc_crowd.rehearsal import simulate as play

    require_free(out, overwrite=overwrite)
    hourly = read_hourly(pay, currency, why="a rehearsal")
    money = None if max_money is None else read_money(max_money, currency=hourly.currency, name="--max-money").minor
    given = rehearsed_items(file)
    crowd = rehearsed_crowd(given, fit, replay, accuracy=accuracy, workers=workers)
    with busy("rehearsing"):
        result = play(
            given["confidence"],
            given["seconds"],
            rng=np.random.default_rng(seed),
            crowd=crowd,
            policies=names(policies),
            repetitions=repetitions,
            truth=given["truth"],
            predicted=given["predicted"],
            n_labels=given["n_labels"],
            groups=given["groups"],
            clustering=clustering,
            trade_off=trade_off,
            max_human=_cap(max_human),
            target_agreement=target_agreement,
            redundancy=redundancy,
            pay_per_hour_minor=hourly.minor,
            fee_rate=fee_rate,
            rework=rework,
            people_per_day=people_per_day,
            hours_per_day=hours_per_day,
            max_human_s=None if max_hours is None else max_hours * 3600,
            max_money_minor=money,
            deadline_days=None if within is None else read_duration(within, name="--within") / 86_400,
        )
    summary = result.summary()
    written = None if out is None else write_frame(result.frame, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json({"summary": summary, "assumptions": result.assumptions, "out": written})
        return
    table(_bands(summary), title=f"{repetitions:,} rehearsals, median (5% to 95%); money in {hourly.currency}")
    chances = [f"chance_{name}" for name in ("late", "over_time", "over_money", "certified")]
    say("")
    table(summary[["policy", *chances]].rename(columns=lambda name: name.replace("chance_", "")), title="Chance of ...")
    notes(result.assumptions, kind="assuming")


def _cap(text: str) -> Any:
    value = count_or_share(text, name="--max-human")
    return 1.0 if value is None else value


def _bands(summary: Any) -> Any:
    """Write each figure with its band in one cell."""
    import pandas as pd

    def cell(row: Any, name: str, digits: int, scale: float = 1.0) -> str:
        middle, low, high = (row[key] / scale for key in (name, f"{name}_low", f"{name}_high"))
        return f"{middle:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"

    rows = [
        {
            "policy": row["policy"],
            "accuracy": cell(row, "accuracy", 3),
            "hours": cell(row, "hours", 1),
            "money": cell(row, "money_minor", 0, 100.0),
            "days": cell(row, "days", 1),
            "agreement at least": cell(row, "agreement_at_least", 3),
        }
        for _, row in summary.iterrows()
    ]
    return pd.DataFrame(rows)


@app.command(rich_help_panel=PLAN)
def pilot(
    file: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="task, worker, label, seconds (or started, submitted).")
    ],
    items: Annotated[int, typer.Option("--items", min=1, metavar="N", help="Items that people will judge.")],
    pay: Pay = "12/h",
    currency: Annotated[str, typer.Option("--currency", metavar="CODE", help="Of the pay.")] = "USD",
    fee_rate: Fee = 0.0,
    paid: Annotated[
        str | None, typer.Option("--paid", metavar="AMOUNT", help="What an answer of the pilot earned: checks the pay.")
    ] = None,
    floor: Annotated[str | None, typer.Option("--floor", metavar="RATE", help="Least pay per hour, as 12/h.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Read a pilot (30 items, 5 answers each): time, agreement, pay, redundancy and what the whole would cost."""
    import numpy as np

    from hmc_crowd._base.money import Money
    from hmc_crowd.io import read_frame
    from hmc_crowd.rehearsal import pilot as read_pilot

    hourly = read_hourly(pay, currency, why="a pilot")
    unit = hourly.currency
    each = None if paid is None else read_money(paid, currency=unit, name="--paid").minor
    least = None if floor is None else read_hourly(floor, unit, why="a floor").minor
    answers = read_frame(file, kind="answers").frame
    with busy("reading"):
        result = read_pilot(
            answers,
            batch_items=items,
            pay_per_hour_minor=hourly.minor,
            rng=np.random.default_rng(seed),
            fee_rate=fee_rate,
            paid_minor=each,
            floor_minor=least,
        )
    if as_json:
        emit_json(result)
        return

    def money(minor: float) -> str:
        return str(Money(round(minor), unit))

    cost, hourly_paid = result.money_minor, result.pay_per_hour_minor
    facts(
        f"{result.items:,} items, {result.workers:,} people, {result.answers:,} answers",
        [
            ("time of an answer", f"mean {result.seconds} s, median {result.seconds_median}, P90 {result.seconds_p90}"),
            ("agreement of two", f"{result.pairwise_agreement}; alpha {result.alpha:.3f}"),
            ("one person right", f"{result.worker_accuracy}, if all are equally good"),
            ("fair price", f"{money(result.price_minor)} an answer for {hourly} an hour"),
            (
                "pay of the pilot",
                None
                if hourly_paid is None
                else f"{money(hourly_paid.value)} an hour ({money(hourly_paid.low)} to {money(hourly_paid.high)}), "
                + ("fair" if result.pay_is_fair else "not surely at the floor"),
            ),
            ("recommended", f"{result.redundancy} answers an item"),
            ("whole batch", f"{result.hours} hours"),
            ("cost", f"{money(cost.value)} ({money(cost.low)} to {money(cost.high)}), fees included"),
        ],
    )
    say("")
    table(result.to_frame()[["redundancy", "accuracy", "accuracy_low", "accuracy_high", "hours"]])
    notes(result.notes)
    notes(result.assumptions, kind="assuming")


@app.command(rich_help_panel=PLAN)
def benchmark(
    file: ItemsFile,
    pay: Pay = "12/h",
    expert_pay: Annotated[str, typer.Option("--expert-pay", metavar="RATE", help="An expert's hour.")] = "60/h",
    currency: Annotated[str, typer.Option("--currency", metavar="CODE", help="Of the pay.")] = "USD",
    fee_rate: Fee = 0.0,
    redundancy: Redundancy = 3,
    max_human: Annotated[
        str, typer.Option("--max-human", metavar="N|SHARE", help="Most items for people in the mix.")
    ] = "0.5",
    accuracy: Accuracy = 0.85,
    fit: Pilot = None,
    replay: Replay = None,
    repetitions: Repetitions = 100,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare machine only, crowd only, experts only and the mix: cost, time, accuracy, use of experts."""
    import numpy as np

    from hmc_crowd.rehearsal import benchmark as compare

    hourly = read_hourly(pay, currency, why="a benchmark")
    expert = read_hourly(expert_pay, hourly.currency, why="a benchmark")
    given = rehearsed_items(file)
    with busy("comparing"):
        result = compare(
            given["confidence"],
            given["seconds"],
            rng=np.random.default_rng(seed),
            repetitions=repetitions,
            crowd=rehearsed_crowd(given, fit, replay, accuracy=accuracy, workers=100),
            truth=given["truth"],
            predicted=given["predicted"],
            n_labels=given["n_labels"],
            redundancy=redundancy,
            max_human=_cap(max_human),
            pay_per_hour_minor=hourly.minor,
            expert_pay_per_hour_minor=expert.minor,
            fee_rate=fee_rate,
        )
    if as_json:
        emit_json(result)
        return
    shown = result.assign(money=(result["money_minor"] / 100).round(2))
    columns = ["policy", "accuracy", "hours", "money", "days", "expert_share", "cost_change", "accuracy_change"]
    table(shown[columns].round(4), title=f"Medians of {repetitions:,} rehearsals; money in {hourly.currency}")
    say("changes are against experts only; experts are assumed to be right in 98% of the items")
