"""From a plan to HITs on a platform, once, within a budget.

First, in one transaction: the HITs, an intent for each call under its natural key, and the money reserved against the
budget. Then the outbox (`_outbox.py`) makes the calls, each with a second commit of what came back. After a crash it
asks the platform what it holds under a key before anything is sent, so that running it again never publishes twice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._audience import check_items
from hmc_crowd.campaign._cost_sheet import CostSheet, cost_sheet, require_budget
from hmc_crowd.campaign._effects_publish import require_routed
from hmc_crowd.campaign._entrance import entrance
from hmc_crowd.campaign._gold_pool import gold_pool, gold_shown
from hmc_crowd.campaign._hold import require_not_stopped, stopped_since, stopped_words
from hmc_crowd.campaign._orders import Unit, in_units, level_pay
from hmc_crowd.campaign._pools import terms_of
from hmc_crowd.campaign._quota_check import look_at_quotas, recruited_cells
from hmc_crowd.campaign._quotas import hand_quotas
from hmc_crowd.campaign._sending import send, settle_tried
from hmc_crowd.campaign._shown import require_shown
from hmc_crowd.campaign._sure_sheet import with_sure
from hmc_crowd.campaign._until_sure import ERROR, check_most, until_sure
from hmc_crowd.campaign._work import all_asked, known_beside, work_left
from hmc_crowd.campaign.bundles import Bundle, build_hits
from hmc_crowd.errors import (
    DuplicateError,
    InputError,
    NeedsHumanError,
    PlatformUnavailableError,
    StateError,
)
from hmc_crowd.platform import Platform, Recruiter, Terms, find_platform
from hmc_crowd.store import HitItemRecord, HitRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.campaign._entrance import Entrance
    from hmc_crowd.campaign._until_sure import UntilSure
    from hmc_crowd.platform import TaskPages
    from hmc_crowd.store import Transaction

__all__ = ["CostSheet", "PublishRequest", "connect", "publish", "require_published"]


@dataclass(frozen=True)
class PublishRequest:
    """What publishing is asked to do; see `Campaign.publish` for the words."""

    redundancy: int
    pay_minor: int | None
    pay_per_hour_minor: int | None
    currency: str
    budget_minor: int | None
    target_minutes: float
    gold_share: float
    title: str
    description: str
    dry_run: bool
    content_warning: str = ""
    pool: str | None = None
    skills: tuple[str, ...] = ()
    short: bool = False
    gold_limit: int | None = None
    people: int | None = None
    test: str | None = None
    panel: bool = True
    most: int | None = None
    error: float = ERROR

    @property
    def until(self) -> tuple[int, float] | None:
        """How long to ask on; None where every item gets the same number of answers."""
        return None if self.most is None else (self.most, self.error)


def _checked(request: PublishRequest) -> PublishRequest:
    """Return the request with plain whole numbers, or name the first that makes no sense."""
    least = {"redundancy": 1, "pay_minor": 0, "pay_per_hour_minor": 1, "budget_minor": 0, "gold_limit": 1, "people": 1}
    whole: dict[str, Any] = {}
    for name, low in {**least, "most": 1}.items():
        value = getattr(request, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
            unit = " of minor units (cents)" if name.endswith("_minor") else ""
            raise InputError(f"{name} is {value!r}; give a whole number{unit}, at least {low}")
        whole[name] = int(value)
    check_most(whole.get("most"), whole["redundancy"], request.error)
    if request.content_warning and request.content_warning not in request.description:
        whole["description"] = f"{request.content_warning} {request.description}".strip()
    return replace(request, **whole)


def connect(platform: Platform | str, context: Context) -> Platform:
    """Return a platform given as itself or by its name."""
    return find_platform(platform, clock=context.clock) if isinstance(platform, str) else platform


def publish(
    context: Context,
    platform: Platform,
    request: PublishRequest,
    pages: TaskPages | None = None,
    progress: Progress | None = None,
) -> CostSheet:
    """Publish the current round's work, or say what that would cost."""
    request = _checked(request)
    if isinstance(platform, Recruiter):
        require_routed(platform, pages)
    require_shown(context, platform if pages is None else pages)
    if not request.dry_run:
        require_not_stopped(context, "publishing")
        settle_tried(context, platform, pages)
    let_in = entrance(context, platform, test=request.test, panel=request.panel)
    plan = context.latest_plan()
    units, notes = _stored_units(context, plan.round, request)
    is_new, until = not units, None
    if is_new:
        units, until = _new_units(context, platform, plan.id, plan.round, request, let_in)
    since = stopped_since(context.settings())
    notes = (*notes, *let_in.notes(units), *([] if since is None else [stopped_words(since)]))
    sheet = cost_sheet(context, platform, units, plan.round, request, notes=notes)
    sheet = with_sure(context, plan.id, request, sheet, until)
    if is_new:
        sheet = look_at_quotas(context, platform, units, sheet, short=request.short)
    if request.dry_run:
        return sheet
    require_budget(sheet)
    hand_quotas(context, platform, short=request.short)
    if is_new:
        units = _write_intents(context, platform, units, plan.round, request)
    ran = send(context, platform, pages, [unit.key for unit in units], progress=progress)
    sent = {*ran.done}
    if ran.asked:
        raise NeedsHumanError(
            f"{len(ran.asked)} of {len(units)} calls need a person: {ran.why}; see status().questions"
        )
    if ran.later or ran.waiting:
        raise PlatformUnavailableError(
            f"{len(ran.later) + len(ran.waiting)} of {len(units)} calls did not get through ({ran.why or 'put off'}); "
            "what was sent is stored, and publishing again goes on where it stopped"
        )
    new = sum(len(unit.records) for unit in units if unit.key in sent)
    return replace(sheet, new_hits=new, notes=(*sheet.notes, *([ran.busy] if ran.busy else [])))


