"""Who judges what: one plan a round, over every item and aspect that is not gold.

The first plan of a campaign routes everything. Once HITs of a plan are out, the next call opens the next round: what
people were asked before stays with people and counts against the cap, the rest is routed by the same rule.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd import __version__
from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._confidence import calibration_note
from hmc_crowd.campaign._decide import decide
from hmc_crowd.campaign._units import Before, asked_before, batch_of, coded, read_units
from hmc_crowd.effort import count_time
from hmc_crowd.routing import BudgetPlan

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._decide import Decided, PlanRequest
    from hmc_crowd.campaign._units import Units
    from hmc_crowd.routing import Plan
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

    def __str__(self) -> str:
        return (
            f"round {self.round}: {self.people:,} of {self.items:,} to people and {self.audit:,} to the audit; "
            f"people's time {self.time_share:.1%} if items cost their share, {self.time_share_read_whole:.1%} if "
            f"touched groups are read whole"
        )


def make_plan(context: Context, request: PlanRequest) -> CampaignPlan:
    """Route the campaign's units, draw the audit and store the plan."""
    with context.store.read() as tx:
        round_ = _round_to_plan(context, tx)
        units = read_units(context, tx, confidence=request.confidence)
        said = calibration_note(context, tx, which=request.confidence)
        before = asked_before(context, tx, units.frame, round_)
        batch = batch_of(context, tx, units.frame)
    decided = decide(units, before, request, context.rng("audit", round_))
    frame = _plan_frame(units, decided)
    header = _header(context, units, decided, request, batch)
    header["notes"] += said
    with context.store.begin() as tx:
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
    )


def _round_to_plan(context: Context, tx: Transaction) -> int:
    """Return the round the next plan belongs to: a new one as soon as the current one's HITs are out."""
    current = tx.campaigns.get(context.name).round
    if tx.plans.latest(context.campaign_id) is None:
        return 1
    return current + 1 if tx.work.hits(context.campaign_id, round=current) else current


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
            **asdict(request),
            "batch": batch,
            "confidence": digest(units.confidence.tobytes()),
            "effort": digest(units.share.tobytes(), units.seconds.tobytes()),
            "seed": context.settings()["seed"],
            "version": __version__,
        },
        "notes": _notes(decided.plan, request),
    }


def _notes(plan: Plan | None, request: PlanRequest) -> list[str]:
    """Say what a reader of the plan would otherwise wonder about."""
    if plan is None:
        return ["people were asked about every item before; only what is missing is asked again"]
    notes = []
    if isinstance(plan, BudgetPlan) and plan.binding:
        notes.append(f"limited by {' and '.join(plan.binding)}; the best plan could gain at most {plan.gap:.3g} more")
    if len(plan) and not plan.human_count and request.trade_off > 0:
        notes.append(
            f"no item gains at trade_off {request.trade_off:g}: the price of effort outweighs every doubt; lower it"
        )
    if len(plan.ties):
        notes.append(f"{len(plan.ties):,} items tie at the border; item order decided among them")
    return notes
