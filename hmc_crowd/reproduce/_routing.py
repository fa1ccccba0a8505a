"""Who judged what, and how well did that go? Tables 1 and 2, figure 6, and what the paper does not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.metrics import per_position
from hmc_crowd.report import Axis, Chart, Column, Series, Table, line_chart
from hmc_crowd.reproduce import _paper as paper
from hmc_crowd.reproduce._rows import NAMES, SHARES, compared, compared_table
from hmc_crowd.routing import PlanOutcome, TouchedGroups, certify_batch, evaluate_plan, route, touched_groups

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.reproduce._load import HmcevalData
    from hmc_crowd.routing import Plan

__all__: list[str] = []


@dataclass(frozen=True, eq=False)
class Run:
    """One plan on the published responses, with its outcome."""

    name: str
    plan: Plan
    final: NDArray[np.int64]
    outcome: PlanOutcome
    touched: TouchedGroups

    @property
    def numbers(self) -> dict[str, float]:
        """The six numbers of the paper's tables."""
        return {name: getattr(self.outcome, name) for name in paper.METRICS}


def run_plan(
    data: HmcevalData,
    name: str,
    trade_off: float,
    *,
    max_human: Any = paper.CAP_SHARE,
    cap: Literal["at_most", "exactly"] = "at_most",
) -> Run:
    """Route by Trust Score and the authors' predicted effort; count by the true labels and the true time."""
    items = data.responses
    plan = route(
        data.confidences["Trust Score"], items["effort"].to_numpy(), max_human=max_human, trade_off=trade_off, cap=cap
    )
    target, predicted = items["target"].to_numpy(), items["predicted"].to_numpy()
    true_effort = items["true_effort"].to_numpy()
    outcome = evaluate_plan(plan.to_human, target, predicted, true_effort)
    touched = touched_groups(plan.to_human, items["group"].to_numpy(), true_effort)
    return Run(name, plan, np.where(plan.to_human, target, predicted), outcome, touched)


def all_runs(data: HmcevalData) -> dict[str, Run]:
    """Return the runs of tables 1 and 2, and the one that shows why table 2 needs ``exactly``."""
    made = (
        run_plan(data, "machine only", 0.0, max_human=0),
        run_plan(data, "HMCEval", paper.TRADE_OFF),
        run_plan(data, "MCE", 0.0),
        run_plan(data, "MCE + HEE", paper.TRADE_OFF),
        run_plan(data, "HEE", 500.0, cap="exactly"),
        run_plan(data, "HEE, at most N", 500.0),
    )
    return {each.name: each for each in made}


def table_1(runs: dict[str, Run]) -> Table:
    """Return the machine alone against the framework."""
    return _runs_table(
        "table_1",
        "Table 1: the machine alone and HMCEval, test part",
        {name: runs[name] for name in paper.TABLE_1},
        dict(paper.TABLE_1),
        "Trust Score, trade-off 4.6, N = floor(.5 M) = 2,836. Reliability is agreement with people, whose label "
        "is taken as right; time is people's true time on their items, divided by that of all items.",
    )


def table_2(runs: dict[str, Run]) -> Table:
    """Return confidence alone, both, effort alone."""
    names = [*paper.TABLE_2, "HEE, at most N"]
    return _runs_table(
        "table_2",
        "Table 2: confidence alone, both, effort alone (N/M = .5)",
        {name: runs[name] for name in names},
        dict(paper.TABLE_2),
        "Trade-offs 0, 4.6, 500. The paper's HEE column holds with exactly N items to people; with the printed "
        "constraint (at most N) two items go to people, as the last rows show.",
    )


def _runs_table(key: str, title: str, runs: dict[str, Run], printed: dict[str, tuple[float, ...]], note: str) -> Table:
    rows = [
        (name, run.plan.cap, NAMES[metric], printed.get(name, (None,) * 6)[i], run.numbers[metric])
        for name, run in runs.items()
        for i, metric in enumerate(paper.METRICS)
    ]
    return compared_table(key, title, compared(rows, "run", "cap", "metric"), note, merged=2)


def relative_gains(runs: dict[str, Run]) -> Table:
    """Return what the framework adds to the machine, in percent of the machine's value."""
    machine, both = runs["machine only"].numbers, runs["HMCEval"].numbers
    rows = [
        (NAMES[name], printed, 100 * (both[name] / machine[name] - 1))
        for name, printed in paper.RELATIVE_GAINS_PCT.items()
    ]
    return compared_table(
        "relative_gains",
        "Relative gains of HMCEval over the machine, test part",
        compared(rows, "metric"),
        "The published files hold the test part only, so the validation part of the paper's table 6 cannot be "
        "measured.",
        paper=Column("Paper", "number", 1, "%"),
        measured=Column("Measured", "number", 2, "%"),
        difference=Column("Difference", "number", 2, "percentage points", sign=True),
    )


