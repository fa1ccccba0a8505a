"""How do experts do? Load and bottleneck, what waits, how often each tier is wrong and overturned, appeals, samples.

Of appeals only those who do not judge are told, and of samples nobody learns which items are in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.board._desk import Page
from hmc_crowd.board._experts import aspects_of
from hmc_crowd.campaign._appeals import appeals
from hmc_crowd.campaign._expert_load import expert_load
from hmc_crowd.campaign._secret_audit import audits
from hmc_crowd.campaign._tier_figures import tier_figures
from hmc_crowd.campaign._tiers import policy_of
from hmc_crowd.report import Column, Table

if TYPE_CHECKING:
    from hmc_crowd.board._desk import Visit
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._expert_load import ExpertLoad
    from hmc_crowd.campaign._tier_figures import TierFigures

__all__ = ["expert_work", "sample_table"]


def expert_work(visit: Visit) -> Page:
    """Show how experts do, aspect by aspect."""
    context = visit.house.context(visit.values["campaign"])
    # Who judges must not learn what is appealed about; why somebody appeals is the owner's alone.
    told = visit.may("pay") if visit.may("labels") else None
    return Page("expert_work.html", {"parts": [_part(context, name, told) for name in aspects_of(context)]})


def sample_table(context: Context, aspect: str) -> Table:
    """Return the auditors' samples as a table, newest first."""
    found = audits(context, aspect=aspect).iloc[::-1]
    rows = [
        {
            "number": each["number"],
            "drawn_at": f"{each['drawn_at']:%Y-%m-%d %H:%M}",
            "judged": f"{each['judged']:,} of {each['drawn']:,}",
            "items": each["items"],
            "error": "sealed" if pd.isna(each["opened_at"]) else _band(each["error"], each["low"], each["high"]),
            "commitment": each["commitment"][:12],
        }
        for each in found.to_dict("records")
    ]
    names = {
        "drawn_at": "Drawn (UTC)",
        "items": "Out of",
        "error": "Wrong, 95% interval",
        "commitment": "Key committed as",
    }
    columns = ["number", "drawn_at", "judged", "items", "error", "commitment"]
    frame = pd.DataFrame(rows, columns=columns)
    return Table(
        key="samples",
        title="Samples of auditors",
        frame=frame,
        columns={name: Column(text) for name, text in names.items()},
    )


def _part(context: Context, aspect: str, told: bool | None) -> dict[str, Any]:
    load = expert_load(context, None, add=None, aspect=aspect, items=None, over_hours=24.0, patience_s=3600.0)
    figures = tier_figures(context, aspect=aspect)
    tables = [*_load_tables(load, _names(context)), *_tier_tables(figures), sample_table(context, aspect)]
    if told is not None:
        tables.insert(-1, _appeal_table(context, aspect, with_reason=told))
    policy = str(policy_of(context.settings()))
    return {"aspect": aspect, "said": load, "policy": policy, "notes": (*load.notes, *figures.notes), "tables": tables}


def _names(context: Context) -> dict[str, str]:
    """Return what the holders of keys are called, by key."""
    with context.store.read() as tx:
        return {each.id: f"{each.label} ({each.id})" for each in tx.keys.all() if each.label}


def _load_tables(load: ExpertLoad, names: dict[str, str]) -> list[Table]:
    plan = load.plan.table.assign(
        utilisation=[_percent(each) for each in load.plan.table["utilisation"]],
        wait_s=[_minutes(each) for each in load.plan.table["wait_s"]],
    )
    people = load.experts.assign(
        expert=[names.get(each, each) for each in load.experts["expert"]],
        utilisation=[_percent(each) for each in load.experts["utilisation"]],
        clear_s=[_minutes(each) for each in load.experts["clear_s"]],
    )
    waiting = load.waiting.assign(oldest_s=[_minutes(each) for each in load.waiting["oldest_s"]])
    return [
        _table("plan", f"Tiers, by arrivals of the last {load.hours:,.0f} h", plan.drop(columns="cost_per_hour_minor")),
        _table("people", "Experts", people),
        _table("waiting", "What waits", waiting),
    ]


def _tier_tables(figures: TierFigures) -> list[Table]:
    found = []
    for name, title, frame in (
        ("overturned", "Labels not upheld by a higher tier", figures.overturned),
        ("errors", "Blind labels against known ones", figures.errors),
    ):
        band = [_band(*each) for each in zip(frame["share"], frame["low"], frame["high"], strict=True)]
        whole = {each: frame[each].astype(int) for each in ("tier", "overturned", "count", "n") if each in frame}
        found.append(_table(name, title, frame.assign(share=band, **whole).drop(columns=["low", "high"])))
    return found


def _appeal_table(context: Context, aspect: str, *, with_reason: bool) -> Table:
    found = appeals(context, aspect=aspect, open_only=False).iloc[::-1]
    columns = ["item", "state", "first_label", "label", "role", *(["by", "reason"] if with_reason else [])]
    shown = (
        found[columns]
        .fillna("")
        .replace({"state": {"third_needed": "a third expert judges", "review": "yours to settle"}})
    )
    return _table("appeals", "Appeals, newest first", shown)


_NAMES = {
    "arrivals_per_hour": "Come in an hour",
    "capacity_per_hour": "Done in an hour",
    "utilisation": "Load",
    "wait_s": "Wait",
    "backlog_per_hour": "Left over in an hour",
    "per_hour": "Items an hour",
    "load": "Items",
    "clear_s": "Done after",
    "given": "Given out",
    "nobody": "For nobody",
    "oldest_s": "Oldest waits",
    "overtaken": "Overtaken by",
    "share": "Share, 95% interval",
    "n": "Of",
    "first_label": "Against",
    "label": "Holds",
    "reason": "Why",
}


def _table(key: str, title: str, frame: pd.DataFrame) -> Table:
    names = {name: _column(text, frame[name]) for name, text in _NAMES.items() if name in frame}
    return Table(key=key, title=title, frame=frame.reset_index(drop=True), columns=names)


def _column(heading: str, values: pd.Series[Any]) -> Column:
    if pd.api.types.is_integer_dtype(values):
        return Column(heading, "integer")
    return Column(heading, "number" if pd.api.types.is_float_dtype(values) else "text")


def _percent(share: float) -> str:
    return "full" if share == float("inf") else f"{share:.0%}"


def _minutes(seconds: float) -> str:
    if seconds == float("inf"):
        return "without end"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


def _band(share: float, low: float, high: float) -> str:
    return f"{share:.1%} ({low:.1%} to {high:.1%})"
