"""Commands about what makes work long: effort features, correlations, ablation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd.cli._app import AsJson, ModelKind, OutFile, Overwrite
from hmc_crowd.cli._arguments import names, numbers, require_free
from hmc_crowd.cli._effort import Column, Groups, Times, effort_app
from hmc_crowd.cli._show import busy, emit_json, notes, say, table
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.effort import FeatureTable
    from hmc_crowd.io import Loaded

_TEXT, _PEOPLE = "Text", "Who worked when"

PaperColumns = Annotated[
    bool, typer.Option("--paper-columns", help="The file has the column names of the HMCEval data; take its features.")
]


@effort_app.command("features")
def effort_features(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Items: item, text[, group, position], any numbers.")],
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="FILE", help="The machine's labels: item, label.")
    ] = None,
    positive: Annotated[
        str, typer.Option("--positive", metavar="A,B", help="Labels that take time (malevolent, wrong).")
    ] = "",
    language: Annotated[
        str,
        typer.Option(
            "--language", metavar="CODE", help="Decides which readability is declared.", rich_help_panel=_TEXT
        ),
    ] = "en",
    syllables: Annotated[
        str,
        typer.Option(
            "--syllables", metavar="SOURCE", help="hyphenation, or cmudict where nltk has it.", rich_help_panel=_TEXT
        ),
    ] = "hyphenation",
    paraphrases: Annotated[
        str | None,
        typer.Option(
            "--paraphrases",
            metavar="FILE|SHARE",
            help="What people wrote (item, text), or the expected share of positive turns.",
            rich_help_panel=_TEXT,
        ),
    ] = None,
    perplexity: Annotated[
        str | None,
        typer.Option(
            "--perplexity", metavar="MODEL", help="A masked language model: folder or name.", rich_help_panel=_TEXT
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option("--perplexity-method", metavar="HOW", help="exact, strided or one_pass.", rich_help_panel=_TEXT),
    ] = "exact",
    submissions: Annotated[
        Path | None,
        typer.Option(
            "--submissions",
            metavar="FILE",
            help="One row a sitting: group, worker, started or submitted, any others.",
            rich_help_panel=_PEOPLE,
        ),
    ] = None,
    gold_checks: Annotated[
        Path | None,
        typer.Option("--gold-checks", metavar="FILE", help="worker, right, at.", rich_help_panel=_PEOPLE),
    ] = None,
    reviews: Annotated[
        Path | None, typer.Option("--reviews", metavar="FILE", help="worker, approved, at.", rich_help_panel=_PEOPLE)
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compute the paper's features from text: of every dialogue, or of every sitting with --submissions."""
    from hmc_crowd.effort import submission_features, text_dialogue_features
    from hmc_crowd.io import read_frame, write_frame

    require_free(out, overwrite=overwrite)
    if submissions is None and (gold_checks is not None or reviews is not None):
        raise InputError("--gold-checks and --reviews say what was known of workers; add --submissions")
    if (predictions is None) == bool(names(positive)):
        raise InputError("--predictions and --positive go together: the labels, and which of them take time")
    items = read_frame(file, kind="items")
    labels = None if predictions is None else _read(predictions, texts=("item", "label"))
    rewritten = _share_or_table(paraphrases)
    with busy("reading the texts"):
        made = text_dialogue_features(
            items.frame,
            labels,
            positive_labels=names(positive) if predictions is not None else None,
            language=language,
            syllables=syllables,
            paraphrases=rewritten,
            perplexity=perplexity,
            perplexity_method=method,
            columns=_given(items),
        )
    frame = made.frame.reset_index()
    if submissions is not None:
        rows = _read(submissions, texts=("group", "worker"), times=("started", "submitted"))
        frame = submission_features(
            rows,
            made,
            gold_checks=None
            if gold_checks is None
            else _read(gold_checks, texts=("worker",), times=("at",), flag="right"),
            reviews=None if reviews is None else _read(reviews, texts=("worker",), times=("at",), flag="approved"),
        )
    written = None if out is None else write_frame(frame, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    _show_features(frame, made, written, as_json=as_json)


def _show_features(frame: "pd.DataFrame", made: "FeatureTable", written: Any, *, as_json: bool) -> None:
    if as_json:
        emit_json({"rows": frame, "left_out": made.left_out, "notes": made.notes, "written": written})
        return
    say(f"{len(frame):,} rows: {', '.join(map(str, made.frame.columns))}")
    if written is None:
        table(frame.head(10), title="\nfirst rows (--out FILE keeps them all)")
    else:
        say(f"written to {written}")
    notes(made.notes)


@effort_app.command("correlations")
def effort_correlations(
    file: Times, seconds: Column = "seconds", paper_columns: PaperColumns = False, as_json: AsJson = False
) -> None:
    """Correlate every feature with the time, Pearson and Spearman (the paper's table 5); ** p < .001, * p < .05."""
    from hmc_crowd.effort import time_correlations

    features, times, _ = _timed(file, seconds, None, paper_columns=paper_columns)
    found = time_correlations(features, times)
    if as_json:
        emit_json(found.reset_index())
        return
    say(f"{len(times):,} timed rows")
    shown = found.reset_index()[["feature", "n"]]
    for name in ("pearson", "spearman"):
        marks = found[f"{name}_stars"].to_numpy()
        shown[name] = [f"{value:.3f}{mark}" for value, mark in zip(found[name], marks, strict=True)]
    table(shown)
    notes([f"{name}: {why}" for name, why in found["reason"].items() if why])


@effort_app.command("ablation")
def effort_ablation(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    sets: Annotated[
        str, typer.Option("--sets", metavar="A,B", help="Groups of features: D, W, T, joined by plus signs.")
    ] = "D,D+W",
    kind: ModelKind = "random_forest",
    folds: Annotated[int, typer.Option("--folds", min=2, metavar="N", help="How often a part is held out.")] = 5,
    paper_columns: PaperColumns = False,
    as_json: AsJson = False,
) -> None:
    """Tell what each group of features adds, in the same folds (the paper's table 4)."""
    from hmc_crowd.effort import EffortModel, ablation, feature_names

    wanted = names(sets)
    if not wanted:
        raise InputError("--sets is empty; name at least one group of features, for example D")
    for each in wanted:
        feature_names(each)
    features, times, apart = _timed(file, seconds, groups, paper_columns=paper_columns)
    kept = {each: _there(features, each, file) for each in wanted}
    with busy("evaluating"):
        found = ablation(EffortModel(kind), features, times, sets=kept, folds=folds, groups=apart)
    if as_json:
        emit_json({"sets": found.to_frame().reset_index(), "features": kept})
        return
    say(f"{len(times):,} timed rows, {folds} folds" + ("" if groups is None else f", {groups} kept apart"))
    shown = found.to_frame()[["mse", "rmse", "mae", "r2"]].reset_index()
    shown.insert(1, "columns", [len(kept[each]) for each in wanted])
    shown["MAE s"] = [each.pooled.mae_s for each in found.scores.values()]
    table(shown)
    notes(next(iter(found.scores.values())).assumptions, kind="assuming")


def _timed(
    file: Path, seconds: str, groups: str | None, *, paper_columns: bool
) -> "tuple[pd.DataFrame, NDArray[np.float64], Any]":
    """Read a file of timed rows: numeric features, seconds, and whom each row belongs to."""
    import pandas as pd

    from hmc_crowd.effort import PAPER_COLUMNS, feature_names, from_paper_columns
    from hmc_crowd.io import read_frame

    loaded = read_frame(file, kind=None)
    if paper_columns and seconds not in loaded.frame:
        seconds = next((name for name, ours in PAPER_COLUMNS.items() if ours == seconds), seconds)
    for column in [each for each in (seconds, groups) if each is not None and each not in loaded.frame]:
        there = ", ".join(map(str, loaded.frame.columns[:12]))
        raise FrameError(f"{file} lacks the column {column} (it has: {there}); name another")
    times = numbers(loaded, seconds, file)
    apart = None if groups is None else loaded.frame[groups].to_numpy()
    frame = loaded.frame.drop(columns=list({seconds, groups or seconds}))
    if paper_columns:
        # The worker's ranking is both a feature and the only name that the published data have for a worker.
        frame = from_paper_columns(loaded.frame.apply(pd.to_numeric, errors="coerce"))
        frame = frame[[name for name in feature_names("D+W") if name in frame]]
    numeric = frame.apply(pd.to_numeric, errors="coerce").dropna(axis="columns", how="all")
    if numeric.empty:
        raise FrameError(f"{file} has no numeric column beside {seconds}; give features, such as turns")
    return numeric, times, apart


def _there(features: "pd.DataFrame", group: str, file: Path) -> list[str]:
    """Return the features of a group that the file has."""
    from hmc_crowd.effort import feature_names

    found = [name for name in feature_names(group) if name in features]
    if not found:
        raise FrameError(f"{file} has none of the features of {group}: {', '.join(feature_names(group))}")
    return found


def _given(items: "Loaded") -> "pd.DataFrame | None":
    """Return the numbers of the items file, one row a group: the first item's stand for the group."""
    if not items.features:
        return None
    frame = items.frame
    key = "group" if "group" in frame else "item"
    return frame.drop_duplicates(key).set_index(key).rename_axis("group")[list(items.features)]


def _share_or_table(text: str | None) -> Any:
    """Read --paraphrases: a number is a share, anything else a file."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return _read(Path(text), texts=("item",))


def _read(
    file: Path, *, texts: tuple[str, ...], times: tuple[str, ...] = (), flag: str | None = None
) -> "pd.DataFrame":
    """Read a file: names as text (so that 7 and "7" are one), aware times, and one column of true or false."""
    from hmc_crowd.io import read_frame
    from hmc_crowd.io._columns import flag_column, text_column
    from hmc_crowd.io._times import time_column

    loaded = read_frame(file, kind=None)
    missing = [name for name in texts if name not in loaded.frame]
    if missing:
        there = ", ".join(map(str, loaded.frame.columns[:12]))
        raise FrameError(f"{file} lacks the column {missing[0]} (it has: {there}); add or rename it")
    frame = loaded.frame.copy()
    for name in texts:
        frame[name] = text_column(frame[name], name, loaded.where)
    for name in [each for each in times if each in frame]:
        frame[name] = time_column(frame[name], name, loaded.where, assume_utc=False)
    if flag is not None and flag in frame:
        frame[flag] = flag_column(frame[flag], flag, loaded.where)
    return frame
