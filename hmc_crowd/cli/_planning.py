"""Commands that decide: plan, route, sweep."""

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
    Redundancy,
    app,
    count_or_share,
    grid,
    open_campaign,
    read_money,
)
from hmc_crowd.cli._show import emit, table
from hmc_crowd.errors import FrameError

MaxHuman = Annotated[str | None, typer.Option("--max-human", help="Most items for people: 200, or a share such as 0.5.")]
TradeOff = Annotated[float, typer.Option("--trade-off", help="Price of one unit of effort in units of confidence.")]
Cap = Annotated[str, typer.Option("--cap", help="at_most, or exactly (people get just that many).")]


@app.command()
def plan(
    trade_off: TradeOff = 4.6,
    max_human: MaxHuman = "0.5",
    max_hours: Annotated[float | None, typer.Option(help="Most hours of people, over all answers, audit included.")] = None,
    max_money: Annotated[str | None, typer.Option(help="Most reward money, audit included, without fees: 600USD.")] = None,
    pay: Annotated[str | None, typer.Option("--pay", help="Pay per hour, for --max-money: 12/h.")] = None,
    audit: Annotated[str | None, typer.Option(help="Machine-kept items people look at anyway: 200, or a share.")] = None,
    effort: Annotated[str, typer.Option(help="Unit of effort: share (the paper's) or seconds.")] = "share",
    redundancy: Redundancy = 3,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Decide for every item whether people judge it, and draw the audit of the others."""
    with open_campaign(db, campaign) as opened:
        currency = opened.status().currency
        hourly = None if pay is None else read_money(pay.partition("/")[0], currency=currency, name="--pay").minor
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
        )
    emit(result, as_json=as_json)
    if not as_json:
        for note in result.notes:
            typer.echo(f"note: {note}")


@app.command()
def route(
    file: Annotated[Path, typer.Argument(help="Columns item, confidence, effort[, human_confidence, machine_effort].")],
    trade_off: Annotated[float, typer.Option("--trade-off", help="Price of effort; inf with --cap exactly.")] = 0.0,
    max_human: MaxHuman = None,
    cap: Cap = "at_most",
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Route the items of a file: no campaign, no database."""
    from hmc_crowd.io import write_frame
    from hmc_crowd.routing import route as route_items

    frame = _routable(file)
    optional = {name: frame[name] for name in ("human_confidence", "machine_effort") if name in frame}
    result = route_items(
        frame["confidence"],
        frame["effort"],
        max_human=count_or_share(max_human, name="--max-human"),
        trade_off=trade_off,
        cap=cap,  # type: ignore[arg-type] - route() checks the word
        **optional,
    )
    rows = result.to_frame(frame["item"].tolist())
    if out is not None:
        write_frame(rows, out, overwrite=overwrite)
    if as_json:
        figures = ("objective", "human_count", "human_share", "effort_share", "trade_off", "cap", "max_human")
        shown: dict[str, Any] = {name: getattr(result, name) for name in figures}
        emit({**shown, "ties": result.ties, **({} if out else {"items": rows})}, as_json=True)
        return
    emit(result, as_json=False)
    if out is None:
        table(rows)


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="Columns item, confidence, effort[, target, predicted, true_effort].")],
    trade_offs: Annotated[str, typer.Option("--trade-offs", help="start:stop:step (stop included) or a,b,c.")] = "0:45:0.1",
    max_humans: Annotated[str, typer.Option("--max-humans", help="Shares, written the same way.")] = "0:1:0.05",
    cap: Cap = "at_most",
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Tell reliability and effort for every pair of trade-off and cap."""
    from hmc_crowd.io import write_frame
    from hmc_crowd.routing import sweep as sweep_grid

    frame = _routable(file)
    optional = {name: frame[name] for name in ("target", "predicted", "true_effort") if name in frame}
    result = sweep_grid(
        frame["confidence"],
        frame["effort"],
        trade_offs=grid(trade_offs, name="--trade-offs"),
        max_humans=grid(max_humans, name="--max-humans"),
        cap=cap,  # type: ignore[arg-type] - sweep() checks the word
        **optional,
    )
    if out is not None:
        write_frame(result, out, overwrite=overwrite)
        emit({"points": len(result), "out": out}, as_json=as_json, text=f"{len(result):,} points in {out}")
    elif as_json:
        emit(result, as_json=True)
    else:
        table(result)


def _routable(file: Path) -> Any:
    """Read a table of items with confidence and effort, as numbers."""
    from hmc_crowd.io import read_frame

    loaded = read_frame(file, kind="items")
    missing = [name for name in ("confidence", "effort") if name not in loaded.features]
    if missing:
        raise FrameError(f"{file} lacks the numeric column {missing[0]}; it needs item, confidence and effort")
    return loaded.frame
