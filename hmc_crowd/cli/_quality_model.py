"""The command on what features say of a campaign's workers: quality model."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, AsJson, CampaignName, Database, OutFile, Overwrite, open_campaign
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._quality import quality_app
from hmc_crowd.cli._show import busy, emit_json, give
from hmc_crowd.errors import ModelError

_SHOWN = ["worker", "quality", "bayes", "bayes_low", "bayes_high", "n_gold", "streak", "priority"]


@quality_app.command("model")
def model(
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="random_forest, or xgboost, which needs the extra boost.")
    ] = "random_forest",
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the model to this file (.skops).")
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Learn quality from features, say whether that beats gold alone, and rank workers; nobody is left out by it."""
    require_free(out, overwrite=overwrite)
    require_free(save, overwrite=overwrite, name="--save", endings=(".skops",))
    with open_campaign(db, campaign) as opened, busy("learning"):
        found = opened.quality_model(kind)  # type: ignore[arg-type]  # it says which kinds there are
    if save is not None:
        from hmc_crowd.quality import save_quality_model

        if found.model is None:
            raise ModelError(f"{found.why_none}: there is no model to save; leave --save out to see what gold says")
        save_quality_model(found.model, save)
    if as_json:
        if out is not None:
            from hmc_crowd.io import write_frame

            write_frame(found.workers, out, overwrite=overwrite, safe_for_spreadsheets="auto")
        emit_json(
            {
                "said": str(found),
                "base": found.base,
                "report": found.report,
                "brier_bayes": found.brier_bayes,
                "outcomes": found.outcomes,
                "workers": found.workers,
                "notes": found.notes,
            }
        )
        return
    give(
        found.workers,
        found.workers[_SHOWN],
        out,
        as_json=False,
        overwrite=overwrite,
        rows="workers",
        head=str(found),
        said=found.notes,
    )