def time_both_ways(runs: dict[str, Run]) -> Table:
    """Return what the paper does not say: touched dialogues, and the time if they are read whole."""
    rows = []
    for name in ("MCE + HEE", "MCE"):
        run = runs[name]
        label = f"trade-off {run.plan.trade_off:g}"
        rows += [
            (label, "dialogues touched, share of 1,199", None, run.touched.touched_share),
            (label, "time, each response by itself", paper.TABLE_2[name][5], run.touched.time_share_items),
            (label, "time, touched dialogues read whole", None, run.touched.time_share_whole),
        ]
    return compared_table(
        "time_both_ways",
        "Time counted both ways",
        compared(rows, "run", "metric"),
        "The paper gives each response an equal part of its dialogue's time. Whoever judges one response may have "
        "to read the whole dialogue; then the plan costs far more. The truth lies between.",
        merged=1,
    )


def certificates() -> Table:
    """Return the exact bound for the paper's plan, had an audit of the machine's items found 3 % wrong."""
    import pandas as pd

    bounds = [certify_batch(5673, 2836, audited, wrong) for audited, wrong, _ in paper.CERTIFICATES]
    frame = pd.DataFrame(
        {
            "audited": [bound.audited for bound in bounds],
            "wrong": [bound.wrong for bound in bounds],
            "measured": [bound.agreement_at_least for bound in bounds],
            "reference": [expected for *_, expected in paper.CERTIFICATES],
        }
    )
    frame["difference"] = frame["measured"] - frame["reference"]
    return Table(
        key="certificates",
        title="What an audit of the 2,837 kept items would certify, at 95 %",
        frame=frame,
        columns={
            "audited": Column("Audited", "integer"),
            "wrong": Column("Wrong among them", "integer"),
            "measured": Column("Agreement at least", "number", 4),
            "reference": Column("Reference", "number", 4),
            "difference": Column("Difference", "number", 4, sign=True),
        },
        note="Not in the paper. An exact hypergeometric bound for this batch; audited items take the person's label.",
    )


def figure_6(data: HmcevalData, run: Run) -> tuple[Table, Chart]:
    """Return reliability and effort per turn."""
    items = data.responses
    frame = per_position(
        items["position"].to_numpy(),
        items["target"].to_numpy(),
        run.final,
        to_human=run.plan.to_human,
        true_effort=items["true_effort"].to_numpy(),
    )
    lines = (("accuracy", "accuracy"), ("human_share", "human ratio"), ("effort_share", "time"))
    rare = frame.loc[frame["n"] < 0.05 * len(items), "position"].tolist()
    chart = line_chart(
        "figure_6",
        [Series(name, frame["position"], frame[column]) for column, name in lines],
        title="Figure 6: by turn (trade-off 4.6, N/M = .5)",
        description=f"Accuracy stays between {_range(frame['accuracy'])}, the human ratio between "
        f"{_range(frame['human_share'])}, time between {_range(frame['effort_share'])}. Turns "
        f"{', '.join(map(str, rare))} hold under 5 % of the items each.",
        x=Axis("Turn"),
        y=Axis("Share"),
    )
    table = Table(
        key="figure_6",
        title="Figure 6, each turn with its number of items",
        frame=frame,
        columns={**SHARES, "position": Column("Turn", "integer"), "n": Column("n", "integer")},
        note="The time of a turn is people's time on its items over the time of all its items. Small n: a shaky row.",
    )
    return table, chart


def wrong_kept(data: HmcevalData, run: Run) -> Table:
    """Return the items that the machine kept and had wrong, with the reason why it kept them."""
    import pandas as pd

    items = data.responses
    wrong = ~run.plan.to_human & (items["target"] != items["predicted"]).to_numpy()
    gain = run.plan.gain[wrong]
    frame = pd.DataFrame(
        {
            "item": items["item"].to_numpy()[wrong],
            "group": items["group"].to_numpy()[wrong],
            "position": items["position"].to_numpy()[wrong],
            "machine_label": items["predicted"].astype(str).to_numpy()[wrong],
            "true_label": items["target"].astype(str).to_numpy()[wrong],
            "confidence": data.confidences["Trust Score"][wrong],
            "effort": items["effort"].to_numpy()[wrong],
            "gain": gain,
            "reason": np.where(
                gain > 0,
                f"the cap was full: the cut lies at a gain of {run.plan.border.gain:.4f}",
                "not worth its effort",
            ),
        }
    )
    low, high = paper.WRONG_KEPT_SHARE
    kept = int((~run.plan.to_human).sum())
    return Table(
        key="wrong_kept",
        title="Items that the plan left to the machine and the machine had wrong",
        frame=frame,
        columns={
            "confidence": Column("Confidence", "number", 3),
            "effort": Column("Effort", "number", 4),
            "gain": Column("Gain", "number", 4),
            "group": Column("Dialogue"),
            "position": Column("Turn", "integer"),
        },
        note=f"{len(frame)} of {kept:,} kept items, {100 * len(frame) / len(items):.2f} % of all (paper: "
        f"{100 * low:.1f} to {100 * high:.1f} %). Label 1 is malevolent. The texts are not published with the "
        "data; the authors hand them out.",
        folded=True,
    )


def _range(values: pd.Series[float]) -> str:
    return f"{values.min():.3f} and {values.max():.3f}"
