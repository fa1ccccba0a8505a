"""From a plan to HITs on a platform, once, within a budget.

Publishing is two commits around one call. First, in one transaction: the HITs, an intent for each under its natural key,
and the money reserved against the budget. Then, HIT by HIT, the call to the platform and a second commit with what it
answered. After a crash the intents that were `sent` without an answer are settled by asking the platform what it holds
under the key (`Platform.find`) before anything is sent, so that running it again never publishes twice.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign.bundles import Bundle, build_hits
from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.platform import Account, Hit, HitItem, Platform, find_platform
from hmc_crowd.store import HitItemRecord, HitRecord, IntentRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.store import Transaction

__all__ = ["CostSheet", "PublishRequest", "connect", "publish"]


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

    def __str__(self) -> str:
        total, reward = Money(self.total_minor, self.currency), Money(self.reward_minor, self.currency)
        verb = "would publish" if self.dry_run else "published"
        return (
            f"round {self.round}: {verb} {self.hits:,} HITs, {self.submissions:,} submissions, {self.answers:,} answers "
            f"on {self.account.platform} ({self.account.endpoint}): {total}, of which rewards {reward}; "
            f"about {self.expected_human_s / 3600:.1f} hours of people"
        )


def connect(platform: Platform | str, context: Context) -> Platform:
    """Return a platform given as itself or by its name."""
    return find_platform(platform, clock=context.clock) if isinstance(platform, str) else platform


def publish(
    context: Context, platform: Platform, request: PublishRequest, progress: Progress | None = None
) -> CostSheet:
    """Publish the current round's work, or say what that would cost."""
    plan = context.latest_plan()
    with context.store.read() as tx:
        records = tx.work.hits(context.campaign_id, round=plan.round)
    if not records:
        records = _new_hits(context, plan.id, plan.round, request)
    sheet = _cost_sheet(platform, records, plan.round, request)
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
    return CostSheet(**{**sheet.__dict__, "new_hits": new})


def _new_hits(context: Context, plan_id: int, round_: int, request: PublishRequest) -> list[HitRecord]:
    """Bundle what the plan gives to people and nobody has answered often enough yet."""
    if (request.pay_minor is None) == (request.pay_per_hour_minor is None):
        raise InputError("give either pay_minor (per submission) or pay_per_hour_minor")
    with context.store.read() as tx:
        work = work_left(context, tx, plan_id, request.redundancy)
        gold = _gold(context, tx)
        # Gold that earlier rounds showed comes last in the rotation.
        seen = Counter(
            (each.item, each.aspect)
            for hit in tx.work.hits(context.campaign_id)
            for each in hit.items
            if each.is_gold
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


def work_left(context: Context, tx: Transaction, plan_id: int, redundancy: int) -> pd.DataFrame:
    """Return the plan's units for people with how many answers each still needs, and what they cost.

    A unit whose answers are tied needs one more than it has.
    """
    if isinstance(redundancy, bool) or redundancy < 1:
        raise InputError(f"redundancy is {redundancy}; at least one worker must answer an item")
    units = tx.plans.read(plan_id, people_only=True, columns=["item", "aspect"])
    answers = tx.work.answers(context.campaign_id, include_excluded=False, include_gold=False)
    given = answers.groupby(["task", "aspect"], observed=True).size().rename("given")
    units["aspect"] = units["aspect"].astype(str)
    units = units.merge(given, left_on=["item", "aspect"], right_index=True, how="left")
    have = units["given"].fillna(0).astype(int)
    labels = tx.labels.read(context.campaign_id)
    tied = set(map(tuple, labels.loc[labels["tied"].astype(bool), ["item", "aspect"]].to_numpy()))
    is_tied = np.array([pair in tied for pair in zip(units["item"], units["aspect"], strict=True)], dtype=bool)
    units["needed"] = np.where(is_tied & (have >= redundancy), 1, np.maximum(0, redundancy - have))
    units = units[units["needed"] > 0]
    return _with_cost(context, tx, units[["item", "aspect", "needed"]])


def _with_cost(context: Context, tx: Transaction, units: pd.DataFrame) -> pd.DataFrame:
    """Add group, position, and seconds split in reading into the group and judging the item."""
    wanted = units["item"].unique().tolist()
    items = tx.frames.read(context.campaign_id, "items", columns=["item", "group", "position"], items=wanted)
    turns = tx.frames.read(context.campaign_id, "items", columns=["group"])["group"].value_counts()
    efforts = tx.frames.read(
        context.campaign_id, "efforts", columns=["item", "seconds", "setup_s"], items=wanted
    ).fillna({"setup_s": 0.0})
    frame = units.merge(items, on="item").merge(efforts, on="item")
    # An item's seconds hold its part of the set-up; what is left is what one more item of an open group costs.
    part = frame["setup_s"] / frame["group"].map(turns).to_numpy()
    return frame.assign(effort_s=np.maximum(frame["seconds"] - part, 0.0)).reset_index(drop=True)


def _gold(context: Context, tx: Transaction) -> pd.DataFrame:
    gold = tx.frames.read(context.campaign_id, "gold")
    if gold.empty:
        return gold
    return _with_cost(context, tx, gold[["item", "aspect"]])


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
        pages = _Pages(context, tx, list(records.values()) if waiting else [])
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


class _Pages:
    """Turns stored HITs into what the platform shows: texts, dialogue so far, labels; never which items are gold."""

    def __init__(self, context: Context, tx: Transaction, records: list[HitRecord]) -> None:
        self._description = str(tx.campaigns.get(context.name).settings.get("description", ""))
        self._labels = {
            each.name: tuple(known_labels(context, tx, each)) for each in tx.campaigns.aspects(context.campaign_id)
        }
        wanted = {each.item for record in records for each in record.items}
        # The dialogue so far needs every turn of a group, asked about or not.
        all_items = tx.frames.read(context.campaign_id, "items", columns=["item", "group"])
        groups = set(all_items.loc[all_items["item"].isin(wanted), "group"])
        turns_of = all_items.loc[all_items["group"].isin(groups), "item"].tolist()
        columns = ["item", "group", "position", "text"]
        texts = tx.frames.read(context.campaign_id, "items", columns=columns, items=turns_of)
        texts = texts.sort_values(["group", "position"], kind="stable")
        self._items: dict[str, Any] = {}
        for _, turns in texts.groupby("group", sort=False):
            so_far: list[str] = []
            for row in turns.itertuples(index=False):
                self._items[row.item] = (row, tuple(so_far))
                so_far.append(row.text)

    def hit(self, record: HitRecord) -> Hit:
        shown = []
        for each in record.items:
            row, context = self._items[each.item]
            shown.append(
                HitItem(
                    item=each.item,
                    aspect=each.aspect,
                    group=row.group,
                    position=int(row.position),
                    text=row.text,
                    context=context,
                    labels=self._labels[each.aspect],
                )
            )
        return Hit(
            key=record.key,
            title=record.title,
            description=self._description,
            items=tuple(shown),
            redundancy=record.redundancy,
            pay_minor=record.pay_minor,
            currency=record.currency,
            time_limit_s=max(1800, int(6 * record.expected_s)),
        )


def require_published(context: Context, tx: Transaction) -> list[HitRecord]:
    """Return the HITs that are on a platform, or say that there are none."""
    records = [record for record in tx.work.hits(context.campaign_id) if record.platform_hit_id]
    if not records:
        raise StateError(f"campaign {context.name!r} has no HITs on a platform; first publish(..., dry_run=False)")
    return records
