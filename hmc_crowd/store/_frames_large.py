"""How are frames of ten million items kept and read? As Parquet, row by row in the items' order.

Items come in parts, one per addition, and are never rewritten. Predictions (per aspect) and efforts are one file each,
as long as the items were when it was written; an item without a row has nulls there. Reading touches the columns asked
for and nothing else.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hmc_crowd.errors import FrameError
from hmc_crowd.store._arrow import bad_rows, empty_table, widen
from hmc_crowd.store._artefacts import content_hash
from hmc_crowd.store._tables import Artefact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from hmc_crowd.store._session import Session

__all__ = ["LargeFrames"]

# The column of each kind that a stored row always has: where it is null, there is no row.
_MARK = {"predictions": "label", "efforts": "seconds"}
# What parts lack that were written before 0002, or before 0006.
_LATER = {
    "sensitive": pa.scalar(False),
    "erased_at": pa.scalar(None, pa.timestamp("us", "UTC")),
    "response_a": pa.scalar(None, pa.large_string()),
    "response_b": pa.scalar(None, pa.large_string()),
}


class LargeFrames:
    """Artefact form of a campaign's frames; `FrameRepository` decides when it is used."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def holds(self, campaign: int) -> bool:
        """Whether the campaign's items are artefacts."""
        return bool(self._rows(campaign, "items"))

    def add_items(self, campaign: int, table: Any) -> None:
        """Append a part."""
        part = len(self._rows(campaign, "items"))
        self._save(campaign, "items", "", part, table, present=len(table))

    def put(self, campaign: int, kind: str, aspect: str, table: Any) -> None:
        """Insert or replace rows by item, aligned to the items."""
        items = self._items(campaign, ["item"])["item"]
        given = table["item"]
        values = table.drop_columns([name for name in ("item", "aspect") if name in table.column_names])
        same = len(items) == len(given) and items.equals(given)
        old = self._rows(campaign, kind, aspect)
        if not same:
            place = pc.index_in(given, items.combine_chunks())
            if place.null_count:
                raise FrameError(
                    f"{kind} names items that the campaign does not have: {bad_rows(pc.is_null(place), given)}; "
                    "add them first or drop these rows"
                )
            values = _aligned(values, place, len(items))
        if old and not (same and values[_MARK[kind]].null_count == 0):
            before = self._session.artefacts.read(old[0].path, hashed=old[0].content_hash)
            values = _overlaid(before, values, _MARK[kind], len(items))
        present = len(items) - values[_MARK[kind]].null_count
        self._save(campaign, kind, aspect, 0, values, present=present)

    def take_over(self, campaign: int, kind: str, table: Any) -> None:
        """Store rows that were SQL so far; the items come first, in order."""
        from hmc_crowd.store._frames import COLUMNS

        table = widen(table, COLUMNS[kind])
        if kind == "items":
            self.add_items(campaign, table)
            return
        if "aspect" not in table.column_names:
            self.put(campaign, kind, "", table)
            return
        for name in pc.unique(table["aspect"]).to_pylist():
            self.put(campaign, kind, name, table.filter(pc.equal(table["aspect"], name)))

    def erase_texts(self, campaign: int, items: Any, *, marker: str, at: datetime) -> int:
        """Write parts anew in which the marker stands for the items' texts; the old files go at once."""
        erased = 0
        for part, row in enumerate(self._rows(campaign, "items")):
            table = self._session.artefacts.read(row.path, hashed=row.content_hash)
            kind = _LATER["erased_at"].type
            before = table["erased_at"] if "erased_at" in table.column_names else pa.nulls(len(table), kind)
            chosen = pc.and_(pc.is_in(table["item"], items), pc.is_null(before))
            count = int(pc.sum(chosen).as_py() or 0)
            if not count:
                continue
            texts = pc.if_else(chosen, pa.scalar(marker, table["text"].type), table["text"])
            moments = pc.if_else(chosen, pa.scalar(at, kind), before)
            table = table.set_column(table.column_names.index("text"), "text", texts)
            for name in {"response_a", "response_b"} & set(table.column_names):
                kept = pc.if_else(chosen, pa.scalar(None, table[name].type), table[name])
                table = table.set_column(table.column_names.index(name), name, kept)
            table = table.drop_columns([name for name in ("erased_at",) if name in table.column_names])
            table = table.append_column("erased_at", moments)
            self._save(campaign, "items", "", part, table, present=len(table), at_once=True)
            erased += count
        return erased

    def places(self, campaign: int, items: Any) -> Any:
        """Return each item's place, null where it is unknown."""
        known = self._items(campaign, ["item"])["item"].combine_chunks()
        return pc.index_in(items, known).cast(pa.int64())

    def count(self, campaign: int, kind: str, aspect: str | None) -> int:
        """Return how many rows there are."""
        return sum(row.present for row in self._rows(campaign, kind, aspect if kind == "predictions" else None))

    def read(
        self,
        campaign: int,
        kind: str,
        *,
        aspect: str | None,
        columns: Sequence[str],
        items: Iterable[str] | None,
    ) -> Any:
        """Return rows in item order, aspect after aspect, with the columns asked for (dicts as spread columns)."""
        keep = None
        if items is not None:
            known = self._items(campaign, ["item"])["item"]
            keep = pc.is_in(known, pa.array(list(items), pa.large_string()))
        wanted = _physical(columns)
        if kind == "items":
            table = self._items(campaign, wanted)
            return table if keep is None else table.filter(keep)
        parts = [
            self._read_one(campaign, kind, row, wanted, keep)
            for row in self._rows(campaign, kind, aspect if kind == "predictions" else None)
        ]
        if not parts:
            from hmc_crowd.store._frames import COLUMNS

            return empty_table(COLUMNS[kind])
        return pa.concat_tables(parts, promote_options="default")

    def _read_one(self, campaign: int, kind: str, row: Any, wanted: Sequence[str], keep: Any) -> Any:
        mark = _MARK[kind]
        partial = row.present < row.length
        names = [name for name in wanted if name not in {"item", "aspect"}]
        read = [*names, mark] if partial and mark not in names else names
        table = self._session.artefacts.read(row.path, hashed=row.content_hash, columns=read)
        if "item" in wanted:
            table = table.append_column("item", self._items(campaign, ["item"])["item"].slice(0, row.length))
        if "aspect" in wanted:
            table = table.append_column("aspect", pa.repeat(pa.scalar(row.aspect, pa.large_string()), row.length))
        chosen = pc.is_valid(table[mark]) if partial else None
        if keep is not None:
            kept = keep.slice(0, row.length)
            chosen = kept if chosen is None else pc.and_(chosen, kept)
        return table if chosen is None else table.filter(chosen)

    def _items(self, campaign: int, columns: Sequence[str]) -> Any:
        parts = [
            self._session.artefacts.read(row.path, hashed=row.content_hash, columns=columns)
            for row in self._rows(campaign, "items")
        ]
        table = pa.concat_tables(parts, promote_options="default")
        for name, default in _LATER.items():
            if name in columns:
                old = pa.nulls(len(table), default.type) if name not in table.column_names else table[name]
                filled = old if not default.is_valid else pc.fill_null(old, default)
                table = table.drop_columns([name] if name in table.column_names else []).append_column(name, filled)
        return table

    def _rows(self, campaign: int, kind: str, aspect: str | None = None) -> list[Any]:
        query = sa.select(*Artefact.table().c).where(Artefact.campaign_id == campaign, Artefact.kind == kind)
        if aspect is not None:
            query = query.where(Artefact.aspect == aspect)
        return self._session.rows(query.order_by(Artefact.aspect, Artefact.part))

    def _save(
        self, campaign: int, kind: str, aspect: str, part: int, table: Any, *, present: int, at_once: bool = False
    ) -> None:
        hashed = content_hash(table)
        # An aspect may be any text; its hash makes a file name everywhere.
        mark = hashlib.sha256(aspect.encode()).hexdigest()[:8] if aspect else "all"
        prefix = f"c{campaign}-{kind}-{mark}-{part}"
        name = self._session.artefacts.write(table, prefix=prefix, hashed=hashed)
        row = {
            "campaign_id": campaign,
            "kind": kind,
            "aspect": aspect,
            "part": part,
            "path": name,
            "content_hash": hashed,
            "length": len(table),
            "present": present,
            "created_at": self._session.now(),
        }
        keys = ["campaign_id", "kind", "aspect", "part"]
        statement = self._session.insert(Artefact).values(row)
        values = {each: statement.excluded[each] for each in row if each not in keys}
        self._session.run(statement.on_conflict_do_update(index_elements=keys, set_=values))
        self._session.artefacts.replaced(prefix, keep={name}, at_once=at_once)


