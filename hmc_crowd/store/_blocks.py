"""How do many writers spend from one budget without queueing at one row? Each holds a block of its own.

A block is reserved in the campaign's total when it is taken; what its owner spends from it touches only the block's
row, under the condition ``spent + amount <= granted``. Blocks together never exceed the limit because each was
reserved, and no block is overspent: so never a cent over. What a block leaves is free again when it is given back, or
when its lease has run out and somebody reclaims it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.money import Money
from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.store._budget import BudgetRepository, require_amount
from hmc_crowd.store._tables import Budget, BudgetBlock, BudgetEntry
from hmc_crowd.store._types import check_text

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["BlockRepository"]


class BlockRepository(BudgetRepository):
    """The ledger of a campaign, with blocks for many writers."""

    def lease_block(
        self, campaign: int, owner: str, amount_minor: int, currency: str, limit_minor: int, until: datetime
    ) -> int:
        """Take money out of the common budget for one writer; return how much was granted.

        What is left is granted where less than asked is left. An owner that has a block already gets the grant on top,
        and the new end.

        Parameters
        ----------
        campaign : int
            Its id.
        owner : str
            Who spends it: a name that no other process has.
        amount_minor, limit_minor : int
            How much to take, at least 1, and the most that may be reserved and spent together, in minor units.
        currency : str
            The campaign's.
        until : datetime
            When the rest may be reclaimed, aware.

        Raises
        ------
        BudgetError
            Nothing is left; the message says how much lies unspent in others' blocks.
        """
        check_text(owner, name="owner")
        require_amount(amount_minor, currency, "amount_minor", least=1)
        require_amount(limit_minor, currency, "limit_minor")
        end = as_utc(until, name="until")
        if end <= self._session.now():
            raise InputError(f"until is {end.isoformat()}, which is past; a block must end later than now")
        self._open(campaign, currency)
        if self._free(campaign, limit_minor) < amount_minor:
            self.reclaim_blocks(campaign)
        granted = min(amount_minor, self._free(campaign, limit_minor))
        if granted <= 0:
            raise BudgetError(self._exhausted(campaign, owner, currency, limit_minor))
        self._move(campaign, reserved=granted, settled=0, released=0)
        row = {"campaign_id": campaign, "owner": owner, "granted_minor": granted, "spent_minor": 0, "until": end}
        statement = self._session.insert(BudgetBlock).values(row)
        table = BudgetBlock.table()
        values = {"granted_minor": table.c.granted_minor + granted, "until": end}
        self._session.run(statement.on_conflict_do_update(index_elements=["campaign_id", "owner"], set_=values))
        return granted

    def spend_block(self, campaign: int, owner: str, key: str, amount_minor: int) -> None:
        """Spend from one's own block; the same purpose again changes nothing.

        The entry counts as settled; `correct` lowers it if less was needed in the end.

        Raises
        ------
        BudgetError
            The block has less left; nothing was spent, lease more.
        StateError
            The owner has no block or its time is over, or the key stands for another amount.
        """
        check_text(key, name="key")
        require_amount(amount_minor, "XXX", "amount_minor")
        entry = self._entry(campaign, key)
        if entry is not None and entry.state != "released":
            if entry.amount_minor != amount_minor:
                raise StateError(
                    f"{key!r} stands for {entry.amount_minor} minor units, not {amount_minor}; use a key of its own"
                )
            return
        # The block's row is locked by this, so that one owner's threads do not spend for one key twice.
        if not self._spend(campaign, owner, amount_minor):
            self._refuse_spending(campaign, owner, amount_minor)
        row = {
            "campaign_id": campaign,
            "key": key,
            "amount_minor": amount_minor,
            "settled_minor": amount_minor,
            "state": "settled",
            "updated_at": self._session.now(),
        }
        statement = self._session.insert(BudgetEntry).values(row)
        again = {name: row[name] for name in ("amount_minor", "settled_minor", "state", "updated_at")}
        anew = statement.on_conflict_do_update(
            index_elements=["campaign_id", "key"], set_=again, where=BudgetEntry.table().c.state == "released"
        )
        if not self._session.run(anew):  # another process was quicker with the same purpose: what it spent counts
            self._spend(campaign, owner, -amount_minor)

    def return_block(self, campaign: int, owner: str) -> int:
        """Give a block back; return what was left of it. An owner without a block gives back 0."""
        self._session.one(self._locked(campaign))
        which = (BudgetBlock.campaign_id == campaign, BudgetBlock.owner == owner)
        return self._close(campaign, self._session.rows(sa.select(*BudgetBlock.table().c).where(*which)))

    def reclaim_blocks(self, campaign: int) -> int:
        """Give back the blocks whose time is over; return what was left of them."""
        self._session.one(self._locked(campaign))
        over = sa.select(*BudgetBlock.table().c).where(
            BudgetBlock.campaign_id == campaign, BudgetBlock.until <= self._session.now()
        )
        # One that is being spent from at this moment is left to its owner: waiting for it here could wait for ever.
        return self._close(campaign, self._session.rows(over.with_for_update(skip_locked=True)))

    def _close(self, campaign: int, blocks: list[Any]) -> int:
        left = 0
        for block in blocks:
            which = (BudgetBlock.campaign_id == campaign, BudgetBlock.owner == block.owner)
            gone = sa.delete(BudgetBlock.table()).where(*which)
            row = self._session.one(gone.returning(BudgetBlock.granted_minor, BudgetBlock.spent_minor))
            if row is not None:
                rest = row.granted_minor - row.spent_minor
                self._move(campaign, reserved=-row.granted_minor, settled=row.spent_minor, released=rest)
                left += rest
        return left

    def _spend(self, campaign: int, owner: str, amount: int) -> int:
        table = BudgetBlock.table()
        statement = sa.update(table).where(
            BudgetBlock.campaign_id == campaign,
            BudgetBlock.owner == owner,
            BudgetBlock.until > self._session.now(),
            BudgetBlock.spent_minor + amount <= BudgetBlock.granted_minor,
        )
        return self._session.run(statement.values(spent_minor=BudgetBlock.spent_minor + amount))

    def _refuse_spending(self, campaign: int, owner: str, amount: int) -> None:
        which = (BudgetBlock.campaign_id == campaign, BudgetBlock.owner == owner)
        block = self._session.one(sa.select(*BudgetBlock.table().c).where(*which))
        if block is None or block.until <= self._session.now():
            state = "has no block" if block is None else f"had a block until {block.until.isoformat()}"
            raise StateError(f"{owner!r} {state}; lease one before spending")
        raise BudgetError(
            f"{amount} minor units are more than the {block.granted_minor - block.spent_minor} left in the block of "
            f"{owner!r}; lease more"
        )

    def _free(self, campaign: int, limit: int) -> int:
        row = self._session.one(sa.select(*Budget.table().c).where(Budget.campaign_id == campaign))
        return 0 if row is None else int(limit - row.reserved_minor - row.settled_minor)

    def _exhausted(self, campaign: int, owner: str, currency: str, limit: int) -> str:
        table = BudgetBlock.table()
        others = sa.select(
            sa.func.count(), sa.func.coalesce(sa.func.sum(table.c.granted_minor - table.c.spent_minor), 0)
        ).where(BudgetBlock.campaign_id == campaign, BudgetBlock.owner != owner)
        blocks, held = self._session.connection.execute(others).one()
        return (
            f"nothing is left of the budget of {Money(limit, currency)}; {Money(int(held), currency)} lie unspent in "
            f"{blocks} other block(s) and are free when these are returned or run out, else raise --budget"
        )
