"""A budget is never exceeded: not by a repeat, not by a crash, not by a race."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from hmc_crowd.errors import BudgetError, InputError, StateError
from hmc_crowd.store import BudgetRecord, open_store

if TYPE_CHECKING:
    from hmc_crowd.store import Store


def test_reserving_settling_and_releasing_add_up(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        for key, amount in (("a", 60), ("b", 30), ("c", 10)):
            tx.budget.reserve(campaign, key, amount, "USD", 100)
        tx.budget.settle(campaign, "a", 45)
        tx.budget.release(campaign, "b")
        # reserved: c = 10; settled: 45; released: 60 - 45 = 15 of a, and b = 30
        assert tx.budget.totals(campaign) == BudgetRecord(10, 45, 45, "USD")
        tx.budget.reserve(campaign, "d", 45, "USD", 100)
        with pytest.raises(BudgetError, match=r"0\.01 USD more would exceed the budget of 1\.00 USD"):
            tx.budget.reserve(campaign, "e", 1, "USD", 100)


def test_every_step_can_be_repeated(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        for _ in range(3):
            tx.budget.reserve(campaign, "a", 60, "USD", 100)
        for _ in range(3):
            tx.budget.settle(campaign, "a", 50)
        tx.budget.reserve(campaign, "a", 60, "USD", 100)
        tx.budget.reserve(campaign, "b", 50, "USD", 100)
        for _ in range(3):
            tx.budget.release(campaign, "b")
        assert tx.budget.totals(campaign) == BudgetRecord(0, 50, 60, "USD")


def test_a_released_key_is_reserved_anew(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "a", 60, "USD", 100)
        tx.budget.release(campaign, "a")
        tx.budget.reserve(campaign, "a", 70, "USD", 100)
        assert tx.budget.totals(campaign).reserved_minor == 70


def test_wrong_orders_are_refused(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "a", 60, "USD", 100)
        with pytest.raises(StateError, match="has 60 reserved, not 61"):
            tx.budget.reserve(campaign, "a", 61, "USD", 100)
        with pytest.raises(BudgetError, match="cost 61 but 60"):
            tx.budget.settle(campaign, "a", 61)
        with pytest.raises(StateError, match="nothing is reserved under 'x'"):
            tx.budget.settle(campaign, "x", 1)
        tx.budget.settle(campaign, "a", 60)
        with pytest.raises(StateError, match="spent money cannot be released"):
            tx.budget.release(campaign, "a")


@pytest.mark.parametrize("amount", [-1, 1.5, True, 2**63])
def test_amounts_are_minor_units(store: Store, campaign: int, amount: object) -> None:
    with pytest.raises(InputError, match="amount_minor is"), store.begin() as tx:
        tx.budget.reserve(campaign, "a", amount, "USD", 100)


def test_a_campaign_has_one_currency(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.budget.reserve(campaign, "a", 1, "USD", 100)
        with pytest.raises(InputError, match="currency is GBP but the campaign's budget is in USD"):
            tx.budget.reserve(campaign, "b", 1, "GBP", 100)


def test_before_the_first_reservation_totals_are_zero(store: Store, campaign: int) -> None:
    with store.read() as tx:
        assert tx.budget.totals(campaign) == BudgetRecord(0, 0, 0, None)


def test_a_crash_after_reserving_reserves_nothing(store: Store, campaign: int) -> None:
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        1 / (tx.budget.reserve(campaign, "a", 60, "USD", 100) or 0)
    with store.read() as tx:
        assert tx.budget.totals(campaign).reserved_minor == 0


def test_fifty_races_never_exceed_the_limit(store: Store, campaign: int, made_url: str) -> None:
    # Two stores reserve 7 against a limit of 100 in 50 races: exactly 14 succeed (14 * 7 = 98), 86 are refused.
    def reserve(each: tuple[Store, str]) -> int:
        own, key = each
        try:
            with own.begin() as tx:
                tx.budget.reserve(campaign, key, 7, "USD", 100)
        except BudgetError:
            return 0
        return 1

    with (
        open_store(made_url, busy_s=60) as one,
        open_store(made_url, busy_s=60) as two,
        ThreadPoolExecutor(2) as threads,
    ):
        won = sum(threads.map(reserve, [(own, f"{own is one}-{race}") for race in range(50) for own in (one, two)]))
    with store.read() as tx:
        assert (won, tx.budget.totals(campaign).reserved_minor) == (14, 98)


def test_racing_for_one_key_reserves_it_once(store: Store, campaign: int, made_url: str) -> None:
    def reserve(race: int) -> None:
        with open_store(made_url, busy_s=60) as own, own.begin() as tx:
            tx.budget.reserve(campaign, f"key {race // 2}", 7, "USD", 1000)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(reserve, range(10)))
    with store.read() as tx:
        assert tx.budget.totals(campaign).reserved_minor == 5 * 7
