"""How long will people need? Tables 4 and 5, and figure 5: the whole framework with our own effort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.effort import EffortModel, ablation, response_effort, time_correlations
from hmc_crowd.report import Axis, Chart, Column, Series, Table, line_chart
from hmc_crowd.reproduce import _paper as paper
from hmc_crowd.reproduce._rows import NAMES, SHARES, compared, compared_table
from hmc_crowd.routing import sweep

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.effort import EffortScores
    from hmc_crowd.reproduce._load import HmcevalData

__all__: list[str] = []

_SCORES = ("mse", "rmse", "mae", "r2")
# Where the joined run is shown: confidence alone, the paper's choice, and a higher price of effort.
_SHOWN_TRADE_OFFS = (0.0, 4.6, 10.0)
_JOINED = {name: NAMES[name] for name in ("accuracy", "f1", "human_share", "effort_share")} | {
    "time_share_s": "time in seconds, share of all"
}


def paper_model(*, trees: int = 100, n_jobs: int | None = None) -> EffortModel:
    """Return the paper's model: a random forest of 100 trees, 8 features per split, seed 397."""
    return EffortModel("random_forest", n_estimators=trees, max_features=8, seed=397, n_jobs=n_jobs)


def scores_of(data: HmcevalData, features: str, model: EffortModel, *, share_workers: bool) -> EffortScores:
    """Cross-validate on one set of features: on shuffled folds as the paper did, or on folds that share no worker."""
    frame = data.dialogues
    groups = None if share_workers else frame["approval_ranking"].to_numpy()
    found = ablation(model, frame, frame["seconds"].to_numpy(), sets=[features], groups=groups, scaling="all")
    return found.scores[features]


def table_4(shuffled: dict[str, EffortScores], *, trees: int = 100) -> Table:
    """Return the errors of the effort model, means over the folds, and what the worker features change."""
    rows: list[tuple[str, str, float, float]] = []
    found = {name: [getattr(scores.mean, each) for each in _SCORES] for name, scores in shuffled.items()}
    for name, printed in paper.TABLE_4.items():
        rows += [(name, NAMES[s], p, m) for s, p, m in zip(_SCORES, printed, found[name], strict=True)]
    change = 100 * (np.array(found["D+W"]) / np.array(found["D"]) - 1)
    for score, stated, measured in zip(_SCORES, paper.TABLE_4_CHANGE_PCT, change, strict=True):
        rows.append(("change, %", NAMES[score], stated, float(measured)))
    return compared_table(
        "table_4",
        "Table 4: the effort model, dialogue features (D) and worker features (W)",
        compared(rows, "run", "metric"),
        f"Random forest, {trees} trees, 8 features per split, 5 shuffled folds, seed 397; time scaled to [0, 1] over "
        "all rows, as the authors did. The paper's changes come from its rounded numbers, so the change of a "
        "small error is rough.",
        merged=1,
    )


def worker_disjoint(shuffled: dict[str, EffortScores], apart: dict[str, EffortScores]) -> Table:
    """Return R2 when no worker is in training and test at once: not in the paper."""
    rows: list[tuple[str, str, float | None, float]] = []
    for name in paper.TABLE_4:
        rows.append((name, "R², shuffled folds", paper.TABLE_4[name][3], shuffled[name].pooled.r2))
        rows.append((name, "R², folds that share no worker", None, apart[name].pooled.r2))
    return compared_table(
        "worker_disjoint",
        "The effort model on workers it has never seen",
        compared(rows, "run", "metric"),
        "R² over all held-out dialogues together. The approval-rate ranking nearly names the worker; folds that "
        "share no worker show what is left for new ones.",
        merged=1,
    )


def table_5(data: HmcevalData) -> Table:
    """Return the correlation of each feature with time."""
    features = list(paper.TABLE_5)
    table = time_correlations(data.dialogues[features], data.dialogues["seconds"].to_numpy(), columns=features)
    rows, stars = [], []
    for name, (pearson, pearson_stars, spearman, spearman_stars) in paper.TABLE_5.items():
        found = table.loc[name]
        rows.append((name.replace("_", " "), "Pearson r", pearson, float(str(found["pearson"]))))
        rows.append((name.replace("_", " "), "Spearman ρ", spearman, float(str(found["spearman"]))))
        stars += [(pearson_stars, found["pearson_stars"]), (spearman_stars, found["spearman_stars"])]
    frame = compared(rows, "feature", "metric")
    frame["paper_stars"], frame["measured_stars"] = zip(*stars, strict=True)
    return compared_table(
        "table_5",
        "Table 5: features and time",
        frame,
        "** p < .001, * p < .05. 6,000 dialogues, one time each.",
        merged=1,
        feature=Column("Feature"),
        metric=Column("Correlation"),
        paper_stars=Column("Paper, stars"),
        measured_stars=Column("Measured, stars"),
    )


