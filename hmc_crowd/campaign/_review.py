"""Approving and rejecting submissions, by default only saying what would happen.

Approved is whatever was handed in and is complete, also what the aggregation leaves out: people are paid for work, not
for agreement. Rejecting needs what `hmc_crowd.quality.RejectionProposal` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.campaign._effects_review import REWARD
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._sending import send, settle_tried
from hmc_crowd.campaign._spending import new_intent, require_within
from hmc_crowd.errors import InputError
from hmc_crowd.platform import ApprovesMany
from hmc_crowd.store import PaymentRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Account, Platform, TaskPages
    from hmc_crowd.store import HitRecord, IntentRecord, Transaction

__all__ = ["ApproveRequest", "Approved", "approve"]

_AT_ONCE = 100
_AT_ONCE_IN_BULK = 10_000
_BY_DEFAULT = ("submitted", "approved")


@dataclass(frozen=True)
class ApproveRequest:
    """What approving is asked to do; see `Campaign.approve` for the words."""

    submissions: tuple[str, ...] | None
    budget_minor: int | None
    dry_run: bool
    by: str
    override: bool


@dataclass(frozen=True)
class Approved:
    """What approving costs, and what it did.

    Parameters
    ----------
    submissions : int
        How many are to be approved.
    approved, auto_approved : int
        How many of them were approved by us, and how many the platform had approved by itself. 0 in a dry run.
    deferred : int
        The platform does not show them yet, or did not answer; approving again goes on with them.
    disputed : int
        A person must decide; see `Campaign.questions`.
    incomplete : tuple of str
        Handed in without all answers and therefore left alone; name them to approve them.
    paid_before : int
        Submissions asked for by name that are paid already.
    total_minor : int
        Rewards and fees. ``extra_minor`` of it was not reserved when their HITs were published.
    """

    account: Account
    submissions: int
    reward_minor: int
    fee_minor: int
    extra_minor: int
    currency: str
    dry_run: bool
    approved: int = 0
    auto_approved: int = 0
    deferred: int = 0
    disputed: int = 0
    incomplete: tuple[str, ...] = ()
    paid_before: int = 0
    notes: tuple[str, ...] = ()

    @property
    def total_minor(self) -> int:
        """Rewards and fees."""
        return self.reward_minor + self.fee_minor

    def __str__(self) -> str:
        where = f"{self.account.platform} ({self.account.endpoint}, {self.account.account}, {self.account.mode})"
        total, fees = Money(self.total_minor, self.currency), Money(self.fee_minor, self.currency)
        verb = "would approve" if self.dry_run else "approving"
        line = f"{verb} {self.submissions:,} submissions on {where}: {total}, of which fees {fees}"
        if not self.dry_run:
            line += (
                f"; {self.approved:,} approved, {self.auto_approved:,} by the platform itself, {self.deferred:,} put "
                f"off, {self.disputed:,} disputed"
            )
        return f"{line}; {len(self.incomplete):,} incomplete and left alone" if self.incomplete else line


@dataclass(frozen=True)
class _Case:
    """One submission that is to be approved."""

    submission: str
    state: str
    hit: HitRecord
    reward_minor: int
    fee_minor: int

    @property
    def cost_minor(self) -> int:
        return self.reward_minor + self.fee_minor

    @property
    def is_extra(self) -> bool:
        """Whether no money stands ready: its place was given to somebody else, or its money was freed."""
        return self.state in {"expired", "rejected"}


def approve(
    context: Context,
    platform: Platform,
    request: ApproveRequest,
    pages: TaskPages | None = None,
    progress: Progress | None = None,
) -> Approved:
    """Approve and pay, or say what that would cost."""
    if not request.dry_run:
        settle_tried(context, platform, pages)
    with context.store.read() as tx:
        cases, incomplete, before = _cases(context, tx, platform, request)
        unfinished = [
            each.key
            for each in tx.work.intents(context.campaign_id)
            if each.operation == "approve" and each.lane == platform.name and each.state in {"planned", "sent"}
        ]
    currency = cases[0].hit.currency if cases else str(context.settings()["currency"])
    sheet = Approved(
        account=platform.account(),
        submissions=len(cases),
        reward_minor=sum(each.reward_minor for each in cases),
        fee_minor=sum(each.fee_minor for each in cases),
        extra_minor=sum(each.cost_minor for each in cases if each.is_extra),
        currency=currency,
        dry_run=request.dry_run,
        incomplete=tuple(incomplete),
        paid_before=before,
    )
    if request.dry_run:
        return sheet
    require_within(context, request.budget_minor, sheet.extra_minor, currency, what="approving")
    keys = [*unfinished, *_write(context, platform, cases, request)]
    ran = send(context, platform, pages, keys, progress=progress)
    return _with_outcomes(context, sheet, keys, ran.busy or (ran.why if ran.later else ""))


def _cases(
    context: Context, tx: Transaction, platform: Platform, request: ApproveRequest
) -> tuple[list[_Case], list[str], int]:
    """Return what is to be approved, what is incomplete, and how much was paid before."""
    known = tx.work.submissions(context.campaign_id)
    known = known[known["platform"] == platform.name]
    hits = {hit.key: hit for hit in tx.work.hits(context.campaign_id)}
    states = dict(zip(known["submission_id"].tolist(), known["state"].tolist(), strict=True))
    hit_of = dict(zip(known["submission_id"].tolist(), known["hit_key"].tolist(), strict=True))
    rewards = {
        each.submission_id: each.state
        for each in tx.payments.read(context.campaign_id, reason_code=REWARD)
        if each.platform == platform.name
    }
    if request.submissions is None:
        answered = tx.work.answer_counts(context.campaign_id, platform.name)
        asked = [name for name, state in states.items() if state in _BY_DEFAULT and name not in rewards]
        # What the platform has paid by itself is paid, complete or not.
        ready = [n for n in asked if states[n] == "approved" or answered.get(n, 0) >= len(hits[hit_of[n]].items)]
        incomplete = sorted(set(asked) - set(ready))
        before = 0
    else:
        wanted = list(dict.fromkeys(request.submissions))
        _check_named(platform, wanted, states, override=request.override)
        ready = [name for name in wanted if rewards.get(name) not in {"paid", "planned", "needs_human"}]
        incomplete, before = [], sum(rewards.get(name) == "paid" for name in wanted)
    return [_case(platform, name, states[name], hits[hit_of[name]]) for name in ready], incomplete, before


def _check_named(platform: Platform, wanted: list[str], states: dict[str, str], *, override: bool) -> None:
    payable = {"submitted", "approved", "expired"} | ({"rejected"} if override else set())
    if override and not platform.capabilities.overrides_rejection:
        raise InputError(f"platform {platform.name!r} cannot approve what was rejected; pay a bonus instead")
    for name in wanted:
        if name not in states:
            raise InputError(f"submission {name!r} is unknown on {platform.name}; collect() first, or check its id")
        if states[name] not in payable:
            hint = "; pass override=True to pay it all the same" if states[name] == "rejected" else ""
            raise InputError(f"submission {name!r} is {states[name]} and cannot be approved{hint}")


def _case(platform: Platform, name: str, state: str, hit: HitRecord) -> _Case:
    fee = platform.fees.fee_minor(hit.pay_minor, redundancy=hit.redundancy)
    return _Case(name, state, hit, hit.pay_minor, fee)


def _write(context: Context, platform: Platform, cases: Sequence[_Case], request: ApproveRequest) -> list[str]:
    """Commit payments, intents and the money that was not reserved before; return the intents' keys."""
    in_bulk = isinstance(platform, ApprovesMany) and not request.override
    size = _AT_ONCE_IN_BULK if in_bulk else _AT_ONCE
    ordered = sorted(cases, key=lambda each: (str(each.hit.platform_hit_id), each.submission))
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    uid = context.uid()
    intents = [_intent(context, platform, uid, batch, request) for batch in batches]
    for intent in intents:
        context.at("before_intent", intent.key)
    with context.store.begin() as tx:
        for batch, intent in zip(batches, intents, strict=True):
            stored = tx.work.add_intent(intent)
            tx.payments.add(
                context.campaign_id,
                [_payment(context, platform, each, stored, request) for each in batch if each.reward_minor],
            )
            if stored.amount_minor:
                limit = int(request.budget_minor or 0)
                tx.budget.reserve(context.campaign_id, stored.key, stored.amount_minor, stored.currency, limit)
    for intent in intents:
        context.at("after_intent", intent.key)
    return [intent.key for intent in intents]


