"""Commands about people's time: effort estimate, train, evaluate, compare, drift."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, PLAN, AsJson, CampaignName, Database, ModelKind, app, open_campaign
from hmc_crowd.cli._arguments import numbers
from hmc_crowd.cli._show import busy, emit_json, notes, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    import pandas as pd

effort_app = typer.Typer(cls=HelpfulGroup, help="How long will people need? Estimate, train, evaluate or compare.")
app.add_typer(effort_app, name="effort", rich_help_panel=PLAN)

Times = Annotated[
    Path, typer.Argument(metavar="FILE", help="One row a timed group: numeric features and a column of seconds.")
]
Column = Annotated[str, typer.Option("--seconds", metavar="COLUMN", help="The column that holds the seconds.")]
Groups = Annotated[
    str | None,
    typer.Option("--groups", metavar="COLUMN", help="Rows that share its value (a worker) are never split over folds."),
]
Finished = Annotated[
    str | None,
    typer.Option("--finished", metavar="COLUMN", help="False where work was cut off: seconds are a bound (log_time)."),
]


@effort_app.command("estimate")
def effort_estimate(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Predict the time of every item, by the newest model or else by reading speed."""
    with open_campaign(db, campaign) as opened, busy("estimating"):
        result = opened.estimate_effort()
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.notes)


@effort_app.command("train")
def effort_train(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    finished: Finished = None,
    kind: ModelKind = "random_forest",
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Train the campaign's effort model on times logged elsewhere."""
    timed = _read_timed(file, seconds, groups, finished)
    with open_campaign(db, campaign) as opened, busy("training"):
        result = opened.train_effort(
            timed.features, timed.seconds, kind=kind, groups=timed.groups, finished=timed.finished
        )
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.notes)


@effort_app.command("evaluate")
def effort_evaluate(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    finished: Finished = None,
    kind: ModelKind = "random_forest",
    folds: Annotated[int, typer.Option("--folds", min=2, metavar="N", help="How often a part is held out.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Cross-validate an effort model on a file; nothing is stored."""
    from hmc_crowd.effort import EffortModel

    timed = _read_timed(file, seconds, groups, finished)
    model = EffortModel(kind, max_features=min(8, timed.features.shape[1]))
    with busy("evaluating"):
        who = timed.groups if kind == "log_time" else None
        scores = model.evaluate(
            timed.features, timed.seconds, folds, timed.groups, workers=who, finished=timed.finished
        )
    if as_json:
        emit_json(scores)
        return
    pooled = scores.pooled
    say(
        f"{pooled.n:,} rows, {len(scores.folds)} folds: MAE {pooled.mae_s:.1f} s, RMSE {pooled.rmse_s:.1f} s, "
        f"R2 {pooled.r2_s:.3f}"
    )
    table(_per_fold(scores))
    notes(scores.assumptions, kind="assuming")


@effort_app.command("compare")
def effort_compare(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    champion: Annotated[
        str, typer.Option("--champion", metavar="KIND", help="The kind that would be replaced.")
    ] = "random_forest",
    challenger: Annotated[
        str, typer.Option("--challenger", metavar="KIND", help="The kind that must be better to replace it.")
    ] = "log_time",
    folds: Annotated[int, typer.Option("--folds", min=2, metavar="N", help="How often a part is held out.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Test whether one kind of effort model is better than another, in the same folds of a file."""
    from hmc_crowd.effort import EffortModel, compare_models

    timed = _read_timed(file, seconds, groups)
    both = [EffortModel(kind, max_features=min(8, timed.features.shape[1])) for kind in (champion, challenger)]
    with busy("comparing"):
        found = compare_models(both[0], both[1], timed.features, timed.seconds, workers=timed.groups, folds=folds)
    if as_json:
        emit_json(found)
        return
    say(str(found))
    table(found.to_frame().rename_axis("model").reset_index())
    notes(found.assumptions, kind="assuming")


@effort_app.command("drift")
def effort_drift(
    file: Times,
    seconds: Column = "seconds",
    groups: Groups = None,
    periods: Annotated[
        str | None, typer.Option("--periods", metavar="COLUMN", help="When each row was worked on: a round, a month.")
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Hold later times against the campaign's effort model: are people slower, does its P90 still hold?"""
    timed = _read_timed(file, seconds, groups, periods=periods)
    with open_campaign(db, campaign) as opened, busy("comparing"):
        found = opened.effort_drift(timed.features, timed.seconds, periods=timed.periods, groups=timed.groups)
    if as_json:
        emit_json({"drifted": found.drifted, "periods": found.periods.reset_index()})
        return
    say(str(found))
    table(_per_period(found.periods))


def _per_period(periods: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row a period, narrow enough for a terminal."""
    import pandas as pd

    rows = [
        {
            "period": name,
            "n": int(each["n"]),
            "workers": int(each["n_workers"]),
            "times of predicted": f"{each['speed']:.2f} [{each['speed_low']:.2f}, {each['speed_high']:.2f}]",
            "P90 keeps": f"{each['p90']:.1%} [{each['p90_low']:.1%}, {each['p90_high']:.1%}]",
            "drifted": each["drifted"],
        }
        for name, each in periods.iterrows()
    ]
    return pd.DataFrame(rows)


def _per_fold(scores: Any) -> "pd.DataFrame":
    """Return one row a fold, their mean and the pooled figures; errors of the share, then in seconds."""
    import pandas as pd

    named = [*((f"{number}", fold) for number, fold in enumerate(scores.folds, 1)), ("mean", scores.mean)]
    rows = [
        {
            "fold": name,
            "n": each.n,
            "MSE": each.mse,
            "RMSE": each.rmse,
            "MAE": each.mae,
            "R2": each.r2,
            "MAE s": each.mae_s,
        }
        for name, each in [*named, ("pooled", scores.pooled)]
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Timed:
    """Logged times: numeric features, seconds, whom each row belongs to, whether it was finished, and when."""

    features: "pd.DataFrame"
    seconds: "Any"
    groups: "Any"
    finished: "Any"
    periods: "Any"


def _read_timed(
    file: Path, seconds: str, groups: str | None, finished: str | None = None, *, periods: str | None = None
) -> _Timed:
    """Read the rows of a file of logged times; name the first that are no times."""
    import pandas as pd

    from hmc_crowd.io import read_frame
    from hmc_crowd.io._columns import flag_column

    loaded = read_frame(file, kind=None)
    frame = loaded.frame
    named = {"--seconds": seconds, "--groups": groups, "--finished": finished, "--periods": periods}
    for option, column in named.items():
        if column is not None and column not in frame:
            shown = ", ".join(map(str, frame.columns[:12]))
            raise FrameError(f"{file} lacks the column {column} that {option} names (it has: {shown})")
    times = numbers(loaded, seconds, file)
    left = frame.drop(columns=list({column for column in named.values() if column is not None}))
    numeric = left.apply(pd.to_numeric, errors="coerce").dropna(axis="columns", how="all")
    if numeric.empty:
        raise FrameError(f"{file} has no numeric column beside {seconds}; the model needs features, such as turns")
    who, when = (None if each is None else frame[each].to_numpy() for each in (groups, periods))
    done = None if finished is None else flag_column(frame[finished], finished, loaded.where)
    return _Timed(numeric, times, who, done, when)