def predicted_efforts(data: HmcevalData, model: EffortModel) -> dict[str, NDArray[np.float64]]:
    """Train on the train dialogues, predict the test dialogues' share of time, and divide it by their turns."""
    train, test = data.train, data.test
    found = {}
    for features in paper.TABLE_4:
        fitted = EffortModel(**{**model.get_params(), "features": features})
        fitted.fit(train, train["seconds"].to_numpy())
        found[features] = response_effort(fitted.predict_share(test), test["turns"].to_numpy())[data.test_row]
    return found


def figure_5(data: HmcevalData, efforts: dict[str, NDArray[np.float64]]) -> tuple[Table, Table, Chart]:
    """Return the joined run: accuracy against true time when our own model's effort steers the router."""
    import pandas as pd

    true_s, true_share = true_times(data)
    frame = pd.concat([_joined(data, name, effort, true_share) for name, effort in efforts.items()], ignore_index=True)
    in_seconds = pd.concat([_joined(data, name, effort, true_s) for name, effort in efforts.items()], ignore_index=True)
    frame["time_share_s"] = in_seconds["effort_share"]
    chart = line_chart(
        "figure_5",
        [Series(str(name), part["effort_share"], part["accuracy"]) for name, part in frame.groupby("run", sort=False)],
        title="Figure 5: accuracy against time, by features of the effort model (N/M = .5)",
        description="Trust Score; effort predicted by our random forest from dialogue features (D), and from dialogue "
        "and worker features (D+W); trade-offs from 0 to 45.",
        x=Axis("Time, share of all"),
        y=Axis("Accuracy"),
    )
    points = Table(
        key="figure_5",
        title="Figure 5, all points",
        frame=frame,
        columns={**SHARES, "time_share_s": Column("Time in seconds, share of all", "number", 4)},
        folded=True,
    )
    rows = [
        (row["run"], row["trade_off"], _JOINED[name], _printed(row["trade_off"], name), row[name])
        for row in frame[frame["trade_off"].isin(_SHOWN_TRADE_OFFS)].to_dict("records")
        for name in _JOINED
    ]
    joined = compared_table(
        "joined_run",
        "The whole framework on real data, with our own effort model",
        compared(rows, "run", "trade_off", "metric"),
        "Trained on 4,801 dialogues, routed the 5,673 responses of the other 1,199. The paper's column is its "
        "table 2, made with effort that the authors predicted. Its time is scaled to [0, 1] first, which takes "
        "the shortest time off every dialogue; the share of the seconds as logged stands below.",
        merged=2,
        run=Column("Features"),
        trade_off=Column("Trade-off", "number", 1),
    )
    return joined, points, chart


def true_times(data: HmcevalData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logged time of each response (its dialogue's / turns): in seconds, and scaled as the paper does."""
    seconds = data.test["seconds"].to_numpy(dtype=np.float64)
    low, high = data.dialogues["seconds"].min(), data.dialogues["seconds"].max()
    turns = data.test["turns"].to_numpy()
    share = response_effort((seconds - low) / (high - low), turns)
    return response_effort(seconds, turns)[data.test_row], share[data.test_row]


def _joined(
    data: HmcevalData, name: str, effort: NDArray[np.float64], true_effort: NDArray[np.float64]
) -> pd.DataFrame:
    items = data.responses
    frame = sweep(
        data.confidences["Trust Score"],
        effort,
        trade_offs=paper.FIGURE_3_TRADE_OFFS,
        max_humans=[paper.CAP_SHARE],
        target=items["target"].to_numpy(),
        predicted=items["predicted"].to_numpy(),
        true_effort=true_effort,
    )
    return frame.assign(run=name)[["run", *frame.columns]]


def _printed(trade_off: float, metric: str) -> float | None:
    column = {0.0: "MCE", paper.TRADE_OFF: "MCE + HEE"}.get(trade_off)
    return None if column is None or metric not in paper.METRICS else paper.TABLE_2[column][paper.METRICS.index(metric)]
