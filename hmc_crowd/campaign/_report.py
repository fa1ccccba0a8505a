"""Gathers what the report shows from the store; the page itself is made in `hmc_crowd.report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd import __version__
from hmc_crowd._base.money import Money
from hmc_crowd.campaign._arms import arms_of
from hmc_crowd.campaign._explain import WHY
from hmc_crowd.campaign._frontier import frontier_of
from hmc_crowd.campaign._groups import groups_of_report
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._labels import final_labels
from hmc_crowd.campaign._report_doubt import gold_confidence, worker_quality
from hmc_crowd.campaign._report_words import accuracy_words, certificate_words, figures_of
from hmc_crowd.campaign._stopping_bound import stopping_words
from hmc_crowd.campaign._tier_figures import tier_words
from hmc_crowd.errors import FrameError
from hmc_crowd.io import read_frame
from hmc_crowd.quality import agreement_rates, gold_report
from hmc_crowd.report import ReportData, Summary, write_report
from hmc_crowd.routing import route, sweep

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["report_data", "write_campaign_report"]

_CAPS = [index / 20 for index in range(21)]


def write_campaign_report(context: Context, path: str | Path, truth: Any) -> Path:
    """Write HTML, JSON and CSV; return the path of the HTML file."""
    known = None
    if truth is not None:
        known = read_frame(truth, kind="gold", name="truth").frame
    return write_report(report_data(context, known), path).html


def report_data(context: Context, truth: pd.DataFrame | None) -> ReportData:
    """Collect the numbers of the newest round."""
    cid = context.campaign_id
    plan = context.latest_plan()
    figures, no_figures = figures_of(context)
    with context.store.read() as tx:
        aspect = context.aspects()[0].name
        answers = tx.work.answers(cid)
        submissions = tx.work.submissions(cid)
        certificates = tx.labels.certificates(cid)
        certificate = certificates[-1] if certificates else None
        units = _units(context, tx, plan, aspect, truth)
        labels = final_labels(context, tx, aspect)
        gold = tx.frames.read(cid, "gold")
        model = tx.models.latest(cid, "effort")
        return ReportData(
            title=context.name,
            created_at=context.clock.now(),
            subtitle=f"{len(labels):,} items, {plan.round} round{'s' if plan.round > 1 else ''}",
            summary=_summary(context, tx, plan, certificate, answers),
            facts=_facts(context, plan, model.version if model else None),
            curve=_curve(units, plan),
            curve_note=_curve_note(units),
            plan=_plan_numbers(plan, units),
            plan_time=_plan_time(plan),
            certificate=_certificate(certificate, accuracy_words(context, tx)),
            figures=figures,
            frontier=frontier_of(units),
            workers=_workers(tx, cid, answers),
            groups=groups_of_report(context, tx),
            gold=_gold(answers, gold),
            item_seconds=answers["seconds"].dropna().to_numpy() if len(answers) else None,
            submission_seconds=submissions["platform_elapsed_s"].dropna().to_numpy() if len(submissions) else None,
            agreement=_agreement(answers[~answers["aspect"].isin(_free(context))]),
            worker_quality=worker_quality(tx, cid, aspect),
            gold_confidence=gold_confidence(tx, cid, aspect, answers),
            labels=_label_table(labels),
            wrong_kept=_wrong_kept(context, tx, units),
            effort_scores=_effort_scores(model.scores) if model else None,
            effort_split=_effort_split(model.scores) if model else None,
            rounds=_rounds(context, tx, plan.round),
            notes=(
                *plan.header["notes"],
                *_how_asked(context, tx, answers),
                *tier_words(context),
                *stopping_words(context),
            ),
            missing={
                "wrong_kept": "the truth of machine-kept items is not known; give --truth FILE where it is",
                "figures": no_figures,
            },
        )


def _free(context: Context) -> list[str]:
    """Return the aspects whose answers are near or far from each other, not the same or another."""
    return [each.name for each in context.aspects() if each.kind in {"numeric", "text"}]


def _how_asked(context: Context, tx: Transaction, answers: pd.DataFrame) -> list[str]:
    """Say what is not as plain as blind answers under one guideline."""
    stale = int(Versions(context, tx).stale(answers).sum())
    said = [str(each) for each in arms_of(answers)]
    return said + ([f"{stale:,} answers were given under another guideline and do not count"] if stale else [])


def _units(
    context: Context, tx: Transaction, plan: PlanRecord, aspect: str, truth: pd.DataFrame | None
) -> pd.DataFrame:
    """Return the plan's rows of one aspect with the machine's label, effort share and, where known, the truth."""
    cid = context.campaign_id
    units = tx.plans.read(plan.id, columns=["item", "aspect", "destination", "reason", "confidence", "effort_s"])
    units = units[units["aspect"].astype(str) == aspect]
    predictions = tx.frames.read(cid, "predictions", aspect=aspect, columns=["item", "label"])
    efforts = tx.frames.read(cid, "efforts", columns=["item", "share"])
    units = units.merge(predictions.rename(columns={"label": "machine_label"}), on="item").merge(efforts, on="item")
    if truth is None:
        return units
    known = truth[["item", "label"]].rename(columns={"label": "true_label"})
    units = units.merge(known, on="item", how="left")
    if units["true_label"].notna().sum() == 0:
        raise FrameError("truth names none of the campaign's items; its column item must hold their ids")
    return units


def _summary(
    context: Context,
    tx: Transaction,
    plan: PlanRecord,
    certificate: dict[str, Any] | None,
    answers: pd.DataFrame,
) -> Summary:
    counts = plan.header["counts"]
    budget = tx.budget.totals(context.campaign_id)
    spent = budget.reserved_minor + budget.settled_minor
    estimate, note = _estimate(certificate)
    return Summary(
        agreement=estimate,
        agreement_note=note,
        agreement_at_least=certificate["agreement_at_least"] if certificate else None,
        level=certificate["level"] if certificate else 0.95,
        certificate_note="exact for this batch" if certificate else "not certified yet",
        human_items=counts["people"] + counts["audit"],
        items=counts["items"],
        human_s=float(answers["seconds"].sum()) if len(answers) else None,
        planned_human_s=float(plan.header["figures"]["human_s"]),
        human_s_note="logged: over all answers; planned: of one person an item",
        money_minor=spent,
        currency=budget.currency or str(context.settings()["currency"]),
        money_note=f"of it settled {Money(budget.settled_minor, budget.currency)}" if budget.currency else "",
    )


def _estimate(certificate: dict[str, Any] | None) -> tuple[float | None, str]:
    if not certificate:
        return None, "no audit yet"
    return certificate["agreement_estimate"], f"{certificate['wrong']} of {certificate['audited']} audited items wrong"


def _facts(context: Context, plan: PlanRecord, model: int | None) -> dict[str, Any]:
    return {
        "campaign": context.name,
        "round": plan.round,
        "effort": plan.header["effort_model"],
        "newest_effort_model": model or "none yet",
        "plan_hash": plan.content_hash,
        "seed": context.settings()["seed"],
        "version": __version__,
    }


def _curve(units: pd.DataFrame, plan: PlanRecord) -> pd.DataFrame:
    """Return reliability against effort at the plan's trade-off: by the truth where it is known, else as foretold."""
    trade_off = float(plan.header["request_shown"]["trade_off"])
    confidence, share = units["confidence"].to_numpy(), units["share"].to_numpy()
    true = units.get("true_label")
    if true is not None and true.notna().all():
        return sweep(
            confidence,
            share,
            trade_offs=[trade_off],
            max_humans=_CAPS,
            target=true.to_numpy(),
            predicted=units["machine_label"].to_numpy(),
            true_effort=units["effort_s"].to_numpy(),
        )
    curve = sweep(confidence, share, trade_offs=[trade_off], max_humans=_CAPS, true_effort=units["effort_s"].to_numpy())
    plans = [route(confidence, share, max_human=cap, trade_off=trade_off) for cap in _CAPS]
    foretold = [each.confidence_total / len(confidence) for each in plans]
    return curve.drop(columns=["precision", "recall", "f1", "accuracy"]).assign(expected_accuracy=foretold)