def _stored_units(context: Context, round_: int, request: PublishRequest) -> tuple[list[Unit], tuple[str, ...]]:
    """Return the round's calls as they were written down, and where they differ from what is asked for now."""
    with context.store.read() as tx:
        records = [hit for hit in tx.work.hits(context.campaign_id, round=round_) if not hit.salvaged_from]
        intents = {each.key: each for each in tx.work.intents(context.campaign_id)}
    together: dict[str, list[HitRecord]] = {}
    for record in records:
        together.setdefault(record.order_key or record.key, []).append(record)
    units = [
        Unit(
            key,
            intents[key].operation,
            tuple(some),
            intents[key].amount_minor,
            intents[key].currency,
            intents[key].payload or {},
            (intents[key].payload or {}).get("per_worker", len(some)) if some[0].order_key else None,
        )
        for key, some in together.items()
        if key in intents
    ]
    if request.pay_minor is not None and any(hit.pay_minor != request.pay_minor for hit in records):
        return units, (
            f"this round's HITs were written with another pay and keep it, not {request.pay_minor} minor units",
        )
    if any(hit.redundancy > (request.most or request.redundancy) for hit in records):
        return units, (f"this round's HITs were written with another redundancy and keep it, not {request.redundancy}",)
    return units, ()


def _new_units(
    context: Context, platform: Platform, plan_id: int, round_: int, request: PublishRequest, let_in: Entrance
) -> tuple[list[Unit], UntilSure | None]:
    """Bundle what the plan gives to people and nobody has answered often enough yet; say by which labels are sure."""
    given = sum(each is not None for each in (request.pay_minor, request.pay_per_hour_minor, request.pool))
    if given != 1:
        raise InputError("give either pay_minor (per submission) or pay_per_hour_minor, or a pool, whose price counts")
    with context.store.read() as tx:
        terms, pool = terms_of(context, tx, request.pool, request.skills, platform)
        until = until_sure(context, tx, request.until, request.redundancy)
        work = work_left(context, tx, plan_id, request.redundancy, until)
        gold = gold_pool(context, tx)
        seen = gold_shown(context, tx)
        known = known_beside(context, tx, work)
    if work.empty:
        return [], until
    bundles = build_hits(
        work,
        target_minutes=request.target_minutes,
        campaign=context.uid(),
        round=round_,
        gold=gold if len(gold) else None,
        gold_share=request.gold_share,
        gold_limit=request.gold_limit,
        seen=seen,
        rng=context.rng("bundles", round_),
    )
    aspects = {each.name: each.guideline_version for each in context.aspects()}
    bundles = tuple(all_asked(bundle, tuple(aspects), known) for bundle in bundles)
    is_shared = isinstance(platform, Recruiter)
    if not is_shared:
        terms = replace(terms, holds=let_in.holds)
    stored = None if terms == Terms() else asdict(terms)
    currency = request.currency if pool is None else pool.currency
    records = [replace(_record(bundle, request, terms, aspects), terms=stored, currency=currency) for bundle in bundles]
    if is_shared and request.pay_per_hour_minor is not None:
        records = level_pay(records, request.pay_per_hour_minor)
    is_sensitive = check_items(context, platform, records, has_warning=bool(request.content_warning) or is_shared)
    units = in_units(
        context,
        platform,
        records,
        is_shared=is_shared,
        is_sensitive=is_sensitive,
        content_warning=request.content_warning,
        cells=recruited_cells(context, platform, sum(record.redundancy for record in records)),
        let_in=let_in,
    )
    return units, until


