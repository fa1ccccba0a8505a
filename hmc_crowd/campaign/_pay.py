"""Paying bonuses: one for each submission and reason, by default only saying what it would cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._sending import send, settle_tried
from hmc_crowd.campaign._spending import new_intent, require_within
from hmc_crowd.errors import InputError
from hmc_crowd.platform import PaysBonuses
from hmc_crowd.store import PaymentRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Account, Platform, TaskPages
    from hmc_crowd.store import IntentRecord

__all__ = ["Bonus", "Paid", "pay"]


@dataclass(frozen=True)
class Bonus:
    """What one submission is to get on top of its reward.

    Parameters
    ----------
    submission_id : str
        As the platform names it.
    amount_minor : int
        Minor units (cents), at least 1, without fees.
    reason_code : str, default "bonus"
        A submission is paid once for each code, for ever.
    reason : str
        What the worker may read; by default a plain sentence of thanks.
    """

    submission_id: str
    amount_minor: int
    reason_code: str = "bonus"
    reason: str = "Thank you for your work."

    def __post_init__(self) -> None:
        if isinstance(self.amount_minor, bool) or not isinstance(self.amount_minor, int) or self.amount_minor < 1:
            raise InputError(
                f"amount_minor is {self.amount_minor!r}; give minor units (cents) as an integer, at least 1"
            )
        if not self.reason_code.strip() or self.reason_code == "reward":
            raise InputError(
                f"reason_code is {self.reason_code!r}; give a short code such as 'quality'; 'reward' is taken"
            )


@dataclass(frozen=True)
class Paid:
    """What bonuses cost, and what became of them.

    Parameters
    ----------
    bonuses : int
        How many are to be paid; ``paid`` of them show on the platform.
    waiting : int
        They were sent and do not show yet; paying or reconciling again looks, and never sends them twice.
    deferred : int
        Surely not paid yet; paying again goes on with them.
    asked : int
        A person must decide; see `Campaign.questions`.
    before : int
        Bonuses of the same reason that were paid or written down earlier, and are left as they are.
    """

    account: Account
    bonuses: int
    amount_minor: int
    fee_minor: int
    currency: str
    dry_run: bool
    paid: int = 0
    waiting: int = 0
    deferred: int = 0
    asked: int = 0
    before: int = 0
    notes: tuple[str, ...] = ()

    @property
    def total_minor(self) -> int:
        """Bonuses and fees."""
        return self.amount_minor + self.fee_minor

    def __str__(self) -> str:
        where = f"{self.account.platform} ({self.account.endpoint}, {self.account.account}, {self.account.mode})"
        total, fees = Money(self.total_minor, self.currency), Money(self.fee_minor, self.currency)
        line = f"{'would pay' if self.dry_run else 'paying'} {self.bonuses:,} bonuses on {where}: {total}, fees {fees}"
        if not self.dry_run:
            line += (
                f"; {self.paid:,} paid, {self.waiting:,} not shown yet, {self.deferred:,} put off, {self.asked:,} asked"
            )
        return f"{line}; {self.before:,} were paid or under way before" if self.before else line


def pay(
    context: Context,
    platform: Platform,
    bonuses: Iterable[Bonus],
    *,
    budget_minor: int | None,
    dry_run: bool,
    by: str,
    pages: TaskPages | None = None,
    progress: Progress | None = None,
) -> Paid:
    """Pay, or say what it would cost."""
    if not isinstance(platform, PaysBonuses) or not platform.capabilities.bonuses:
        raise InputError(f"platform {platform.name!r} pays no bonuses")
    wanted = _without_repeats(bonuses)
    if not dry_run:
        settle_tried(context, platform, pages)
    new, before, hit_of = _new(context, platform, wanted)
    currency = str(context.settings()["currency"])
    sheet = Paid(
        account=platform.account(),
        bonuses=len(new),
        amount_minor=sum(each.amount_minor for each in new),
        fee_minor=sum(platform.fees.fee_minor(each.amount_minor) for each in new),
        currency=currency,
        dry_run=dry_run,
        before=before,
    )
    if dry_run:
        return sheet
    require_within(context, budget_minor, sheet.total_minor, currency, what="paying")
    _write(context, platform, new, hit_of, currency, int(budget_minor or 0), by)
    with context.store.read() as tx:
        open_ = [each for each in tx.work.intents(context.campaign_id) if each.state in {"planned", "sent"}]
    keys = [each.key for each in open_ if each.operation == "pay" and each.lane == platform.name]
    ran = send(context, platform, pages, keys, progress=progress)
    sizes = {each.key: len((each.payload or {})["rows"]) for each in open_ if each.key in set(keys)}
    note = ran.busy or (ran.why if not ran.is_complete else "")
    return replace(
        sheet,
        paid=sum(sizes[key] for key in ran.done),
        waiting=sum(sizes[key] for key in ran.waiting),
        deferred=sum(sizes[key] for key in ran.later),
        asked=sum(sizes[key] for key in ran.asked),
        notes=(note,) if note else (),
    )


def _without_repeats(bonuses: Iterable[Bonus]) -> list[Bonus]:
    wanted = list(bonuses)
    names = [(each.submission_id, each.reason_code) for each in wanted]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise InputError(
            f"submission {twice[0]!r} has two bonuses {twice[1]!r}; give their sum, or another reason_code to one"
        )
    return wanted


def _new(context: Context, platform: Platform, wanted: Sequence[Bonus]) -> tuple[list[Bonus], int, dict[str, str]]:
    """Return the bonuses that nobody has written down before, how many were, and each submission's HIT there."""
    with context.store.read() as tx:
        known = tx.work.submissions(context.campaign_id)
        hits = {hit.key: str(hit.platform_hit_id) for hit in tx.work.hits(context.campaign_id)}
        stored = {
            (each.submission_id, each.reason_code): each
            for each in tx.payments.read(context.campaign_id)
            if each.platform == platform.name
        }
    known = known[known["platform"] == platform.name]
    hit_of = {
        name: hits[key] for name, key in zip(known["submission_id"].tolist(), known["hit_key"].tolist(), strict=True)
    }
    new = []
    for each in wanted:
        if each.submission_id not in hit_of:
            raise InputError(
                f"submission {each.submission_id!r} is unknown on {platform.name}; collect() first, or check its id"
            )
        before = stored.get((each.submission_id, each.reason_code))
        if before is None:
            new.append(each)
        elif before.amount_minor != each.amount_minor:
            raise InputError(
                f"submission {each.submission_id!r} has a bonus {each.reason_code!r} of "
                f"{Money(before.amount_minor, before.currency)} already; give another reason_code to a further one"
            )
    return new, len(wanted) - len(new), hit_of


