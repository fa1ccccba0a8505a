"""By which guideline do people judge? Every version is kept; an aspect names the one in force."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Aspect, Guideline
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import GuidelineRecord

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.store.records import AspectRecord

__all__ = ["GuidelineRepository"]


class GuidelineRepository(Repository):
    """The versions of the guidelines of a campaign's aspects."""

    def history(self, campaign: int, aspect: str | None = None) -> list[GuidelineRecord]:
        """Return the versions, oldest first; of one aspect, or of all, aspect after aspect.

        An aspect of an older database has none until its guideline is changed: its version stands in its record.
        """
        columns = [each for each in Guideline.table().c if each.name not in {"campaign_id", "seq"}]
        query = sa.select(*columns).where(Guideline.campaign_id == campaign).order_by(Guideline.aspect, Guideline.seq)
        if aspect is not None:
            query = query.where(Guideline.aspect == aspect)
        rows = self._session.rows(query)
        return [GuidelineRecord(row.aspect, row.version, row.text, row.at, row.meaning or row.version) for row in rows]

    def add(self, campaign: int, aspect: AspectRecord, *, at: datetime, meaning: str = "") -> None:
        """Keep the version that the record names, with its text; with ``meaning`` as other words for that version.

        Raises
        ------
        DuplicateError
            The aspect had a version of that name.
        """
        known = self.history(campaign, aspect.name)
        if aspect.guideline_version in {each.version for each in known}:
            raise DuplicateError(
                f"aspect {aspect.name!r} had a guideline of version {aspect.guideline_version!r} before; give the new "
                "one another version"
            )
        row = {
            "campaign_id": campaign,
            "aspect": aspect.name,
            "version": check_text(aspect.guideline_version, name="guideline_version"),
            "seq": len(known) + 1,
            "text": check_text(aspect.guideline, name="guideline"),
            "at": as_utc(at, name="at"),
            "meaning": meaning,
        }
        self._session.run(sa.insert(Guideline.table()), row)

    def change(
        self, campaign: int, aspect: AspectRecord, *, version: str, text: str, at: datetime, same: bool = False
    ) -> None:
        """Put another version in force; what was in force before is kept, also where it was never written down.

        With ``same`` the text says the same as the one in force, in other words.
        """
        known = {each.version: each.meaning for each in self.history(campaign, aspect.name)}
        if aspect.guideline_version not in known:
            self.add(campaign, aspect, at=at)
        meaning = known.get(aspect.guideline_version, aspect.guideline_version) if same else ""
        self.add(campaign, replace(aspect, guideline_version=version, guideline=text), at=at, meaning=meaning)
        self.use(campaign, aspect.name, version=version, text=text)

    def use(self, campaign: int, aspect: str, *, version: str, text: str) -> None:
        """Put a version in force that is kept."""
        which = (Aspect.campaign_id == campaign, Aspect.name == aspect)
        change = sa.update(Aspect.table()).where(*which)
        self._session.run(change.values(guideline_version=version, guideline=text))
