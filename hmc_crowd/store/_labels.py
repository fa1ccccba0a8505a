"""Which label does an item have in the end, and what may be said of all of them? Every round's answer is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import FrameError
from hmc_crowd.store._arrow import Column, read_frame, to_pandas
from hmc_crowd.store._bulk import bulk_insert, fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Certificate, Item, Label
from hmc_crowd.store._types import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["LabelRepository"]

_LABELS = [
    Column("item", "key", required=True),
    Column("aspect", "key", required=True),
    Column("label", "text", required=True),
    Column("source", "text", required=True),
    Column("confidence", "number"),
    Column("n_answers", "integer", default=0),
    Column("tied", "flag", default=False),
    Column("evidence", "text"),
    Column("posterior", "dict", spread="posterior_"),
]
_ROUND = Column("round", "integer")


class LabelRepository(Repository):
    """Final labels and certificates of a campaign."""

    def save(self, campaign: int, round: int, frame: Any) -> int:
        """Store a round's labels, replacing the round's earlier ones by item and aspect; other rounds' stay.

        Parameters
        ----------
        campaign, round : int
            Which pass of which campaign.
        frame : pandas.DataFrame or pyarrow.Table
            ``item, aspect, label, source`` and optional ``confidence``, ``n_answers`` (default 0), ``tied`` (default
            False), ``evidence``, ``posterior`` (dict of label to probability).

        Raises
        ------
        FrameError
            A column is missing or wrong, or an item and aspect come twice.
        """
        table = read_frame(frame, _LABELS, name="labels")
        pairs = table.select(["item", "aspect"])
        if len(pairs.group_by(["item", "aspect"]).aggregate([])) < len(pairs):
            raise FrameError("labels holds an item and aspect more than once; keep one row of each")
        table = table.add_column(0, "campaign_id", pa.repeat(pa.scalar(campaign, pa.int64()), len(table)))
        table = table.append_column("round", pa.repeat(pa.scalar(round, pa.int64()), len(table)))
        bulk_insert(self._session, Label, table, conflict="replace")
        return len(table)

    def withdraw(self, campaign: int, items: Iterable[str], *, aspect: str) -> int:
        """Take back the labels of items in every round: nothing that counts supports them any more. Return how many."""
        which = (Label.campaign_id == campaign, Label.aspect == aspect, self._session.among(Label.item, list(items)))
        return self._session.run(sa.delete(Label.table()).where(*which))

    def read(
        self,
        campaign: int,
        *,
        aspect: str | None = None,
        round: int | None = None,
        items: Iterable[str] | None = None,
    ) -> pd.DataFrame:
        """Return labels in item order: of one round, or the latest of each item and aspect.

        Returns
        -------
        pandas.DataFrame
            ``item, aspect, label, source, confidence, n_answers, tied, evidence, posterior, round``.
        """
        table = Label.table()
        columns = [*_LABELS, _ROUND]
        which = [Label.campaign_id == campaign]
        if aspect is not None:
            which.append(Label.aspect == aspect)
        if items is not None:
            which.append(self._session.among(Label.item, list(items)))
        if round is not None:
            which.append(Label.round == round)
        else:
            later = table.alias("later")
            which.append(
                ~sa.exists().where(
                    later.c.campaign_id == Label.campaign_id,
                    later.c.aspect == Label.aspect,
                    later.c.item == Label.item,
                    later.c.round > Label.round,
                )
            )
        # A large campaign's items are no rows: its labels come in the order of their ids.
        place = sa.func.coalesce(Item.seq, 2**62)
        query = (
            sa.select(*(table.c[each.name] for each in columns))
            .outerjoin(Item.table(), sa.and_(Item.campaign_id == Label.campaign_id, Item.item == Label.item))
            .where(*which)
            .order_by(place, Label.item, Label.aspect)
        )
        return to_pandas(fetch(self._session, query, {each.name: each.type for each in columns}), columns)

    def save_certificate(self, campaign: int, round: int, certificate: dict[str, Any]) -> None:
        """Append a certificate; the same one for the same round again is kept once, as the newest."""
        row = {
            "campaign_id": campaign,
            "round": round,
            "content": certificate,
            "content_hash": digest(to_json(certificate, name="certificate")),
            "created_at": self._session.now(),
        }
        here = (Certificate.campaign_id == campaign, Certificate.round == round)
        newest = sa.select(Certificate.content_hash).where(*here).order_by(Certificate.id.desc()).limit(1)
        if self._session.connection.execute(newest).scalar() == row["content_hash"]:
            return
        # The bound that counts is the last one computed, also where it was computed before another one too.
        same = Certificate.content_hash == row["content_hash"]
        self._session.run(sa.delete(Certificate.table()).where(*here, same))
        self._session.run(self._session.insert(Certificate).values(row).on_conflict_do_nothing())

    def certificates(self, campaign: int) -> list[dict[str, Any]]:
        """Return the campaign's certificates, oldest first."""
        query = sa.select(Certificate.content).where(Certificate.campaign_id == campaign).order_by(Certificate.id)
        return [row.content for row in self._session.rows(query)]
