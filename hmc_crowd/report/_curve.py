"""How does reliability grow with people's time, and where on that curve is the plan? One drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.report._draw import Axis, Point
from hmc_crowd.report._svg import Chart, Series, line_chart

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["RELIABILITY", "best_instead", "curve_chart"]

# What the y axis may show, best first; the label says whether truth was known.
RELIABILITY = {
    "accuracy": "Accuracy",
    "expected_accuracy": "Expected accuracy",
    "f1": "F1, macro",
    "recall": "Recall, macro",
    "precision": "Precision, macro",
}
# More lines than these cross so often that nobody can follow one.
_LINES = 4
# A tenth of a percentage point: less is noise of the grid.
_WORTH_SAYING = 0.001


def best_instead(frontier: pd.DataFrame | None, plan: Mapping[str, Any] | None) -> str:
    """Say what the best plan of no more time would reach."""
    if frontier is None or plan is None or plan.get("effort_share") is None:
        return ""
    y = next((name for name in RELIABILITY if name in frontier and plan.get(name) is not None), None)
    some = frontier[frontier["effort_share"] <= float(plan["effort_share"]) + 1e-9]
    if y is None or some.empty:
        return ""
    best = some.sort_values(y, kind="stable").iloc[-1]
    more = float(best[y]) - float(plan[y])
    if more < _WORTH_SAYING:
        return "No other trade-off and cap would reach more with the plan's time."
    return (
        f"With no more time, trade-off {best['trade_off']:g} and at most {best['max_human']:,.0f} items would reach "
        f"{float(best[y]) * 100:.1f} % where the plan reaches {float(plan[y]) * 100:.1f} %."
    )


def curve_chart(
    curve: pd.DataFrame, plan: Mapping[str, Any] | None, frontier: pd.DataFrame | None = None
) -> Chart | None:
    """Draw reliability over the share of people's time, one line per trade-off, the plan's point marked.

    The line of the best plans of all trade-offs comes on top, where there is a ``frontier``.


    Returns None where the curve has no reliability column with a number in it.
    """
    y = next((name for name in RELIABILITY if name in curve and curve[name].notna().any()), None)
    if y is None:
        return None
    ordered = curve.dropna(subset=[y, "effort_share"]).sort_values("effort_share", kind="stable")
    chosen = None if plan is None else plan.get("trade_off")
    series = [Series(name, part["effort_share"], part[y]) for name, part in _parts(ordered, chosen)]
    if frontier is not None and y in frontier:
        series.append(Series("best of all plans", frontier["effort_share"], frontier[y]))
    points, said = [], ""
    if plan is not None and plan.get("effort_share") is not None and plan.get(y) is not None:
        share, value = float(plan["effort_share"]), float(plan[y])
        points = [Point("plan", share, value)]
        said = f" The plan reaches {value * 100:.1f} % with {share * 100:.1f} % of the time."
    first, last = ordered.iloc[0], ordered.iloc[-1]
    description = (
        f"{RELIABILITY[y]} goes from {first[y] * 100:.1f} % at {first['effort_share'] * 100:.1f} % of people's time "
        f"to {last[y] * 100:.1f} % at {last['effort_share'] * 100:.1f} %.{said}"
    )
    return line_chart(
        "curve-chart",
        series,
        title="Reliability against people's time",
        description=description,
        x=Axis("People's time (% of the time for all items)", percent=True),
        y=Axis(f"{RELIABILITY[y]} (%)", percent=True),
        points=points,
    )


def _parts(ordered: pd.DataFrame, chosen: Any) -> list[tuple[str, pd.DataFrame]]:
    """Split by trade-off, at most four of them: the plan's own, and others spread evenly."""
    if "trade_off" not in ordered:
        return [("all", ordered)]
    values = sorted(ordered["trade_off"].unique())
    if len(values) > _LINES:
        spread = {values[round(i * (len(values) - 1) / (_LINES - 1))] for i in range(_LINES)}
        if chosen in values:
            spread.discard(min(spread, key=lambda value: abs(value - chosen)))
            spread.add(chosen)
        values = sorted(spread)
    return [(f"trade-off {value:g}", ordered[ordered["trade_off"] == value]) for value in values]
