"""What was asked of people? HITs; intents come from `_intents.py`, submissions and answers from `_answers.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store._answers import AnswerRepository
from hmc_crowd.store._bulk import bulk_insert
from hmc_crowd.store._intents import IntentRepository
from hmc_crowd.store._tables import Hit, HitItem
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import HitItemRecord, HitRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WorkRepository"]


class WorkRepository(IntentRepository, AnswerRepository):
    """HITs, intents, submissions and answers of a campaign."""

    def add_hits(self, campaign: int, round: int, hits: Sequence[HitRecord]) -> int:
        """Store HITs; one whose key is stored already is left as it is. Return how many are new.

        Raises
        ------
        DuplicateError
            A key comes twice, belongs to another campaign or to a HIT with other items.
        InputError
            A HIT without items, with an item twice, or with redundancy or pay that make no sense.
        """
        hits = [_checked_hit(hit) for hit in hits]
        keys = [hit.key for hit in hits]
        if len(set(keys)) < len(keys):
            repeated = next(key for at, key in enumerate(keys) if key in keys[:at])
            raise DuplicateError(f"hits holds the key {repeated!r} more than once; one HIT per key")
        table = Hit.table()
        query = sa.select(*table.c).where(self._session.among(Hit.key, keys)) if keys else None
        known = {row.key: row for row in self._session.rows(query)} if query is not None else {}
        held = self._items_of(list(known))
        for hit in hits:
            row = known.get(hit.key)
            if row is not None and (row.campaign_id != campaign or set(held[hit.key]) != set(hit.items)):
                raise DuplicateError(
                    f"hit {hit.key!r} exists already with other items; keys must follow from the content"
                )
        new = [hit for hit in hits if hit.key not in known]
        if not new:
            return 0
        last = self._session.connection.execute(
            sa.select(sa.func.coalesce(sa.func.max(Hit.seq), -1)).where(Hit.campaign_id == campaign)
        ).scalar_one()
        rows = [
            {column.name: getattr(hit, column.name) for column in table.c if hasattr(hit, column.name)}
            | {"campaign_id": campaign, "round": round, "seq": last + 1 + at}
            for at, hit in enumerate(new)
        ]
        self._session.run(sa.insert(table), rows)
        flat = [
            (hit.key, each.item, each.aspect, each.position, each.is_gold, each.guideline_version)
            for hit in new
            for each in hit.items
        ]
        types = (pa.large_string(), pa.large_string(), pa.large_string(), pa.int64(), pa.bool_(), pa.large_string())
        columns = ("hit_key", "item", "aspect", "position", "is_gold", "guideline_version")
        cells = zip(columns, zip(*flat, strict=True), types, strict=True)
        bulk_insert(self._session, HitItem, pa.table({name: pa.array(values, kind) for name, values, kind in cells}))
        return len(new)

    def hits(
        self, campaign: int, round: int | None = None, state: str | None = None, *, with_items: bool = True
    ) -> list[HitRecord]:
        """Return HITs in the order in which they were added, their items in the order in which a worker meets them.

        Without their items it takes a small part of the time.
        """
        which = [Hit.campaign_id == campaign]
        if round is not None:
            which.append(Hit.round == round)
        if state is not None:
            which.append(Hit.state == state)
        rows = self._session.rows(sa.select(*Hit.table().c).where(*which).order_by(Hit.seq))
        items = self._items_of([row.key for row in rows]) if with_items else {}
        return [
            HitRecord(
                key=row.key,
                title=row.title,
                redundancy=row.redundancy,
                pay_minor=row.pay_minor,
                currency=row.currency,
                expected_s=row.expected_s,
                items=tuple(items.get(row.key, ())),
                state=row.state,
                platform=row.platform,
                platform_hit_id=row.platform_hit_id,
                salvaged_from=row.salvaged_from,
                round=row.round,
                order_key=row.order_key,
                terms=row.terms,
            )
            for row in rows
        ]

    def set_hit(
        self,
        key: str,
        *,
        state: str,
        platform: str | None = None,
        platform_hit_id: str | None = None,
        redundancy: int | None = None,
    ) -> None:
        """Move a HIT to a state; where it is published, and how many may take it, is changed where given."""
        values: dict[str, Any] = {"state": state}
        if redundancy is not None:
            values["redundancy"] = redundancy
        if platform is not None:
            values["platform"] = platform
        if platform_hit_id is not None:
            values["platform_hit_id"] = platform_hit_id
        if not self._session.run(sa.update(Hit.table()).where(Hit.key == key).values(**values)):
            raise InputError(f"no HIT has the key {key!r}; add it first")

    def _items_of(self, keys: list[str]) -> dict[str, list[HitItemRecord]]:
        found: dict[str, list[HitItemRecord]] = {key: [] for key in keys}
        if keys:
            query = sa.select(*HitItem.table().c).where(self._session.among(HitItem.hit_key, keys))
            for row in self._session.rows(
                query.order_by(HitItem.hit_key, HitItem.position, HitItem.item, HitItem.aspect)
            ):
                found[row.hit_key].append(
                    HitItemRecord(
                        row.item,
                        row.aspect,
                        row.position,
                        is_gold=row.is_gold,
                        guideline_version=row.guideline_version,
                    )
                )
        return found


def _checked_hit(hit: HitRecord) -> HitRecord:
    check_text(hit.key, name="key")
    check_text(hit.title, name="title")
    if not hit.items:
        raise InputError(f"hit {hit.key!r} has no items; leave it out")
    if len({(each.item, each.aspect) for each in hit.items}) < len(hit.items):
        raise InputError(f"hit {hit.key!r} asks an item and aspect twice; a worker never meets an item twice")
    if hit.redundancy < 1 or hit.pay_minor < 0:
        raise InputError(
            f"hit {hit.key!r} has redundancy {hit.redundancy} and pay_minor {hit.pay_minor}; give at least 1 and 0"
        )
    return replace(hit, expected_s=float(hit.expected_s))
