"""A process that spends from a budget until it is told that nothing is left; run by tests and by the benchmark.

``python budget_spender.py race URL OWNER AMOUNT`` reserves AMOUNT in the campaign of each line it reads and answers
``1`` or ``0``. ``python budget_spender.py row|block URL OWNER AMOUNT CAMPAIGN LIMIT BLOCK`` says ``ready``, waits for a
line, spends AMOUNT again and again, from the common row or from blocks of its own, and says how often and how long.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta

from hmc_crowd.errors import BudgetError
from hmc_crowd.store import Store, open_store


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def race(store: Store, owner: str, amount: int) -> None:
    say("ready")
    for line in sys.stdin:
        try:
            with store.begin() as tx:
                tx.budget.reserve(int(line), owner, amount, "USD", 1000)
            say(1)
        except BudgetError:
            say(0)


def by_row(store: Store, owner: str, amount: int, campaign: int, limit: int) -> int:
    spent = 0
    while True:
        key = f"{owner} {spent}"
        try:
            with store.begin() as tx:
                tx.budget.reserve(campaign, key, amount, "USD", limit)
                tx.budget.settle(campaign, key, amount)
        except BudgetError:
            return spent
        spent += 1


def by_block(store: Store, owner: str, amount: int, campaign: int, limit: int, block: int) -> int:
    spent, left = 0, 0
    while True:
        try:
            with store.begin() as tx:
                if left < amount:
                    until = datetime.now(UTC) + timedelta(minutes=10)
                    left += tx.budget.lease_block(campaign, owner, block, "USD", limit, until)
                if left >= amount:
                    tx.budget.spend_block(campaign, owner, f"{owner} {spent}", amount)
        except BudgetError:
            break
        if left >= amount:
            spent, left = spent + 1, left - amount
    with store.begin() as tx:
        tx.budget.return_block(campaign, owner)
    return spent


def main() -> None:
    how, url, owner, amount, *rest = sys.argv[1:]
    with open_store(url, busy_s=120) as store:
        if how == "race":
            race(store, owner, int(amount))
            return
        campaign, limit, block = map(int, rest)
        say("ready")
        sys.stdin.readline()
        start = time.perf_counter()
        if how == "row":
            spent = by_row(store, owner, int(amount), campaign, limit)
        else:
            spent = by_block(store, owner, int(amount), campaign, limit, block)
        say(spent, time.perf_counter() - start)


if __name__ == "__main__":
    main()
