"""Experts' own work reviewed: second looks, appeals, auditors' samples, load: the facade's part about reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import (
    _appeals,
    _expert_load,
    _review_policy,
    _secret_audit,
    _secret_result,
    _tier_figures,
    _tiers,
)
from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._looks import looks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import Expert

__all__ = ["Reviews"]


class Reviews:
    """The methods of `hmc_crowd.campaign.Campaign` about experts' own work."""

    _context: Context

    def set_reviews(
        self, second_look: float | Mapping[int | str, float] | None = None, *, top: int | None = None
    ) -> _tiers.ReviewPolicy:
        """Say how much of what one expert decided a second one of the same tier judges blind.

        Chance draws, by a key that is not in the database; where the two differ, the item goes to the next tier, and at
        the top to further people of it until a majority says the same.

        Parameters
        ----------
        second_look : float or mapping, optional
            A share in [0, 1]; or shares by tier (1, 2, 3) and risk ("low", "medium", "high"), ``all`` being the rest:
            the largest that applies. A larger share also takes in what was decided before.
        top : int, optional
            The highest tier there is, 3 at first.

        Raises
        ------
        InputError
            A share outside [0, 1], or an unknown tier or risk.

        Examples
        --------
        >>> import tempfile
        >>> from hmc_crowd.campaign import Campaign
        >>> with tempfile.TemporaryDirectory() as folder, Campaign.create(f"{folder}/c.db", labels=["a", "b"]) as made:
        ...     print(made.set_reviews({"all": 0.1, "high": 1.0}))
        a second expert looks at 10% of what one expert decided, 100% of items of high risk; the highest tier is 3
        """
        return _review_policy.set_policy(self._context, second_look, top=top)

    def reviews(self, *, aspect: str | None = None) -> pd.DataFrame:
        """Return how each item stands that experts have judged or somebody has appealed about.

        Returns
        -------
        pandas.DataFrame
            ``item, state, label, to_tier, evidence, n``. ``state``: ``begun``, ``decided`` (one expert), ``agreed`` and
            ``settled`` (several); ``second_look, escalate, second_opinion, appeal, appeal_third`` (an expert of
            ``to_tier`` must look), ``upheld, overturned``, ``review`` (a person must settle an appeal), ``person``
            (one did).
        """
        record = choice_of(self._context, aspect)
        with self._context.store.read() as tx:
            found = looks(self._context, tx, record.name)
        return found[["item", "state", "label", "to_tier", "evidence", "n"]]

    def appeal(
        self,
        item: str,
        *,
        by: str,
        reason: str,
        role: str = "author",
        platform: str | None = None,
        aspect: str | None = None,
    ) -> _appeals.AppealState:
        """Object to an item's label, whoever gave it: another expert judges it blind, and does not know why.

        Parameters
        ----------
        item : str
        by : str
            Who appeals: a name; of a worker the pseudonym, or the platform's id where ``platform`` is given.
        reason : str
            For the owner alone; no expert sees it.
        role : {"author", "worker", "owner"}, default "author"
        platform : str, optional
            Whose id ``by`` is.

        Raises
        ------
        StateError
            The item is gold or has no label, an appeal is open, or the same person has appealed before.
        """
        return _appeals.appeal(self._context, item, by=by, reason=reason, role=role, platform=platform, aspect=aspect)

    def appeals(self, *, aspect: str | None = None, open_only: bool = False) -> pd.DataFrame:
        """Return the appeals: ``item, aspect, number, role, by, reason, state, first_label, label`` and their times."""
        return _appeals.appeals(self._context, aspect=aspect, open_only=open_only)

    def settle_appeal(
        self, item: str, *, label: str | None = None, by: str | None = None, aspect: str | None = None
    ) -> _appeals.AppealState:
        """Say what the newest appeal about an item comes to; experts' judgements settle it by themselves.

        Parameters
        ----------
        item : str
        label, by : str, optional
            The label that a person gives it after three experts have said three things, and who that person is.

        Raises
        ------
        StateError
            Nobody has appealed, or it is not a person's to settle.
        """
        return _appeals.settle(self._context, item, label=label, by=by, aspect=aspect)

    def tier_figures(self, *, aspect: str | None = None) -> _tier_figures.TierFigures:
        """Return how often each tier of experts is wrong against known labels, and how often it is overturned.

        Known are gold, and what auditors said in samples that are opened.
        """
        return _tier_figures.tier_figures(self._context, aspect=aspect)

    def expert_load(
        self,
        experts: Sequence[Expert] | None = None,
        *,
        add: Mapping[int, int] | None = None,
        aspect: str | None = None,
        items: Any = None,
        over_hours: float = 24.0,
        patience_s: float = 3600.0,
    ) -> _expert_load.ExpertLoad:
        """Say how busy experts are, which tier falls behind, what more people would change, and what waits too long.

        Parameters
        ----------
        experts : sequence of Expert, optional
            Default: the holders of expert keys, as in `assign_experts`.
        add : mapping of int to int, optional
            How many more people, by tier.
        items : path or frame, optional
            What is known of items, as in `assign_experts`.
        over_hours : float, default 24
            Arrivals are counted over so many hours, or since the first if that is less.
        patience_s : float, default 3600
            What waits longer than that while later items are settled is named.
        """
        return _expert_load.expert_load(
            self._context,
            experts,
            add=add,
            aspect=aspect,
            items=items,
            over_hours=over_hours,
            patience_s=patience_s,
        )

    def draw_secret_audit(
        self, key: bytes, size: int | float, *, auditor: str = "auditor", aspect: str | None = None
    ) -> _secret_result.SecretDraw:
        """Draw a sample of final labels that nobody but the holder of the key knows; only its hash is published.

        Parameters
        ----------
        key : bytes
            The auditors' secret, at least 16 random bytes (``secrets.token_bytes(32)``), new for each sample.
        size : int or float
            A number of labels, or a share in [0, 1].
        auditor : str
            Who draws.

        Raises
        ------
        StateError
            There are no labels, or the key has drawn before.
        """
        return _secret_audit.draw(self._context, key, size, auditor=auditor, aspect=aspect)

    def secret_audit_cases(self, key: bytes, *, aspect: str | None = None) -> pd.DataFrame:
        """Return the key's sample in its order: ``item, is_judged``; worked out each time, stored nowhere."""
        return _secret_audit.audit_cases(self._context, key, aspect=aspect)

    def judge_secret_audit(self, key: bytes, item: str, label: str, *, aspect: str | None = None) -> None:
        """Keep an auditor's label of an item of the sample, under a tag that only the key explains."""
        _secret_audit.judge_audited(self._context, key, item, label, aspect=aspect)

    def open_audit(self, key: bytes, *, aspect: str | None = None) -> _secret_result.SecretAudit:
        """Open a sample: check that the auditors looked where they had to, publish the key, and say the error rate.

        The rate is of the labels as they stood at the draw; how many of them were changed since is said, and whether
        more of these lie in the sample than chance explains. Opened again it says the same.

        Raises
        ------
        StateError
            Nothing was judged, an item was left out before others, or what was kept of the draw was changed.
        """
        return _secret_audit.open_audit(self._context, key, aspect=aspect)

    def secret_audits(self, *, aspect: str | None = None) -> pd.DataFrame:
        """Return all samples: sizes, commitments, times; of opened ones the error rate."""
        return _secret_audit.audits(self._context, aspect=aspect)
