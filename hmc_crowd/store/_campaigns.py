"""Which campaigns are there, with which settings and aspects? One row each, named by the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import DuplicateError, InputError, StateError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Aspect, Campaign
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import AspectRecord, CampaignRecord

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["CampaignRepository"]


class CampaignRepository(Repository):
    """Campaigns, their settings, round and aspects."""

    def create(self, name: str, settings: dict[str, Any], *, created_at: datetime) -> CampaignRecord:
        """Begin a campaign in round 1.

        Raises
        ------
        DuplicateError
            The name is taken.
        InputError
            The name is empty or no text, or the settings are no JSON.
        """
        if not check_text(name, name="name").strip():
            raise InputError("name is empty; give the campaign a name")
        if name in self.names():
            raise DuplicateError(
                f"a campaign named {name!r} exists already; go on with it (in Python with Campaign.open_or_create, "
                "which opens what is there), or choose another name"
            )
        row = {
            "name": name,
            "settings": settings,
            "round": 1,
            "items": 0,
            "created_at": as_utc(created_at, name="created_at"),
        }
        self._session.run(sa.insert(Campaign.table()), row)
        return self.get(name)

    def names(self) -> list[str]:
        """Return the campaigns' names, oldest first."""
        return [row.name for row in self._session.rows(sa.select(Campaign.name).order_by(Campaign.id))]

    def get(self, name: str | None = None) -> CampaignRecord:
        """Return a campaign by name; without a name the only one there is.

        Raises
        ------
        StateError
            There is none.
        InputError
            None of that name, or several to choose from.
        """
        names = self.names()
        if not names:
            raise StateError("the database holds no campaign yet; make one with: hmc-crowd init --db ... --name NAME")
        if name is None and len(names) > 1:
            raise InputError(
                f"the database holds {len(names)} campaigns; name one of {', '.join(map(repr, names[:10]))} "
                "(--campaign)"
            )
        if name is not None and name not in names:
            raise InputError(f"no campaign is named {name!r}; there are {', '.join(map(repr, names[:10]))}")
        row = self._session.one(sa.select(*Campaign.table().c).where(Campaign.name == (name or names[0])))
        found = self._require(row, f"campaign {name!r} vanished; try again")
        return CampaignRecord(
            id=found.id,
            name=found.name,
            settings=found.settings,
            round=found.round,
            created_at=found.created_at,
            items=found.items,
        )

    def settings_to_change(self, campaign: int) -> dict[str, Any]:
        """Return the settings for who is going to save them: nobody else changes them until this transaction ends.

        Read without that, what another process saved in between (a stop, for example) would be written over.
        """
        # PostgreSQL locks the row, but not against rows that refer to it; SQLite has one writer at a time anyway.
        query = sa.select(Campaign.settings).where(Campaign.id == campaign).with_for_update(key_share=True)
        found: dict[str, Any] = self._require(
            self._session.one(query), f"no campaign has the id {campaign}; open it by name"
        ).settings
        return dict(found)

    def save_settings(self, campaign: int, settings: dict[str, Any]) -> None:
        """Replace the settings; see `settings_to_change`."""
        self._update(campaign, settings=settings)

    def set_round(self, campaign: int, round: int) -> None:
        """Move to a round, counted from 1 (0 before the first)."""
        if round < 0:
            raise InputError(f"round is {round}; rounds are counted from 1 (0 before the first)")
        self._update(campaign, round=round)

    def add_aspect(self, campaign: int, aspect: AspectRecord) -> None:
        """Add a question to the campaign; the same one again changes nothing.

        Raises
        ------
        DuplicateError
            The campaign has another aspect of that name.
        """
        known = self.aspects(campaign)
        if aspect in known:
            return
        if aspect.name in {each.name for each in known}:
            raise DuplicateError(
                f"the campaign has an aspect {aspect.name!r} with other labels, kind or guideline; "
                "give the new one another name"
            )
        row = {
            "campaign_id": campaign,
            "name": check_text(aspect.name, name="aspect"),
            "position": len(known),
            "kind": check_text(aspect.kind, name="kind"),
            "labels": [check_text(label, name="labels") for label in aspect.labels],
            "guideline_version": check_text(aspect.guideline_version, name="guideline_version"),
            "language": check_text(aspect.language, name="language"),
            "guideline": check_text(aspect.guideline, name="guideline"),
            "question": check_text(aspect.question, name="question"),
        }
        self._session.run(sa.insert(Aspect.table()), row)

    def aspects(self, campaign: int) -> list[AspectRecord]:
        """Return the campaign's questions in the order in which they were added."""
        query = sa.select(*Aspect.table().c).where(Aspect.campaign_id == campaign).order_by(Aspect.position)
        return [
            AspectRecord(
                name=row.name,
                kind=row.kind,
                labels=tuple(row.labels),
                guideline_version=row.guideline_version,
                language=row.language,
                guideline=row.guideline,
                question=row.question,
            )
            for row in self._session.rows(query)
        ]

    def _update(self, campaign: int, **values: Any) -> None:
        if not self._session.run(sa.update(Campaign.table()).where(Campaign.id == campaign).values(**values)):
            raise InputError(f"no campaign has the id {campaign}; open it by name")
