"""Commands about the machine's confidence: confidence evaluate, calibrate."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    OUTPUT,
    PLAN,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._arguments import names
from hmc_crowd.cli._metrics_file import column, optional, read_table
from hmc_crowd.cli._show import busy, emit_json, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    import pandas as pd

confidence_app = typer.Typer(
    cls=HelpfulGroup, help="How sure may one be of the machine's labels? Evaluate and calibrate."
)
app.add_typer(confidence_app, name="confidence", rich_help_panel=PLAN)

File = Annotated[Path, typer.Argument(metavar="FILE", help="One row an item whose true label is known.")]
Correct = Annotated[
    str | None, typer.Option("--correct", metavar="COLUMN", help="1 where the machine's label is right, else 0.")
]
Label = Annotated[str, typer.Option("--label", metavar="COLUMN", help="The machine's label, without --correct.")]
Truth = Annotated[str, typer.Option("--truth", metavar="COLUMN", help="The true label, without --correct.")]


@confidence_app.command("evaluate")
def evaluate(
    file: File,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="A,B", help="Columns of confidences in [0, 1], to be compared.")
    ] = "confidence",
    correct: Correct = None,
    label: Label = "label",
    truth: Truth = "truth",
    top: Annotated[
        str, typer.Option("--top", metavar="A,B", help="Parts of the items, the surest, whose accuracy is shown.")
    ] = "0.5",
    bins: Annotated[int, typer.Option("--bins", min=1, metavar="N", help="Bins of the calibration error.")] = 15,
    cluster: Annotated[
        str | None, typer.Option("--cluster", metavar="COLUMN", help="Rows that belong together, such as a dialogue.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write tables and plots as a page.", rich_help_panel=OUTPUT),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Measure confidences on labelled items: AUC, accuracy of the surest part, risk-coverage, calibration."""
    from hmc_crowd.confidence import confidence_report, report_frame

    rows = _read(file, names(confidence), correct, label, truth)
    shares = _shares(top)
    clusters = optional(rows.frame, cluster, file)
    with busy("measuring"):
        reports = [
            confidence_report(each, rows.correct, name=name, shares=shares, bins=bins, clusters=clusters)
            for name, each in rows.confidences.items()
        ]
    if html is not None:
        _write_page(reports, html, overwrite=overwrite)
    if as_json:
        emit_json([each.to_dict() for each in reports])
        return
    say(f"{len(rows.correct):,} items, {rows.correct.mean():.4f} of the labels right")
    if len(reports) > 1:
        table(report_frame(reports))
    for report in reports:
        table(report.to_frame().drop(columns="confidence"), title=f"\n{report.name}")
    if html is not None:
        say(f"page written to {html}")


@confidence_app.command("calibrate")
def calibrate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Items with a known label; default: the campaign's gold items."),
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="COLUMN", help="Column of raw confidences in [0, 1].")
    ] = "confidence",
    correct: Correct = None,
    label: Label = "label",
    truth: Truth = "truth",
    method: Annotated[
        str,
        typer.Option("--method", metavar="METHOD", help="isotonic, platt, temperature, or auto (cross-validated)."),
    ] = "auto",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    aspect: AspectName = None,
    as_json: AsJson = False,
) -> None:
    """Learn from held-out labels what the machine's confidences are worth; later plans use it."""
    labelled = None
    if file is not None:
        import pandas as pd

        rows = _read(file, [confidence], correct, label, truth)
        labelled = pd.DataFrame({"confidence": rows.confidences[confidence], "correct": rows.correct})
    with open_campaign(db, campaign) as opened, busy("calibrating"):
        result = opened.calibrate(labelled, aspect=aspect, method=method)
    if as_json:
        emit_json(result)
    else:
        say(str(result))


@dataclass(frozen=True)
class _Rows:
    """Confidences by name, and whether each label was right."""

    frame: "pd.DataFrame"
    confidences: "dict[str, Any]"
    correct: "Any"


def _read(file: Path, wanted: list[str], correct: str | None, label: str, truth: str) -> _Rows:
    """Read confidences and rightness of a file; name what is missing or wrong."""
    import pandas as pd

    if not wanted:
        raise InputError("--confidence is empty; name a column of confidences")
    frame = read_table(file)
    confidences = {}
    for name in wanted:
        value = pd.to_numeric(column(frame, name, file), errors="coerce").to_numpy(dtype=float)
        _refuse(~((value >= 0) & (value <= 1)), frame[name], f"{file}: {name} must be in [0, 1]")
        confidences[name] = value
    if correct is None:
        said, known = column(frame, label, file), column(frame, truth, file)
        _refuse((said.isna() | known.isna()).to_numpy(), known, f"{file}: {label} and {truth} must be known")
        right = said.astype(str).str.strip() == known.astype(str).str.strip()
        return _Rows(frame, confidences, right.to_numpy(dtype=bool))
    words = column(frame, correct, file).map(lambda each: str(each).strip().lower())
    right = words.map({"1": 1.0, "1.0": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "false": 0.0})
    _refuse(right.isna().to_numpy(), frame[correct], f"{file}: {correct} must be 1 or 0")
    return _Rows(frame, confidences, right.to_numpy(dtype=bool))


def _refuse(bad: "Any", values: "Any", what: str) -> None:
    from hmc_crowd._base.checks import first_rows

    if bad.any():
        raise FrameError(f"{what}: {first_rows(bad, values.to_numpy())}; correct or drop these rows")


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in names(text)]
    except ValueError:
        shares = []
    if not shares or not all(0 < each <= 1 for each in shares):
        raise InputError(f"--top is {text!r}; give shares in (0, 1], such as 0.5 or 0.25,0.5")
    return shares


def _write_page(reports: "list[Any]", path: Path, *, overwrite: bool) -> None:
    """Write tables, calibration plot and risk-coverage curve as one page."""
    import pandas as pd

    from hmc_crowd._base.clock import SystemClock
    from hmc_crowd.confidence import calibration_chart, risk_chart
    from hmc_crowd.report import Document, Section, Table, write_document

    measures = pd.concat([each.to_frame() for each in reports], ignore_index=True)
    bins = pd.concat([each.calibration.to_frame().assign(name=each.name) for each in reports], ignore_index=True)
    quality = Table(key="measures", title="Measures", frame=measures, merged=1)
    plotted = bins[["name", "count", "confidence", "correct"]]
    gaps = Table(key="bins", title="Bins of equal size", frame=plotted, merged=1)
    document = Document(
        title="How sure may one be of the machine's labels?",
        created_at=SystemClock().now(),
        sections=[
            Section(key="quality", title="Quality", tables=[quality]),
            Section(key="calibration", title="Calibration", charts=[calibration_chart(reports)], tables=[gaps]),
            Section(key="order", title="Risk and coverage", charts=[risk_chart(reports)]),
        ],
    )
    write_document(document, path, overwrite=overwrite)
