"""Two processes publish the same campaign at the same moment, through the command line: published and reserved once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.platform import find_platform
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = (
    ("init", "--labels", "good,bad", "--seed", "7"),
    ("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv"),
    ("effort", "estimate"),
    ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20"),
)
PUBLISH = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2", "--json")
# Both have loaded everything before the first begins: they wait for one line.
AT_ONCE = """
import sys
import hmc_crowd.campaign, hmc_crowd.cli._app, hmc_crowd_local
from hmc_crowd.cli import main
print("ready", flush=True)
sys.stdin.readline()
main(sys.argv[1:])
"""


def begin(arguments: tuple[str, ...], folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", AT_ONCE, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env={**os.environ})


@pytest.fixture
def planned(hmc: Any, at: Any, database_url: str) -> Path:
    """A planned campaign in the database; the folder around it."""
    folder: Path = at("files")
    for command in BEFORE:
        assert hmc(*command, "--db", database_url).code == 0
    return folder


def test_two_that_publish_at_the_same_moment_publish_once(planned: Path, database_url: str) -> None:
    folder, workplace = planned, str(planned / "workplace.db")
    both = [begin((*PUBLISH, "--db", database_url, "--workplace", workplace), folder) for _ in range(2)]
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("now\n")
        each.stdin.flush()
    said = [each.communicate(timeout=120) for each in both]
    assert [each.returncode for each in both] == [0, 0], said
    sheets = [json.loads(out) for out, _ in said]
    with open_store(database_url) as store, store.read() as tx:
        campaign = tx.campaigns.get().id
        hits = tx.work.hits(campaign)
        intents = tx.work.intents(campaign)
        budget = tx.budget.totals(campaign)
        gap = tx.budget.gap(campaign)
    place: Any = find_platform("local", workplace)
    try:
        there = place.find_all()
    finally:
        place.close()
    assert {hit.key: hit.platform_hit_id for hit in hits} == {key: each.hit_id for key, each in there.items()}
    assert {each.state for each in intents} == {"done"}
    assert len(intents) == len(hits) > 1
    assert (budget.reserved_minor, budget.settled_minor, gap) == (sum(each.amount_minor for each in intents), 0, 0)
    # Whoever came second says how much there is, and that it published nothing of it.
    assert sum(each["new_hits"] for each in sheets) == len(hits), sheets
