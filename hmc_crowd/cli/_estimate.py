"""Commands for the final figure, and for the audit by experts that accuracy rests on."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    RESULT,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._show import busy, emit_json, notes, say, table
from hmc_crowd.errors import InputError

_SHOWN = ["category", "value", "low", "high", "n", "n_items", "effective_n", "machine_helps"]


@app.command(rich_help_panel=RESULT)
def estimate(
    of: Annotated[
        str,
        typer.Argument(metavar="FIGURE", help="share:LABEL, mean, or win:a and win:b of a pair.", show_default=False),
    ],
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN|FILE", help="Also by a column of the items, or a file item, category."),
    ] = None,
    target: Annotated[
        str, typer.Option("--of", metavar="population|batch", help="Of all items that could have come, or of these.")
    ] = "population",
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Coverage of the intervals.")] = 0.95,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    aspect: AspectName = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Estimate the batch's final figure, such as the share of a label, with an interval that routing does not spoil."""
    category = Path(by) if by is not None and Path(by).suffix and Path(by).is_file() else by
    with open_campaign(db, campaign) as opened, busy("estimating"):
        figure = opened.estimate(of, by=category, aspect=aspect, target=target, level=level)
    if out is not None:
        from hmc_crowd.io import write_frame

        write_frame(figure.table, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        metrics = {name: each.to_dict() for name, each in figure.metrics.items()}
        emit_json(
            {"of": figure.of, "aspect": figure.aspect, "target": target, "figures": metrics, "notes": figure.notes}
        )
        return
    say(str(figure))
    if len(figure.table) > 1:
        table(figure.table[_SHOWN])
    notes(figure.notes)


@app.command("expert-audit", rich_help_panel=RESULT)
def expert_audit(
    machine: Annotated[int, typer.Option("--machine", min=0, metavar="N", help="Labels that the machine gave.")],
    people: Annotated[int, typer.Option("--people", min=0, metavar="N", help="Labels that people gave.")],
    people_share: Annotated[
        float, typer.Option("--people-error", metavar="SHARE", help="Part of the allowed error for people's labels.")
    ] = 0.5,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Draw labels at random for experts to judge blind on the board; then `hmc-crowd certify --accuracy`."""
    if machine + people == 0:
        raise InputError("--machine and --people are 0; draw some labels of each")
    with open_campaign(db, campaign) as opened:
        drawn = opened.draw_expert_audit(machine, people, people_share=people_share)
    if as_json:
        emit_json(drawn)
    else:
        say(str(drawn))