def _write(
    context: Context,
    platform: Platform,
    bonuses: Sequence[Bonus],
    hit_of: dict[str, str],
    currency: str,
    limit_minor: int,
    by: str,
) -> None:
    """Commit payments, intents and their money together."""
    together: dict[tuple[str, str, str], list[Bonus]] = {}
    for each in bonuses:
        together.setdefault((hit_of[each.submission_id], each.reason_code, each.reason), []).append(each)
    size = max(1, platform.capabilities.bonus_batch)
    batches = [
        (hit_id, some[start : start + size])
        for (hit_id, _, _), some in together.items()
        for start in range(0, len(some), size)
    ]
    uid = context.uid()
    intents = [_intent(context, platform, uid, hit_id, some, currency) for hit_id, some in batches]
    for intent in intents:
        context.at("before_intent", intent.key)
    with context.store.begin() as tx:
        for intent, (_, some) in zip(intents, batches, strict=True):
            stored = tx.work.add_intent(intent)
            new = tx.payments.add(context.campaign_id, [_payment(context, platform, each, stored, by) for each in some])
            if new < len(some):
                # Another process wrote some of them at this moment: theirs count, and nothing of ours is kept.
                raise InputError("some of these bonuses were written down by another process just now; pay() again")
            tx.budget.reserve(context.campaign_id, stored.key, stored.amount_minor, currency, limit_minor)
    for intent in intents:
        context.at("after_intent", intent.key)


def _intent(
    context: Context, platform: Platform, uid: str, hit_id: str, some: Sequence[Bonus], currency: str
) -> IntentRecord:
    payload: dict[str, Any] = {
        "hit_id": hit_id,
        "reason_code": some[0].reason_code,
        "reason": some[0].reason,
        "rows": [{"submission_id": each.submission_id, "amount_minor": each.amount_minor} for each in some],
    }
    names = sorted(each.submission_id for each in some)
    return new_intent(
        context,
        platform,
        key=campaign_key(uid, "pay", platform.name, some[0].reason_code, *names),
        operation="pay",
        payload=payload,
        amount_minor=sum(each.amount_minor + platform.fees.fee_minor(each.amount_minor) for each in some),
        currency=currency,
    )


def _payment(context: Context, platform: Platform, bonus: Bonus, intent: IntentRecord, by: str) -> PaymentRecord:
    return PaymentRecord(
        platform=platform.name,
        submission_id=bonus.submission_id,
        reason_code=bonus.reason_code,
        amount_minor=bonus.amount_minor,
        fee_minor=platform.fees.fee_minor(bonus.amount_minor),
        currency=intent.currency,
        intent_key=intent.key,
        state="planned",
        at=context.clock.now(),
        by=by or "pay",
    )
