"""Is what we believe what the platform holds? Asked at the start, from time to time, and after every crash.

Calls without an outcome are settled, leases of dead processes end, submissions are brought up to date, the ledger is
added up, and things on the platform that carry this campaign's mark but are unknown here become questions. Safe to run
twice and by two processes. After PLATFORMS.md, 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money
from hmc_crowd.campaign._collect import Collected, mirror, pages_of
from hmc_crowd.campaign._keys import campaign_key, campaign_mark
from hmc_crowd.campaign._sending import settle_tried
from hmc_crowd.campaign._spending import new_intent
from hmc_crowd.platform import ListsHits

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform, RemoteHit, TaskPages

__all__ = ["Reconciled", "reconcile"]


@dataclass(frozen=True)
class Reconciled:
    """What reconciling found.

    Parameters
    ----------
    settled : int
        Calls whose outcome was unknown and is known now.
    waiting : int
        Calls whose outcome is still unknown, or that are put off; reconcile again later.
    asked : int
        Open questions for a person, all of them; see `Campaign.questions`.
    collected : Collected
        What changed among submissions and answers.
    orphans : tuple of str
        Keys of this campaign under which the platform holds something that nobody here knows.
    ledger_gap_minor : int
        Difference between the budget's totals and the sum of its entries; 0 in a sound ledger.
    """

    settled: int
    waiting: int
    asked: int
    collected: Collected
    orphans: tuple[str, ...]
    ledger_gap_minor: int
    currency: str
    busy: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is open: no unknown outcome, no question, a sound ledger."""
        return not (self.waiting or self.asked or self.orphans or self.ledger_gap_minor or self.busy)

    def __str__(self) -> str:
        gap = f"; THE LEDGER IS OFF BY {Money(self.ledger_gap_minor, self.currency)}" if self.ledger_gap_minor else ""
        busy = f"; {self.busy}" if self.busy else ""
        return (
            f"{self.settled:,} calls settled, {self.waiting:,} open, {self.asked:,} questions, {len(self.orphans):,} "
            f"unknown on the platform; {self.collected}{gap}{busy}"
        )


def reconcile(
    context: Context, platform: Platform, pages: TaskPages | None = None, progress: Progress | None = None
) -> Reconciled:
    """Settle, mirror, count and ask."""
    ran = settle_tried(context, platform, pages)
    with context.store.read() as tx:
        is_published = any(hit.platform_hit_id for hit in tx.work.hits(context.campaign_id))
    collected = Collected(0, 0, 0, 0)
    if is_published:
        collected = mirror(context, platform, pages_of(platform, pages), unreviewed=True, progress=progress)
    orphans = _orphans(context, platform)
    with context.store.read() as tx:
        gap = tx.budget.gap(context.campaign_id)
        intents = tx.work.intents(context.campaign_id)
    open_ = [each for each in intents if each.lane == platform.name]
    return Reconciled(
        settled=len(ran.done),
        waiting=sum(each.state == "sent" or (each.state == "planned" and each.attempts > 0) for each in open_),
        asked=sum(each.state == "needs_human" for each in intents),
        collected=collected,
        orphans=tuple(sorted(orphans)),
        ledger_gap_minor=gap,
        currency=str(context.settings()["currency"]),
        busy=ran.busy,
    )


def _orphans(context: Context, platform: Platform) -> dict[str, RemoteHit]:
    """Return what the platform holds under this campaign's mark and nobody here knows; ask about each once."""
    if not isinstance(platform, ListsHits):
        return {}
    uid = context.uid()
    mine = {key: hit for key, hit in platform.find_all().items() if key.startswith(campaign_mark(uid))}
    with context.store.read() as tx:
        intents = tx.work.intents(context.campaign_id)
        known = {each.key for each in intents}
        known |= {hit.key for hit in tx.work.hits(context.campaign_id)}
    # What a person has decided about is no riddle any more.
    decided = {each.key for each in intents if each.state in {"done", "cancelled"}}
    orphans = {
        key: hit
        for key, hit in mine.items()
        if not _is_known(key, known) and campaign_key(uid, "orphan", platform.name, key) not in decided
    }
    if orphans:
        _ask(context, platform, uid, orphans)
    return orphans


def _is_known(key: str, known: set[str]) -> bool:
    # The rest of a HIT has the HIT's key with its places behind it, until its own record is stored.
    return key in known or key.partition("+")[0] in known


def _ask(context: Context, platform: Platform, uid: str, orphans: dict[str, RemoteHit]) -> None:
    with context.store.begin() as tx:
        for key, remote in orphans.items():
            asked = campaign_key(uid, "orphan", platform.name, key)
            if tx.work.intent(asked) is not None:
                continue
            state = "is still open" if remote.is_open else "is closed"
            question = (
                f"{platform.name} holds {remote.hit_id} under the key {key} of this campaign, which is unknown here; "
                f"it {state} with {remote.redundancy} places. Was the database restored from an older copy? Close it "
                "there (retry), or leave it as it is (cancel)?"
            )
            intent = new_intent(
                context,
                platform,
                key=asked,
                operation="expire",
                payload={"hit_id": remote.hit_id},
                amount_minor=0,
                currency=str(context.settings_in(tx)["currency"]),
            )
            tx.work.add_intent(intent)
            tx.work.set_intent(asked, "needs_human", {"question": question})
            context.log(tx, "a person is asked", key=asked, operation="expire", question=question)
