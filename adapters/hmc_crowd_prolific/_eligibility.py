"""Whom studies let in, as the port asks it: filters for a cell of people, and how many of them there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd_prolific._filters import FEWEST_TOLD, filter_for
from hmc_crowd_prolific._groups import allow_group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hmc_crowd.platform import Trait
    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._settings import StudySettings

__all__ = ["Eligibility"]


class Eligibility:
    """The part of the platform that implements `hmc_crowd.platform.FiltersPeople` and `RecruitsHolders`."""

    client: ProlificClient
    settings: StudySettings

    @property
    def workspace(self) -> str:
        """The workspace whose money is spent."""
        raise NotImplementedError

    def filters_for(self, traits: Sequence[Trait]) -> tuple[dict[str, Any], ...]:
        """Return the filters that let in people of these attributes alone, by Prolific's own list of filters.

        Raises
        ------
        InfeasibleError
            Prolific knows no such attribute or value; the message says what it has.
        """
        known = self.client.filters() if traits else []
        return tuple(filter_for(each, known) for each in traits)

    def filter_for_holders(self, qualification_id: str) -> dict[str, Any]:
        """Return the filter that lets in the members of a participant group alone."""
        return allow_group(qualification_id)

    def eligible(self, filters: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return the least and the largest number of participants whom these filters and the settings' let in.

        Prolific tells no numbers below 25.
        """
        found = self.client.count_eligible([*self.settings.filters, *filters], workspace=self.workspace)
        return (found, found) if found else (0, FEWEST_TOLD - 1)
