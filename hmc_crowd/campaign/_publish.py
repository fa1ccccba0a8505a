"""From a plan to HITs on a platform, once, within a budget.

Publishing is two commits around one call. First, in one transaction: the HITs, an intent for each under its natural
key, and the money reserved against the budget. Then, HIT by HIT, the call to the platform and a second commit with what
it answered. After a crash the intents that were `sent` without an answer are settled by asking the platform what it
holds under the key (`Platform.find`) before anything is sent, so that running it again never publishes twice.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.campaign._pages import Pages
from hmc_crowd.campaign._work import gold_work, work_left
from hmc_crowd.campaign.bundles import Bundle, build_hits
from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.platform import Account, Platform, find_platform
from hmc_crowd.store import HitItemRecord, HitRecord, IntentRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context, Progress
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


@dataclass(frozen=True)
class CostSheet:
    """What publishing costs: printed before anything is spent, and the same after it was.

    ``new_hits`` counts what this call published (0 in a dry run, and when it had been done before).
    """

    account: Account
    round: int
    hits: int
    submissions: int
    answers: int
    expected_human_s: float
    reward_minor: int
    fee_minor: int
    total_minor: int
    budget_minor: int | None
    currency: str
    dry_run: bool
    new_hits: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        total, reward = Money(self.total_minor, self.currency), Money(self.reward_minor, self.currency)
        verb = "would publish" if self.dry_run else "published"
        return (
            f"round {self.round}: {verb} {self.hits:,} HITs, {self.submissions:,} submissions, {self.answers:,} "
            f"answers on {self.account.platform} ({self.account.endpoint}): {total}, of which rewards {reward}; "
            f"about {self.expected_human_s / 3600:.1f} hours of people"
        )


def _checked(request: PublishRequest) -> PublishRequest:
    """Return the request with plain whole numbers, or name the first that makes no sense."""
    least = {"redundancy": 1, "pay_minor": 0, "pay_per_hour_minor": 1, "budget_minor": 0}
    whole: dict[str, Any] = {}
    for name, low in least.items():
        value = getattr(request, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
            unit = "" if name == "redundancy" else " of minor units (cents)"
            raise InputError(f"{name} is {value!r}; give a whole number{unit}, at least {low}")
        whole[name] = int(value)
    return replace(request, **whole)


def connect(platform: Platform | str, context: Context) -> Platform:
    """Return a platform given as itself or by its name."""
    return find_platform(platform, clock=context.clock) if isinstance(platform, str) else platform


def publish(
    context: Context, platform: Platform, request: PublishRequest, progress: Progress | None = None
) -> CostSheet:
    """Publish the current round's work, or say what that would cost."""
    request = _checked(request)
    plan = context.latest_plan()
    with context.store.read() as tx:
        records = tx.work.hits(context.campaign_id, round=plan.round)
    notes = _differences(records, request)
    if not records:
        records = _new_hits(context, plan.id, plan.round, request)
    sheet = replace(_cost_sheet(platform, records, plan.round, request), notes=notes)
    if request.dry_run:
        return sheet
    if request.budget_minor is None:
        raise InputError("budget_minor is missing; publishing spends money, so say how much it may spend at most")
    if sheet.total_minor > request.budget_minor:
        raise BudgetError(
            f"publishing costs {Money(sheet.total_minor, sheet.currency)}, more than the budget of "
            f"{Money(request.budget_minor, sheet.currency)}; nothing was sent: raise the budget, lower redundancy or "
            "pay, or plan with a smaller max_human"
        )
    _write_intents(context, platform, records, plan.round, request)
    new = _send(context, platform, plan.round, progress)
    return replace(sheet, new_hits=new)


def _differences(stored: list[HitRecord], request: PublishRequest) -> tuple[str, ...]:
    """Say where the round's HITs, once written, differ from what is asked for now: they stay as they are."""
    if request.pay_minor is not None and any(hit.pay_minor != request.pay_minor for hit in stored):
        return (f"this round's HITs were written with another pay and keep it, not {request.pay_minor} minor units",)
    if any(hit.redundancy > request.redundancy for hit in stored):
        return (f"this round's HITs were written with another redundancy and keep it, not {request.redundancy}",)
    return ()


def _new_hits(context: Context, plan_id: int, round_: int, request: PublishRequest) -> list[HitRecord]:
    """Bundle what the plan gives to people and nobody has answered often enough yet."""
    if (request.pay_minor is None) == (request.pay_per_hour_minor is None):
        raise InputError("give either pay_minor (per submission) or pay_per_hour_minor")
    with context.store.read() as tx:
        work = work_left(context, tx, plan_id, request.redundancy)
        gold = gold_work(context, tx)
        # Gold that earlier rounds showed comes last in the rotation.
        seen = Counter(
            (each.item, each.aspect) for hit in tx.work.hits(context.campaign_id) for each in hit.items if each.is_gold
        )
    if work.empty:
        return []
    bundles = build_hits(
        work,
        target_minutes=request.target_minutes,
        campaign=context.settings()["uid"],
        round=round_,
        gold=gold if len(gold) else None,
        gold_share=request.gold_share,
        seen=seen,
        rng=context.rng("bundles", round_),
    )
    return [_record(bundle, request) for bundle in bundles]