def _intent(
    context: Context, platform: Platform, uid: str, batch: Sequence[_Case], request: ApproveRequest
) -> IntentRecord:
    names = [each.submission for each in batch]
    extra = {each.submission: each.cost_minor for each in batch if each.is_extra}
    payload: dict[str, Any] = {
        "rows": names,
        "hit_ids": sorted({str(each.hit.platform_hit_id) for each in batch}),
        "singly": sorted(extra),
        "extra": extra,
        # Whose places somebody else has, or may have.
        "freed": sorted(
            each.submission
            for each in batch
            if each.state == "expired" or (each.is_extra and platform.capabilities.rejection_frees_slot)
        ),
        "override": request.override,
        "by": request.by,
    }
    key = campaign_key(uid, "approve", platform.name, request.override, *sorted(names))
    return new_intent(
        context,
        platform,
        key=key,
        operation="approve",
        payload=payload,
        amount_minor=sum(extra.values()),
        currency=batch[0].hit.currency,
        payload_hash=digest("approve", *sorted(names)),
    )


def _payment(
    context: Context, platform: Platform, case: _Case, intent: IntentRecord, request: ApproveRequest
) -> PaymentRecord:
    return PaymentRecord(
        platform=platform.name,
        submission_id=case.submission,
        reason_code=REWARD,
        amount_minor=case.reward_minor,
        fee_minor=case.fee_minor,
        currency=case.hit.currency,
        intent_key=intent.key,
        state="planned",
        at=context.clock.now(),
        by=request.by or "approve",
    )


def _with_outcomes(context: Context, sheet: Approved, keys: Iterable[str], note: str) -> Approved:
    with context.store.read() as tx:
        found = [tx.work.intent(key) for key in keys]
    for intent in found:
        if intent is None:
            continue
        result = intent.result or {}
        done = len(result.get("approved", [])) + len(result.get("auto_approved", []))
        disputed = len(result.get("disputed", {}))
        rows = len((intent.payload or {})["rows"])
        left = rows - done - disputed
        asked = left if intent.state == "needs_human" else 0
        sheet = replace(
            sheet,
            approved=sheet.approved + len(result.get("approved", [])),
            auto_approved=sheet.auto_approved + len(result.get("auto_approved", [])),
            disputed=sheet.disputed + disputed + asked,
            deferred=sheet.deferred + left - asked,
        )
    return replace(sheet, notes=(*sheet.notes, note)) if note else sheet