def _curve_note(units: pd.DataFrame) -> str:
    if "true_label" in units and units["true_label"].notna().all():
        return "Agreement of the final labels with the known truth, people taken as right."
    return "Foretold from the machine's confidences, people taken as right; only as good as the confidences."


def _plan_numbers(plan: PlanRecord, units: pd.DataFrame) -> dict[str, Any]:
    counts, figures = plan.header["counts"], plan.header["figures"]
    people = (units["destination"].astype(str) == "people").to_numpy()
    if "true_label" in units and units["true_label"].notna().all():
        right = people | (units["machine_label"] == units["true_label"]).to_numpy()
        reliability = {"accuracy": float(right.mean())}
    else:
        reliability = {"expected_accuracy": float(np.where(people, 1.0, units["confidence"]).mean())}
    effort = units["effort_s"].to_numpy()
    return {
        **plan.header["request_shown"],
        "human_count": counts["people"],
        "audited": counts["audit"],
        "asked_before": counts["asked_before"],
        "items": counts["items"],
        "human_share": float(people.mean()),
        "human_share_with_audit": figures["human_share"],
        "effort_share": float(effort[people].sum() / effort.sum()) if effort.sum() else 0.0,
        **reliability,
        "objective": figures["objective"],
        "ties": counts["ties"],
    }


