"""The command aggregate: several answers -> one label, of a campaign or of a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._aggregate_file import FileRequest, aggregate_file, report_file
from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    OUTPUT,
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
from hmc_crowd.cli._arguments import TABLES, names, require_free
from hmc_crowd.cli._show import emit_json, notes, progress_bar, say, table
from hmc_crowd.errors import InputError

_ALONE, _ENGINE = "With a file of answers", "Large jobs"


@app.command(rich_help_panel=RESULT)
def aggregate(
    answers: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ANSWERS]",
            help="A file of answers: task, worker, label; or of an MTurk batch. Default: the campaign's.",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="dawid-skene, majority, weighted, wawa, one-coin, glad, mace, ibcc, ebcc, bwa; choose picks one by "
            "gold; of files also numeric, and crowdkit:NAME for texts, rankings, sets and masks.",
        ),
    ] = "dawid_skene",
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="Known labels: item, label.", rich_help_panel=_ALONE),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            metavar="A,B",
            help="All labels there are, in order; with numeric, the steps of the scale.",
            rich_help_panel=_ALONE,
        ),
    ] = "",
    repeats: Annotated[
        str | None,
        typer.Option(
            "--repeats",
            metavar="RULE",
            help="Several answers of a worker to an item: latest (default), all, refuse.",
            rich_help_panel=_ALONE,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="A page on workers and confidence (.html).", rich_help_panel=_ALONE
        ),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="FILE|CAMPAIGN",
            help="What is known of the workers: a file worker, label, truth, count; of a campaign: another one.",
        ),
    ] = None,
    strata: Annotated[
        str | None,
        typer.Option(
            "--strata",
            metavar="COLUMN",
            help="Labels and workers may differ by this column of the file; a campaign knows route.",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="COLUMN",
            help="How much each answer counts: this column of the file.",
            rich_help_panel=_ALONE,
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="A campaign: label what has new answers, as the workers were known.")
    ] = False,
    include_stale: Annotated[
        bool, typer.Option("--include-stale", help="A campaign: count answers under another guideline as well.")
    ] = False,
    blind_only: Annotated[
        bool, typer.Option("--blind-only", help="A campaign: only answers without the machine's label in view.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="NAME", help="numpy, numba or dask (dawid-skene).", rich_help_panel=_ENGINE),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Of the Dask cluster; ANSWERS may be a folder of Parquet.",
            rich_help_panel=_ENGINE,
        ),
    ] = None,
    workers: Annotated[
        Path | None,
        typer.Option("--workers", metavar="FILE", help="Write the table of workers here.", rich_help_panel=OUTPUT),
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Turn several answers into one label; --out FILE writes one label for every item, people's or the machine's."""
    written = {"--out": out, "--workers": workers, "--report": report}
    for name, file in written.items():
        require_free(file, overwrite=overwrite, name=name, endings=(".html",) if name == "--report" else TABLES)
    _require_apart(written, {} if answers is None else {"ANSWERS": answers, "--gold": gold, "--history": history})
    if answers is not None:
        if update:
            raise InputError("--update goes with a campaign; leave it out, or leave ANSWERS out")
        if include_stale or blind_only:
            raise InputError("--include-stale and --blind-only go with a campaign; leave them or ANSWERS out")
        past = None if history is None else Path(history)
        request = FileRequest(
            answers, method, gold, names(labels), past, strata, weights, repeats, engine, scheduler, aspect
        )
        _of_file(request, out, workers, report, overwrite=overwrite, as_json=as_json)
        return
    _require_no_file_options(gold=gold, labels=labels or None, repeats=repeats, report=report, weights=weights)
    with open_campaign(db, campaign) as opened, progress_bar() as progress:
        progress("aggregating", 0, 0)
        result = opened.aggregate(
            method=method,
            strata=strata,
            history=history,
            engine=engine,
            client=scheduler,
            include_stale=include_stale,
            blind_only=blind_only,
            update=update,
            progress=progress,
        )
        labelled = None if out is None else opened.labels(out, aspect=aspect, overwrite=overwrite)
    if workers is not None:
        _write(result.workers, workers, overwrite=overwrite)
    if as_json:
        shown = {"labels": len(result.labels), "answers": result.answers, "tied": result.tied, "method": result.method}
        emit_json({**shown, "notes": result.notes, "workers": result.workers, "out": labelled})
        return
    say(str(result))
    notes(list(dict.fromkeys(result.notes)))
    if labelled is not None:
        say(f"one label for every item: {labelled}")


def _require_no_file_options(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            more = "; add a campaign's gold with `hmc-crowd items --gold FILE`" if name == "gold" else ""
            raise InputError(f"--{name} goes with a file of answers{more or '; leave it out, or name the file'}")


def _require_apart(written: Mapping[str, Path | None], read: Mapping[str, Path | str | None]) -> None:
    """Refuse to write two results to one file, or one over what it is made from: --overwrite is not meant for that."""
    taken = {Path(file).resolve(): name for name, file in read.items() if file is not None}
    for name, file in written.items():
        if file is not None:
            other = taken.setdefault(file.resolve(), name)
            if other != name:
                raise InputError(f"{name} is {str(file)!r}, which {other} names too; choose another file")


def _of_file(
    request: FileRequest,
    out: Path | None,
    workers: Path | None,
    report: Path | None,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    with progress_bar() as progress:
        progress("aggregating", 0, 0)
        result = aggregate_file(request, progress)
        page = None if report is None else report_file(result, request, report)
    written = None if out is None else _write(result.frame, out, overwrite=overwrite)
    if workers is not None:
        _write(result.workers, workers, overwrite=overwrite)
    if as_json:
        emit_json(result)
        return
    say(f"{len(result.frame):,} labels from {result.counts.used:,} answers by {result.method}")
    left_out = result.counts.rows - result.counts.used
    counts = result.counts
    if left_out or counts.gold != counts.gold_used or counts.history != counts.history_used:
        say(str(counts))
    if result.method.endswith("chosen by gold"):  # otherwise a caution says why nothing was chosen
        notes([each for each in result.assumptions if each.startswith("Chosen: ")])
    notes(result.cautions, kind="caution")
    if written is None:
        table(result.frame)
    else:
        say(f"labels: {written}")
    for what, file in (("workers", workers), ("report", page)):
        if file is not None:
            say(f"{what}: {file}")


def _write(frame: object, path: Path, *, overwrite: bool) -> Path:
    from hmc_crowd.io import write_frame

    return write_frame(frame, path, overwrite=overwrite, safe_for_spreadsheets="auto")  # type: ignore[arg-type]  # because pandas loads late
