"""How are more people asked about the questions of one HIT that is out?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._hold import require_not_stopped
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._sending import send
from hmc_crowd.campaign._spending import new_intent, require_within
from hmc_crowd.errors import (
    BudgetError,
    InputError,
    NeedsHumanError,
    PlatformError,
    PlatformUnavailableError,
    StateError,
)
from hmc_crowd.platform import Recruiter, TopsUp

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Account, Platform, TaskPages
    from hmc_crowd.store import HitRecord, IntentRecord, Transaction

__all__ = ["Extended", "extend"]


@dataclass(frozen=True)
class Extended:
    """What more answers for a HIT cost, and how they are asked for.

    Parameters
    ----------
    way : str
        ``places``: more people are recruited for the order; ``top_up``: the platform adds places, or makes another HIT
        where its rules forbid it; ``publish``: another HIT with the same questions.
    hit_key : str
        The HIT that was extended; ``new_key`` is the one that carries the new places, None where it is the same, or
        not known before it was done.
    """

    account: Account
    hit_key: str
    more: int
    way: str
    reward_minor: int
    fee_minor: int
    currency: str
    dry_run: bool
    new_key: str | None = None

    @property
    def total_minor(self) -> int:
        """Rewards and fees."""
        return self.reward_minor + self.fee_minor

    def __str__(self) -> str:
        verb = "would ask" if self.dry_run else "asked"
        total = Money(self.total_minor, self.currency)
        return f"{verb} {self.more:,} more people for HIT {self.hit_key} on {self.account.platform}: {total}"


def extend(
    context: Context,
    platform: Platform,
    hit_key: str,
    more: int | None,
    *,
    target: int | None,
    budget_minor: int | None,
    reopen: bool,
    dry_run: bool,
    pages: TaskPages | None = None,
    progress: Progress | None = None,
) -> Extended:
    """Ask more people about the questions of a HIT, or say what that would cost."""
    if (more is None) == (target is None):
        raise InputError("give either more (how many more) or target (how many in all)")
    for name, value in (("more", more), ("target", target)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
    if not dry_run:
        require_not_stopped(context, "extending")
    if target is not None:
        if not dry_run:
            _finish_pending(context, platform, hit_key, pages)
        more = max(0, target - _places_of(context, hit_key))
    more = int(more or 0)
    with context.store.read() as tx:
        record = _extendable(context, tx, platform, hit_key)
        intent, new = _plan(context, tx, platform, record, more, reopen=reopen)
    reward = more * record.pay_minor
    sheet = Extended(
        account=platform.account(),
        hit_key=hit_key,
        more=more,
        way=str((intent.payload or {})["way"]),
        reward_minor=reward,
        fee_minor=intent.amount_minor - reward,
        currency=record.currency,
        dry_run=dry_run,
    )
    if dry_run or not more:
        return sheet
    with context.store.read() as tx:
        is_new = tx.work.intent(intent.key) is None
    require_within(context, budget_minor, intent.amount_minor if is_new else 0, record.currency, what="extending")
    _write(context, intent, new, record, int(budget_minor or 0))
    try:
        ran = send(context, platform, pages, [intent.key], progress=progress)
    except (InputError, BudgetError, PlatformError, StateError):
        _withdraw(context, intent.key, new.key if new is not None else None)
        raise
    if ran.asked:
        raise NeedsHumanError(f"{ran.why}; see status().questions")
    if not ran.done:
        raise PlatformUnavailableError(f"it did not get through ({ran.busy or ran.why}); call it again")
    with context.store.read() as tx:
        result = (tx.work.intent(intent.key) or intent).result or {}
    return replace(sheet, new_key=result.get("rest_key") or (new.key if new is not None else None))


def _places_of(context: Context, hit_key: str) -> int:
    """Return how many people are asked the questions of a HIT, in it and in what goes on with it."""
    with context.store.read() as tx:
        hits = [hit for hit in tx.work.hits(context.campaign_id) if hit.state != "cancelled"]
    return sum(hit.redundancy for hit in hits if hit_key in {hit.key, hit.salvaged_from})


def _finish_pending(context: Context, platform: Platform, hit_key: str, pages: TaskPages | None) -> None:
    """Carry out what was asked for this HIT before and has no outcome; what is refused by now is wanted no more."""
    with context.store.read() as tx:
        pending = [
            each
            for each in tx.work.intents(context.campaign_id)
            if each.operation == "extend"
            and each.state in {"planned", "sent"}
            and (each.payload or {}).get("hit_key") == hit_key
        ]
    for each in pending:
        try:
            send(context, platform, pages, [each.key])
        except (InputError, BudgetError, PlatformError, StateError):
            if not _withdraw(context, each.key, (each.payload or {}).get("new_key")):
                raise


def _extendable(context: Context, tx: Transaction, platform: Platform, hit_key: str) -> HitRecord:
    hits = {hit.key: hit for hit in tx.work.hits(context.campaign_id)}
    if hit_key not in hits:
        raise InputError(f"hit_key is {hit_key!r}; no HIT of this campaign has it")
    record = hits[hit_key]
    if record.platform != platform.name or not record.platform_hit_id:
        raise InputError(f"HIT {hit_key!r} is not on {platform.name}; publish it first")
    rest = next((each.key for each in hits.values() if each.salvaged_from == hit_key and not each.order_key), None)
    if rest is not None:
        raise InputError(f"HIT {hit_key!r} goes on as HIT {rest!r}; extend that one")
    return record


def _plan(
    context: Context, tx: Transaction, platform: Platform, record: HitRecord, more: int, *, reopen: bool
) -> tuple[IntentRecord, HitRecord | None]:
    """Return the intent, and the HIT that is to be stored with it."""
    uid = context.uid()
    way = "places" if isinstance(platform, Recruiter) else "top_up" if isinstance(platform, TopsUp) else "publish"
    if way == "publish" and not platform.capabilities.repeats_are_barred:
        raise InputError(
            f"platform {platform.name!r} can neither add places nor keep the same workers from a second HIT"
        )
    together = [
        hit
        for hit in tx.work.hits(context.campaign_id)
        if record.order_key and hit.order_key == record.order_key and hit.state != "cancelled"
    ]
    base = sum(hit.redundancy for hit in together) if way == "places" else record.redundancy
    target = base + more
    # The same wish from the same state has one key: asked again after a crash, or by two processes, it is done once.
    key = campaign_key(uid, "extend", record.key, target, reopen)
    new = None
    payload: dict[str, Any] = {
        "way": way,
        "hit_key": record.key,
        "hit_id": record.platform_hit_id,
        "base": record.redundancy,
        "more": more,
        "target": target,
    }
    if way != "top_up":
        new = replace(
            record,
            key=campaign_key(uid, "extra", record.key, target, reopen),
            redundancy=more,
            state="planned",
            salvaged_from=record.key,
            platform=None,
            platform_hit_id=None,
        )
        payload |= {"new_key": new.key, "order_key": record.order_key, "study_places": target, "reopen": reopen}
    fee = platform.fees.fee_minor(record.pay_minor, redundancy=max(more, record.redundancy))
    intent = new_intent(
        context,
        platform,
        key=key,
        operation="extend",
        payload=payload,
        amount_minor=more * (record.pay_minor + fee),
        currency=record.currency,
        payload_hash=key,
    )
    return intent, new


def _write(context: Context, intent: IntentRecord, new: HitRecord | None, record: HitRecord, limit_minor: int) -> None:
    context.at("before_intent", intent.key)
    with context.store.begin() as tx:
        stored = tx.work.add_intent(intent)
        if stored.state == "cancelled":  # it was refused before, and is wanted again
            tx.work.set_intent(stored.key, "planned")
        if new is not None:
            tx.work.add_hits(context.campaign_id, int(record.round or 0), [new])
        tx.budget.reserve(context.campaign_id, stored.key, stored.amount_minor, stored.currency, limit_minor)
        context.log(tx, "extending", hit=record.key, more=(intent.payload or {})["more"])
    context.at("after_intent", intent.key)


def _withdraw(context: Context, key: str, new_key: str | None) -> bool:
    """Take back what the platform refused, with its money; say whether it could be taken back."""
    with context.store.begin() as tx:
        stored = tx.work.intent(key)
        if stored is None or stored.state != "planned":
            return False
        tx.work.set_intent(key, "cancelled")
        tx.budget.release(context.campaign_id, key)
        if new_key is not None:
            tx.work.set_hit(new_key, state="cancelled")
        return True
