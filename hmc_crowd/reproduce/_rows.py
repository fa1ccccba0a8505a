"""How does a table set the paper beside us? One row per number: paper, measured, difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.report import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__: list[str] = []

# The paper prints three digits; ours have one more, so that a difference is no rounding.
COMPARED = {
    "run": Column("Run"),
    "metric": Column("Number"),
    "paper": Column("Paper", "number", 3),
    "measured": Column("Measured", "number", 4),
    "difference": Column("Difference", "number", 4, sign=True),
    "cap": Column("Cap mode"),
}
NAMES = {
    "precision": "precision, macro",
    "recall": "recall, macro",
    "f1": "F1, macro",
    "accuracy": "accuracy",
    "human_share": "human ratio",
    "effort_share": "time, share of all",
    "mse": "MSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
}
SHARES = {
    "precision": Column("Precision", "number", 4),
    "recall": Column("Recall", "number", 4),
    "f1": Column("F1", "number", 4),
    "accuracy": Column("Accuracy", "number", 4),
    "human_share": Column("Human ratio", "number", 4),
    "effort_share": Column("Time, share of all", "number", 4),
    "max_human": Column("N / M", "number", 2),
    "trade_off": Column("Trade-off", "number", 1),
}


def compared(rows: Iterable[tuple[Any, ...]], *names: str) -> Any:
    """Return a frame of ``*names, paper, measured, difference``, missing where the paper prints nothing.

    Examples
    --------
    >>> compared([("machine", "accuracy", 0.862, 0.8623)], "run", "metric")["difference"].round(4).tolist()
    [0.0003]
    """
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=[*names, "paper", "measured"])
    frame[["paper", "measured"]] = frame[["paper", "measured"]].astype(float)
    frame["difference"] = frame["measured"] - frame["paper"]
    return frame


def compared_table(key: str, title: str, frame: Any, note: str, *, merged: int = 0, **columns: Column) -> Table:
    """Return the table of a frame made by `compared`."""
    return Table(key=key, title=title, frame=frame, note=note, columns={**COMPARED, **columns}, merged=merged)
