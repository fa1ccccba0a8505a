"""How is a budget never exceeded, whoever reserves at the same moment? One conditional UPDATE decides.

``reserved + settled + amount <= limit`` is part of the statement that raises ``reserved``: both databases check and
change one row under one lock, so no two reservations can both see the last free cent. Entries say what the totals
consist of.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from hmc_crowd._base.money import Money
from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import Budget, BudgetBlock, BudgetEntry
from hmc_crowd.store._types import check_text
from hmc_crowd.store.records import BudgetRecord

__all__ = ["BudgetRepository", "require_amount"]

_MOST = 2**63 - 1


class BudgetRepository(Repository):
    """The ledger of a campaign, in minor units of one currency."""

    def reserve(self, campaign: int, key: str, amount_minor: int, currency: str, limit_minor: int) -> None:
        """Set money aside for one purpose; reserving it again changes nothing.

        Parameters
        ----------
        campaign : int
            Its id.
        key : str
            Natural key of the purpose. After a release the same key may be reserved anew.
        amount_minor, limit_minor : int
            What to set aside, and the most that may be set aside and spent together, in minor units.
        currency : str
            ISO code; a campaign has one.

        Raises
        ------
        BudgetError
            The limit would be exceeded; nothing is reserved.
        StateError
            The key is reserved with another amount, or settled already.
        InputError
            An amount is negative or no integer, or the currency differs from the campaign's.
        """
        check_text(key, name="key")
        require_amount(amount_minor, currency, "amount_minor")
        require_amount(limit_minor, currency, "limit_minor")
        self._open(campaign, currency)
        entry = self._entry(campaign, key)
        if entry is not None and entry.state != "released":
            if entry.state == "reserved" and entry.amount_minor != amount_minor:
                raise StateError(
                    f"{key!r} has {entry.amount_minor} reserved, not {amount_minor} {currency} "
                    "(minor units); release it first"
                )
            return
        self._raise_reserved(campaign, amount_minor, currency, limit_minor)
        values = {
            "amount_minor": amount_minor,
            "settled_minor": 0,
            "state": "reserved",
            "updated_at": self._session.now(),
        }
        if entry is None:
            self._session.run(sa.insert(BudgetEntry.table()), {"campaign_id": campaign, "key": key} | values)
        else:
            self._set_entry(campaign, key, **values)

    def settle(self, campaign: int, key: str, amount_minor: int) -> None:
        """Say what a reservation cost in the end; what is left of it is free again. The same again changes nothing.

        Raises
        ------
        BudgetError
            It cost more than was reserved.
        StateError
            Nothing is reserved under the key, or it was settled with another amount or released.
        """
        require_amount(amount_minor, "XXX", "amount_minor")
        entry = self._reserved_entry(campaign, key)
        if entry.state == "settled" and entry.settled_minor == amount_minor:
            return
        if entry.state != "reserved":
            raise StateError(
                f"{key!r} is {entry.state} already ({entry.settled_minor} minor units); it cannot be settled again"
            )
        if amount_minor > entry.amount_minor:
            raise BudgetError(
                f"{key!r} cost {amount_minor} but {entry.amount_minor} minor units are reserved; "
                "reserve the difference under its own key"
            )
        self._move(
            campaign, reserved=-entry.amount_minor, settled=amount_minor, released=entry.amount_minor - amount_minor
        )
        self._set_entry(campaign, key, state="settled", settled_minor=amount_minor, updated_at=self._session.now())

    def release(self, campaign: int, key: str) -> None:
        """Give a reservation back; doing it again changes nothing.

        Raises
        ------
        StateError
            Nothing is reserved under the key, or it was spent.
        """
        entry = self._reserved_entry(campaign, key)
        if entry.state == "released":
            return
        if entry.state == "settled":
            raise StateError(f"{key!r} is settled ({entry.settled_minor} minor units); spent money cannot be released")
        self._move(campaign, reserved=-entry.amount_minor, settled=0, released=entry.amount_minor)
        self._set_entry(campaign, key, state="released", updated_at=self._session.now())

    def correct(self, campaign: int, key: str, amount_minor: int) -> None:
        """Lower what a settled purpose cost, as after a rejection; the difference is free. Again, it changes nothing.

        Raises
        ------
        BudgetError
            The new amount is higher.
        StateError
            Nothing is settled under the key.
        """
        require_amount(amount_minor, "XXX", "amount_minor")
        entry = self._reserved_entry(campaign, key)
        if entry.state != "settled":
            raise StateError(f"{key!r} is {entry.state}, not settled; only what was spent can be corrected")
        less = entry.settled_minor - amount_minor
        if less < 0:
            raise BudgetError(
                f"{key!r} cost {entry.settled_minor} minor units, a correction to {amount_minor} would raise it; "
                "reserve the difference under its own key"
            )
        if less:
            self._move(campaign, reserved=0, settled=-less, released=less)
            self._set_entry(campaign, key, settled_minor=amount_minor, updated_at=self._session.now())

    def totals(self, campaign: int) -> BudgetRecord:
        """Return what is reserved, settled and released so far; what was spent from open blocks counts as settled."""
        row = self._session.one(sa.select(*Budget.table().c).where(Budget.campaign_id == campaign))
        if row is None:
            return BudgetRecord(0, 0, 0, None)
        spent = sa.select(sa.func.coalesce(sa.func.sum(BudgetBlock.spent_minor), 0))
        spent = spent.where(BudgetBlock.campaign_id == campaign)
        out = int(self._session.connection.execute(spent).scalar_one())
        return BudgetRecord(row.reserved_minor - out, row.settled_minor + out, row.released_minor, row.currency)

    def purpose(self, campaign: int, key: str) -> tuple[str, int, int] | None:
        """Return state, reserved and settled amount of one purpose; None where nothing was ever reserved for it."""
        row = self._entry(campaign, key)
        return None if row is None else (row.state, row.amount_minor, row.settled_minor)

    def gap(self, campaign: int) -> int:
        """Return by how much the totals differ from the sum of purposes and open blocks: 0 in a sound ledger."""
        table = BudgetEntry.table()
        of = {
            state: sa.select(sa.func.coalesce(sa.func.sum(column), 0))
            .where(table.c.campaign_id == campaign, table.c.state == state)
            .scalar_subquery()
            for state, column in (("reserved", table.c.amount_minor), ("settled", table.c.settled_minor))
        }
        rest = sa.select(sa.func.coalesce(sa.func.sum(BudgetBlock.granted_minor - BudgetBlock.spent_minor), 0))
        rest = rest.where(BudgetBlock.campaign_id == campaign)
        row = self._session.connection.execute(sa.select(of["reserved"], of["settled"], rest.scalar_subquery())).one()
        totals = self.totals(campaign)
        return abs(totals.reserved_minor - int(row[0]) - int(row[2])) + abs(totals.settled_minor - int(row[1]))

    def _open(self, campaign: int, currency: str) -> None:
        """Make the campaign's row if it is missing and lock it, so that one key is not reserved twice at once."""
        row = {
            "campaign_id": campaign,
            "currency": currency,
            "reserved_minor": 0,
            "settled_minor": 0,
            "released_minor": 0,
        }
        self._session.run(self._session.insert(Budget).values(row).on_conflict_do_nothing())
        found = self._session.one(self._locked(campaign))
        if found is None or found.currency != currency:
            has = "nothing" if found is None else found.currency
            raise InputError(
                f"currency is {currency} but the campaign's budget is in {has}; a campaign has one currency"
            )

    def _locked(self, campaign: int) -> sa.Executable:
        return sa.select(Budget.currency).where(Budget.campaign_id == campaign).with_for_update()

    def _raise_reserved(self, campaign: int, amount: int, currency: str, limit: int) -> None:
        statement = (
            sa.update(Budget.table())
            .where(Budget.campaign_id == campaign, Budget.reserved_minor + Budget.settled_minor + amount <= limit)
            .values(reserved_minor=Budget.reserved_minor + amount)
        )
        if not self._session.run(statement):
            totals = self.totals(campaign)
            bound = totals.reserved_minor + totals.settled_minor
            raise BudgetError(
                f"{Money(amount, currency)} more would exceed the budget of {Money(limit, currency)}, of which "
                f"{Money(bound, currency)} are reserved or spent; raise --budget or publish less"
            )

    def _move(self, campaign: int, *, reserved: int, settled: int, released: int) -> None:
        self._session.run(
            sa.update(Budget.table())
            .where(Budget.campaign_id == campaign)
            .values(
                reserved_minor=Budget.reserved_minor + reserved,
                settled_minor=Budget.settled_minor + settled,
                released_minor=Budget.released_minor + released,
            )
        )

    def _reserved_entry(self, campaign: int, key: str) -> Any:
        self._session.one(self._locked(campaign))
        return self._require(self._entry(campaign, key), f"nothing is reserved under {key!r}; reserve it first")

    def _entry(self, campaign: int, key: str) -> Any | None:
        which = (BudgetEntry.campaign_id == campaign, BudgetEntry.key == key)
        return self._session.one(sa.select(*BudgetEntry.table().c).where(*which))

    def _set_entry(self, campaign: int, key: str, **values: Any) -> None:
        which = (BudgetEntry.campaign_id == campaign, BudgetEntry.key == key)
        self._session.run(sa.update(BudgetEntry.table()).where(*which).values(**values))


def require_amount(minor: int, currency: str, name: str, *, least: int = 0) -> None:
    """Refuse what is no amount of minor units, or no currency."""
    if isinstance(minor, bool) or not isinstance(minor, int) or not least <= minor <= _MOST:
        raise InputError(f"{name} is {minor!r}; give minor units (cents) as an integer, {least} or more")
    Money(minor, currency)
