"""Commands that list what is out and what came back: hits, submissions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._show import give

if TYPE_CHECKING:
    import pandas as pd

State = Annotated[
    str | None, typer.Option("--state", metavar="STATE", help="Only those in this state, such as open or submitted.")
]


@app.command(rich_help_panel=PEOPLE)
def hits(
    state: State = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the HITs: their keys (for extend), places, pay, and where they are."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.hits()
    _show(found, ["hit", "round", "state", "platform", "items", "places"], state, out, as_json, overwrite=overwrite)


@app.command(rich_help_panel=PEOPLE)
def submissions(
    state: State = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the submissions: their ids (for approve, reject, pay), states, answers and times; workers by pseudonym."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.submissions()
    columns = ["submission", "worker", "state", "answers", "active_s"]
    _show(found, columns, state, out, as_json, overwrite=overwrite)


def _show(
    found: "pd.DataFrame",
    columns: list[str],
    state: str | None,
    out: Path | None,
    as_json: bool,
    *,
    overwrite: bool,
) -> None:
    shown = found if state is None else found[found["state"] == state].reset_index(drop=True)
    give(shown, shown[columns], out, as_json=as_json, overwrite=overwrite)
