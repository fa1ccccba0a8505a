"""Commands that measure tables made anywhere: metrics score, metrics agreement, metrics preference."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import OUTPUT, RESULT, AsJson, app
from hmc_crowd.cli._arguments import names
from hmc_crowd.cli._metrics_file import column, labels_of, optional, outcomes_of, read_table
from hmc_crowd.cli._metrics_work import agreement_metrics, ranking_of, read_range, read_rule, show
from hmc_crowd.cli._show import busy, emit_json, notes, say, table
from hmc_crowd.errors import InputError

metrics_app = typer.Typer(
    no_args_is_help=True,
    help="How good is an evaluation? Scores against people's, agreement of people, preferences; each with an interval.",
)
app.add_typer(metrics_app, name="metrics", rich_help_panel=RESULT)

File = Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, JSON lines or Parquet.")]
Level = Annotated[float, typer.Option("--confidence-level", metavar="SHARE", help="Coverage of the intervals.")]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="COLUMN", help="Rows that belong together, such as those of one instruction."),
]
Category = Annotated[str | None, typer.Option("--category", metavar="COLUMN", help="Also by this column.")]


@metrics_app.command("score")
def score(
    file: File,
    system: Annotated[str, typer.Option("--system", metavar="COLUMN", help="The system's scores.")] = "system",
    human: Annotated[str, typer.Option("--human", metavar="COLUMN", help="The first human's scores.")] = "human",
    second: Annotated[
        str | None, typer.Option("--second-human", metavar="COLUMN", help="A second human's, where there is one.")
    ] = None,
    groups: Annotated[str, typer.Option("--groups", metavar="A,B", help="Columns of subgroups.")] = "",
    score_range: Annotated[
        str | None, typer.Option("--range", metavar="LOW,HIGH", help="The scale; default: the human scores' own.")
    ] = None,
    keep_zeros: Annotated[bool, typer.Option("--keep-zeros", help="Keep human scores of 0, which leave else.")] = False,
    cluster: Cluster = None,
    level: Level = 0.95,
    folder: Annotated[
        Path | None,
        typer.Option("--tables", metavar="FOLDER", help="Write every table there as CSV.", rich_help_panel=OUTPUT),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare a system's scores with people's: RSMTool's tables (percent where it has percent)."""
    from hmc_crowd.metrics import score_report

    loaded = read_table(file)
    for name in (system, human, *([second] if second else []), *names(groups), *([cluster] if cluster else [])):
        column(loaded, name, file)
    with busy("measuring"):
        report = score_report(
            loaded,
            system=system,
            human=human,
            second_human=second,
            groups=names(groups),
            score_range=None if score_range is None else read_range(score_range),
            exclude_zero_scores=not keep_zeros,
            clusters=(cluster,) if cluster else (),
            level=level,
        )
    written = [] if folder is None else report.to_csv(folder)
    if as_json:
        emit_json({**report.to_dict(), "written": written})
        return
    say(str(report))
    wanted = ("eval_short", "consistency", "true_score_eval", *(f"eval_by_{each}" for each in names(groups)))
    for name in (each for each in wanted if each in report.tables):
        # Narrow terminals: measures go down, score types or groups across.
        shown = report[name].T
        shown.insert(0, "measure", shown.index)
        table(shown.reset_index(drop=True), title=f"\n{name}")
    for name in (f"fairness_metrics_by_{each}" for each in names(groups)):
        if name in report.tables:
            table(report[name].reset_index(), title=f"\n{name}")
    notes(report.warnings, kind="warning")
    if folder is not None:
        say(f"{len(written)} tables written to {folder}")


