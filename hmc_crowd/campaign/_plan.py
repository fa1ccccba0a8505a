"""Who judges what: one plan a round, over every item and aspect that is not gold.

The first plan of a campaign routes everything. Once HITs of a plan are out, the next call opens the next round: what
people were asked before stays with people and counts against the cap, the rest is routed by the same rule. The rule
looks at confidence and effort alone, never at who was audited or what the audit found, so an audited item that stays
with the machine remains a simple random draw from the machine-kept items, and the top-up is drawn from the others.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd import __version__
from hmc_crowd._base.ids import digest
from hmc_crowd.campaign.quote import audit_size
from hmc_crowd.effort import count_time
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import BudgetPlan, Plan, draw_audit, route, route_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["CampaignPlan", "PlanRequest", "make_plan"]

DESTINATIONS = ("machine", "people", "audit")
REASONS = ("no_gain", "gain", "beyond_cap", "audit_draw", "asked_before")


@dataclass(frozen=True)
class PlanRequest:
    """What a plan is asked to do; see `Campaign.plan` for the words."""

    trade_off: float
    max_human: int | float | None
    max_human_s: float | None
    max_money_minor: int | None
    audit: int | float | None
    effort: str
    redundancy: int
    pay_per_hour_minor: int | None


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
    objective: float
    trade_off: float
    max_human: int | float | None
    ties: int
    effort_model: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"round {self.round}: {self.people:,} of {self.items:,} to people and {self.audit:,} to the audit; people's "
            f"time {self.time_share:.1%} if items cost their share, {self.time_share_read_whole:.1%} if touched groups "
            f"are read whole"
        )


@dataclass(frozen=True)
class _Units:
    """Item-aspect pairs to be planned, as columns; a column of texts may be backed by Arrow."""

    frame: pd.DataFrame
    confidence: NDArray[np.float64]
    share: NDArray[np.float64]
    seconds: NDArray[np.float64]
    model_version: str


def make_plan(context: Context, request: PlanRequest) -> CampaignPlan:
    """Route the campaign's units, draw the audit and store the plan."""
    with context.store.read() as tx:
        round_ = _round_to_plan(context, tx)
        units = _units(context, tx)
        before = _asked_before(context, tx, units.frame, round_)
    routed = _route_and_audit(context, round_, units, before, request)
    frame = _plan_frame(units, routed, before)
    header = _header(context, units, routed, before, request)
    with context.store.begin() as tx:
        record = tx.plans.save(context.campaign_id, round_, header, frame)
        tx.campaigns.set_round(context.campaign_id, round_)
        context.log(tx, "planned", round=round_, plan=record.content_hash, **header["counts"])
    return stored_plan(record)


def stored_plan(record: Any) -> CampaignPlan:
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


def _units(context: Context, tx: Transaction) -> _Units:
    columns = ["item", "group"]
    items = tx.frames.read(context.campaign_id, "items", columns=columns)
    if items.empty:
        raise StateError(f"campaign {context.name!r} has no items; first add_items() and add_predictions()")
    efforts = tx.frames.read(context.campaign_id, "efforts", columns=["item", "seconds", "share", "model_version"])
    if len(efforts) != len(items):
        raise StateError(f"{len(items) - len(efforts):,} items have no effort yet; first call estimate_effort()")
    parts = []
    for aspect in tx.campaigns.aspects(context.campaign_id):
        part = _aspect_units(context, tx, items, efforts, aspect.name)
        if part is not None:
            parts.append(part)
    if not parts:
        raise StateError(f"campaign {context.name!r} has no predictions; first call add_predictions()")
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    version = str(efforts["model_version"].iloc[0])
    values = {name: frame.pop(name).to_numpy(dtype=np.float64) for name in ("confidence", "share", "seconds")}
    return _Units(frame, values["confidence"], values["share"], values["seconds"], version)


def _aspect_units(
    context: Context, tx: Transaction, items: pd.DataFrame, efforts: pd.DataFrame, aspect: str
) -> pd.DataFrame | None:
    predictions = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["item", "confidence"])
    if predictions.empty:
        return None
    if len(predictions) != len(items):
        missing = items["item"][~items["item"].isin(predictions["item"])]
        gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"]
        missing = missing[~missing.isin(gold)]
        if len(missing):
            raise StateError(
                f"{len(missing):,} items have no prediction for aspect {aspect!r} (first {missing.iloc[0]!r}); "
                "add_predictions() for all of them"
            )
        kept = items["item"].isin(predictions["item"]).to_numpy()
        items, efforts = items[kept], efforts[kept]
    frame = pd.DataFrame(
        {
            "item": items["item"].array,
            "group": items["group"].array,
            "aspect": _coded(np.zeros(len(items), dtype=np.int8), (aspect,)),
            "confidence": predictions["confidence"].to_numpy(),
            "share": efforts["share"].to_numpy(),
            "seconds": efforts["seconds"].to_numpy(),
        }
    )
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect, columns=["item"])["item"]
    return frame if gold.empty else frame[~frame["item"].isin(gold)].reset_index(drop=True)


