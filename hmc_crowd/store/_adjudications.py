"""What did experts say, before and after they saw what others had said? A row for each item, expert and guideline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import StateError
from hmc_crowd.store._arrow import to_pandas
from hmc_crowd.store._bulk import fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Adjudication
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

__all__ = ["AdjudicationRepository"]

_TEXT = ("aspect", "item", "expert", "guideline_version", "blind_label", "crowd_label", "machine_label", "final_label")
_TIMES = ("blind_at", "final_at")


class AdjudicationRepository(Repository):
    """Judgements of experts: the blind one is written once and never changed."""

    def judge(
        self,
        campaign: int,
        *,
        aspect: str,
        item: str,
        expert: str,
        label: str,
        guideline_version: str,
        at: datetime,
        crowd_label: str | None = None,
        machine_label: str | None = None,
        tier: int | None = None,
    ) -> bool:
        """Keep an expert's blind label with what he is shown afterwards; return False where he had one already.

        The first one counts, whoever asks again: after the reveal nobody's judgement is blind. One under another
        guideline is kept beside it.
        """
        row: dict[str, Any] = {
            "campaign_id": campaign,
            "aspect": aspect,
            "item": item,
            "expert": check_text(expert, name="expert"),
            "guideline_version": guideline_version,
            "blind_label": check_text(label, name="label"),
            "blind_at": as_utc(at, name="at"),
            "crowd_label": crowd_label,
            "machine_label": machine_label,
            "tier": tier,
        }
        return bool(self._session.run(self._session.insert(Adjudication).values(row).on_conflict_do_nothing()))

    def decide(
        self,
        campaign: int,
        *,
        aspect: str,
        item: str,
        expert: str,
        label: str,
        at: datetime,
        guideline_version: str,
    ) -> None:
        """Keep what the expert says in the end; said again, the last one counts.

        Raises
        ------
        StateError
            He has not judged the item blind.
        """
        which = (
            Adjudication.campaign_id == campaign,
            Adjudication.aspect == aspect,
            Adjudication.item == item,
            Adjudication.expert == expert,
            Adjudication.guideline_version == guideline_version,
        )
        values = {"final_label": check_text(label, name="label"), "final_at": as_utc(at, name="at")}
        if not self._session.run(sa.update(Adjudication.table()).where(*which).values(values)):
            raise StateError(f"item {item!r} was not judged blind by {expert!r} yet; that comes first")

    def read(self, campaign: int, *, aspect: str | None = None) -> pd.DataFrame:
        """Return all judgements in the order of time.

        Returns
        -------
        pandas.DataFrame
            ``aspect, item, expert, guideline_version, blind_label, crowd_label, machine_label, final_label, blind_at,
            final_at, tier``; the tier is missing where it was not kept.
        """
        table = Adjudication.table()
        types = {name: pa.large_string() for name in _TEXT} | {name: pa.timestamp("us", "UTC") for name in _TIMES}
        types["tier"] = pa.int64()
        query = sa.select(*(table.c[name] for name in types)).where(Adjudication.campaign_id == campaign)
        if aspect is not None:
            query = query.where(Adjudication.aspect == aspect)
        order = (Adjudication.blind_at, Adjudication.item, Adjudication.expert)
        return to_pandas(fetch(self._session, query.order_by(*order), types), ())
