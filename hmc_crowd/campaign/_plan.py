"""Who judges what: one plan a round, over every item and aspect that is not gold.

The first plan of a campaign routes everything. Once HITs of a plan are out, the next call opens the next round: what
people were asked before stays with people and counts against the cap, the rest is routed by the same rule.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd import __version__
from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._aspects import CERTIFIED
from hmc_crowd.campaign._confidence import calibration_note
from hmc_crowd.campaign._pools import capacity_notes
from hmc_crowd.campaign._promise import PROMISE, asked_for, decide_promised, known_items, promise_before, promised
from hmc_crowd.campaign._quota_check import plan_notes
from hmc_crowd.campaign._roles import require_fresh_audit
from hmc_crowd.campaign._units import Before, asked_before, batch_of, coded, read_units
from hmc_crowd.campaign.quote import FEES, audit_note, fee_share, known_fees
from hmc_crowd.effort import count_time
from hmc_crowd.errors import InputError
from hmc_crowd.routing import BudgetPlan

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._decide import Decided, PlanRequest
    from hmc_crowd.campaign._units import Units
    from hmc_crowd.store import PlanRecord, Transaction

__all__ = ["CampaignPlan", "make_plan"]

DESTINATIONS = ("machine", "people", "audit")
REASONS = ("no_gain", "gain", "beyond_cap", "audit_draw", "asked_before", "audited_before")


@dataclass(frozen=True)
class CampaignPlan:
    """A stored plan: counts, the time it costs counted both ways, and the settings that made it.

    ``time_share`` counts a routed item at its own share of the dialogue's time, as the HMCEval paper does;
    ``time_share_read_whole`` counts every touched dialogue as read from start to end. Times are of one person.
    """

    plan_id: int
    round: int
    content_hash: str
    items: int
    people: int
    audit: int
    asked_before: int
    human_share: float
    time_share: float
    time_share_read_whole: float
    human_s: float
    human_s_read_whole: float
    objective: float | None
    trade_off: float
    max_human: int | float | None
    ties: int
    effort_model: str
    notes: tuple[str, ...] = ()
    promise: dict[str, Any] | None = None

    def __str__(self) -> str:
        return (
            f"round {self.round}: {self.people:,} of {self.items:,} to people and {self.audit:,} to the audit; "
            f"people's time {self.time_share:.1%} if items cost their share, {self.time_share_read_whole:.1%} if "
            f"touched groups are read whole"
        )


def make_plan(context: Context, request: PlanRequest, *, due_at: datetime | None = None) -> CampaignPlan:
    """Route the campaign's units, draw the audit and store the plan; say where the pools cannot do it in time."""
    first = context.aspects()[0]
    if request.target_agreement is not None and first.kind not in CERTIFIED:
        raise InputError(
            f"target_agreement is {request.target_agreement}, but aspect {first.name!r} is {first.kind}: there is no "
            "right or wrong label, so no agreement can be promised; leave it out"
        )
    with context.store.read() as tx:
        request = _with_fees(context, tx, request)
        round_ = _round_to_plan(context, tx)
        units = read_units(context, tx, confidence=request.confidence)
        said = calibration_note(context, tx, which=request.confidence) + _suggestion_note(context, tx, request)
        before = asked_before(context, tx, units.frame, round_)
        batch = batch_of(context, tx, units.frame)
        earlier = promise_before(context, tx, round_, batch)
        known = known_items(context, tx, request)
    asked, draw = request, lambda: context.rng("audit", round_)
    decided, request, promise = decide_promised(units, before, request, earlier, draw, known)
    frame = _plan_frame(units, decided)
    header = _header(context, units, decided, request, batch)
    header["notes"] += said
    if promise is not None:
        header["promise"] = promise
        header["made_from"].update(asked_for(asked))
        header["notes"] += promised(promise)
    if due_at is not None:
        with context.store.read() as tx:
            header["notes"] += _late(context, tx, units, decided, request, due_at)
    header["notes"] += plan_notes(context)
    if decided.audited.any() and first.kind not in CERTIFIED:
        header["notes"].append(
            f"the audit certifies nothing: {first.name!r} is {first.kind}, and no label of it is right or wrong; with "
            "audit=0 its money is saved"
        )
    with context.store.begin() as tx:
        require_fresh_audit(context, tx, first.name, units.frame["item"][decided.audited])
        if known is not None:
            gold = tx.frames.read(context.campaign_id, "gold", aspect=first.name, columns=["item"])["item"]
            tx.roles.enter(context.campaign_id, first.name, "choose", gold, purpose=f"plan of round {round_}")
        record = tx.plans.save(context.campaign_id, round_, header, frame)
        tx.campaigns.set_round(context.campaign_id, round_)
        context.log(tx, "planned", round=round_, plan=record.content_hash, **header["counts"])
    return _stored(record)


