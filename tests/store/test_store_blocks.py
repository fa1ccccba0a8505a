"""Blocks of a budget add up: what is leased is reserved, what is spent stays spent, the rest comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.store import BudgetRecord

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store


@pytest.fixture
def until(clock: VirtualClock) -> datetime:
    """A minute from now."""
    return clock.now() + timedelta(minutes=1)


def test_a_block_is_reserved_spent_and_returned(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        assert tx.budget.lease_block(campaign, "p1", 60, "USD", 100, until) == 60
        assert tx.budget.totals(campaign) == BudgetRecord(60, 0, 0, "USD")
        tx.budget.spend_block(campaign, "p1", "a", 25)
        tx.budget.spend_block(campaign, "p1", "b", 30)
        # 60 granted - 55 spent = 5 still reserved
        assert tx.budget.totals(campaign) == BudgetRecord(5, 55, 0, "USD")
        assert tx.budget.return_block(campaign, "p1") == 5
        assert tx.budget.totals(campaign) == BudgetRecord(0, 55, 5, "USD")
        assert tx.budget.return_block(campaign, "p1") == 0
        assert tx.budget.totals(campaign) == BudgetRecord(0, 55, 5, "USD")


def test_what_is_left_is_granted_and_then_nothing(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "publish", 50, "USD", 100)
        assert tx.budget.lease_block(campaign, "p1", 30, "USD", 100, until) == 30
        tx.budget.spend_block(campaign, "p1", "a", 8)
        assert tx.budget.lease_block(campaign, "p2", 30, "USD", 100, until) == 20
        # 100 - 50 - 30 - 20 = 0; p1 has 30 - 8 = 22 unspent
        with pytest.raises(BudgetError, match=r"budget of 1\.00 USD; 0\.22 USD lie unspent in 1 other block"):
            tx.budget.lease_block(campaign, "p2", 1, "USD", 100, until)
        with pytest.raises(BudgetError, match="would exceed the budget"):
            tx.budget.reserve(campaign, "more", 1, "USD", 100)


def test_a_second_lease_adds_to_the_block(store: Store, campaign: int, until: datetime, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until)
        tx.budget.spend_block(campaign, "p1", "a", 9)
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until + timedelta(minutes=1))
    clock.advance(90)
    with store.begin() as tx:
        tx.budget.spend_block(campaign, "p1", "b", 11)
        assert tx.budget.totals(campaign) == BudgetRecord(0, 20, 0, "USD")


def test_more_than_the_block_is_refused_and_not_spent(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until)
        with pytest.raises(BudgetError, match="11 minor units are more than the 10 left in the block of 'p1'"):
            tx.budget.spend_block(campaign, "p1", "a", 11)
        tx.budget.spend_block(campaign, "p1", "a", 10)


def test_one_purpose_is_spent_once(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until)
        tx.budget.lease_block(campaign, "p2", 10, "USD", 100, until)
        for owner in ("p1", "p1", "p2"):
            tx.budget.spend_block(campaign, owner, "a", 7)
        assert tx.budget.totals(campaign).settled_minor == 7
        with pytest.raises(StateError, match="'a' stands for 7 minor units, not 8"):
            tx.budget.spend_block(campaign, "p1", "a", 8)


def test_a_purpose_released_before_is_spent_from_a_block(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "a", 5, "USD", 100)
        tx.budget.release(campaign, "a")
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until)
        tx.budget.spend_block(campaign, "p1", "a", 7)
        assert tx.budget.totals(campaign) == BudgetRecord(3, 7, 5, "USD")


def test_nothing_is_spent_without_a_block_or_after_its_end(
    store: Store, campaign: int, until: datetime, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        with pytest.raises(StateError, match="'p1' has no block; lease one"):
            tx.budget.spend_block(campaign, "p1", "a", 1)
        tx.budget.lease_block(campaign, "p1", 10, "USD", 100, until)
    clock.advance(60)
    with store.begin() as tx, pytest.raises(StateError, match="'p1' had a block until 2026-01-05T09:01"):
        tx.budget.spend_block(campaign, "p1", "a", 1)


def test_blocks_whose_time_is_over_are_reclaimed(
    store: Store, campaign: int, until: datetime, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.budget.lease_block(campaign, "dead", 60, "USD", 100, until)
        tx.budget.spend_block(campaign, "dead", "a", 25)
        tx.budget.lease_block(campaign, "alive", 40, "USD", 100, until + timedelta(hours=1))
        assert tx.budget.reclaim_blocks(campaign) == 0
    clock.advance(60)
    with store.begin() as tx:
        # asking for more than is free reclaims first: 60 - 25 = 35
        assert tx.budget.lease_block(campaign, "new", 50, "USD", 100, clock.now() + timedelta(hours=1)) == 35
        assert tx.budget.totals(campaign) == BudgetRecord(75, 25, 35, "USD")


def test_a_correction_frees_the_difference_once(store: Store, campaign: int, until: datetime) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "a", 60, "USD", 100)
        with pytest.raises(StateError, match="'a' is reserved, not settled"):
            tx.budget.correct(campaign, "a", 0)
        tx.budget.settle(campaign, "a", 50)
        for _ in range(2):
            tx.budget.correct(campaign, "a", 30)
        # settled 50 - 20; released 10 by settling and 20 by the correction
        assert tx.budget.totals(campaign) == BudgetRecord(0, 30, 30, "USD")
        with pytest.raises(BudgetError, match="a correction to 31 would raise it"):
            tx.budget.correct(campaign, "a", 31)


def test_a_correction_of_block_money_adds_up_before_and_after_the_return(
    store: Store, campaign: int, until: datetime
) -> None:
    with store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", 60, "USD", 100, until)
        tx.budget.spend_block(campaign, "p1", "a", 50)
        tx.budget.correct(campaign, "a", 20)
        assert tx.budget.totals(campaign) == BudgetRecord(10, 20, 30, "USD")
        tx.budget.return_block(campaign, "p1")
        assert tx.budget.totals(campaign) == BudgetRecord(0, 20, 40, "USD")
        tx.budget.reserve(campaign, "b", 80, "USD", 100)


@pytest.mark.parametrize("amount", [0, -1, 1.5, True])
def test_a_block_is_an_amount(store: Store, campaign: int, until: datetime, amount: object) -> None:
    with pytest.raises(InputError, match="amount_minor is"), store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", amount, "USD", 100, until)


def test_a_block_must_end_later(store: Store, campaign: int, clock: VirtualClock) -> None:
    with pytest.raises(InputError, match="a block must end later than now"), store.begin() as tx:
        tx.budget.lease_block(campaign, "p1", 1, "USD", 100, clock.now())
