"""Commands that show the whole: demo, reproduce."""

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import BEGIN, OUTPUT, AsJson, app
from hmc_crowd.cli._show import emit_json, progress_bar, say, table
from hmc_crowd.cli._wording import HelpfulGroup


@app.command(rich_help_panel=BEGIN)
def demo(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FOLDER", help="For report and databases; an earlier demo's is made anew."),
    ] = Path("hmc-crowd-demo"),
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Of everything that is drawn.")] = 2021,
    as_json: AsJson = False,
) -> None:
    """Play the whole loop on a few hundred dialogues with simulated workers: no account, no network, under a minute."""
    from hmc_crowd.demo import run_demo

    with progress_bar() as progress:
        result = run_demo(out, seed=seed, progress=progress, say=None if as_json else say)
    if as_json:
        emit_json(result)
    else:
        say("")
        say(str(result))


reproduce_app = typer.Typer(cls=HelpfulGroup, help="Recompute a paper's tables from its published data.")
app.add_typer(reproduce_app, name="reproduce", rich_help_panel=BEGIN)


@reproduce_app.callback()
def _reproduce() -> None:
    """Take the name of a paper."""


@reproduce_app.command("hmceval")
def reproduce_hmceval(
    data: Annotated[
        Path,
        typer.Option("--data", metavar="FOLDER", help="Holds per_dialogue.tsv, sae_trust_score.tsv and sae_mcp.tsv."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Also write CSV tables, plots and an HTML page there.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tables 1 to 5 and Figures 2 to 6 of the HMCEval paper (ACL 2021), beside the paper's own numbers."""
    from hmc_crowd.reproduce import reproduce_hmceval as recompute

    with progress_bar() as progress:
        result = recompute(data, out=out, progress=progress)
    if as_json:
        emit_json(result.to_dict())
        return
    for named in result.tables():
        table(named.frame, title=named.title, note=named.note)
        say("")
    if out is not None:
        say(f"tables, plots and page: {out}")


@reproduce_app.command("href")
def reproduce_href(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Also write CSV tables, plots and an HTML page there.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """HREF's table 2: the composite row and every difference, recomputed from its own rows; no data needed."""
    from hmc_crowd.reproduce import reproduce_href as recompute

    result = recompute(out=out)
    if as_json:
        emit_json(result.to_dict())
        return
    for named in result.tables():
        table(named.frame.round(4), title=named.title, note=named.note)
        say("")
    if out is not None:
        say(f"tables, plots and page: {out}")