def _record(bundle: Bundle, request: PublishRequest, terms: Terms, versions: Mapping[str, str]) -> HitRecord:
    pay = request.pay_minor
    if terms.pay_form == "per_answer":
        pay = terms.rate_minor * len(bundle.items)
    elif terms.pool:
        pay = 0  # hours and salaries are paid beside the platform
    elif pay is None:
        pay = max(1, math.ceil(float(request.pay_per_hour_minor or 0) * bundle.expected_s / 3600))
    return HitRecord(
        key=bundle.key,
        title=request.title,
        redundancy=bundle.redundancy,
        pay_minor=pay,
        currency=request.currency,
        expected_s=bundle.expected_s,
        items=tuple(
            HitItemRecord(each.item, each.aspect, index, is_gold=each.is_gold, guideline_version=versions[each.aspect])
            for index, each in enumerate(bundle.items)
        ),
    )


def _write_intents(
    context: Context, platform: Platform, units: list[Unit], round_: int, request: PublishRequest
) -> list[Unit]:
    """Commit HITs, intents and reserved money together, before the first call; return what is written down."""
    for unit in units:
        context.at("before_intent", unit.key)
    try:
        with context.store.begin() as tx:
            if not tx.work.hits(context.campaign_id, round=round_):
                _write(context, tx, platform, units, round_, request)
    except DuplicateError:
        # Another process wrote the same round at the same moment: what it wrote counts.
        written, _ = _stored_units(context, round_, request)
        if not written:
            raise
    for unit in units:
        context.at("after_intent", unit.key)
    return _stored_units(context, round_, request)[0]


def _write(
    context: Context, tx: Transaction, platform: Platform, units: list[Unit], round_: int, request: PublishRequest
) -> None:
    tx.work.add_hits(context.campaign_id, round_, [record for unit in units for record in unit.records])
    now = context.clock.now()
    limit = int(request.budget_minor or 0)
    for unit in units:
        tx.work.add_intent(unit.intent(context.campaign_id, platform, now))
        tx.budget.reserve(context.campaign_id, unit.key, unit.total_minor, unit.currency, limit)
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    frees = set(settings.get("frees_slot", []))
    frees = frees | {platform.name} if platform.capabilities.rejection_frees_slot else frees - {platform.name}
    changed = {
        **settings,
        "redundancy": request.redundancy,
        "currency": request.currency,
        "platform": platform.name,
        "description": request.description,
        "category": request.content_warning,
        "frees_slot": sorted(frees),
        "gold_limit": request.gold_limit,
        "most": request.most,
        "stop_error": request.error,
    }
    tx.campaigns.save_settings(context.campaign_id, changed)
    hits = sum(len(unit.records) for unit in units)
    context.log(tx, "publishing", round=round_, hits=hits, platform=platform.name)


def require_published(context: Context, tx: Transaction) -> list[HitRecord]:
    """Return the HITs that are on a platform, or say that there are none."""
    records = [record for record in tx.work.hits(context.campaign_id) if record.platform_hit_id]
    if not records:
        raise StateError(f"campaign {context.name!r} has no HITs on a platform; first publish(..., dry_run=False)")
    return records
