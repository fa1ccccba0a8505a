"""Commands that decide: quote, plan, route, sweep."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PLAN,
    AsJson,
    CampaignName,
    Database,
    Minutes,
    OutFile,
    Overwrite,
    Redundancy,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import (
    count_or_share,
    grid,
    numbers,
    read_hourly,
    read_moment,
    read_money,
    require_both,
    require_free,
)
from hmc_crowd.cli._facts import plan_facts, quote_facts
from hmc_crowd.cli._show import busy, emit_json, facts, notes, say, table
from hmc_crowd.errors import FrameError, InputError

PROMISE = "A promise in place of --trade-off, --max-human and --audit"

FEES_OF = "Whose fees: local, prolific, prolific-academic, mturk."

Vat = Annotated[
    float, typer.Option("--vat", metavar="SHARE", help="Tax on the platform's fee where it is due, such as 0.2.")
]
MaxHuman = Annotated[
    str | None,
    typer.Option("--max-human", metavar="N|SHARE", help="Most items for people: 200, a share such as 0.5, or none."),
]
TradeOff = Annotated[
    float, typer.Option("--trade-off", metavar="PRICE", help="Of one unit of effort, in units of confidence.")
]
Cap = Annotated[str, typer.Option("--cap", metavar="WORD", help="at_most, or exactly: people get just that many.")]
Audit = Annotated[
    str | None,
    typer.Option(
        "--audit",
        metavar="N|SHARE",
        help="Machine-kept items that people look at anyway: 200, or a share of them; by default 5 %, at least 50.",
    ),
]


@app.command(rich_help_panel=PLAN)
def quote(
    file: Annotated[Path, typer.Argument(metavar="ITEMS", help="item, text or seconds[, confidence].")],
    money: Annotated[str, typer.Option("--money", metavar="AMOUNT", help="All there is to spend, such as 1500USD.")],
    pay: Annotated[str, typer.Option("--pay", metavar="RATE", help="What an hour of work earns, such as 12/h.")],
    platform: Annotated[str, typer.Option("--platform", metavar="NAME", help=FEES_OF)] = "local",
    vat: Vat = 0.0,
    redundancy: Redundancy = 3,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="item, label, confidence: the doubtful are judged first."),
    ] = None,
    machine_accuracy: Annotated[
        float | None,
        typer.Option(
            "--machine-accuracy", metavar="SHARE", help="For the certificate, while there are no predictions."
        ),
    ] = None,
    audit: Audit = None,
    target_minutes: Minutes = 12.0,
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Confidence of the certificate.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Say what a sum of money buys, before anything is published."""
    import pandas as pd

    from hmc_crowd.campaign import quote as make_quote

    amount = read_money(money, name="--money")
    hourly = read_hourly(pay, amount.currency, why="a quote")
    seconds, confidence = _costs(file, predictions)
    with busy("reckoning"):
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
            tax_rate=vat,
        )
    if as_json:
        emit_json(result)
        return
    facts(*quote_facts(result, target_minutes=target_minutes))
    say("")
    coverage = pd.DataFrame([each.__dict__ for each in result.coverage])
    table(coverage, title="More people an item, or more items? (without an audit)")
    say("")
    notes(result.assumptions, kind="assuming")


def _costs(file: Path, predictions: Path | None) -> tuple[Any, Any]:
    """Return the seconds of each item, given or by reading speed, and the machine's confidence where it is known."""
    from hmc_crowd.effort import prior_effort
    from hmc_crowd.io import read_frame

    loaded = read_frame(file, kind="items")
    frame = loaded.frame
    seconds: Any
    if "seconds" in frame:
        seconds = numbers(loaded, "seconds", file)
    elif (frame["text"] != "").any():
        seconds = prior_effort(frame["text"].tolist()).seconds
    else:
        raise FrameError(
            f"{file} has neither text nor numeric seconds; add one of them, so that a time can be reckoned"
        )
    if predictions is None:
        return seconds, numbers(loaded, "confidence", file, high=1.0) if "confidence" in frame else None
    given = read_frame(predictions, kind="predictions").frame
    if "aspect" in given and given["aspect"].nunique() > 1:
        raise FrameError(f"{predictions} has several aspects; a quote is for one of them, give its rows alone")
    by_item = given.set_index("item")["confidence"]
    missing = frame["item"][~frame["item"].isin(by_item.index)]
    if len(missing):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise FrameError(f"{predictions} has no prediction for item {missing.iloc[0]!r}{more}; add the rows")
    return seconds, by_item.loc[frame["item"]].to_numpy()