def _stored(record: PlanRecord) -> CampaignPlan:
    """Read a plan's summary back from its row."""
    header = record.header
    return CampaignPlan(
        plan_id=record.id,
        round=record.round,
        content_hash=record.content_hash,
        **{**header["counts"], **header["figures"], **header["request_shown"]},
        effort_model=header["effort_model"],
        notes=tuple(header["notes"]),
        promise=header.get("promise"),
    )


def _late(
    context: Context, tx: Transaction, units: Units, decided: Decided, request: PlanRequest, due_at: datetime
) -> list[str]:
    """Say where what people are newly asked is more than the pools can do by the deadline."""
    asked = (decided.to_people | decided.audited) & (decided.before == Before.FREE)
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "sensitive"])
    sensitive = set(items["item"][items["sensitive"].astype(bool)])
    disturbs = asked & units.frame["item"].isin(sensitive).to_numpy()
    return capacity_notes(
        context,
        tx,
        due_at,
        planned_s=request.redundancy * float(units.seconds[asked].sum()),
        sensitive_s=request.redundancy * float(units.seconds[disturbs].sum()),
        answers=request.redundancy * int(asked.sum()),
    )


def _round_to_plan(context: Context, tx: Transaction) -> int:
    """Return the round the next plan belongs to: a new one as soon as the current one's HITs are out."""
    current = tx.campaigns.get(context.name).round
    if tx.plans.latest(context.campaign_id) is None:
        return 1
    return current + 1 if tx.work.hits(context.campaign_id, round=current) else current


def _with_fees(context: Context, tx: Transaction, request: PlanRequest) -> PlanRequest:
    """Fill in what a platform takes of the money: the one named, else the one that has the campaign's HITs."""
    if request.max_money_minor is None or request.pay_per_hour_minor is None:
        if request.platform is not None:
            known_fees(request.platform, request.tax_rate)
        return request
    name = request.platform
    if name is None:
        hits = tx.work.hits(context.campaign_id, with_items=False)
        name = next((each.platform for each in reversed(hits) if each.platform in FEES), None) or "local"
    fees = known_fees(name, request.tax_rate)
    share = fee_share(fees, request.pay_per_hour_minor, redundancy=request.redundancy)
    return replace(request, platform=name, fee_share=share)


def _fee_note(request: PlanRequest) -> list[str]:
    """Say what of the money is the platform's."""
    if request.max_money_minor is None:
        return []
    if not request.fee_share:
        return [f"{request.platform} takes no fee; say where it is to be published if that is another platform"]
    tax = f", with {request.tax_rate:.1%} tax on the fee" if request.tax_rate else ", without tax on the fee"
    return [f"the money holds the fee of {request.platform}: {request.fee_share:.1%} of the reward{tax}"]


def _suggestion_note(context: Context, tx: Transaction, request: PlanRequest) -> list[str]:
    """Say so where nobody judges blind: an audit that could never certify."""
    if float(context.settings_in(tx).get("suggest_share", 0.0)) < 1 or request.audit == 0:
        return []
    return ["every answer is given in view of the machine's label, so this audit certifies nothing"]


