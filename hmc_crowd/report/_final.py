"""What is the figure in the end, and which other plans were worth having? Two parts of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.report._blocks import Table
from hmc_crowd.report._format import Column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from hmc_crowd.report._data import ReportData

__all__ = ["final_figures", "frontier_tables"]

_FIGURES = {
    "value": Column("Estimate", "number", 4),
    "low": Column("From", "number", 4),
    "high": Column("To", "number", 4),
    "labels": Column("Labels of people", "integer"),
    "effective_n": Column("Worth, drawn at random", "number", 0),
    "final_mean": Column("Final labels alone", "number", 4),
    "machine_helps": Column("The machine helps"),
}


def final_figures(data: ReportData) -> dict[str, Any] | None:
    """Show the final figures with their intervals."""
    if data.figures is None or data.figures.empty:
        return None
    lead = (
        "What people would say of all such items, estimated from what they said of some. Neither the final labels give "
        "it, which keep the machine's errors, nor people's labels alone, which are of the doubtful items."
    )
    title, frame = "Figures with their 95 % intervals", data.figures
    said = "; ".join(dict.fromkeys(each for each in frame.get("said", ()) if each))
    frame = frame.drop(columns="said", errors="ignore")
    if "machine_helps" in frame:
        # A flag would be shown as a warning.
        frame = frame.assign(machine_helps=frame["machine_helps"].map({True: "yes", False: "no"}))
    table = Table(key="figures", title=title, frame=frame, columns=_FIGURES, note=said[:1].upper() + said[1:])
    return {"paragraphs": (lead,), "tables": (table,)}


def frontier_tables(frontier: pd.DataFrame | None, known: Mapping[str, Column]) -> tuple[Table, ...]:
    """Show the plans that no other beats, folded."""
    if frontier is None or frontier.empty:
        return ()
    columns = {**known, "max_human": Column("Cap on items", "number", 0)}
    note = "Every plan that is not here is beaten by one that is: as reliable with less time, or more so with as much."
    title = "Plans worth having"
    return (Table(key="frontier", title=title, frame=frontier, columns=columns, note=note, folded=True),)
