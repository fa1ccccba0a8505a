"""The mix of people that a campaign asks for: methods of the facade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign import _quota_check, _quotas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import Quota

__all__ = ["Quotas"]


class Quotas:
    """The methods of `hmc_crowd.campaign.Campaign` about quotas."""

    _context: Context

    def set_quotas(self, quotas: Sequence[Quota], *, people: int) -> _quota_check.QuotaProgress:
        """Ask for a mix of people from now on, in place of what was asked for before.

        Work is handed out by it: on pages of your own, from the next `publish` or `collect` on, people of a group that
        is full are told that there is no work for them now (their attributes stand on their invitations); on Prolific
        each cell of the quotas becomes a study with its filters; elsewhere draw a panel. People count, not answers, and
        who gives up frees the seat.

        Parameters
        ----------
        quotas : sequence of Quota
            One for each attribute. ``filter_id`` and ``choices`` say how Prolific calls it, where its own names differ.
        people : int
            How many there shall be, at most 5,000. Seats that no quota claims are open to everybody, also to those of
            whom nothing is known.

        Returns
        -------
        QuotaProgress
            How far it is already.

        Raises
        ------
        InfeasibleError
            The quotas contradict themselves: rounded up to people, they need more than there shall be.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from hmc_crowd.campaign import Campaign
        >>> from hmc_crowd.quality import Quota
        >>> with TemporaryDirectory() as folder, Campaign.create(f"{folder}/c.db", labels=["a", "b"]) as campaign:
        ...     print(campaign.set_quotas([Quota("region", {"south": 0.3})], people=40))
        0 of 40 people done; region south: 0 of 12 done, 12 still to come
        """
        _quotas.set_quotas(self._context, quotas, people)
        return self.quota_progress()

    def clear_quotas(self) -> bool:
        """Ask for no mix any more; say whether one was asked for. A workplace learns of it at the next `collect`."""
        return _quotas.clear_quotas(self._context)

    def quota_progress(self) -> _quota_check.QuotaProgress:
        """Say how many people each quota wants, how many have started and are done, and who is missing.

        People are counted as the last `collect` found them.

        Raises
        ------
        StateError
            There are no quotas.
        """
        return _quota_check.progress(self._context)
