"""What is asked for in one call, and what does it cost? A HIT, or the people for many HITs of one pay.

Where a platform recruits people for many HITs at once, HITs of about the same length get the same pay, that of the
longest of them: nobody earns less by the hour because of the HIT he happened to be given, and few orders go out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._effects_publish import order_of
from hmc_crowd.campaign._entrance import EVERYBODY
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._pages import Pages
from hmc_crowd.campaign._quota_cells import Cell, split_records
from hmc_crowd.platform import QuotesOrders
from hmc_crowd.store import IntentRecord

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._entrance import Entrance
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import HitRecord

__all__ = ["Unit", "in_units", "level_pay"]

_BAND = 1.25  # longest by shortest within one pay


@dataclass(frozen=True)
class Unit:
    """What one call asks for: its key, its HITs, its whole cost.

    ``per_worker`` is the most submissions of one worker, where the platform limits them.
    """

    key: str
    operation: str
    records: tuple[HitRecord, ...]
    total_minor: int
    currency: str
    payload: dict[str, Any]
    per_worker: int | None = None

    @property
    def places(self) -> int:
        """Submissions wanted."""
        return sum(record.redundancy for record in self.records)

    def intent(self, campaign: int, platform: Platform, now: datetime) -> IntentRecord:
        """Return what is written down before the call."""
        return IntentRecord(
            key=self.key,
            campaign_id=campaign,
            operation=self.operation,
            payload_hash=digest(self.operation, *(replace(each, order_key=None) for each in self.records)),
            state="planned",
            amount_minor=self.total_minor,
            currency=self.currency,
            created_at=now,
            updated_at=now,
            lane=platform.name,
            payload=self.payload,
        )


def level_pay(records: Sequence[HitRecord], pay_per_hour_minor: int) -> list[HitRecord]:
    """Give HITs of about the same length the hourly pay of the longest of them.

    Parameters
    ----------
    records : sequence of HitRecord
        In any order; it is kept.
    pay_per_hour_minor : int
        What the slowest band member's expected hour earns at least.
    """
    pay: dict[str, int] = {}
    top = 0.0
    amount = 0
    for record in sorted(records, key=lambda each: (-each.expected_s, each.key)):
        if not pay or top > _BAND * record.expected_s:
            top = record.expected_s
            amount = max(1, math.ceil(pay_per_hour_minor * top / 3600))
        pay[record.key] = amount
    return [replace(record, pay_minor=pay[record.key]) for record in records]


def in_units(
    context: Context,
    platform: Platform,
    records: Sequence[HitRecord],
    *,
    is_shared: bool,
    is_sensitive: bool,
    content_warning: str = "",
    cells: Sequence[Cell] = (),
    let_in: Entrance = EVERYBODY,
) -> list[Unit]:
    """Return the calls that publish these HITs, each with its cost.

    Parameters
    ----------
    is_shared : bool
        Whether people are recruited for many HITs at once.
    is_sensitive : bool
        Whether an item among them is flagged as sensitive.
    content_warning : str
        What the platform's people are warned of.
    cells : sequence of Cell
        Kinds of people that are recruited apart, each for its part of the places; none: all together.
    let_in : Entrance
        What everybody must hold.
    """
    held: dict[str, Any] = {"holds": list(let_in.holds)} if let_in.holds else {}
    if not is_shared:
        return [
            Unit(
                record.key,
                "publish",
                (record,),
                _cost(platform, [record]),
                record.currency,
                {"places": record.redundancy, **held},
            )
            for record in records
        ]
    if not records:
        return []
    uid = context.uid()
    warned: dict[str, Any] = {"is_sensitive": is_sensitive, "content_warning": content_warning, **held}
    if let_in.filters:
        warned["filters"] = [dict(each) for each in let_in.filters]
    parts = split_records(uid, records, cells) if cells else [list(records)]
    with context.store.read() as tx:
        pages = Pages(context, tx, [record for some in parts for record in some])
    units = []
    for some, cell in zip(parts, cells or (None,), strict=True):
        by_pay: dict[int, list[HitRecord]] = {}
        for record in some:
            by_pay.setdefault(record.pay_minor, []).append(record)
        for _, together in sorted(by_pay.items()):
            asked = {**warned, **({} if cell is None else _of_cell(cell, together, let_in))}
            units.append(_order(platform, uid, together, pages, asked))
    return units


def _of_cell(cell: Cell, records: list[HitRecord], let_in: Entrance) -> dict[str, Any]:
    """Return whom an order is for; nobody may take so many of its places that too few people get one."""
    places = sum(record.redundancy for record in records)
    return {
        "cell": cell.values(),
        "cell_name": str(cell),
        "people": cell.people,
        "per_worker": max(1, places // cell.people),
        "filters": [dict(each) for each in (*cell.filters, *let_in.filters)],
    }


def _order(platform: Platform, uid: str, records: list[HitRecord], pages: Pages, asked: dict[str, Any]) -> Unit:
    key = campaign_key(uid, "order", records[0].pay_minor, *sorted(record.key for record in records))
    places = sum(record.redundancy for record in records)
    payload = {
        "hits": [record.key for record in records],
        "places": places,
        "expected_s": sum(record.redundancy * record.expected_s for record in records) / places,
        **asked,
    }
    order = order_of(key, [pages.hit(record) for record in records], payload)
    total = platform.quote(order).total_minor if isinstance(platform, QuotesOrders) else _cost(platform, records)
    together = tuple(replace(record, order_key=key) for record in records)
    return Unit(key, "recruit", together, total, records[0].currency, payload, order.per_worker)


def _cost(platform: Platform, records: Sequence[HitRecord]) -> int:
    return sum(
        record.redundancy * (record.pay_minor + platform.fees.fee_minor(record.pay_minor, redundancy=record.redundancy))
        for record in records
    )
