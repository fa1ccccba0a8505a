"""What a campaign knows of its people: pools, shifts, capacity, fair pay, and what may be erased: the third part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _pools, _privacy, _publish, _retention, _wages
from hmc_crowd.store import PoolRecord

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta
    from pathlib import Path

    import pandas as pd

    from hmc_crowd._base.erasing import ErasesPeople
    from hmc_crowd.campaign._capacity import Capacity
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import ShiftRecord

__all__ = ["People"]


class People:
    """The methods of `hmc_crowd.campaign.Campaign` about pools, pay and privacy."""

    _context: Context

    def add_pool(
        self,
        name: str,
        *,
        kind: str = "crowd",
        pay_form: str = "per_answer",
        price_minor: int = 0,
        currency: str | None = None,
        capacity_per_hour: float = 20.0,
        skills: Sequence[str] = (),
    ) -> PoolRecord:
        """Add a pool of people; the same again changes nothing. Its members come by invitation to the workplace.

        Parameters
        ----------
        name : str
            As invitations and `publish` name it.
        kind : {"crowd", "tier1", "tier2", "tier3", "auditor"}
            Anybody, experts of three tiers, or those who look at what the machine keeps.
        pay_form : {"per_answer", "per_hour", "salaried"}
            What the price is for; hours and salaries are paid beside the platform.
        price_minor, currency : int, str
            Price of an answer or an hour; the campaign's currency by default.
        capacity_per_hour : float, default 20
            Answers that one person gives in an hour.
        skills : sequence of str
            What everybody in it can do; a language is written ``language:de``.

        Raises
        ------
        InputError
            A kind or pay form that is none, or a price or capacity that makes no sense.
        DuplicateError
            There is a pool of that name with other terms.
        """
        money = currency or str(self._context.settings()["currency"])
        pool = PoolRecord(name, kind, pay_form, price_minor, money, float(capacity_per_hour), tuple(skills))
        return _pools.add_pool(self._context, pool)

    def pools(self) -> list[PoolRecord]:
        """Return the pools, by name, with what the workplace said of their people last."""
        with self._context.store.read() as tx:
            return tx.pools.all(self._context.campaign_id)

    def add_shift(
        self,
        pool: str,
        starts_at: datetime,
        ends_at: datetime,
        *,
        people: int = 1,
        worker: str | None = None,
        platform: Platform | None = None,
    ) -> ShiftRecord:
        """Plan when people of a pool are at work.

        Parameters
        ----------
        pool : str
            The pool.
        starts_at, ends_at : datetime
            Aware; kept in UTC.
        people : int, default 1
            How many are at work.
        worker : str, optional
            Whose shift it is, by the name of the invitation; the workplace keeps it.
        platform : Platform, optional
            The connected workplace, whose pages show the shift to its people; needed with ``worker``.
        """
        return _pools.add_shift(
            self._context, pool, starts_at, ends_at, people=people, worker=worker, platform=platform
        )

    def remove_shift(self, shift_id: str, *, platform: Platform | None = None) -> None:
        """Take a planned shift of a pool back; people take back their own on their page."""
        _pools.remove_shift(self._context, shift_id, platform=platform)

    def shifts(self, *, starts_at: datetime | None = None, ends_at: datetime | None = None) -> list[ShiftRecord]:
        """Return the shifts, earliest first: planned ones, and those of single people under their pseudonyms."""
        with self._context.store.read() as tx:
            return tx.pools.shifts(self._context.campaign_id, starts_at=starts_at, ends_at=ends_at)

    def capacity(self, starts_at: datetime, ends_at: datetime, *, pools: Sequence[str] | None = None) -> Capacity:
        """Return how many people-minutes and answers the shifts give between two moments.

        Parameters
        ----------
        starts_at, ends_at : datetime
            Aware.
        pools : sequence of str, optional
            Only these; all by default.

        Returns
        -------
        Capacity
            By pool and in all; ``minutes_for(category)`` leaves out who opted out of a category of disturbing text.

        Examples
        --------
        >>> import tempfile
        >>> from datetime import UTC, datetime
        >>> from hmc_crowd.campaign import Campaign
        >>> folder = tempfile.TemporaryDirectory()
        >>> campaign = Campaign.create(f"{folder.name}/eval.db", labels=["good", "bad"])
        >>> terms = {"kind": "tier1", "pay_form": "per_hour", "price_minor": 3000, "capacity_per_hour": 50}
        >>> pool = campaign.add_pool("experts", **terms)
        >>> nine, noon = datetime(2026, 1, 5, 9, tzinfo=UTC), datetime(2026, 1, 5, 12, tzinfo=UTC)
        >>> shift = campaign.add_shift("experts", nine, noon, people=20)
        >>> print(campaign.capacity(nine, noon))
        2026-01-05 09:00 to 2026-01-05 12:00 UTC: 60.0 hours of people and 3,000 answers in 1 pool
        >>> campaign.close(); folder.cleanup()
        """
        return _pools.capacity(self._context, starts_at, ends_at, pools=pools)

    def meet_people(self, platform: Platform | str = "local") -> int:
        """Show the workplace's people their shifts, and read who belongs to the pools, their shifts and opt-outs.

        `collect` does it too. Returns how many people belong to the pools.
        """
        return _pools.meet(self._context, _publish.connect(platform, self._context))

    def set_fair_pay(self, floor_minor: int | None, *, currency: str | None = None) -> None:
        """Set the least that an hour of active work shall earn, in minor units; None takes the floor away."""
        _wages.set_fair_pay(self._context, floor_minor, currency or str(self._context.settings()["currency"]))

    def fair_pay(self) -> _wages.PayCheck:
        """Hold what people earned in an hour of active time against the floor; prints as one sentence."""
        return _wages.fair_pay(self._context)

    def missing_answers(self) -> pd.DataFrame:
        """Return what people skipped or reported, and why.

        Columns ``task, aspect, worker, kind, reason, note, submission_id, platform``; ``kind`` is ``skip``, ``flag``,
        or ``exposure`` where the worker had opted out of such texts.
        """
        with self._context.store.read() as tx:
            return tx.work.missing(self._context.campaign_id)

    def forget(
        self,
        worker: str,
        *,
        platform: str | None = None,
        dry_run: bool = False,
        workplaces: Sequence[ErasesPeople] = (),
        backups: Sequence[Path] = (),
    ) -> _privacy.Forgotten:
        """Take a worker out of the database, all its campaigns, in one transaction; doing it again changes nothing.

        The raw id goes, a fresh random pseudonym takes the old one's place everywhere, and events that tell of the
        worker lose their payloads: counts, groups, labels, certificates and the event chain stay valid. The platform
        keeps what it knows, and its submission ids stay here so that nothing is collected or paid twice.

        Parameters
        ----------
        worker : str
            The platform's worker id, or the pseudonym.
        platform : str, optional
            Where they worked; needed only where two platforms know the id.
        dry_run : bool, default False
            Count what would be touched, and change nothing.
        workplaces : sequence of ErasesPeople
            Places where the worker may have worked, such as the open local workplace: taken out of there as well.
        backups : sequence of Path
            Files to look through for the raw id afterwards, such as backups; they are not changed.

        Raises
        ------
        StateError
            A payment to the worker is still to come; nothing was changed.
        """
        return _privacy.forget(
            self._context, worker, platform=platform, dry_run=dry_run, workplaces=workplaces, backups=backups
        )

    def export_worker(self, worker: str, *, platform: str | None = None) -> dict[str, Any]:
        """Return everything the database holds of one worker, for who asks to see it; nothing of anybody else.

        Parameters
        ----------
        worker, platform : str
            As in `forget`.

        Returns
        -------
        dict
            ``exported_at`` and ``workers``, each with ``platform, pseudonym, identity`` and, by campaign, the rows of
            every table that holds something of the worker; plain values, ready for JSON.
        """
        return _privacy.export_worker(self._context, worker, platform=platform)

    def retain(
        self,
        *,
        raw_ids_for: timedelta | None = None,
        item_text_for: timedelta | None = None,
        traits_for: timedelta | None = None,
        dry_run: bool = False,
    ) -> _retention.Retained:
        """Erase raw ids, traits and item texts that are old and not needed any more; labels and statistics stay.

        Parameters
        ----------
        raw_ids_for : timedelta, optional
            How long after a worker's last work the raw id is kept; ids of unreviewed or unpaid work are kept longer.
        item_text_for : timedelta, optional
            How long after an item was added its text is kept; texts still to be judged are kept longer.
        traits_for : timedelta, optional
            How long what a worker said of himself is kept after it was told and after the last work; by default as
            long as raw ids.
        dry_run : bool, default False
            Count what would be erased, and change nothing.

        Raises
        ------
        StateError
            Open HITs show such a text; nothing was erased.
        """
        return _retention.retain(
            self._context,
            raw_ids_for=raw_ids_for,
            item_text_for=item_text_for,
            traits_for=traits_for,
            dry_run=dry_run,
        )
