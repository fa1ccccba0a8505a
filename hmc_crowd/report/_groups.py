"""Do groups of people judge the same items alike? A part of the report, where people said something of themselves.

Groups are never smaller than five people, and nothing here is counted in answers: from such counts and the table of
workers a group could be put together again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.report._blocks import Table
from hmc_crowd.report._dots import Dots, dot_chart
from hmc_crowd.report._draw import Axis
from hmc_crowd.report._format import Column

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.report._data import ReportData
    from hmc_crowd.report._svg import Chart

__all__ = ["group_tables"]

_SHARE = Column("Share", "percent", 1)
_TITLES = {
    "labels": "Labels by group",
    "cohesion": "Agreement inside and outside of a group, on the same items",
    "agreement": "Agreement within and between groups",
    "accuracy": "Right answers to gold by group",
    "groups": "Quality of the people by group",
}
_NOTES = {
    "labels": "Shares are of what a group judged; compare groups by the difference, which is taken on the same items.",
    "agreement": "Of the items that each pair of groups judged; kappa is agreement beyond chance. Compare groups by "
    "the table above, which is of the same items.",
    "accuracy": "With the answers of people who are left out. A difference may be one of skill, or of the gold's view.",
}
_COLUMNS = {
    "attribute": Column("Attribute"),
    "group": Column("Group"),
    "other": Column("With"),
    "people": Column("People", "integer"),
    "share": _SHARE,
    "low": Column("From", "percent", 1),
    "high": Column("To", "percent", 1),
    "inside": Column("Inside", "percent", 1),
    "outside": Column("With others", "percent", 1),
    "difference": Column("Difference", "percent", 1),
    "difference_low": Column("Difference from", "percent", 1),
    "difference_high": Column("Difference to", "percent", 1),
    "chance": Column("By chance", "percent", 1),
    "kappa": Column("Kappa", "number", 2),
    "kappa_low": Column("Kappa from", "number", 2),
    "kappa_high": Column("Kappa to", "number", 2),
    "quality": Column("Mean quality", "percent", 1),
    "quality_low": Column("From", "percent", 1),
    "quality_high": Column("To", "percent", 1),
}
_MOST_SERIES = 6
_LETTERS = 36  # of a label in a legend, which a phone must hold in one line


def group_tables(data: ReportData) -> dict[str, Any] | None:
    """Show how groups of people judge; None where nobody said anything of themselves."""
    if not data.groups:
        return None
    lead = (
        "Groups by what people said of themselves, of at least five people each. A difference is taken on items that "
        "people of the group and others judged, so that a group that saw harder items is not taken for biased. All "
        "95 % intervals of one table hold together."
    )
    tables = tuple(
        Table(
            key=f"people_{name}",
            title=title,
            frame=data.groups[name],
            note=_NOTES.get(name, ""),
            columns=_numbers(data.groups[name]) if name == "labels" else _COLUMNS,
            merged={"labels": 3, "agreement": 2}.get(name, 1),
            folded=name in ("agreement", "groups") or len(data.groups[name]) > 12,
        )
        for name, title in _TITLES.items()
        if name in data.groups
    )
    return {
        "paragraphs": (lead, *(f"{each[:1].upper()}{each[1:]}." for each in data.groups["said"])),
        "charts": _charts(data.groups.get("labels")),
        "tables": tables,
        "bullets": tuple(data.groups["notes"]),
        "bullets_title": "To be known" if data.groups["notes"] else "",
    }


def _numbers(labels: pd.DataFrame) -> dict[str, Column]:
    """Return the columns; means of numbers are no shares."""
    if not _is_mean(labels):
        return _COLUMNS
    plain = {name: Column(each.label, "number", 3) for name, each in _COLUMNS.items() if each.kind == "percent"}
    return {**_COLUMNS, **plain, "share": Column("Mean", "number", 3)}


def _is_mean(labels: pd.DataFrame) -> bool:
    return set(labels["label"]) == {"mean"}


def _short(label: str) -> str:
    return label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"


def _charts(labels: pd.DataFrame | None) -> tuple[Chart, ...]:
    """Draw the differences, one chart for each attribute: the labels that groups differ most in."""
    if labels is None:
        return ()
    charts: list[Chart] = []
    for number, (attribute, part) in enumerate(labels.groupby("attribute", sort=False)):
        if not part["difference"].notna().any():
            continue
        groups = list(dict.fromkeys(part["group"]))
        largest = part["difference"].abs().groupby(part["label"].astype(str)).max().sort_values(ascending=False)
        # Of two labels one says it all: the other mirrors it.
        shown = list(largest.index[: 1 if len(largest) == 2 else _MOST_SERIES])
        series = []
        for label in shown:
            mine = part[part["label"].astype(str) == label].set_index("group").reindex(groups)
            ends = (mine[name].to_numpy(dtype=np.float64) for name in ("difference_low", "difference_high"))
            series.append(Dots(_short(label), mine["difference"].to_numpy(dtype=np.float64), *ends))
        unit = "" if _is_mean(labels) else " (points)"
        what = f"“{_short(shown[0])}”" if len(shown) == 1 and unit else "labels" if unit else "numbers"
        charts.append(
            dot_chart(
                f"people-{number}",
                [str(each) for each in groups],
                series,
                title=f"{attribute}: {what}, against others on the same items",
                description="Right of the line a group gives it more often than others do of the same items; an "
                "interval that covers the line may be chance. The numbers are in the table.",
                x=Axis(f"Difference{unit}", percent=bool(unit)),
                line=0.0,
            )
        )
    return tuple(charts)
