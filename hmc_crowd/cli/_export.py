"""The command that leaves with results: export."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    OUTPUT,
    RESULT,
    AsJson,
    CampaignName,
    Database,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._show import busy, emit_json, say
from hmc_crowd.errors import InputError


@app.command(rich_help_panel=RESULT)
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New or empty.")],
    publication: Annotated[
        bool, typer.Option("--publication", help="For others to read: no ids, no free text, no gold.")
    ] = False,
    with_gold: Annotated[bool, typer.Option("--with-gold", help="Also answers to gold, which spoils it.")] = False,
    with_text: Annotated[bool, typer.Option("--with-text", help="Also free text, which may name somebody.")] = False,
    license_url: Annotated[
        str, typer.Option("--license", metavar="URL", help="For the data card.", rich_help_panel=OUTPUT)
    ] = "",
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Write answers, labels, codebook, data card (Croissant), LaTeX tables and a methods paragraph to a folder."""
    if not publication:
        raise InputError(
            "export writes what others may read: say so with --publication. For your own use: labels by "
            "`hmc-crowd aggregate --out FILE`, everything by `hmc-crowd backup`, one worker's data by `export-worker`"
        )
    with open_campaign(db, campaign) as opened, busy("writing"):
        result = opened.export_publication(
            folder, with_gold=with_gold, with_text=with_text, license_url=license_url, overwrite=overwrite
        )
    if as_json:
        emit_json(result)
        return
    say(str(result))
    say(", ".join(result.files), indent="  ")
