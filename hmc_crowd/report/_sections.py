"""Which sections does a campaign's report have, in which order, and what does each say? All in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.report._blocks import Document, Fact, Figure, Section, Table
from hmc_crowd.report._curve import RELIABILITY, best_instead, curve_chart
from hmc_crowd.report._doubt import aggregation_section
from hmc_crowd.report._final import final_figures, frontier_tables
from hmc_crowd.report._format import Column, column_for
from hmc_crowd.report._groups import group_tables
from hmc_crowd.report._times import time_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from hmc_crowd.report._data import ReportData, Summary

__all__ = ["build_document"]

_MISSING = {
    "curve": "no sweep was handed in.",
    "plan": "no plan has been made yet.",
    "figures": "they are estimated from people's blind labels, once there are some.",
    "certificate": "no audit of the machine's items has been answered yet.",
    "labels": "no labels have been aggregated yet.",
    "workers": "no answers have been collected yet.",
    "gold": "the campaign has no gold items.",
    "agreement": "no item was answered by two people.",
    "aggregation": "no labels were aggregated by a method that tells how good workers are, and none has gold.",
    "times": "no times have been logged yet.",
    "effort": "no effort model has been fitted yet.",
    "wrong_kept": "the true labels of the items that the machine kept are not known.",
    "rounds": "no round has been run yet.",
}


def build_document(data: ReportData) -> Document:
    """Turn a campaign's data into a document; parts without data become one line each."""
    builders = {
        "curve": ("Reliability against effort", _curve),
        "plan": ("Plan", _plan),
        "certificate": ("Certificate", _certificate),
        "figures": ("Final figures", final_figures),
        "labels": ("Final labels", _labels),
        "agreement": ("Agreement between people", _agreement),
        "aggregation": ("Doubt about people's labels", _aggregation),
        "workers": ("Workers", _workers),
        "groups": ("Groups of people", group_tables),
        "gold": ("Gold items", _gold),
        "times": ("Times", _times),
        "effort": ("Effort model", _effort),
        "wrong_kept": ("Wrong items that the machine kept", _wrong),
        "rounds": ("Rounds", _rounds),
    }
    sections = []
    for key, (title, build) in builders.items():
        content = build(data)
        if content is None and key not in data.missing and key not in _MISSING:
            continue
        if content is None:
            reason = data.missing.get(key, _MISSING[key])
            sections.append(Section(key=key, title=title, missing=reason))
        else:
            sections.append(Section(key=key, title=title, **content))
    if data.facts:
        sections.append(Section(key="facts", title="About this campaign", facts=_facts(data.facts)))
    if data.notes:
        sections.append(Section(key="notes", title="Notes", bullets=tuple(data.notes)))
    return Document(
        title=data.title,
        created_at=data.created_at,
        subtitle=data.subtitle,
        figures=_figures(data.summary),
        sections=tuple(sections),
    )


def _figures(summary: Summary) -> tuple[Figure, ...]:
    people = None if summary.human_items is None else f"{summary.human_items:,} of {summary.items or 0:,} items"
    minutes = None if summary.human_s is None else summary.human_s / 60
    planned = "" if summary.planned_human_s is None else f"planned: {summary.planned_human_s / 60:,.1f} min"
    level = f"at level {summary.level * 100:g} %"
    note = ", ".join(part for part in (level, summary.certificate_note) if part)
    return (
        Figure(
            key="agreement",
            label="Agreement with people",
            value=summary.agreement,
            column=Column("", "percent"),
            note=summary.agreement_note or ("" if summary.agreement is not None else "not measured"),
        ),
        Figure(
            key="agreement_at_least",
            label="Certified: at least",
            value=summary.agreement_at_least,
            column=Column("", "percent"),
            note=note if summary.agreement_at_least is not None else summary.certificate_note or "no certificate yet",
        ),
        Figure(
            key="human_share",
            label="Judged by people",
            value=summary.human_share,
            column=Column("", "percent"),
            note=people or "no plan yet",
        ),
        Figure(
            key="human_minutes",
            label="People's time",
            value=minutes,
            column=Column("", "number", 1, "min"),
            note=", ".join(part for part in (summary.human_s_note, planned) if part)
            or ("" if minutes else "none logged"),
        ),
        Figure(
            key="money_minor",
            label="Money",
            value=summary.money_minor,
            column=Column("", "money", unit=summary.currency),
            note=summary.money_note or ("" if summary.money_minor is not None else "none spent"),
        ),
    )


def _facts(
    values: Mapping[str, Any], *, currency: str = "", labels: Mapping[str, str] | None = None
) -> tuple[Fact, ...]:
    facts = []
    for key, value in values.items():
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = numeric and float(value).is_integer() if numeric else False
        column = column_for(key, currency=currency, numeric=numeric, whole=whole)
        label = (labels or {}).get(key, column.label)
        if isinstance(value, (list, tuple)):
            value = ", ".join(map(str, value))
        facts.append(Fact(key=key, label=label, value=value, column=column))
    return tuple(facts)


def _currency(data: ReportData) -> str:
    return data.summary.currency


_PLAN_LABELS = {
    "accuracy": "Accuracy on items with known truth",
    "effort_share": "Share of all people's time",
    "gain": "Gain over the machine alone",
    "groups": "Groups in all",
    "human_count": "Items to people",
    "human_share": "Share of items to people",
    "max_human": "Cap on items to people",
    "ties": "Ties at the border",
    "touched_groups": "Groups with an item for people",
    "touched_share": "Share of groups touched",
    "trade_off": "Trade-off (confidence per unit of effort)",
}


