"""What would other caps and other prices of effort have brought? Figures 2 and 3, and the joint search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.report import Axis, Chart, Series, Table, line_chart
from hmc_crowd.reproduce import _paper as paper
from hmc_crowd.reproduce._rows import SHARES
from hmc_crowd.routing import cap_count, sweep

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.reproduce._load import HmcevalData

__all__: list[str] = []


def figure_2(data: HmcevalData) -> tuple[Table, Chart]:
    """Return the sweep over N at a trade-off of .1."""
    frame = _sweep(data, [paper.FIGURE_2_TRADE_OFF], list(paper.FIGURE_2_CAPS))
    chart = _sweep_chart(
        "figure_2",
        frame,
        "max_human",
        "Figure 2: more items for people (trade-off .1)",
        f"Accuracy rises from {frame['accuracy'].iloc[0]:.3f} to {frame['accuracy'].max():.3f}, steeply at first; "
        f"human ratio and time keep rising to {frame['effort_share'].iloc[-1]:.3f}.",
        Axis("N / M"),
    )
    return _sweep_table("figure_2", "Figure 2, all 21 points", frame), chart


def figure_3(data: HmcevalData) -> tuple[Table, Chart, float]:
    """Return the sweep over the trade-off at N/M = .5, and the pivot beyond which fewer than N items are worth it."""
    frame = _sweep(data, list(paper.FIGURE_3_TRADE_OFFS), [paper.CAP_SHARE])
    pivot = pivot_trade_off(data)
    chart = _sweep_chart(
        "figure_3",
        frame,
        "trade_off",
        "Figure 3: a higher price of effort (N/M = .5)",
        f"The human ratio stays at .500 up to a trade-off of {pivot:.3f} and then falls; time falls "
        f"from {frame['effort_share'].iloc[0]:.3f} to {frame['effort_share'].iloc[-1]:.3f}.",
        Axis("Trade-off"),
    )
    return _sweep_table("figure_3", "Figure 3, all 451 points", frame), chart, pivot


def pivot_trade_off(data: HmcevalData) -> float:
    """Return the trade-off at which the N-th best item stops being worth its effort: its doubt over its effort."""
    doubt = 1.0 - data.confidences["Trust Score"]
    effort = data.responses["effort"].to_numpy()
    worth = np.divide(doubt, effort, out=np.full(len(doubt), np.inf), where=effort > 0)
    n = cap_count(paper.CAP_SHARE, len(worth))
    return float(np.partition(worth, len(worth) - n)[len(worth) - n])


def grid(data: HmcevalData) -> pd.DataFrame:
    """Return the paper's joint search: 451 trade-offs by 21 caps, 9,471 points."""
    return _sweep(data, list(paper.FIGURE_3_TRADE_OFFS), list(paper.FIGURE_2_CAPS))


def _sweep(data: HmcevalData, trade_offs: list[float], caps: list[float]) -> pd.DataFrame:
    items = data.responses
    return sweep(
        data.confidences["Trust Score"],
        items["effort"].to_numpy(),
        trade_offs=trade_offs,
        max_humans=caps,
        target=items["target"].to_numpy(),
        predicted=items["predicted"].to_numpy(),
        true_effort=items["true_effort"].to_numpy(),
    )


def _sweep_table(key: str, title: str, frame: pd.DataFrame) -> Table:
    note = "The paper shows this as a drawing, without numbers."
    return Table(key=key, title=title, frame=frame, columns=SHARES, note=note, folded=True)


def _sweep_chart(key: str, frame: pd.DataFrame, x: str, title: str, description: str, axis: Axis) -> Chart:
    lines = ("precision", "recall", "f1", "accuracy", "human_share", "effort_share")
    short = {
        "precision": "precision",
        "recall": "recall",
        "f1": "F1",
        "human_share": "human ratio",
        "effort_share": "time",
    }
    series = [Series(short.get(name, name), frame[x], frame[name]) for name in lines]
    return line_chart(key, series, title=title, description=description, x=axis, y=Axis("Share"))