def _plan_frame(units: Units, decided: Decided) -> pd.DataFrame:
    """Return one row a unit, in the order of the items."""
    gain = np.full(len(decided.before), np.nan)
    if decided.plan is not None:
        gain[decided.free] = decided.plan.gain
    destination = np.where(decided.to_people, 1, np.where(decided.audited, 2, 0))
    reason = np.where(gain > 0, REASONS.index("beyond_cap"), REASONS.index("no_gain"))
    reason[decided.audited] = REASONS.index("audit_draw")
    reason[decided.to_people] = REASONS.index("gain")
    reason[decided.before == Before.PEOPLE] = REASONS.index("asked_before")
    reason[decided.before == Before.OLD_AUDIT] = REASONS.index("audited_before")
    rank = np.zeros(len(gain), dtype=np.int64)
    rank[np.argsort(-gain, kind="stable")] = np.arange(1, len(gain) + 1)
    return units.frame[["item", "aspect"]].assign(
        destination=coded(destination, DESTINATIONS),
        pool=coded(np.where(destination > 0, 0, -1), ("crowd",)),
        reason=coded(reason, REASONS),
        gain=gain,
        confidence=units.confidence,
        effort_s=units.seconds,
        inclusion_probability=decided.probability,
        rank=rank,
    )


def _header(
    context: Context, units: Units, decided: Decided, request: PlanRequest, batch: dict[str, int]
) -> dict[str, Any]:
    """Return what describes the plan: counts, figures, and what it was made from."""
    asked = decided.to_people | decided.audited
    times = count_time(asked, units.frame["group"].array, units.seconds)
    request_shown = {"trade_off": request.trade_off, "max_human": request.max_human}
    return {
        "counts": {
            "items": len(asked),
            "people": int(decided.to_people.sum()),
            "audit": int(decided.audited.sum()),
            "asked_before": int((decided.before == Before.PEOPLE).sum()),
            "ties": 0 if decided.plan is None else len(decided.plan.ties),
        },
        "figures": {
            "human_share": float(asked.mean()),
            "time_share": times.per_item_share,
            "time_share_read_whole": times.read_whole_share,
            "human_s": times.per_item_s,
            "human_s_read_whole": times.read_whole_s,
            "objective": None if decided.plan is None else decided.plan.objective,
        },
        "request_shown": request_shown,
        "effort_model": units.model_version,
        # What the plan was made from, so that its hash pins data, models, settings and seed alike.
        "made_from": {
            **{name: value for name, value in asdict(request).items() if name not in PROMISE},
            "batch": batch,
            "confidence": digest(units.confidence.tobytes()),
            "effort": digest(units.share.tobytes(), units.seconds.tobytes()),
            "seed": context.settings()["seed"],
            "version": __version__,
        },
        "notes": _notes(decided, request) + _fee_note(request),
    }


def _notes(decided: Decided, request: PlanRequest) -> list[str]:
    """Say what a reader of the plan would otherwise wonder about."""
    plan = decided.plan
    cut = audit_note(request.audit, int(decided.audited.sum()), int((~decided.to_people).sum()))
    if plan is None:
        return ["people were asked about every item before; only what is missing is asked again", *cut]
    notes = [*cut]
    if isinstance(plan, BudgetPlan) and plan.binding:
        notes.append(f"limited by {' and '.join(plan.binding)}; the best plan could gain at most {plan.gap:.3g} more")
    if len(plan) and not plan.human_count and request.trade_off > 0:
        notes.append(
            f"no item gains at trade_off {request.trade_off:g}: the price of effort outweighs every doubt; lower it"
        )
    if len(plan.ties):
        notes.append(f"{len(plan.ties):,} items tie at the border; item order decided among them")
    return notes
