"""Which labels can be trusted, and how far? Final labels, the certificate of the batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.evidence import refuse_seeing
from hmc_crowd.campaign._adjudicate import adjudicated
from hmc_crowd.campaign._aspects import CERTIFIED, CHOICES
from hmc_crowd.campaign._confidence import calibrated
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._roles import use_labels
from hmc_crowd.campaign._units import machine_version
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import AlphaSpending, agreement_at_most, certify_batch, certify_rounds

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.routing import Certificate
    from hmc_crowd.store import AspectRecord, PlanRecord, Transaction

__all__ = ["CampaignCertificate", "blind_labels", "certify", "final_labels"]


def final_labels(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return one label for every item: people's where there is one, gold where it is known, else the machine's.

    Gold is known, not judged: it is its own source, whoever has answered it, and no part of what people did.
    """
    predictions = tx.frames.read(
        context.campaign_id, "predictions", aspect=aspect, columns=["item", "label", "confidence"]
    )
    sure = calibrated(context, tx, aspect, predictions["confidence"].to_numpy(dtype=np.float64))
    frame = predictions.assign(confidence=sure, source="machine", n_answers=0, tied=False, evidence="with_model")
    people = tx.labels.read(context.campaign_id, aspect=aspect)
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect)
    gold = gold.assign(source="gold", confidence=1.0, n_answers=0, tied=False, evidence="gold")
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
    agreement_at_most: float = 1.0
    target: float | None = None

    def verdict(self, target: float | None = None) -> str:
        """Say whether a target (the plan's own by default) "held", "failed", or is "inconclusive".

        It failed where so many audited labels were wrong that, at the same confidence, agreement lies below it.
        """
        wanted = self.target if target is None else target
        if wanted is None:
            raise InputError("target is missing, and the plan promises none; give the agreement to be judged")
        if self.agreement_at_least >= wanted:
            return "held"
        return "failed" if self.agreement_at_most < wanted else "inconclusive"

    def __str__(self) -> str:
        return (
            f"at least {self.agreement_at_least:.2%} of the {self.items:,} labels agree with our people, with "
            f"{self.level:.0%} confidence ({self.human:,} judged by people, {self.audited:,} of the others audited, "
            f"{self.wrong:,} of those wrong)"
        )


def certify(context: Context, *, level: float | None) -> CampaignCertificate:
    """Bound the share of the batch's labels that agree with people, from the audit of what the machine kept."""
    plan = context.latest_plan()
    promise = plan.header.get("promise") or {}
    joint = level is None and promise.get("look", 1) > 1
    level = promise.get("look_level", 0.95) if level is None else level
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
        if joint:
            bound = _both_looks(context, tx, plan, bound, counts)
        result = replace(_with_pending(bound, counts, plan.round), target=promise.get("target"))
        _spend(context, tx, plan)
        tx.labels.save_certificate(context.campaign_id, plan.round, _as_dict(result))
        context.log(tx, "certified", round=plan.round, agreement_at_least=result.agreement_at_least, level=level)
    return result


def _both_looks(
    context: Context, tx: Transaction, plan: PlanRecord, last: Certificate, counts: dict[str, int]
) -> Certificate:
    """Return the better of a promise's two looks, which hold together at the promised level."""
    promise, before = plan.header["promise"], tx.plans.latest(context.campaign_id, round=plan.round - 1)
    first = None if before is None else _audit_counts(context, tx, before.id)
    if before is None or first is None or first["audit_pending"]:
        return last
    looks = (before.header["promise"]["look_level"], promise["look_level"])
    spending = AlphaSpending(promise["level"], weights=tuple((1 - each) / (1 - promise["level"]) for each in looks))
    rounds = [(first["audited"], first["wrong"]), (counts["audited"], counts["wrong"])]
    return certify_rounds(last.items, last.human, rounds, spending=spending, unanswered=counts["audit_pending"])


def _spend(context: Context, tx: Transaction, plan: PlanRecord) -> None:
    """Note that the audit's labels certify: nothing may be fitted to them or chosen on them any more."""
    rows = tx.plans.read(plan.id, people_only=True, columns=["item", "destination"])
    audited = rows.loc[rows["destination"].astype(str) == "audit", "item"]
    first = tx.campaigns.aspects(context.campaign_id)[0].name
    use_labels(context, tx, first, "certify", audited, purpose=f"certificate of round {plan.round}")


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
    labels = _certifying(context, tx, units["item"].tolist())
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


def _certifying(context: Context, tx: Transaction, items: list[str]) -> pd.DataFrame:
    """Return people's labels of the first aspect that may certify; refuse those that saw the machine's."""
    first = tx.campaigns.aspects(context.campaign_id)[0]
    if first.kind not in CERTIFIED:
        raise InputError(f"aspect {first.name!r} is {first.kind}: there is no right or wrong label to certify")
    return blind_labels(context, tx, first, items, what="certify")


def blind_labels(
    context: Context, tx: Transaction, aspect: AspectRecord, items: list[str], *, what: str
) -> pd.DataFrame:
    """Return people's labels of these items; refuse those that saw the machine's.

    Where an expert changed his mind after the reveal, his blind label counts. Labels that rest on an earlier guideline
    alone are none.
    """
    labels = tx.labels.read(context.campaign_id, aspect=aspect.name)
    if labels.empty:
        raise StateError("there are no people's labels yet; first aggregate()")
    answers = tx.work.answers(context.campaign_id, aspect=aspect.name, include_excluded=False)
    answers = answers[~Versions(context, tx).stale(answers)]
    decided = adjudicated(context, tx, aspect.name).set_index("item")["blind_label"] if aspect.kind in CHOICES else None
    labels = labels[labels["item"].isin(items)]
    if decided is not None and len(decided):
        blind = labels["item"].map(decided)
        labels = labels.assign(
            label=blind.fillna(labels["label"]), evidence=labels["evidence"].where(blind.isna(), "expert_blind")
        )
        labels = labels[labels["item"].isin(set(answers["task"]) | set(decided.index))]
    else:
        labels = labels[labels["item"].isin(set(answers["task"]))]
    try:
        refuse_seeing(labels["evidence"], what=what)
    except InputError as error:
        raise InputError(f"{error}; aggregate(blind_only=True) labels by the blind answers alone") from None
    return labels


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
        agreement_at_most=agreement_at_most(
            bound.items, bound.human, bound.audited, bound.wrong, unanswered=bound.unanswered, level=bound.level
        ),
    )


def _as_dict(certificate: CampaignCertificate) -> dict[str, Any]:
    return {**certificate.__dict__, "assumptions": list(certificate.assumptions)}