def _asked_before(context: Context, tx: Transaction, frame: pd.DataFrame, round_: int) -> NDArray[np.int8]:
    """Return 1 where people were asked in an earlier round, 2 where the unit was audited, 0 elsewhere."""
    before = np.zeros(len(frame), dtype=np.int8)
    if round_ == 1:
        return before
    earlier = tx.plans.latest(context.campaign_id, round=round_ - 1)
    if earlier is None:
        return before
    touched = tx.plans.read(earlier.id, people_only=True, columns=["item", "aspect", "destination"])
    keys = pd.MultiIndex.from_frame(frame[["item", "aspect"]].astype(str))
    where = keys.get_indexer(pd.MultiIndex.from_frame(touched[["item", "aspect"]].astype(str)))
    found = where >= 0
    before[where[found]] = np.where(touched["destination"].to_numpy()[found] == "audit", 2, 1)
    return before


@dataclass(frozen=True)
class _Routed:
    """The decision over all units, before it is written down."""

    plan: Plan
    free: NDArray[np.bool_]
    to_people: NDArray[np.bool_]
    audited: NDArray[np.bool_]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class _Budgets:
    """What each unit uses of people's time and of money, over all its answers, and the limits."""

    seconds: NDArray[np.float64]
    money_minor: NDArray[np.int64]
    max_s: float | None
    max_minor: int | None

    def overshoot(self, asked: NDArray[np.bool_]) -> tuple[float, int]:
        """Return by how much the asked units exceed the two limits; negative where there is room."""
        over_s = -np.inf if self.max_s is None else float(self.seconds[asked].sum()) - self.max_s
        over_minor = -1 if self.max_minor is None else int(self.money_minor[asked].sum()) - self.max_minor
        return over_s, over_minor


def _budgets(units: _Units, request: PlanRequest) -> _Budgets | None:
    if request.max_human_s is None and request.max_money_minor is None:
        return None
    if request.max_money_minor is not None and request.pay_per_hour_minor is None:
        raise InputError("max_money_minor needs pay_per_hour_minor, to know what a minute of people costs")
    seconds = units.seconds * request.redundancy
    money = np.ceil(seconds * ((request.pay_per_hour_minor or 0) / 3600)).astype(np.int64)
    return _Budgets(seconds, money, request.max_human_s, request.max_money_minor)


def _route_and_audit(
    context: Context, round_: int, units: _Units, before: NDArray[np.int8], request: PlanRequest
) -> _Routed:
    """Route the free units and draw the audit; under a budget, repeat until both together fit it."""
    free = before != 1
    budgets = _budgets(units, request)
    room = budgets
    while True:
        plan = _route(units, before, free, request, room)
        to_people = before == 1
        to_people[free] = plan.to_human
        audited, probability = _audit(context, round_, to_people, before, request)
        routed = _Routed(plan, free, to_people, audited, probability)
        if budgets is None or room is None:
            return routed
        over_s, over_minor = budgets.overshoot(to_people | audited)
        if over_s <= 1e-6 and over_minor <= 0:
            return routed
        if not plan.human_count:
            raise InputError(
                f"max_human_s={request.max_human_s}, max_money_minor={request.max_money_minor}: too little for the "
                f"audit of {int(audited.sum()):,} items and what people were asked before; raise it, or lower audit"
            )
        room = replace(
            room,
            max_s=None if room.max_s is None else max(0.0, room.max_s - max(0.0, over_s)),
            max_minor=None if room.max_minor is None else max(0, room.max_minor - max(0, over_minor)),
        )


def _route(
    units: _Units,
    before: NDArray[np.int8],
    free: NDArray[np.bool_],
    request: PlanRequest,
    room: _Budgets | None,
) -> Plan:
    if request.effort not in {"share", "seconds"}:
        raise InputError(f"effort is {request.effort!r}; give 'share' (the paper's) or 'seconds'")
    # A mask that is true everywhere would copy every column of a large first plan for nothing.
    where: NDArray[np.bool_] | slice = slice(None) if free.all() else free
    effort = (units.share if request.effort == "share" else units.seconds)[where]
    cap = _cap(request.max_human, len(before), int((before == 1).sum()))
    if room is None:
        return route(units.confidence[where], effort, max_human=cap, trade_off=request.trade_off)
    return route_within(
        units.confidence[where],
        effort,
        seconds=room.seconds[where],
        max_human_s=room.max_s,
        money_minor=room.money_minor[where],
        max_money_minor=room.max_minor,
        max_human=cap,
        trade_off=request.trade_off,
    )


