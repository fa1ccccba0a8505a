"""Whatever kills a command, the same command again finishes the work: nothing twice, nothing lost, money reserved once.

The killing is real: a process of its own gets SIGKILL (or SIGINT) at a chosen moment, which is the n-th time that any
database of it is about to commit (before the commit: the work is lost) or has begun anew (after it: the work is kept).
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.platform import find_platform
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Start = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

PUBLISH = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2")
RUN = ("run", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20", *PUBLISH[1:], "--crowd", "truth.csv")
# Sends a signal to its own process at the n-th event of a kind, counted over all databases.
AT_THE_NTH = """
import itertools, os, signal
import sqlalchemy as sa
counter = itertools.count(1)
@sa.event.listens_for(sa.Engine, {event!r})
def strike(*_):
    if next(counter) == {nth}:
        os.kill(os.getpid(), signal.{name})
"""


def at_the(nth: int, event: str, name: str = "SIGKILL") -> str:
    return AT_THE_NTH.format(nth=nth, event=event, name=name)


def published(database: str, workplace: str) -> dict[str, Any]:
    """Return what the campaign believes and what the platform holds, key by key."""
    with open_store(database) as store, store.read() as tx:
        campaign = tx.campaigns.get().id
        hits = tx.work.hits(campaign)
        intents = tx.work.intents(campaign)
        budget = tx.budget.totals(campaign)
    place: Any = find_platform("local", workplace)
    try:
        remote = {hit.key: place.find(hit.key) for hit in hits}
    finally:
        place.close()
    return {
        "keys": sorted(hit.key for hit in hits),
        "items": {hit.key: [(each.item, each.is_gold) for each in hit.items] for hit in hits},
        "matched": {
            hit.key: remote[hit.key] is not None and remote[hit.key].hit_id == hit.platform_hit_id for hit in hits
        },
        "intents": sorted((intent.key, intent.state, intent.amount_minor) for intent in intents),
        "reserved": budget.reserved_minor,
    }


def count_hits(workplace: Path) -> int:
    """Count what the platform really holds, also under keys that the campaign does not know."""
    try:
        connection = sqlite3.connect(f"file:{workplace}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM workplace_hit").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


@pytest.fixture(scope="module")
def expected(stages: Callable[[str], Path]) -> dict[str, Any]:
    """What publishing without a crash leaves."""
    folder = stages("published")
    whole = published(str(folder / "hmc-crowd.db"), str(folder / "workplace.db"))
    assert len(whole["keys"]) >= 4
    assert all(whole["matched"].values())
    return whole


# Commits of a publishing: the intents and the money (1), then for each HIT sent, taken by the platform, done.
@pytest.mark.parametrize(
    ("nth", "event"),
    [(1, "commit"), (2, "commit"), (4, "commit"), (5, "begin"), (9, "begin")],
)
def test_a_killed_publishing_is_finished_by_the_same_command(
    hmc: Any, at: Callable[[str], Path], start: Start, expected: dict[str, Any], nth: int, event: str
) -> None:
    folder = at("planned")
    child = start(*PUBLISH, before=at_the(nth, event))
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    assert hmc(*PUBLISH).code == 0
    assert published("hmc-crowd.db", "workplace.db") == expected
    assert count_hits(folder / "workplace.db") == len(expected["keys"])


def test_a_publishing_killed_from_outside_is_finished_by_the_same_command(
    hmc: Any, at: Callable[[str], Path], start: Start
) -> None:
    folder = at("planned")
    many = (*PUBLISH[:-1], "1")
    child = start(*many)
    until = time.monotonic() + 120
    while count_hits(folder / "workplace.db") == 0 and child.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    child.kill()
    child.communicate()
    assert hmc(*many).code == 0
    after = published("hmc-crowd.db", "workplace.db")
    assert all(after["matched"].values())
    assert count_hits(folder / "workplace.db") == len(after["keys"])
    assert {state for _, state, _ in after["intents"]} == {"done"}
    assert after["reserved"] == sum(amount for _, _, amount in after["intents"])


def test_a_publishing_killed_twice_on_postgresql_is_finished_by_the_same_command(
    hmc: Any, at: Callable[[str], Path], start: Start, postgres_url: str
) -> None:
    folder = at("files")
    there = ("--db", postgres_url)
    for command in (
        ("init", "--labels", "good,bad", "--seed", "7"),
        ("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv"),
        ("effort", "estimate"),
        ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20"),
    ):
        assert hmc(*command, *there).code == 0
    for nth in (4, 6):
        child = start(*PUBLISH, *there, before=at_the(nth, "commit"))
        child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL
    assert hmc(*PUBLISH, *there).code == 0
    after = published(postgres_url, "workplace.db")
    assert len(after["keys"]) >= 4
    assert all(after["matched"].values())
    assert count_hits(folder / "workplace.db") == len(after["keys"])
    assert {state for _, state, _ in after["intents"]} == {"done"}
    assert after["reserved"] == sum(amount for _, _, amount in after["intents"])


@pytest.mark.parametrize("nth", [3, 16])
def test_an_interrupted_run_goes_on_with_the_same_command(
    hmc: Any, at: Callable[[str], Path], start: Start, nth: int
) -> None:
    folder = at("planned")
    child = start(*RUN, before=at_the(nth, "commit", "SIGINT"))
    said = child.communicate(timeout=120)[1]
    assert child.returncode == 130
    assert said == "hmc-crowd: interrupted; nothing is half done: call the same command again to go on\n"
    told = hmc(*RUN, "--json")
    assert told.code == 0, told.err
    assert told.json["state"] == "satisfied"
    after = published("hmc-crowd.db", "workplace.db")
    assert all(after["matched"].values())
    assert count_hits(folder / "workplace.db") == len(after["keys"]) == len(set(after["keys"]))
    assert {state for _, state, _ in after["intents"]} == {"done"}


def test_an_interrupted_demo_is_played_by_the_same_command(start: Start, hmc: Any, tmp_path: Path) -> None:
    child = start("demo", "--out", "show")
    assert child.stdout is not None
    while not child.stdout.readline().startswith("items: "):
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=120)[1]
    assert child.returncode == 130
    assert said == "hmc-crowd: interrupted; nothing is half done: call the same command again to go on\n"
    told = hmc("demo", "--out", "show", "--json")
    assert told.code == 0, told.err
    assert told.json["report"] == "show/report.html"
    assert 0 < told.json["agreement_at_least"] < told.json["agreement_estimate"] < 1
    assert (tmp_path / "show" / "report.html").exists()
