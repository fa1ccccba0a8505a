"""What does a campaign hold in bulk? Items, predictions, efforts and gold, as frames, whatever their size.

Up to ``large`` items they are SQL rows; above, items, predictions and efforts are Parquet artefacts whose rows stand in
the items' order, so that planning reads two columns and joins nothing. Gold is always rows: people made it. Which form
a campaign has does not show in what these methods take and give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, FrameError, InputError
from hmc_crowd.store._arrow import Column, bad_rows, column_names, expand, read_frame, select, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._frames_large import LargeFrames
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Aspect, Base, Campaign, Effort, Gold, Item, ItemBatch, Prediction
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from hmc_crowd.store._session import Session

__all__ = ["COLUMNS", "FrameRepository"]

_ITEM = Column("item", "key", required=True)
_ASPECT = Column("aspect", "key", required=True)
COLUMNS: dict[str, list[Column]] = {
    "items": [
        _ITEM,
        Column("group", "text"),
        Column("position", "integer", default=0),
        Column("text", "text", required=True),
        Column("audience", "text", default="any"),
        Column("features", "dict", spread="f_"),
        Column("sensitive", "flag", default=False),
        Column("erased_at", "time"),
        Column("response_a", "text"),
        Column("response_b", "text"),
    ],
    "predictions": [
        _ASPECT,
        _ITEM,
        Column("label", "text", required=True),
        Column("confidence", "number", required=True),
        Column("probabilities", "dict", spread="p_"),
        Column("model_version", "text"),
    ],
    "efforts": [
        _ITEM,
        Column("seconds", "number", required=True),
        Column("share", "number"),
        Column("setup_s", "number"),
        Column("p90_s", "number"),
        Column("model_version", "text"),
    ],
    "gold": [_ASPECT, _ITEM, Column("label", "text", required=True)],
}
# Which text was erased is known here, never told by who adds items.
_GIVEN = [each for each in COLUMNS["items"] if each.name != "erased_at"]
_MODELS: dict[str, type[Base]] = {"items": Item, "predictions": Prediction, "efforts": Effort, "gold": Gold}


class FrameRepository(Repository):
    """Bulk frames of a campaign, one row per item (and aspect)."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._large = LargeFrames(session)

    def add_items(self, campaign: int, frame: Any) -> int:
        """Add items; return how many.

        Parameters
        ----------
        campaign : int
            Its id.
        frame : pandas.DataFrame or pyarrow.Table
            Columns ``item`` (text, unique, at most 800 bytes) and ``text``; optional ``group`` (default: the item is a
            group of its own), ``position`` (default 0), ``audience`` ("any", the default, "in_house" or a pool's name),
            ``sensitive`` (default False), ``response_a`` and ``response_b`` (of a pair, which answer ``text``), and
            features as a column ``features`` of dicts or as columns ``f_<name>``.
            Give a large frame as columns and, best, as Arrow.

        Raises
        ------
        FrameError
            A column is missing or holds what it must not.
        DuplicateError
            An item comes twice, or exists already; a stored text is never changed. Nothing was written.
        """
        held, large = self._size(campaign), self._large.holds(campaign)
        goes_large = large or held + len(frame) > self._session.large
        table = read_frame(frame, _GIVEN, name="items", wide=goes_large)
        table = table.append_column("erased_at", pa.nulls(len(table), pa.timestamp("us", "UTC")))
        if table["group"].null_count:
            table = table.set_column(1, "group", pc.coalesce(table["group"], table["item"]))
        _refuse_repeated(table["item"], "items", DuplicateError)
        # The row's lock makes two processes that add items queue, so that places are handed out once.
        self._session.run(
            sa.update(Campaign.table()).where(Campaign.id == campaign).values(items=Campaign.items + len(table))
        )
        self._refuse_stored(campaign, table["item"], held)
        if len(table):
            batch = {"first_seq": held, "length": len(table), "added_at": self._session.now()}
            self._session.run(sa.insert(ItemBatch.table()), {"campaign_id": campaign} | batch)
        if goes_large:
            if held and not large:
                self._move_out(campaign)
            self._large.add_items(campaign, table)
            return len(table)
        return bulk_insert(self._session, Item, _placed(table, campaign, _range(held, len(table))))

    def put(self, campaign: int, kind: str, frame: Any, *, aspect: str | None = None) -> int:
        """Insert or replace predictions, efforts or gold by item (and aspect); return how many rows.

        Parameters
        ----------
        campaign : int
            Its id.
        kind : {"predictions", "efforts", "gold"}
            Which frame.
        frame : pandas.DataFrame or pyarrow.Table
            Rows in any order. Predictions: ``item, label, confidence`` and optional ``probabilities`` (dicts) or
            ``p_<label>`` columns, ``model_version``. Efforts: ``item, seconds`` and optional ``share, setup_s, p90_s,
            model_version``. Gold: ``item, label``.
        aspect : str, optional
            The aspect of every row, where the frame has no column ``aspect``; the campaign's only one when absent.

        Raises
        ------
        FrameError
            A column is missing or wrong, an item comes twice or is unknown. Nothing was written.
        """
        if kind not in {"predictions", "efforts", "gold"}:
            raise InputError(f"kind is {kind!r}; choose predictions, efforts or gold")
        columns = COLUMNS[kind]
        goes_large = kind != "gold" and self._large.holds(campaign)
        given = "aspect" in column_names(frame)
        if kind == "efforts" or (given and aspect is None):
            table = read_frame(frame, columns, name=kind, wide=goes_large)
        else:
            name = check_text(aspect, name="aspect") if aspect is not None else self._only_aspect(campaign, kind)
            table = read_frame(frame, columns[1:], name=kind, wide=goes_large)
            table = table.add_column(0, "aspect", pa.repeat(pa.scalar(name, pa.large_string()), len(table)))
        if goes_large:
            for name, part in _by_aspect(table):
                _refuse_repeated(part["item"], kind, FrameError)
                self._large.put(campaign, kind, name, part)
            return len(table)
        for _, part in _by_aspect(table):
            _refuse_repeated(part["item"], kind, FrameError)
        place = self._places(campaign, table["item"])
        if place.null_count:
            _refuse_unknown(place, table["item"], kind)
        bulk_insert(self._session, _MODELS[kind], _placed(table, campaign, place), conflict="replace")
        return len(table)

    def read(
        self,
        campaign: int,
        kind: str,
        *,
        aspect: str | None = None,
        columns: Sequence[str] | None = None,
        items: Iterable[str] | None = None,
    ) -> pd.DataFrame:
        """Return a frame in item insertion order, aspect after aspect.

        Parameters
        ----------
        campaign : int
            Its id.
        kind : {"items", "predictions", "efforts", "gold"}
            Which frame.
        aspect : str, optional
            Only this aspect's rows.
        columns : sequence of str, optional
            Only these, in this order; a large campaign reads nothing else. ``f_<name>`` and ``p_<label>`` give one
            feature or probability as a column; without it they come as dicts in ``features`` and ``probabilities``.
        items : iterable of str, optional
            Only these items' rows.

        Returns
        -------
        pandas.DataFrame
            Empty, with the columns, where nothing is stored.
        """
        known = _columns(kind)
        wanted = select(known, columns, name=kind)
        if kind != "gold" and self._large.holds(campaign):
            table = self._large.read(campaign, kind, aspect=aspect, columns=wanted, items=items)
        else:
            table = self._read_rows(campaign, kind, aspect, wanted, items)
        return to_pandas(expand(table, known, wanted), known)

    def count(self, campaign: int, kind: str, aspect: str | None = None) -> int:
        """Return how many rows a frame has."""
        _columns(kind)
        if kind != "gold" and self._large.holds(campaign):
            return self._large.count(campaign, kind, aspect)
        model: Any = _MODELS[kind]
        query = sa.select(sa.func.count()).select_from(model.table()).where(model.campaign_id == campaign)
        if aspect is not None and hasattr(model, "aspect"):
            query = query.where(model.aspect == aspect)
        return int(self._session.connection.execute(query).scalar_one())

    def _size(self, campaign: int) -> int:
        held = self._session.connection.execute(sa.select(Campaign.items).where(Campaign.id == campaign)).scalar()
        if held is None:
            raise InputError(f"no campaign has the id {campaign}; open it by name")
        return int(held)

    def _only_aspect(self, campaign: int, kind: str) -> str:
        query = sa.select(Aspect.name).where(Aspect.campaign_id == campaign).order_by(Aspect.position)
        names = [row.name for row in self._session.rows(query)]
        if len(names) != 1:
            have = f"the campaign has {', '.join(names)}" if names else "the campaign has no aspect yet"
            raise InputError(f"{kind} name no aspect and {have}; give aspect= or a column aspect")
        return str(names[0])

    def _read_rows(
        self, campaign: int, kind: str, aspect: str | None, wanted: Sequence[str], items: Iterable[str] | None
    ) -> Any:
        model: Any = _MODELS[kind]
        types = {each.name: each.type for each in COLUMNS[kind] if each.name in wanted or _spread_of(each, wanted)}
        query = sa.select(*(getattr(model, name) for name in types)).where(model.campaign_id == campaign)
        order = [model.aspect, model.seq] if hasattr(model, "aspect") else [model.seq]
        if aspect is not None and hasattr(model, "aspect"):
            query = query.where(model.aspect == aspect)
        if items is not None:
            query = query.where(self._session.among(model.item, items))
        return fetch(self._session, query.order_by(*order), types)

    def _places(self, campaign: int, items: Any) -> Any:
        """Return each item's place in insertion order, null where it is unknown."""
        if self._large.holds(campaign):
            return self._large.places(campaign, items)
        query = sa.select(Item.item, Item.seq).where(Item.campaign_id == campaign)
        if len(items) * 4 < self._size(campaign):
            query = query.where(self._session.among(Item.item, items.to_pylist()))
        known = fetch(self._session, query, {"item": pa.large_string(), "seq": pa.int64()})
        return pc.take(known["seq"], pc.index_in(items, known["item"].combine_chunks()))

    def _refuse_stored(self, campaign: int, items: Any, held: int) -> None:
        if not held:
            return
        stored = pc.is_valid(self._places(campaign, items))
        if pc.any(stored).as_py():
            raise DuplicateError(
                f"items holds items that the campaign has already: {bad_rows(stored, items)}; stored texts are never "
                "changed, leave these rows out"
            )

    def _move_out(self, campaign: int) -> None:
        """Turn the rows of a campaign that outgrew SQL into artefacts."""
        for kind in ("items", "predictions", "efforts"):
            names = [each.name for each in COLUMNS[kind]]
            table = self._read_rows(campaign, kind, None, names, None)
            if len(table):
                self._large.take_over(campaign, kind, table)
            model: Any = _MODELS[kind]
            self._session.run(sa.delete(model.table()).where(model.campaign_id == campaign))


