"""Does the machine know when it is right? Table 3 and figure 4, for the methods whose file is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.metrics import confidence_auc, top_k_accuracy
from hmc_crowd.report import Axis, Chart, Series, Table, line_chart
from hmc_crowd.reproduce import _paper as paper
from hmc_crowd.reproduce._rows import SHARES, compared, compared_table
from hmc_crowd.routing import sweep

if TYPE_CHECKING:
    from hmc_crowd.reproduce._load import HmcevalData

__all__: list[str] = []


def table_3(data: HmcevalData) -> Table:
    """Return the quality of each confidence: AUC, and accuracy of the most confident half."""
    correct = (data.responses["target"] == data.responses["predicted"]).to_numpy()
    rows = []
    for method, printed in paper.TABLE_3.items():
        if method not in data.confidences:
            continue
        confidence = data.confidences[method]
        rows.append((method, "AUC", printed[0], float(confidence_auc(confidence, correct))))
        rows.append((method, "accuracy of the top half", printed[1], float(top_k_accuracy(confidence, correct))))
    absent = [method for method in paper.TABLE_3 if method not in data.confidences]
    note = f"Not published, so not measured: {', '.join(absent)}." if absent else ""
    return compared_table(
        "table_3", "Table 3: quality of the confidence", compared(rows, "run", "metric"), note, merged=1
    )


def figure_4(data: HmcevalData) -> tuple[Table, Chart]:
    """Return accuracy against time at N/M = .5, one line per method, along the trade-offs of figure 3."""
    import pandas as pd

    items = data.responses
    frames = [
        sweep(
            confidence,
            items["effort"].to_numpy(),
            trade_offs=paper.FIGURE_3_TRADE_OFFS,
            max_humans=[paper.CAP_SHARE],
            target=items["target"].to_numpy(),
            predicted=items["predicted"].to_numpy(),
            true_effort=items["true_effort"].to_numpy(),
        ).assign(run=method)
        for method, confidence in data.confidences.items()
    ]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[["run", *[name for name in frame.columns if name != "run"]]]
    chart = line_chart(
        "figure_4",
        [Series(str(name), part["effort_share"], part["accuracy"]) for name, part in frame.groupby("run", sort=False)],
        title="Figure 4: accuracy against time, by confidence (N/M = .5)",
        description="One line per method along trade-offs from 0 to 45. Raw scores are not on one scale, so the same "
        "trade-off is a different point on each line; the lines can be compared, their points cannot.",
        x=Axis("Time, share of all"),
        y=Axis("Accuracy"),
    )
    note = "The paper shows this as a drawing, without numbers."
    table = Table(key="figure_4", title="Figure 4, all points", frame=frame, columns=SHARES, note=note, folded=True)
    return table, chart