def _physical(columns: Sequence[str]) -> list[str]:
    """Name the stored columns behind the ones asked for: dicts lie spread."""
    spread = {"features": "f_*", "probabilities": "p_*"}
    return [spread.get(name, name) for name in columns]


def _aligned(table: Any, place: Any, length: int) -> Any:
    """Put each row at its place among ``length`` rows; the others are null."""
    import numpy as np

    source = np.full(length, -1, dtype=np.int64)
    source[place.to_numpy(zero_copy_only=False)] = np.arange(len(place))
    return table.take(pa.array(source, mask=source < 0))


def _overlaid(before: Any, after: Any, mark: str, length: int) -> Any:
    """Take the new row where there is one, the stored row elsewhere."""
    fresh = pc.is_valid(after[mark])
    missing = length - len(before)
    out = {}
    for name in dict.fromkeys([*before.column_names, *after.column_names]):
        kind = (after if name in after.column_names else before)[name].type
        old = before[name] if name in before.column_names else pa.nulls(len(before), kind)
        if missing:
            chunks = [*(old.chunks if isinstance(old, pa.ChunkedArray) else [old]), pa.nulls(missing, kind)]
            old = pa.chunked_array(chunks, kind)
        new = after[name] if name in after.column_names else pa.nulls(length, kind)
        out[name] = pc.if_else(fresh, new, old)
    return pa.table(out)