def _plan_time(plan: PlanRecord) -> pd.DataFrame:
    figures = plan.header["figures"]
    return pd.DataFrame(
        {
            "counted": ["each item by itself", "touched groups read whole"],
            "effort_share": [figures["time_share"], figures["time_share_read_whole"]],
            "human_s": [figures["human_s"], figures["human_s_read_whole"]],
        }
    )


def _certificate(certificate: dict[str, Any] | None, accuracy: tuple[str, float | None]) -> dict[str, Any] | None:
    if certificate is None:
        return None
    statement = "\n\n".join(part for part in (certificate_words(certificate), accuracy[0]) if part)
    found = {**certificate, "accuracy_at_least": accuracy[1]}
    return {"statement": statement, **{name: value for name, value in found.items() if value is not None}}


def _workers(tx: Transaction, campaign: int, answers: pd.DataFrame) -> pd.DataFrame | None:
    if answers.empty:
        return None
    workers = answers.groupby("worker").agg(
        answers=("task", "size"), median_s=("seconds", "median"), excluded_reason=("excluded", "first")
    )
    scores = tx.workers.scores(campaign).rename(
        columns={"right": "gold_right", "n": "gold_n", "low": "score_low", "high": "score_high"}
    )
    columns = ["worker", "gold_right", "gold_n", "score", "score_low", "score_high"]
    table = workers.reset_index().merge(scores[columns], on="worker", how="left")
    return table.sort_values("answers", ascending=False, kind="stable").reset_index(drop=True)


def _gold(answers: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame | None:
    on_gold = answers[answers["is_gold"].astype(bool)] if len(answers) else answers
    if on_gold.empty or gold["aspect"].nunique() != 1:
        return None
    table = gold_report(on_gold[["task", "worker", "label"]], gold[["item", "label"]])
    return table.rename(columns={"n": "answers", "share": "share_right"})[
        ["item", "label", "answers", "right", "share_right", "suspect"]
    ]


def _agreement(answers: pd.DataFrame) -> pd.DataFrame | None:
    rows = []
    for aspect, part in answers.groupby("aspect", observed=True):
        for name, chosen in (("all workers", part), ("without excluded workers", part[part["excluded"].isna()])):
            rate = agreement_rates(chosen[["task", "worker", "label"]]) if len(chosen) else None
            if rate is not None and rate.value is not None:
                measure = f"pairs of answers that agree, {aspect}, {name}"
                rows.append({"measure": measure, "value": rate.value, "low": np.nan, "high": np.nan, "n": rate.pairs})
    return pd.DataFrame(rows) if rows else None


def _label_table(labels: pd.DataFrame) -> pd.DataFrame:
    table = labels.groupby(["label", "source"]).agg(
        items=("item", "size"), mean_confidence=("confidence", "mean"), tied=("tied", "sum")
    )
    return table.assign(share=table["items"] / len(labels)).reset_index()


def _wrong_kept(context: Context, tx: Transaction, units: pd.DataFrame) -> pd.DataFrame | None:
    if "true_label" not in units:
        return None
    kept = units[(units["destination"].astype(str) == "machine") & units["true_label"].notna()]
    wrong = kept[kept["machine_label"] != kept["true_label"]]
    columns = ["item", "group", "position", "text"]
    items = tx.frames.read(context.campaign_id, "items", columns=columns, items=wrong["item"].tolist())
    table = items.merge(wrong.drop(columns=["aspect", "destination", "share"]), on="item")
    table["reason"] = table["reason"].astype(str).map(WHY)
    return table.sort_values("confidence", ascending=False, kind="stable").reset_index(drop=True)


def _effort_scores(scores: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(
        [{"features": ", ".join(scores["features"]), "mae_s": scores["mae_s"], "r2": scores["r2"], "n": scores["rows"]}]
    )


def _effort_split(scores: dict[str, Any]) -> dict[str, Any] | None:
    if scores.get("setup_s") is None:
        return None
    return {"setup_s": scores["setup_s"], "marginal_s": scores["marginal_s"]}


def _rounds(context: Context, tx: Transaction, last: int) -> pd.DataFrame:
    rows = []
    for number in range(1, last + 1):
        plan = tx.plans.latest(context.campaign_id, round=number)
        if plan is None:
            continue
        counts = plan.header["counts"]
        hits = tx.work.hits(context.campaign_id, round=number)
        rows.append(
            {
                "round": number,
                "people": counts["people"],
                "audit": counts["audit"],
                "hits": len(hits),
                "answers": len(tx.work.answers(context.campaign_id, round=number)),
                "effort": plan.header["effort_model"],
            }
        )
    return pd.DataFrame(rows)
