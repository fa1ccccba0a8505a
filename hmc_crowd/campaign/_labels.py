"""Which labels can be trusted, and how far? Gold check, final labels, the certificate of the batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._confidence import calibrated
from hmc_crowd.campaign._units import machine_version
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import gold_scores, screen_workers
from hmc_crowd.routing import certify_batch

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.routing import Certificate
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["CampaignCertificate", "GoldCheck", "certify", "check_gold", "final_labels"]

# What may certify: people who saw neither the machine's label nor one another's.
BLIND = ("people_blind", "expert_blind")


@dataclass(frozen=True)
class GoldCheck:
    """How workers did on gold; exclusion concerns aggregation alone, never pay."""

    workers: pd.DataFrame
    gold_answers: int
    excluded: dict[str, str]
    submissions_excluded: int

    def __str__(self) -> str:
        return (
            f"{len(self.workers):,} workers checked on {self.gold_answers:,} gold answers; {len(self.excluded):,} left "
            f"out of aggregation with {self.submissions_excluded:,} submissions"
        )


def check_gold(context: Context, *, minimum: float, at_least: int, level: float) -> GoldCheck:
    """Score every worker on gold, store the scores, and leave out of aggregation who is surely below the minimum."""
    with context.store.begin() as tx:
        gold = tx.frames.read(context.campaign_id, "gold")
        if gold.empty:
            raise StateError(f"campaign {context.name!r} has no gold; first add_gold(), or go on with aggregate()")
        answers = tx.work.answers(context.campaign_id)
        known = gold[["item", "aspect", "label"]].rename(columns={"item": "task"})
        on_gold = answers.merge(known, on=["task", "aspect"], suffixes=("", "_gold"))
        # One table for all aspects: a worker's score is over every gold question met.
        on_gold = on_gold.assign(task=on_gold["task"] + "\x1f" + on_gold["aspect"].astype(str))
        keys = known.assign(item=known["task"] + "\x1f" + known["aspect"].astype(str))[["item", "label"]]
        scores = gold_scores(on_gold[["task", "worker", "label"]], keys, level=level)
        tx.workers.add_scores(context.campaign_id, scores, as_of=context.clock.now())
        decisions = screen_workers(scores, minimum=minimum, at_least=at_least)
        out = decisions[decisions["excluded"].astype(bool)]
        excluded = {
            str(worker): f"{reason} ({evidence})"
            for worker, reason, evidence in zip(out["worker"], out["reason"], out["evidence"], strict=True)
        }
        count = _exclude(context, tx, answers, excluded)
        context.log(tx, "gold checked", workers=len(scores), excluded=len(excluded))
    return GoldCheck(scores, len(on_gold), excluded, count)


def _exclude(context: Context, tx: Transaction, answers: pd.DataFrame, excluded: dict[str, str]) -> int:
    """Mark the submissions of excluded workers; take back the mark from those who are fine by now."""
    count = 0
    for worker, rows in answers.groupby("worker"):
        submissions = sorted(rows["submission_id"].unique())
        reason = excluded.get(str(worker))
        if reason is not None:
            tx.work.exclude(context.campaign_id, submissions, reason)
            count += len(submissions)
        elif rows["excluded"].notna().any():
            tx.work.include(context.campaign_id, submissions)
    return count


def final_labels(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return one label for every item: people's where there is one, gold where it is known, else the machine's."""
    predictions = tx.frames.read(
        context.campaign_id, "predictions", aspect=aspect, columns=["item", "label", "confidence"]
    )
    sure = calibrated(context, tx, aspect, predictions["confidence"].to_numpy(dtype=np.float64))
    frame = predictions.assign(confidence=sure, source="machine", n_answers=0, tied=False, evidence="with_model")
    people = tx.labels.read(context.campaign_id, aspect=aspect)
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect)
    gold = gold.assign(source="expert", confidence=1.0, n_answers=0, tied=False, evidence="expert_blind")
    columns = ["item", "label", "source", "confidence", "n_answers", "tied", "evidence"]
    overrides = pd.concat([people[columns], gold[columns]], ignore_index=True) if len(people) else gold[columns]
    if overrides.empty:
        return frame[columns]
    merged = pd.concat([frame[columns], overrides], ignore_index=True)
    latest = merged.drop_duplicates("item", keep="last").set_index("item")
    items = tx.frames.read(context.campaign_id, "items", columns=["item"])["item"]
    return latest.reindex(items[items.isin(latest.index)]).rename_axis("item").reset_index()[columns]


