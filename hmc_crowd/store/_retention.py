"""What is kept no longer than it is needed? Raw worker ids and item texts, by their age; what is still used is kept.

A raw id is as old as its worker's last work, a text as old as its item. Pseudonyms, answers, labels, features and the
event chain stay: what was concluded remains concluded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.store._frames import FrameRepository
from hmc_crowd.store._frames_large import LargeFrames
from hmc_crowd.store._privacy import OPEN_PAYMENTS, Person
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Campaign, Item, ItemBatch, Payment, Submission, WorkerIdentity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hmc_crowd.store._session import Session

__all__ = ["RetentionRepository"]

# Work that may still have to be reviewed or paid under the raw id.
_OPEN_SUBMISSIONS = ("accepted", "submitted", "unknown")


class RetentionRepository(Repository):
    """Raw ids and texts by their age."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._frames = FrameRepository(session)
        self._large = LargeFrames(session)

    def old_identities(self, before: datetime) -> tuple[list[Person], int]:
        """Return whose raw ids were last needed before a moment, and how many of these must be kept all the same.

        Kept is who has work that is not reviewed, or a payment that is not made.
        """
        last = sa.func.max(sa.func.coalesce(Submission.submitted_at, Submission.accepted_at)).label("last")
        table = WorkerIdentity.table()
        here = sa.and_(Submission.platform == WorkerIdentity.platform, Submission.worker == WorkerIdentity.worker)
        columns = (table.c.platform, table.c.worker, table.c.raw_id, table.c.seen_at)
        query = sa.select(*columns, last).outerjoin(Submission.table(), here).group_by(*columns)
        rows = self._session.rows(query.order_by(WorkerIdentity.platform, WorkerIdentity.raw_id))
        old = [
            Person(row.platform, row.worker, row.raw_id)
            for row in rows
            if all(moment is None or moment < before for moment in (row.seen_at, row.last))
        ]
        busy = self._busy()
        free = [each for each in old if (each.platform, each.worker) not in busy]
        return free, len(old) - len(free)

    def erase_identities(self, persons: list[Person]) -> int:
        """Take raw ids away; pseudonyms and work stay. Return how many."""
        self._session.erase_for_good()
        return sum(
            self._session.run(
                sa.delete(WorkerIdentity.table()).where(
                    WorkerIdentity.platform == each.platform, WorkerIdentity.raw_id == each.raw_id
                )
            )
            for each in persons
        )

    def _busy(self) -> set[tuple[str, str]]:
        working = sa.select(Submission.platform, Submission.worker).where(
            Submission.state.in_(_OPEN_SUBMISSIONS), Submission.review.is_(None)
        )
        same = sa.and_(Payment.platform == Submission.platform, Payment.submission_id == Submission.submission_id)
        unpaid = sa.select(Submission.platform, Submission.worker).join(Payment.table(), same)
        unpaid = unpaid.where(Payment.state.in_(OPEN_PAYMENTS))
        return {(row.platform, row.worker) for row in self._session.rows(sa.union(working, unpaid))}

    def added_before(self, campaign: int, moment: datetime) -> list[str]:
        """Return the items that were added before a moment and still have their text, in their order.

        How long items are there that were added before batches were kept is not known: the campaign's age counts.
        """
        created = self._session.one(sa.select(Campaign.created_at).where(Campaign.id == campaign))
        table = self._frames.read(campaign, "items", columns=["item", "erased_at"])
        added = np.full(len(table), created is not None and created[0] < moment)
        batches = sa.select(ItemBatch.first_seq, ItemBatch.length, ItemBatch.added_at)
        for row in self._session.rows(batches.where(ItemBatch.campaign_id == campaign)):
            added[row.first_seq : row.first_seq + row.length] = row.added_at < moment
        found: list[str] = table["item"][added & table["erased_at"].isna().to_numpy()].tolist()
        return found

    def erase_texts(self, campaign: int, items: Iterable[str], *, at: datetime) -> int:
        """Put ``[text erased DATE]`` in the place of items' texts, for good; return how many. Features stay.

        Parameters
        ----------
        campaign : int
            Its id.
        items : iterable of str
            Whose texts.
        at : datetime
            When, aware; the same items again are left as they are.
        """
        moment = as_utc(at, name="at")
        marker, names = f"[text erased {moment.date().isoformat()}]", list(items)
        self._session.erase_for_good()
        if self._large.holds(campaign):
            return self._large.erase_texts(campaign, pa.array(names, pa.large_string()), marker=marker, at=moment)
        which = (Item.campaign_id == campaign, Item.erased_at.is_(None), self._session.among(Item.item, names))
        values = {"text": marker, "erased_at": moment, "response_a": None, "response_b": None}
        return self._session.run(sa.update(Item.table()).where(*which).values(values))