def _columns(kind: str) -> list[Column]:
    if kind not in COLUMNS:
        raise InputError(f"kind is {kind!r}; choose {', '.join(COLUMNS)}")
    return COLUMNS[kind]


def _spread_of(column: Column, wanted: Sequence[str]) -> bool:
    return column.spread is not None and any(each.startswith(column.spread) for each in wanted)


def _range(start: int, length: int) -> Any:
    import numpy as np

    return pa.array(np.arange(start, start + length, dtype=np.int64))


def _placed(table: Any, campaign: int, place: Any) -> Any:
    """Add the columns that every row has: campaign and place."""
    table = table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
    return table.append_column("seq", place)


def _by_aspect(table: Any) -> list[tuple[str, Any]]:
    if "aspect" not in table.column_names:
        return [("", table)]
    names = pc.unique(table["aspect"]).to_pylist()
    if len(names) == 1:
        return [(names[0], table)]
    return [(name, table.filter(pc.equal(table["aspect"], name))) for name in names]


def _refuse_repeated(items: Any, name: str, kind: type[DuplicateError] | type[FrameError]) -> None:
    if pc.count_distinct(items).as_py() == len(items):
        return
    import pandas as pd

    repeated = pa.array(pd.Series(items.to_pandas()).duplicated().to_numpy())
    raise kind(f"{name} holds an item more than once: {bad_rows(repeated, items)}; keep one row of each")


def _refuse_unknown(place: Any, items: Any, kind: str) -> None:
    unknown = pc.is_null(place)
    raise FrameError(
        f"{kind} names items that the campaign does not have: {bad_rows(unknown, items)}; "
        "add them first or drop these rows"
    )