@app.command(rich_help_panel=PLAN)
def plan(
    trade_off: TradeOff = 4.6,
    max_human: MaxHuman = "0.5",
    max_hours: Annotated[
        float | None,
        typer.Option("--max-hours", metavar="HOURS", help="Most hours of people, over all answers, audit included."),
    ] = None,
    max_money: Annotated[
        str | None,
        typer.Option("--max-money", metavar="AMOUNT", help="Most money, audit and the platform's fees included."),
    ] = None,
    pay: Annotated[
        str | None, typer.Option("--pay", metavar="RATE", help="Pay per hour such as 12/h, for --max-money.")
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option("--platform", metavar="NAME", help=f"{FEES_OF} By default the one that has the campaign's HITs."),
    ] = None,
    vat: Vat = 0.0,
    audit: Audit = None,
    effort: Annotated[
        str, typer.Option("--effort", metavar="UNIT", help="Unit of effort: share (the paper's), or seconds.")
    ] = "share",
    redundancy: Redundancy = 3,
    confidence: Annotated[
        str,
        typer.Option("--confidence", metavar="KIND", help="calibrated (where `confidence calibrate` was run), or raw."),
    ] = "calibrated",
    target_agreement: Annotated[
        float | None,
        typer.Option(
            "--target-agreement",
            metavar="SHARE",
            help="Promise this agreement with people: trade-off, cap and audit are chosen for the least human time.",
            rich_help_panel=PROMISE,
        ),
    ] = None,
    level: Annotated[
        float,
        typer.Option("--level", metavar="SHARE", help="Confidence of its certificate.", rich_help_panel=PROMISE),
    ] = 0.95,
    assurance: Annotated[
        float,
        typer.Option(
            "--assurance", metavar="SHARE", help="How often the certificate is to come out.", rich_help_panel=PROMISE
        ),
    ] = 0.9,
    due: Annotated[
        str | None,
        typer.Option("--due", metavar="MOMENT", help="Deadline, 2026-12-01T18:00Z: is it too much for the pools?"),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Decide for every item whether people judge it, and draw the audit of the others."""
    if max_hours is not None and not 0 <= max_hours < 1e9:
        raise InputError(f"--max-hours is {max_hours}; give a number of hours, at least 0")
    due_at = None if due is None else read_moment(due, name="--due")
    with open_campaign(db, campaign) as opened, busy("planning"):
        currency = opened.status().currency
        hourly = None if pay is None else read_hourly(pay, currency, why="a plan").minor
        money = None if max_money is None else read_money(max_money, currency=currency, name="--max-money").minor
        result = opened.plan(
            trade_off=trade_off,
            max_human=count_or_share(max_human, name="--max-human"),
            max_human_s=None if max_hours is None else max_hours * 3600,
            max_money_minor=money,
            audit=count_or_share(audit, name="--audit"),
            effort=effort,
            redundancy=redundancy,
            pay_per_hour_minor=hourly,
            confidence=confidence,
            target_agreement=target_agreement,
            level=level,
            assurance=assurance,
            due_at=due_at,
            platform=platform,
            tax_rate=vat,
        )
    if as_json:
        emit_json(result)
    else:
        facts(*plan_facts(result))
        notes(result.notes)


@app.command(rich_help_panel=PLAN)
def route(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Columns item, confidence, effort[, human_confidence, machine_effort]."),
    ],
    trade_off: Annotated[
        float, typer.Option("--trade-off", metavar="PRICE", help="Of effort; inf goes with --cap exactly.")
    ] = 0.0,
    max_human: MaxHuman = None,
    cap: Cap = "at_most",
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Route the items of a file: no campaign, no database."""
    from hmc_crowd.io import write_frame
    from hmc_crowd.routing import route as route_items

    require_free(out, overwrite=overwrite)
    frame = _routable(file)
    optional: dict[str, Any] = {name: frame[name] for name in ("human_confidence", "machine_effort") if name in frame}
    limit: Any = {"cap": cap}  # route() checks the word
    with busy("routing"):
        result = route_items(
            frame["confidence"],
            frame["effort"],
            max_human=count_or_share(max_human, name="--max-human"),
            trade_off=trade_off,
            **limit,
            **optional,
        )
        rows = result.to_frame(frame["item"].tolist())
    written = None if out is None else write_frame(rows, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        figures = ("objective", "human_count", "human_share", "effort_share", "trade_off", "cap", "max_human", "ties")
        shown = {name: getattr(result, name) for name in figures}
        emit_json({**shown, **({"items": rows} if written is None else {"out": written})})
        return
    say(str(result))
    if written is None:
        table(rows)
    else:
        say(f"{len(rows):,} rows in {written}")


@app.command(rich_help_panel=PLAN)
def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Columns item, confidence, effort[, target, predicted, true_effort].")
    ],
    trade_offs: Annotated[
        str, typer.Option("--trade-offs", metavar="GRID", help="start:stop:step (stop included), or a,b,c.")
    ] = "0:45:0.1",
    max_humans: Annotated[
        str, typer.Option("--max-humans", metavar="GRID", help="Shares, written the same way.")
    ] = "0:1:0.05",
    cap: Cap = "at_most",
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Tell reliability and effort for every pair of trade-off and cap."""
    from hmc_crowd.io import write_frame
    from hmc_crowd.routing import sweep as sweep_grid

    require_free(out, overwrite=overwrite)
    prices, caps = grid(trade_offs, name="--trade-offs"), grid(max_humans, name="--max-humans")
    frame = _routable(file)
    require_both(frame.columns, file)
    optional: dict[str, Any] = {name: frame[name] for name in ("target", "predicted", "true_effort") if name in frame}
    limit: Any = {"cap": cap}  # sweep() checks the word
    with busy("sweeping"):
        result = sweep_grid(
            frame["confidence"], frame["effort"], trade_offs=prices, max_humans=caps, **limit, **optional
        )
    written = None if out is None else write_frame(result, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json(result if written is None else {"points": len(result), "out": written})
    elif written is not None:
        say(f"{len(result):,} points in {written}")
    else:
        table(result)


def _routable(file: Path) -> Any:
    """Read a table of items with confidence and effort, as numbers."""
    from hmc_crowd.io import read_frame

    loaded = read_frame(file, kind="items")
    missing = [name for name in ("confidence", "effort") if name not in loaded.frame]
    if missing:
        raise FrameError(f"{file} lacks the column {missing[0]}; it needs item, confidence and effort")
    checked = {
        "confidence": numbers(loaded, "confidence", file, high=1.0),
        "effort": numbers(loaded, "effort", file),
    }
    return loaded.frame.assign(**checked)
