"""Many processes take from one line: no place is taken twice and none is lost, on both databases."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hmc_crowd.store import Place, open_store

TAKER = Path(__file__).with_name("queue_taker.py")


@pytest.mark.parametrize(
    ("processes", "items", "answers"), [(4, 60, 2), pytest.param(8, 1000, 3, marks=pytest.mark.slow)]
)
def test_no_place_is_taken_twice_and_none_is_lost(
    store: Any, made_url: str, campaign: int, processes: int, items: int, answers: int
) -> None:
    names = [f"i{number}" for number in range(items)]
    with store.begin() as tx:
        tx.queue.put(campaign, [Place(name, answers) for name in names])
    with ExitStack() as stack:
        takers = []
        for number in range(processes):
            command = [sys.executable, str(TAKER), made_url, f"w{number}", str(campaign)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
            takers.append(process)
        for each in takers:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in takers:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        taken = [each.communicate(timeout=240)[0].split() for each in takers]
    assert all(len(set(mine)) == len(mine) for mine in taken)
    assert Counter(item for mine in taken for item in mine) == dict.fromkeys(names, answers)
    with open_store(made_url) as again, again.read() as tx:
        holders = [place.holder for held in tx.queue.places(campaign, names).values() for place in held]
    assert Counter(holders) == {f"w{number}": len(mine) for number, mine in enumerate(taken) if mine}
