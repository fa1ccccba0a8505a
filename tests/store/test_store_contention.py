"""Processes that race for one budget never spend a cent more than it holds, and none waits for ever."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

SPENDER = Path(__file__).with_name("budget_spender.py")


def spawn(stack: ExitStack, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SPENDER), *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.enter_context(process)
    return process


def tell(process: subprocess.Popen[str], line: object) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the process ended without an answer"
    return line.strip()


@pytest.mark.parametrize("runs", [25, pytest.param(1000, marks=pytest.mark.slow)])
def test_c01_of_two_processes_racing_for_one_budget_one_is_refused(
    store: Store, made_url: str, clock: VirtualClock, runs: int
) -> None:
    # 10.00 are there; 9.99 and 0.02 are asked for at the same moment: exactly one of them fits.
    with store.begin() as tx:
        campaigns = [tx.campaigns.create(f"run {run}", {}, created_at=clock.now()).id for run in range(runs)]
    outcomes = []
    with ExitStack() as stack:
        racers = [spawn(stack, "race", made_url, owner, amount) for owner, amount in (("a", 999), ("b", 2))]
        assert [answer(each) for each in racers] == ["ready", "ready"]
        for campaign in campaigns:
            for each in racers:
                tell(each, campaign)
            outcomes.append(tuple(answer(each) for each in racers))
    assert set(outcomes) <= {("1", "0"), ("0", "1")}
    with store.read() as tx:
        totals = [tx.budget.totals(campaign).reserved_minor for campaign in campaigns]
    assert totals == [999 if first == "1" else 2 for first, _ in outcomes]


@pytest.mark.parametrize(
    ("how", "processes"),
    [("block", 3), pytest.param("row", 16, marks=pytest.mark.slow), pytest.param("block", 16, marks=pytest.mark.slow)],
)
def test_many_processes_spend_the_whole_budget_and_no_more(
    store: Store, made_url: str, campaign: int, how: str, processes: int
) -> None:
    # Blocks of 50 in payments of 7: what a process has left over is less than 7 and goes back at its end.
    limit, amount, block = 125 * processes, 7, 50
    with ExitStack() as stack:
        spenders = [
            spawn(stack, how, made_url, f"p{number}", amount, campaign, limit, block) for number in range(processes)
        ]
        for each in spenders:
            assert answer(each) == "ready"
        for each in spenders:
            tell(each, "go")
        spent = sum(int(answer(each).split()[0]) for each in spenders) * amount
    with store.read() as tx:
        totals = tx.budget.totals(campaign)
    assert (totals.settled_minor, totals.reserved_minor) == (spent, 0)
    rest = limit - spent
    assert 0 <= rest < (amount if how == "row" else amount * processes)
