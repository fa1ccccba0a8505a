"""Commands that conclude: aggregate, certify, learn."""

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
    ModelKind,
    OutFile,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._facts import certificate_facts
from hmc_crowd.cli._people import Method
from hmc_crowd.cli._show import busy, emit_json, facts, notes, say, table
from hmc_crowd.errors import InputError

_ALONE = "Without a campaign"


@app.command(rich_help_panel=RESULT)
def aggregate(
    answers: Annotated[
        Path | None,
        typer.Argument(metavar="[ANSWERS]", help="A file of answers: task, worker, label. Default: the campaign's."),
    ] = None,
    method: Method = "dawid_skene",
    gold: Annotated[
        Path | None, typer.Option("--gold", metavar="FILE", help="With a file of answers: known labels, item, label.")
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Turn several answers into one label; --out FILE writes one label for every item, people's or the machine's."""
    require_free(out, overwrite=overwrite)
    method = method.replace("-", "_")
    if answers is not None:
        _aggregate_file(answers, method, gold, out, overwrite=overwrite, as_json=as_json)
        return
    if gold is not None:
        raise InputError("--gold goes with a file of answers; add a campaign's gold with `hmc-crowd items --gold FILE`")
    with open_campaign(db, campaign) as opened, busy("aggregating"):
        result = opened.aggregate(method=method)
        written = None if out is None else opened.labels(out, aspect=aspect, overwrite=overwrite)
    if as_json:
        shown = {"labels": len(result.labels), "answers": result.answers, "tied": result.tied, "method": result.method}
        emit_json({**shown, "notes": result.notes, "workers": result.workers, "out": written})
        return
    say(str(result))
    notes(list(dict.fromkeys(result.notes)))
    if written is not None:
        say(f"one label for every item: {written}")


def _aggregate_file(
    answers: Path, method: str, gold: Path | None, out: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    from hmc_crowd.aggregation import aggregate as aggregate_answers
    from hmc_crowd.io import read_frame, write_frame

    known = None if gold is None else read_frame(gold, kind="gold").frame
    frame = read_frame(answers, kind="answers").frame
    with busy("aggregating"):
        result = aggregate_answers(frame, method=method, gold=known)
    written = None if out is None else write_frame(result.frame, out, overwrite=overwrite)
    if as_json:
        emit_json(result)
        return
    say(f"{len(result.frame):,} labels from {len(frame):,} answers by {result.method}")
    notes(result.cautions, kind="caution")
    if written is None:
        table(result.frame)
    else:
        say(f"labels: {written}")


@app.command(rich_help_panel=RESULT)
def certify(
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Confidence of the bound.")] = 0.95,
    at_least: Annotated[
        float | None,
        typer.Option("--at-least", metavar="SHARE", help="Leave with 1 unless this agreement is certified."),
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="Size of the batch ...", rich_help_panel=_ALONE)
    ] = None,
    human: Annotated[
        int | None, typer.Option("--human", metavar="N", help="... judged by people ...", rich_help_panel=_ALONE)
    ] = None,
    audited: Annotated[
        int | None,
        typer.Option("--audited", metavar="N", help="... of the others, audited at random ...", rich_help_panel=_ALONE),
    ] = None,
    wrong: Annotated[
        int | None, typer.Option("--wrong", metavar="N", help="... and of those, wrong.", rich_help_panel=_ALONE)
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bound how many of the batch's labels agree with our people, from the audit; exact for this very batch."""
    if at_least is not None and not 0 <= at_least <= 1:
        raise InputError(f"--at-least is {at_least}; a share of labels lies in [0, 1]")
    if any(count is not None for count in (items, human, audited, wrong)):
        bound = _certify_counts(items, human, audited, wrong, level=level, as_json=as_json)
    else:
        with open_campaign(db, campaign) as opened, busy("certifying"):
            result = opened.certify(level=level)
        bound = result.agreement_at_least
        if as_json:
            emit_json(result)
        else:
            facts(*certificate_facts(result))
            notes(result.assumptions, kind="assuming")
    if at_least is not None and bound < at_least:
        typer.echo(f"hmc-crowd: {bound:.4f} is below the {at_least:g} asked for", err=True)
        raise typer.Exit(1)


def _certify_counts(
    items: int | None, human: int | None, audited: int | None, wrong: int | None, *, level: float, as_json: bool
) -> float:
    from hmc_crowd.routing import certify_batch

    if items is None or human is None or audited is None or wrong is None:
        raise InputError(
            "--items, --human, --audited and --wrong go together; give all four, or none for the campaign's"
        )
    result = certify_batch(items, human, audited, wrong, level=level)
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.assumptions, kind="assuming")
    return float(result.agreement_at_least)


@app.command(rich_help_panel=RESULT)
def learn(
    kind: ModelKind = "random_forest",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Retrain the effort model from the campaign's logged times (also: retrain)."""
    with open_campaign(db, campaign) as opened, busy("training"):
        result = opened.learn(kind=kind)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    if result.version:
        notes(result.notes)


app.command("retrain", hidden=True, help="The same as learn.")(learn)
