"""Who are the people, and do groups of them judge alike? The facade's part on diversity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _groups, _traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import GroupComparison

__all__ = ["Diversity"]


class Diversity:
    """The methods of `hmc_crowd.campaign.Campaign` about what workers said of themselves."""

    _context: Context

    def add_worker_traits(
        self,
        source: Any,
        *,
        platform: str,
        attributes: Sequence[str] | Mapping[str, str] | None = None,
        at: datetime | None = None,
    ) -> _traits.Traits:
        """Keep what workers said of themselves, by pseudonym, to keep quotas and to compare groups.

        The same again changes nothing, a newer value replaces, and what somebody took back (Prolific writes
        CONSENT_REVOKED) is erased. Ages are cut to 18-25, 26-35, 36-45 and 46+; the age itself is not stored. Raw ids
        are not stored either. `forget`, `export_worker` and `retain` know these data; no log and no export has them.
        Nothing says any more who was forgotten: leave them out of a file that is read again.

        Parameters
        ----------
        source : path or frame
            ``worker`` (the platform's id) and attributes; Prolific's demographic export is understood as it is.
        platform : str
            Whose workers they are.
        attributes : sequence of str, or mapping of column to name, optional
            What to keep, nothing else is; by default those of ``sex, gender, region, country_of_residence, age`` that
            are there.
        at : datetime, optional
            When it was told, aware; now by default. What is stored with a later moment stays.

        Returns
        -------
        Traits
            How much was kept, and which columns were not.

        Raises
        ------
        InputError
            An attribute points at single people (an id, a name, an address, nearly one value for each), somebody is
            under 18, or nothing is named; nothing was stored.
        FrameError
            A column is missing, an age is none, or a worker has two values; nothing was stored.

        Examples
        --------
        >>> import tempfile, pandas as pd
        >>> from hmc_crowd.campaign import Campaign
        >>> folder = tempfile.TemporaryDirectory()
        >>> campaign = Campaign.create(f"{folder.name}/eval.db", labels=["good", "bad"])
        >>> export = pd.DataFrame({"Participant id": ["5f1", "5f2"], "Age": ["31", "52"], "Nationality": ["KE", "PE"]})
        >>> print(campaign.add_worker_traits(export, platform="prolific"))
        2 people, age_group: 2 values are new or have changed; not kept: Nationality
        >>> campaign.worker_traits()["value"].tolist() in (["26-35", "46+"], ["46+", "26-35"])
        True
        >>> campaign.close(); folder.cleanup()
        """
        return _traits.add_traits(self._context, source, platform=platform, attributes=attributes, at=at)

    def worker_traits(self, attribute: str | None = None) -> pd.DataFrame:
        """Return what is stored of workers: ``worker`` (pseudonym)``, attribute, value, source, at``; personal data."""
        with self._context.store.read() as tx:
            return tx.traits.read(self._context.campaign_id, attribute)

    def compare_groups(
        self, attribute: str, *, aspect: str | None = None, level: float = 0.95, least_people: int = 5
    ) -> GroupComparison:
        """Say whether groups of people judge alike, by an attribute that `add_worker_traits` kept.

        Labels are compared on the same items, so that a group that saw harder ones is not taken for biased: shares of
        labels, agreement inside and outside of the group, right answers to gold. Answers that are left out count for
        gold alone. Groups of fewer than ``least_people`` people are put together or not counted.

        Parameters
        ----------
        attribute : str
            Such as ``age_group``.
        aspect : str, optional
            Which question; the first by default.
        level : float, default 0.95
            With this probability all intervals of one table hold.
        least_people : int, default 5
            The smallest group that is shown.

        Raises
        ------
        InputError
            Nobody's attribute is stored, or the question is answered in words.
        StateError
            Nobody has answered yet.
        """
        return _groups.compare_groups(self._context, attribute, aspect=aspect, level=level, least_people=least_people)