@metrics_app.command("agreement")
def agreement(
    file: File,
    raters: Annotated[
        str, typer.Option("--raters", metavar="A,B,C", help="One column per rater; else task, worker, label.")
    ] = "",
    scale: Annotated[
        str, typer.Option("--scale", metavar="SCALE", help="nominal, ordinal, interval or ratio.")
    ] = "nominal",
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="COLUMN", help="With --raters: a judge's label per row; empty: none."),
    ] = None,
    cluster: Cluster = None,
    category: Category = None,
    level: Level = 0.95,
    as_json: AsJson = False,
) -> None:
    """Tell how far people agree: percent, alpha, kappa, AC1, ICC and leave-one-out; also a judge with people."""
    from hmc_crowd.metrics import agreement_table

    loaded = read_table(file)
    wide = names(raters)
    if not wide and any(each is not None for each in (judge, cluster, category)):
        raise InputError("--judge, --cluster and --category belong to rows with one column per rater: add --raters")
    names_of = [] if wide else ["task", "worker"]
    ratings = labels_of(
        loaded, wide or [*names_of, "label"], file, ids=names_of, together=bool(wide), nominal=scale == "nominal"
    )
    clusters = optional(loaded, cluster, file)
    guess = None if judge is None else labels_of(loaded, [judge], file, like=ratings)[judge]
    with busy("measuring"):
        found = agreement_metrics(ratings, scale, guess, clusters, level)
        by = None
        if category is not None:
            kinds = column(loaded, category, file)
            by = agreement_table(ratings, kinds, guess, clusters=clusters, level=level)
    if as_json:
        emit_json({"metrics": [each.to_dict() for each in found], "by_category": None if by is None else by.to_dict()})
        return
    show(found)
    if by is not None:
        show([*by.categories.values(), by.micro, by.macro], by.to_frame()["category"].tolist(), title=f"\n{by.name}")


@metrics_app.command("preference")
def preference(
    file: File,
    outcome: Annotated[
        str, typer.Option("--outcome", metavar="COLUMN", help="win, tie, loss from the target's view; empty: unparsed.")
    ] = "outcome",
    tie: Annotated[float, typer.Option("--tie", metavar="WORTH", help="Worth of a tie: 0.5, 1 (a win), 0.")] = 0.5,
    unparsed: Annotated[str, typer.Option("--unparsed", metavar="RULE", help="drop or as_loss.")] = "drop",
    swapped: Annotated[
        str | None,
        typer.Option("--swapped", metavar="COLUMN", help="Outcome in the other order, mapped back to the target."),
    ] = None,
    lengths: Annotated[
        str, typer.Option("--lengths", metavar="A,B", help="Columns: length of the target's response, of the other.")
    ] = "",
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="COLUMN", help="Several targets: rank them (needs --item)."),
    ] = None,
    item: Annotated[str, typer.Option("--item", metavar="COLUMN", help="What models have in common.")] = "item",
    cluster: Cluster = None,
    category: Category = None,
    level: Level = 0.95,
    as_json: AsJson = False,
) -> None:
    """Tell win rate, length bias, position consistency; by category; a ranking with groups; Bradley-Terry."""
    import hmc_crowd.metrics as hm

    loaded = read_table(file)
    clusters = optional(loaded, cluster, file)
    common: dict[str, Any] = {"clusters": clusters, "level": level}
    outcomes = outcomes_of(loaded, outcome, file)
    found = [hm.expected_win_rate(outcomes, tie, unparsed=read_rule(unparsed), **common)]
    if lengths:
        both = names(lengths)
        if len(both) != 2:
            raise InputError(f"--lengths is {lengths!r}; name two columns: target,other")
        a, b = (labels_of(loaded, [each], file)[each] for each in both)
        found.append(hm.length_bias_rate(a, b, outcomes, **common))
        found.append(hm.length_bias_rate(a, b, outcomes, denominator="decided", **common))
    if swapped:
        found.append(hm.position_swap_consistency(outcomes, outcomes_of(loaded, swapped, file), **common))
    by = None
    if category is not None:
        kinds = column(loaded, category, file)
        by = hm.win_rate_table(outcomes, kinds, tie=tie, unparsed=read_rule(unparsed), **common)
    ranking = (
        None if model is None else ranking_of(loaded, model, item, file, outcomes, tie, read_rule(unparsed), level)
    )
    strengths = None
    if {"model_a", "model_b"} <= set(loaded.columns):
        strengths = hm.bradley_terry(
            {"model_a": loaded["model_a"], "model_b": loaded["model_b"], "outcome": outcomes}, **common
        )
    if as_json:
        emit_json(
            {
                "metrics": [each.to_dict() for each in found],
                "by_category": None if by is None else by.to_dict(),
                "ranking": None if ranking is None else {**vars(ranking), "table": ranking.table},
                "bradley_terry": None if strengths is None else {"models": strengths.to_frame(), "n": strengths.n},
            }
        )
        return
    show(found)
    if by is not None:
        show([*by.categories.values(), by.micro, by.macro], by.to_frame()["category"].tolist(), title=f"\n{by.name}")
    if ranking is not None:
        say(f"\n{ranking}")
        table(ranking.table)
    if strengths is not None:
        say(f"\n{strengths}")
        table(strengths.to_frame())
