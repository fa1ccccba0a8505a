"""Commands that show the whole: demo, reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import AsJson, Seed, app
from hmc_crowd.cli._show import emit, progress_bar, table, to_plain


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the report and the databases; made anew.")] = Path("hmc-crowd-demo"),
    seed: Seed = 2021,
    as_json: AsJson = False,
) -> None:
    """Play the whole loop on a few hundred dialogues with simulated workers: no account, no network, under a minute."""
    from hmc_crowd.demo import run_demo

    with progress_bar() as progress:
        result = run_demo(out, seed=seed, progress=progress, say=None if as_json else typer.echo)
    emit(result, as_json=as_json)


reproduce_app = typer.Typer(no_args_is_help=True, help="Recompute a paper's tables from its published data.")
app.add_typer(reproduce_app, name="reproduce")


@reproduce_app.command("hmceval")
def reproduce_hmceval(
    data: Annotated[Path, typer.Option("--data", help="Folder of per_dialogue.tsv, sae_trust_score.tsv, sae_mcp.tsv.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write CSV tables, plots and an HTML page there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tables 1 to 5 and Figures 2 to 6 of the HMCEval paper (ACL 2021), beside the paper's own numbers."""
    from hmc_crowd.reproduce import reproduce_hmceval as recompute

    with progress_bar() as progress:
        result = recompute(data, out=out, progress=progress)
    if as_json:
        emit(to_plain(result.to_dict()), as_json=True)
        return
    for named in result.tables():
        table(named.frame, title=named.title, note=named.note)
        typer.echo("")
    if out is not None:
        typer.echo(f"tables, plots and page: {out}")
