"""Rejecting submissions: rare, reasoned, signed off, and by default only said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import Money
from hmc_crowd.campaign._effects_review import REWARD
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._sending import send, settle_tried
from hmc_crowd.campaign._spending import new_intent
from hmc_crowd.errors import InputError
from hmc_crowd.platform import RoutedPages, SubmissionState
from hmc_crowd.quality import check_rejections

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Account, Platform, TaskPages
    from hmc_crowd.quality import RejectionProposal
    from hmc_crowd.store import HitRecord, IntentRecord

__all__ = ["Rejected", "reject"]


@dataclass(frozen=True)
class Rejected:
    """What rejecting would do, or did.

    Parameters
    ----------
    submissions : int
        How many are to be rejected, ``rejected`` of them were; the platform did not answer for ``deferred``, and a
        person must decide about ``disputed``.
    share : float
        Rejected submissions of all that were handed in, earlier ones included, in [0, 1].
    unpaid_minor : int
        What is not paid to their workers.
    rejected_before : int
        Submissions asked for that this campaign has rejected already; they are left as they are.
    """

    account: Account
    submissions: int
    share: float
    unpaid_minor: int
    currency: str
    dry_run: bool
    rejected: int = 0
    deferred: int = 0
    disputed: int = 0
    rejected_before: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        verb = "would reject" if self.dry_run else "rejecting"
        line = (
            f"{verb} {self.submissions:,} submissions on {self.account.platform} ({self.account.endpoint}), "
            f"{self.share:.1%} of all: {Money(self.unpaid_minor, self.currency)} not paid"
        )
        if self.rejected_before:
            line += f"; {self.rejected_before:,} were rejected before"
        if self.dry_run:
            return line
        return f"{line}; {self.rejected:,} rejected, {self.deferred:,} put off, {self.disputed:,} disputed"


def reject(
    context: Context,
    platform: Platform,
    proposals: Sequence[RejectionProposal],
    *,
    signed_off_by: str,
    cap: float,
    dry_run: bool,
    pages: TaskPages | None = None,
    progress: Progress | None = None,
) -> Rejected:
    """Reject what may be rejected, or nothing at all."""
    if not dry_run:
        settle_tried(context, platform, pages)
    with context.store.read() as tx:
        known = tx.work.submissions(context.campaign_id)
        hits = {hit.key: hit for hit in tx.work.hits(context.campaign_id)}
        rewards = {each.submission_id: each.state for each in tx.payments.read(context.campaign_id, reason_code=REWARD)}
        intents = tx.work.intents(context.campaign_id)
    ours = {
        (each.payload or {})["submission_id"]
        for each in intents
        if each.operation == "reject" and each.lane == platform.name and each.state == "done"
    }
    known = known[known["platform"] == platform.name].set_index("submission_id")
    handed_in = int(known["state"].map(lambda state: SubmissionState(state).has_work).sum()) if len(known) else 0
    before = set(known.index[known["state"] == "rejected"])
    # Said again after a crash, or by a second process: what we have rejected is done.
    new = [each for each in proposals if each.submission_id not in before & ours]
    for each in new:
        _check(platform, each, known, rewards)
    named = signed_off_by or ("nobody yet" if dry_run else "")
    checked = check_rejections(new, handed_in=handed_in, rejected_before=len(before), signed_off_by=named, cap=cap)
    of_hit = {each.submission_id: hits[str(known.loc[each.submission_id, "hit_key"])] for each in checked}
    sheet = Rejected(
        account=platform.account(),
        submissions=len(checked),
        share=(len(checked) + len(before)) / max(1, handed_in),
        unpaid_minor=sum(hit.pay_minor for hit in of_hit.values()),
        currency=str(context.settings()["currency"]),
        dry_run=dry_run,
        rejected_before=len(proposals) - len(new),
    )
    if dry_run:
        return sheet
    keys = _write(context, platform, checked, of_hit, signed_off_by)
    ran = send(context, platform, pages, keys, progress=progress)
    if platform.capabilities.rejection_frees_slot and isinstance(pages, RoutedPages):
        done = set(ran.done)
        pages.release(
            platform.name, [each.submission_id for each, key in zip(checked, keys, strict=True) if key in done]
        )
    note = ran.busy or (ran.why if not ran.is_complete else "")
    return replace(
        sheet,
        rejected=len(ran.done),
        deferred=len(ran.later) + len(ran.waiting),
        disputed=len(ran.asked),
        notes=(note,) if note else (),
    )


def _check(platform: Platform, proposal: RejectionProposal, known: pd.DataFrame, rewards: dict[str, str]) -> None:
    name = proposal.submission_id
    if name not in known.index:
        raise InputError(f"submission {name!r} is unknown on {platform.name}; collect() first, or check its id")
    state = str(known.loc[name, "state"])
    if state != "submitted":
        raise InputError(f"submission {name!r} is {state}; only work that waits for a review can be rejected")
    if rewards.get(name) in {"planned", "paid"}:
        raise InputError(f"submission {name!r} has been approved; leave it out of the aggregation instead")


def _write(
    context: Context,
    platform: Platform,
    proposals: Sequence[RejectionProposal],
    of_hit: dict[str, HitRecord],
    signed_off_by: str,
) -> list[str]:
    uid = context.uid()
    intents: list[IntentRecord] = []
    for each in proposals:
        hit = of_hit[each.submission_id]
        payload = {
            "submission_id": each.submission_id,
            "hit_id": str(hit.platform_hit_id),
            "hit_key": hit.key,
            "message": each.message,
            "rules": sorted({signal.rule for signal in each.signals if signal.counts}),
            "evidence": [f"{signal.rule}: {signal.evidence}" for signal in each.signals],
            "by": signed_off_by,
        }
        key = campaign_key(uid, "reject", platform.name, each.submission_id)
        intents.append(
            new_intent(
                context,
                platform,
                key=key,
                operation="reject",
                payload=payload,
                amount_minor=0,
                currency=hit.currency,
                payload_hash=digest("reject", each.submission_id),
            )
        )
    for intent in intents:
        context.at("before_intent", intent.key)
    with context.store.begin() as tx:
        for intent in intents:
            tx.work.add_intent(intent)
    for intent in intents:
        context.at("after_intent", intent.key)
    return [intent.key for intent in intents]