def _record(bundle: Bundle, request: PublishRequest) -> HitRecord:
    pay = request.pay_minor
    if pay is None:
        pay = max(1, math.ceil(float(request.pay_per_hour_minor or 0) * bundle.expected_s / 3600))
    return HitRecord(
        key=bundle.key,
        title=request.title,
        redundancy=bundle.redundancy,
        pay_minor=pay,
        currency=request.currency,
        expected_s=bundle.expected_s,
        items=tuple(
            HitItemRecord(item=each.item, aspect=each.aspect, position=index, is_gold=each.is_gold)
            for index, each in enumerate(bundle.items)
        ),
    )


def _amount(platform: Platform, record: HitRecord) -> int:
    fee = platform.fees.fee_minor(record.pay_minor, redundancy=record.redundancy)
    return record.redundancy * (record.pay_minor + fee)


def _cost_sheet(platform: Platform, records: list[HitRecord], round_: int, request: PublishRequest) -> CostSheet:
    reward = sum(record.redundancy * record.pay_minor for record in records)
    total = sum(_amount(platform, record) for record in records)
    return CostSheet(
        account=platform.account(),
        round=round_,
        hits=len(records),
        submissions=sum(record.redundancy for record in records),
        answers=sum(record.redundancy * len(record.items) for record in records),
        expected_human_s=float(sum(record.redundancy * record.expected_s for record in records)),
        reward_minor=reward,
        fee_minor=total - reward,
        total_minor=total,
        budget_minor=request.budget_minor,
        currency=records[0].currency if records else request.currency,
        dry_run=request.dry_run,
        new_hits=0,
    )


def _write_intents(
    context: Context, platform: Platform, records: list[HitRecord], round_: int, request: PublishRequest
) -> None:
    """Commit HITs, intents and reserved money together, before the first call."""
    with context.store.begin() as tx:
        if tx.work.hits(context.campaign_id, round=round_):
            return
        tx.work.add_hits(context.campaign_id, round_, records)
        for record in records:
            now = context.clock.now()
            amount = _amount(platform, record)
            tx.work.add_intent(
                IntentRecord(
                    key=record.key,
                    campaign_id=context.campaign_id,
                    operation="publish",
                    payload_hash=digest(record),
                    state="planned",
                    amount_minor=amount,
                    currency=record.currency,
                    result=None,
                    created_at=now,
                    updated_at=now,
                )
            )
            limit = int(request.budget_minor or 0)
            tx.budget.reserve(context.campaign_id, record.key, amount, record.currency, limit)
        record_ = tx.campaigns.get(context.name)
        settings = {
            **record_.settings,
            "redundancy": request.redundancy,
            "currency": request.currency,
            "platform": platform.name,
            "description": request.description,
        }
        tx.campaigns.save_settings(context.campaign_id, settings)
        context.log(tx, "publishing", round=round_, hits=len(records), platform=platform.name)


def _send(context: Context, platform: Platform, round_: int, progress: Progress | None) -> int:
    """Carry out the round's intents that are not done; ask first about those that were sent before."""
    with context.store.read() as tx:
        waiting = [each for each in tx.work.intents(context.campaign_id) if each.state in {"planned", "sent"}]
        records = {record.key: record for record in tx.work.hits(context.campaign_id, round=round_)}
        waiting = [each for each in waiting if each.key in records]
        pages = Pages(context, tx, list(records.values()) if waiting else [])
    for index, intent in enumerate(waiting):
        record = records[intent.key]
        remote = platform.find(intent.key) if intent.state == "sent" else None
        if remote is None:
            with context.store.begin() as tx:
                tx.work.set_intent(intent.key, "sent", None)
            remote = platform.publish(pages.hit(record))
        with context.store.begin() as tx:
            tx.work.set_intent(intent.key, "done", {"hit_id": remote.hit_id})
            tx.work.set_hit(intent.key, state="open", platform=platform.name, platform_hit_id=remote.hit_id)
        if progress is not None:
            progress("publishing", index + 1, len(waiting))
    return len(waiting)


def require_published(context: Context, tx: Transaction) -> list[HitRecord]:
    """Return the HITs that are on a platform, or say that there are none."""
    records = [record for record in tx.work.hits(context.campaign_id) if record.platform_hit_id]
    if not records:
        raise StateError(f"campaign {context.name!r} has no HITs on a platform; first publish(..., dry_run=False)")
    return records
