"""Jobs of many threads share transactions: nobody is answered before his commit, nobody pays for another's fault."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.board._group import Group
from hmc_crowd.errors import InputError
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    with open_store(tmp_path / "group.db", create=True) as opened:
        yield opened


def labels(store: Any) -> set[str]:
    with store.read() as tx:
        return {key.label for key in tx.keys.all()}


def test_every_job_is_committed_when_it_is_answered(store: Any) -> None:
    group = Group(store)

    def one(number: int) -> bool:
        group.run(lambda tx, _: tx.keys.issue("owner", label=str(number)))
        return str(number) in labels(store)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(60)))
    assert labels(store) == {str(number) for number in range(60)}


def test_one_fault_undoes_its_own_job_alone(store: Any) -> None:
    group, gate, begun = Group(store), threading.Event(), threading.Event()

    def slow(tx: Any, _: Any) -> None:
        begun.set()
        gate.wait(10)
        tx.keys.issue("owner", label="first")

    def wrong(tx: Any, _: Any) -> None:
        tx.keys.issue("owner", label="wrong")
        raise InputError("no")

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(group.run, slow)
        assert begun.wait(20)
        bad = pool.submit(group.run, wrong)
        good = pool.submit(group.run, lambda tx, _: tx.keys.issue("owner", label="good"))
        while len(group._waiting) < 2:
            gate.wait(0.01)
        gate.set()
        assert (first.result(20), good.result(20)[0].label) == (None, "good")
        with pytest.raises(InputError):
            bad.result(20)
    assert labels(store) == {"first", "good"}


def test_jobs_of_one_transaction_share_what_they_read(store: Any) -> None:
    group, gate, begun, seen = Group(store), threading.Event(), threading.Event(), []

    def hold(_tx: Any, _shared: dict[Any, Any]) -> None:
        begun.set()
        gate.wait(10)

    def read(_tx: Any, shared: dict[Any, Any]) -> None:
        seen.append(shared.setdefault("read", object()))

    with ThreadPoolExecutor(4) as pool:
        held = pool.submit(group.run, hold)
        assert begun.wait(20)
        jobs = [pool.submit(group.run, read) for _ in range(3)]
        while len(group._waiting) < 3:
            gate.wait(0.01)
        gate.set()
        for job in (held, *jobs):
            job.result(20)
    assert len(set(map(id, seen))) == 1
