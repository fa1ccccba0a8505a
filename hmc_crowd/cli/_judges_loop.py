"""Judges in the loop: judges winrate."""

from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    open_campaign,
)
from hmc_crowd.cli._judges import Pairs, judges_app
from hmc_crowd.cli._judges_work import pairs_of
from hmc_crowd.cli._metrics_file import column
from hmc_crowd.cli._show import emit_json, say, table


@judges_app.command("winrate")
def winrate(
    file: Pairs,
    model: Annotated[str, typer.Option("--model-column", metavar="COLUMN", help="Who wrote response a.")] = "model",
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Of the intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option("--alpha", metavar="SHARE", help="Of the tests between models.")] = 0.05,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Win rates of a campaign's models, with intervals and ranks: the judge's word, corrected by people's."""
    pairs = pairs_of(file)
    models = column(pairs, model, file)
    with open_campaign(db, campaign) as opened:
        rates = opened.win_rates(pairs, models.tolist(), aspect=aspect, level=level, alpha=alpha)
    if out is not None:
        from hmc_crowd.io import write_frame

        write_frame(rates.table, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json(rates.to_dict())
        return
    table(rates.table.round(3), title="Win rates against the baseline, corrected by people's labels")
    say("models of one rank cannot be told apart; 'machine' and 'final' are shown to compare, and are biased")
    for note in rates.notes:
        say(note, indent="  ")
    if out is not None:
        say(f"written to {out}")