def _curve(data: ReportData) -> dict[str, Any] | None:
    if data.curve is None or data.curve.empty:
        return None
    chart = curve_chart(data.curve, data.plan, data.frontier)
    known = {name: Column(label, "percent", 2) for name, label in RELIABILITY.items()}
    known |= {"max_human": Column("Cap on items", "number", 2)}
    table = Table(
        key="curve", title="Points of the curve", frame=data.curve, columns=known, folded=len(data.curve) > 12
    )
    return {
        "paragraphs": tuple(part for part in (data.curve_note, best_instead(data.frontier, data.plan)) if part),
        "charts": (chart,) if chart else (),
        "tables": (table, *frontier_tables(data.frontier, known)),
    }


def _plan(data: ReportData) -> dict[str, Any] | None:
    if data.plan is None and data.plan_time is None:
        return None
    facts = _facts(data.plan or {}, currency=_currency(data), labels=_PLAN_LABELS)
    if data.plan_time is None:
        return {"facts": facts}
    table = Table(
        key="plan_time",
        title="People's time, counted both ways",
        frame=data.plan_time,
        currency=_currency(data),
        columns={
            "human_s": Column("People's time", "number", 0, "s"),
            "human_min": Column("People's time", "number", 1, "min"),
        },
        note="An item's own share of its group's time is what the plan weighs. Whoever judges one item of a group may "
        "have to read all of it: the last row counts every touched group whole. The truth lies between.",
    )
    return {"facts": facts, "tables": (table,)}


def _certificate(data: ReportData) -> dict[str, Any] | None:
    if data.certificate is None:
        return None
    values = dict(data.certificate)
    statement = str(values.pop("statement", ""))
    assumptions = tuple(map(str, values.pop("assumptions", ())))
    shares = {
        key: Column("", "percent", 2)
        for key in (
            "accuracy_at_least",
            "agreement_at_least",
            "agreement_at_most",
            "level",
            "target",
            "error_at_most",
            "error_rate_at_most",
        )
    }
    facts = tuple(
        Fact(key=fact.key, label=fact.label, value=fact.value, column=shares.get(fact.key, fact.column))
        for fact in _facts(values)
    )
    return {
        "paragraphs": tuple(statement.split("\n\n")) if statement else (),
        "facts": facts,
        "bullets": assumptions,
        "bullets_title": "It holds if" if assumptions else "",
    }


def _frame_section(key: str, title: str, frame: pd.DataFrame | None, **more: Any) -> dict[str, Any] | None:
    if frame is None or frame.empty:
        return None
    return {"tables": (Table(key=key, title=title, frame=frame, **more),)}


def _labels(data: ReportData) -> dict[str, Any] | None:
    return _frame_section("labels", "Labels by source", data.labels)


def _agreement(data: ReportData) -> dict[str, Any] | None:
    return _frame_section("agreement", "Measures of agreement", data.agreement)


def _aggregation(data: ReportData) -> dict[str, Any] | None:
    workers, gold = data.worker_quality, data.gold_confidence
    workers = None if workers is None or not workers["accuracy"].notna().any() else workers
    gold = None if gold is None or gold.empty else gold
    if workers is None and gold is None:
        return None
    known = (None, None) if gold is None else (gold["confidence"].to_numpy(), gold["right"].to_numpy())
    section = aggregation_section(workers, confidence=known[0], right=known[1])
    lead = (
        "Accuracy is the share of right answers as the aggregation sees it; its interval says how little is known of "
        "who answered little. Confidence is compared with truth on gold items that the fit did not know."
    )
    return {"paragraphs": (lead,), "charts": section.charts, "tables": section.tables}


def _workers(data: ReportData) -> dict[str, Any] | None:
    return _frame_section(
        "workers",
        "Workers, by pseudonym",
        data.workers,
        currency=_currency(data),
        note="The gold score is the share of gold items answered right, with its interval; few items make it wide.",
    )


def _gold(data: ReportData) -> dict[str, Any] | None:
    return _frame_section(
        "gold",
        "How gold items were answered",
        data.gold,
        note="A suspect gold item is one that good workers often answer otherwise: look at it before blaming them.",
    )


def _times(data: ReportData) -> dict[str, Any] | None:
    return time_tables(data.item_seconds, data.submission_seconds)


def _effort(data: ReportData) -> dict[str, Any] | None:
    if data.effort_scores is None and data.effort_split is None:
        return None
    tables: tuple[Table, ...] = ()
    if data.effort_scores is not None:
        tables = (
            Table(key="effort_scores", title="Scores of the effort model, cross-validated", frame=data.effort_scores),
        )
    return {"facts": _facts(data.effort_split or {}, labels=_SPLIT_LABELS), "tables": tables}


_SPLIT_LABELS = {"setup_s": "Set-up time per group", "marginal_s": "Marginal time per item"}


def _wrong(data: ReportData) -> dict[str, Any] | None:
    if data.wrong_kept is None:
        return None
    if data.wrong_kept.empty:
        return {"paragraphs": ("The machine kept no item that it had wrong.",)}
    n = len(data.wrong_kept)
    found = _frame_section("wrong_kept", "Machine-kept items with a wrong label", data.wrong_kept) or {}
    lead = f"{n:,} item{'' if n == 1 else 's'}: the plan left them to the machine, and its label was not the true one."
    return {"paragraphs": (lead,), **found}


def _rounds(data: ReportData) -> dict[str, Any] | None:
    return _frame_section("rounds", "Rounds so far", data.rounds, currency=_currency(data))
