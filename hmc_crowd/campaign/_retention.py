"""What has been kept long enough? Raw worker ids, traits and item texts that are old and that nothing needs any more.

Labels, statistics, certificates and the event chain stay as they are. A raw id is kept while its worker's work is to be
reviewed or paid; a text while its item is still to be answered, and as long as a HIT shows it, erasing is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from hmc_crowd.campaign._until_sure import setting_of, until_sure
from hmc_crowd.campaign._work import work_left
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Person, Transaction

__all__ = ["Retained", "retain"]

_SHOWN = ("planned", "open", "stopped", "paused")
_FEW = 3


@dataclass(frozen=True)
class Retained:
    """What was erased, or would be, and what had to be kept although it is old."""

    raw_ids: int
    raw_ids_kept: int
    item_texts: int
    item_texts_kept: int
    dry_run: bool
    traits: int = 0

    def __str__(self) -> str:
        verb = "would erase" if self.dry_run else "erased"
        kept = [
            f"{count:,} old {what}"
            for count, what in (
                (self.raw_ids_kept, "raw ids whose work is to be reviewed or paid"),
                (self.item_texts_kept, "texts of items that are still to be answered"),
            )
            if count
        ]
        rest = f"; kept: {', '.join(kept)}" if kept else ""
        said = f", {self.traits:,} things that workers said of themselves" if self.traits else ""
        return f"{verb} {self.raw_ids:,} raw worker ids{said} and {self.item_texts:,} item texts{rest}"


def retain(
    context: Context,
    *,
    raw_ids_for: timedelta | None = None,
    item_text_for: timedelta | None = None,
    traits_for: timedelta | None = None,
    dry_run: bool = False,
) -> Retained:
    """Erase raw ids, traits and texts that are older than this and not needed any more, in one transaction."""
    asked = {"raw_ids_for": raw_ids_for, "item_text_for": item_text_for, "traits_for": traits_for}
    for name, value in asked.items():
        if value is not None and (not isinstance(value, timedelta) or value < timedelta(0)):
            raise InputError(f"{name} is {value!r}; give a timedelta of 0 or more")
    if all(value is None for value in asked.values()):
        raise InputError("nothing is asked for; give raw_ids_for, item_text_for, traits_for or several")
    now = context.clock.now()
    # What people said of themselves is as personal as their ids: it stays no longer unless that is asked for.
    said_for = raw_ids_for if traits_for is None else traits_for
    with context.store.begin() as tx:
        people, busy = ([], 0) if raw_ids_for is None else tx.retention.old_identities(now - raw_ids_for)
        items, needed = ([], 0) if item_text_for is None else _old_texts(context, tx, now - item_text_for)
        traits = 0 if said_for is None else tx.traits.count_old(now - said_for)
        if not dry_run:
            _erase(context, tx, people, items, now)
            if traits and said_for is not None:
                tx.traits.erase_old(now - said_for)
                context.log(tx, "traits erased", traits=traits)
    if not dry_run and (people or items or traits):
        context.store.flush_log()
    return Retained(len(people), busy, len(items), needed, dry_run, traits)


def _erase(context: Context, tx: Transaction, people: list[Person], items: list[str], now: datetime) -> None:
    if people:
        tx.retention.erase_identities(people)
        context.log(tx, "raw ids erased", people=len(people))
    if items:
        tx.retention.erase_texts(context.campaign_id, items, at=now)
        context.log(tx, "item texts erased", items=len(items))


def _old_texts(context: Context, tx: Transaction, before: datetime) -> tuple[list[str], int]:
    """Return the old items whose text may go, and how many must stay; refuse where a HIT still shows one."""
    old = tx.retention.added_before(context.campaign_id, before)
    shown = {
        item.item: hit.key for hit in tx.work.hits(context.campaign_id) if hit.state in _SHOWN for item in hit.items
    }
    open_ = [item for item in old if item in shown]
    if open_:
        first = ", ".join(f"{item} (HIT {shown[item]})" for item in open_[:_FEW])
        raise StateError(
            f"{len(open_):,} old items are shown in HITs that are still open: {first}; collect or close these first, "
            "nothing was erased"
        )
    needed = _still_to_answer(context, tx)
    free = old if needed is None else [item for item in old if item not in needed]
    return (free, len(old) - len(free)) if needed is not None else ([], len(old))


def _still_to_answer(context: Context, tx: Transaction) -> set[str] | None:
    """Return the items whose text the next round needs, gold with them; None: all, because nothing is planned yet."""
    plan = tx.plans.latest(context.campaign_id)
    if plan is None:
        return None
    settings = context.settings_in(tx)
    redundancy = int(settings.get("redundancy", 1))
    until = until_sure(context, tx, setting_of(settings), redundancy)
    left = set(work_left(context, tx, plan.id, redundancy, until)["item"])
    return left | set(tx.frames.read(context.campaign_id, "gold")["item"]) if left else left