def _cap(max_human: int | float | None, units: int, asked: int) -> int | None:
    """Return how many more items people may get: the cap is on the batch, those asked before count."""
    if max_human is None:
        return None
    if isinstance(max_human, bool) or max_human < 0 or (isinstance(max_human, float) and max_human > 1):
        raise InputError(f"max_human is {max_human}; give a count of items (int) or a share in [0, 1] (float)")
    cap = int(max_human * units + 1e-9) if isinstance(max_human, float) else min(max_human, units)
    return max(0, cap - asked)


def _audit(
    context: Context, round_: int, to_people: NDArray[np.bool_], before: NDArray[np.int8], request: PlanRequest
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Draw machine-kept units for people to look at; earlier draws that are still kept count."""
    kept = ~to_people
    audited = (before == 2) & kept
    wanted = audit_size(request.audit, int(kept.sum()))
    others = np.flatnonzero(kept & ~audited)
    more = max(0, wanted - int(audited.sum()))
    audited[others[draw_audit(others, n=more, rng=context.rng("audit", round_)).rows]] = True
    probability = np.ones(len(kept))
    probability[kept] = audited.sum() / max(1, kept.sum())
    return audited, probability


def _plan_frame(units: _Units, routed: _Routed, before: NDArray[np.int8]) -> pd.DataFrame:
    gain = np.full(len(before), np.nan)
    gain[routed.free] = routed.plan.gain
    destination = np.where(routed.to_people, 1, np.where(routed.audited, 2, 0)).astype(np.int8)
    reason = np.where(gain > 0, REASONS.index("beyond_cap"), REASONS.index("no_gain")).astype(np.int8)
    reason[routed.audited] = REASONS.index("audit_draw")
    reason[routed.to_people] = REASONS.index("gain")
    reason[before == 1] = REASONS.index("asked_before")
    rank = np.zeros(len(gain), dtype=np.int64)
    rank[np.argsort(-gain, kind="stable")] = np.arange(1, len(gain) + 1)
    frame = units.frame[["item", "aspect"]].copy(deep=False)
    frame["destination"] = _coded(destination, DESTINATIONS)
    frame["pool"] = _coded(np.where(destination > 0, 0, -1), ("crowd",))
    frame["reason"] = _coded(reason, REASONS)
    frame["gain"] = gain
    frame["confidence"] = units.confidence
    frame["effort_s"] = units.seconds
    frame["inclusion_probability"] = routed.probability
    frame["rank"] = rank
    return frame


def _coded(codes: NDArray[Any], categories: tuple[str, ...]) -> pd.Categorical:
    """Return a column of few different words: one byte a row, whatever the size of the batch."""
    return pd.Categorical.from_codes(codes.astype(np.int8), categories=pd.Index(categories))


def _header(
    context: Context, units: _Units, routed: _Routed, before: NDArray[np.int8], request: PlanRequest
) -> dict[str, Any]:
    asked = routed.to_people | routed.audited
    times = count_time(asked, units.frame["group"].array, units.seconds)
    request_shown = {"trade_off": request.trade_off, "max_human": request.max_human}
    return {
        "counts": {
            "items": len(before),
            "people": int(routed.to_people.sum()),
            "audit": int(routed.audited.sum()),
            "asked_before": int((before == 1).sum()),
            "ties": len(routed.plan.ties),
        },
        "figures": {
            "human_share": float(asked.mean()),
            "time_share": times.per_item_share,
            "time_share_read_whole": times.read_whole_share,
            "human_s": times.per_item_s,
            "human_s_read_whole": times.read_whole_s,
            "objective": routed.plan.objective,
        },
        "request_shown": request_shown,
        "effort_model": units.model_version,
        # What the plan was made from, so that its hash pins data, models, settings and seed alike.
        "made_from": {
            **asdict(request),
            "confidence": digest(units.confidence.tobytes()),
            "effort": digest(units.share.tobytes(), units.seconds.tobytes()),
            "seed": context.settings()["seed"],
            "version": __version__,
        },
        "notes": _notes(routed.plan, request),
    }


def _notes(plan: Plan, request: PlanRequest) -> list[str]:
    """Say what a reader of the plan would otherwise wonder about."""
    notes = []
    if isinstance(plan, BudgetPlan) and plan.binding:
        notes.append(f"{' and '.join(plan.binding)} bind; the best plan could gain at most {plan.gap:.3g} more")
    if len(plan) and not plan.human_count and request.trade_off > 0:
        notes.append(
            f"no item gains at trade_off {request.trade_off:g}: the price of effort outweighs every doubt; lower it"
        )
    if len(plan.ties):
        notes.append(f"{len(plan.ties):,} items tie at the border; item order decided among them")
    return notes