@dataclass(frozen=True)
class CampaignCertificate:
    """What can be promised of the batch: agreement of its labels with our people, at a level.

    ``agreement_at_least`` is the promise, ``agreement_estimate`` what the audit leads one to expect.

    ``pending`` items were meant for people and have no answer yet, ``audit_pending`` ones were drawn for the audit and
    have none: both count as wrong. ``wrong`` counts answered audit items whose machine label was wrong.
    """

    agreement_at_least: float
    agreement_estimate: float
    wrong_at_most: int
    level: float
    items: int
    human: int
    audited: int
    wrong: int
    audit_pending: int
    pending: int
    method: str
    assumptions: tuple[str, ...]
    round: int

    def __str__(self) -> str:
        return (
            f"at least {self.agreement_at_least:.2%} of the {self.items:,} labels agree with our people, with "
            f"{self.level:.0%} confidence ({self.human:,} judged by people, {self.audited:,} of the others audited, "
            f"{self.wrong:,} of those wrong)"
        )


def certify(context: Context, *, level: float) -> CampaignCertificate:
    """Bound the share of the batch's labels that agree with people, from the audit of what the machine kept."""
    plan = context.latest_plan()
    with context.store.begin() as tx:
        _require_same_machine(context, tx, plan)
        counts = _audit_counts(context, tx, plan.id)
        if counts["audited"] == 0 and counts["human"] < plan.header["counts"]["items"]:
            raise StateError(
                "nothing was audited, so nothing can be promised; plan with audit > 0, publish and collect"
            )
        bound = certify_batch(
            plan.header["counts"]["items"],
            counts["human"],
            counts["audited"],
            counts["wrong"],
            unanswered=counts["audit_pending"],
            level=level,
        )
        result = _with_pending(bound, counts, plan.round)
        tx.labels.save_certificate(context.campaign_id, plan.round, _as_dict(result))
        context.log(tx, "certified", round=plan.round, agreement_at_least=result.agreement_at_least, level=level)
    return result


def _require_same_machine(context: Context, tx: Transaction, plan: PlanRecord) -> None:
    """Refuse labels that the machine gave after the plan: it may have learnt them from the audit's answers."""
    planned = plan.header["made_from"].get("batch", {}).get("machine_version", 0)
    if planned != machine_version(context, tx):
        raise StateError(
            f"predictions were replaced after the plan of round {plan.round}, and its audit says nothing of the new "
            "labels; call plan() again, which draws a new audit, then publish and collect"
        )


def _audit_counts(context: Context, tx: Transaction, plan_id: int) -> dict[str, int]:
    """Compare people's labels with the machine's on the audited units; refuse labels that are not blind."""
    units = tx.plans.read(plan_id, people_only=True, columns=["item", "aspect", "destination"])
    units["aspect"] = units["aspect"].astype(str)
    labels = tx.labels.read(context.campaign_id)
    if labels.empty:
        raise StateError("there are no people's labels yet; first aggregate()")
    seeing = labels[~labels["evidence"].isin(BLIND)]
    if len(seeing):
        raise InputError(
            f"the label of item {seeing['item'].iloc[0]!r} has the evidence {seeing['evidence'].iloc[0]!r}; only blind "
            "judgements may certify"
        )
    machine = tx.frames.read(context.campaign_id, "predictions", items=units["item"].tolist())
    machine = machine[["item", "aspect", "label"]].rename(columns={"label": "machine"})
    joined = units.merge(labels[["item", "aspect", "label"]], on=["item", "aspect"], how="left")
    joined = joined.merge(machine, on=["item", "aspect"], how="left")
    audit = (joined["destination"] == "audit").to_numpy()
    answered = joined["label"].notna().to_numpy()
    agrees = (joined["label"] == joined["machine"]).to_numpy()
    return {
        "human": int((~audit).sum()),
        "pending": int((~audit & ~answered).sum()),
        "audited": int(audit.sum()),
        "audit_pending": int((audit & ~answered).sum()),
        "wrong": int((audit & answered & ~agrees).sum()),
    }


def _with_pending(bound: Certificate, counts: dict[str, int], round_: int) -> CampaignCertificate:
    # Items meant for people that nobody answered keep the machine's label unchecked: each may be wrong.
    wrong_at_most = min(bound.items, bound.wrong_at_most + counts["pending"])
    # What the audit did not see is taken to be wrong as often as what it saw.
    unseen = bound.kept - bound.audited
    expected = unseen * bound.wrong / max(1, bound.audited) + counts["pending"] + counts["audit_pending"]
    return CampaignCertificate(
        agreement_at_least=(bound.items - wrong_at_most) / bound.items,
        agreement_estimate=1 - expected / bound.items,
        wrong_at_most=wrong_at_most,
        level=bound.level,
        items=bound.items,
        human=bound.human,
        audited=bound.audited,
        wrong=bound.wrong,
        audit_pending=counts["audit_pending"],
        pending=counts["pending"],
        method=bound.method,
        assumptions=tuple(bound.assumptions),
        round=round_,
    )


def _as_dict(certificate: CampaignCertificate) -> dict[str, Any]:
    return {**certificate.__dict__, "assumptions": list(certificate.assumptions)}
