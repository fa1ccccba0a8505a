"""How is everything that is out closed, and what was not sent yet dropped with its money?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.campaign._hold import OFFERING, hold
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._sending import send, settle_tried
from hmc_crowd.campaign._spending import new_intent
from hmc_crowd.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform, TaskPages
    from hmc_crowd.store import IntentRecord

__all__ = ["Stopped", "stop"]


@dataclass(frozen=True)
class Stopped:
    """What was withdrawn: HITs or studies that are offered to nobody more, and what had not been sent yet."""

    closed: int
    cancelled: int
    failed: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        failed = f", {self.failed:,} did not answer: call again" if self.failed else ""
        held = "; nothing is offered until hmc-crowd stop --lift"
        return f"{self.closed:,} closed, {self.cancelled:,} not sent at all{failed}{held}"


def stop(
    context: Context, platform: Platform, *, pages: TaskPages | None = None, progress: Progress | None = None
) -> Stopped:
    """Offer nothing more: what is planned is dropped, what is out is closed; work under way may be finished.

    It holds until `hmc_crowd.campaign._hold.lift`.
    """
    with context.store.begin() as tx:
        hold(context, tx)
    settle_tried(context, platform, pages)
    cancelled = _cancel_planned(context, platform, _refused(context, platform))
    uid = context.uid()
    with context.store.begin() as tx:
        hits = tx.work.hits(context.campaign_id, state="open")
        ids = list(dict.fromkeys(str(hit.platform_hit_id) for hit in hits if hit.platform == platform.name))
        before = [each for each in tx.work.intents(context.campaign_id) if each.operation == "expire"]
        keys = []
        for hit_id in ids:
            number = sum((each.payload or {}).get("hit_id") == hit_id and each.state == "done" for each in before)
            intent = new_intent(
                context,
                platform,
                key=campaign_key(uid, "expire", hit_id, number),
                operation="expire",
                payload={"hit_id": hit_id},
                amount_minor=0,
                currency=str(context.settings_in(tx)["currency"]),
            )
            keys.append(tx.work.add_intent(intent).key)
        context.log(tx, "stopping", platform=platform.name, hits=len(ids), cancelled=cancelled)
    ran = send(context, platform, pages, keys, progress=progress)
    left = len(keys) - len(ran.done)
    return Stopped(len(ran.done), cancelled, left, (ran.busy or ran.why,) if left else ())


def _refused(context: Context, platform: Platform) -> set[str]:
    """Return what was tried, refused, and is not there: it would hold its money for ever."""
    with context.store.read() as tx:
        planned = tx.work.intents(context.campaign_id, state="planned")
    tried = [each for each in planned if each.attempts and each.lane == platform.name]
    found = set()
    for each in tried:
        if each.operation in {"publish", "recruit"}:
            try:
                if platform.find(each.key) is None:
                    found.add(each.key)
            except PlatformError:
                continue  # nobody knows: it stays
    return found


def _cancel_planned(context: Context, platform: Platform, refused: set[str]) -> int:
    """Drop what was never sent, or was refused, with its money."""
    with context.store.begin() as tx:
        waiting: Sequence[IntentRecord] = tx.work.intents(context.campaign_id, state="planned")
        dropped = 0
        for each in waiting:
            if each.operation not in OFFERING or each.lane != platform.name:
                continue
            if each.attempts and each.key not in refused:
                continue
            tx.work.set_intent(each.key, "cancelled")
            tx.budget.release(context.campaign_id, each.key)
            payload = each.payload or {}
            keys = {"publish": [each.key], "recruit": payload.get("hits", []), "extend": [payload.get("new_key")]}
            for key in keys[each.operation]:
                if key:
                    tx.work.set_hit(key, state="cancelled")
            dropped += 1
        return dropped
