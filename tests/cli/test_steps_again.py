"""Checking and learning again, after a kill or not, adds nothing: the same scores and the same model are there once."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.store import open_store

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Start = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

# Kills its own process at the n-th event of a kind, counted over all databases.
AT_THE_NTH = """
import itertools, os, signal
import sqlalchemy as sa
counter = itertools.count(1)
@sa.event.listens_for(sa.Engine, {event!r})
def strike(*_):
    if next(counter) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
"""
QUICK = """
from hmc_crowd.effort import EffortModel
EffortModel.__init__.__kwdefaults__["n_estimators"] = 20
"""
STEPS = ("check", "learn")


def kept(database: str = "hmc-crowd.db") -> dict[str, Any]:
    """Return all that checking and learning leave, without the moments at which they did."""
    import sqlalchemy as sa

    from hmc_crowd.store._tables import Model, WorkerScore

    with open_store(database) as store, store.read() as tx:
        session = tx.workers._session
        campaign = tx.campaigns.get().id
        score = WorkerScore.table()
        columns = [each for each in score.c if each.name != "as_of"]
        models = session.rows(sa.select(Model.kind, Model.version, Model.data_hash, Model.active))
        events = [event.kind for event in tx.events.read(campaign)]
        return {
            "scores": sorted(tuple(row) for row in session.rows(sa.select(*columns))),
            "models": sorted(tuple(row) for row in models),
            "checked": events.count("gold checked"),
            "learnt": events.count("effort model trained"),
            "alarms": len(tx.standing.alarms(campaign)),
            "notices": [(each.rule, each.subject, each.kind) for each in tx.alerts.notices(campaign)],
        }


def finish(start: Start, *command: str) -> None:
    child = start(*command, before=QUICK)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 0, err


@pytest.mark.parametrize("step", STEPS)
def test_a_step_called_again_adds_nothing(hmc: Any, at: Callable[[str], Path], step: str) -> None:
    at("collected")
    first = hmc(step, "--json")
    assert first.code == 0, first.err
    before = kept()
    assert before["scores" if step == "check" else "models"]
    again = hmc(step, "--json")
    assert again.code == 0, again.err
    assert kept() == before
    if step == "learn":
        assert again.json == first.json


def test_new_answers_are_scored_beside_what_is_known(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("check").code == 0
    before = kept()["scores"]
    with open_store("hmc-crowd.db") as store, store.begin() as tx:
        campaign = tx.campaigns.get().id
        known = tx.workers.scores(campaign)
        worker = str(known["worker"].iloc[0])
        tx.workers.add_scores(campaign, known.head(1).assign(right=0, score=0.0), as_of=known["as_of"].max())
    assert hmc("check").code == 0
    added = [row for row in kept()["scores"] if row not in before]
    assert {row[1] for row in added} <= {worker}


def test_another_kind_of_model_is_another_model(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("learn").code == 0
    before = kept()["models"]
    assert hmc("learn", "--kind", "log_time").code == 0
    assert len(kept()["models"]) == len(before) + 1


# Commits: before the last one the work is lost, after it, when the process begins anew or ends, it is kept.
@pytest.mark.parametrize(
    ("step", "nth", "event"), [("check", 1, "commit"), ("check", 3, "begin"), ("learn", 1, "commit")]
)
def test_a_killed_step_is_finished_by_the_same_command(
    at: Callable[[str], Path], start: Start, step: str, nth: int, event: str
) -> None:
    at("collected")
    child = start(step, before=QUICK + AT_THE_NTH.format(nth=nth, event=event))
    child.communicate(timeout=300)
    assert child.returncode == -signal.SIGKILL
    finish(start, step)
    once = kept()
    assert once["scores" if step == "check" else "models"]
    finish(start, step)
    assert kept() == once
    assert once["checked"] <= 1
    assert once["learnt"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_step_killed_at_random_moments_does_nothing_twice(at: Callable[[str], Path], start: Start, step: str) -> None:
    folder = at("collected")
    (folder / "before").write_bytes((folder / "hmc-crowd.db").read_bytes())
    began = time.monotonic()
    finish(start, step)
    whole = time.monotonic() - began
    expected = kept()
    rng = random.Random(16)
    struck = 0
    for _ in range(20):
        for ending in ("-wal", "-shm"):
            (folder / f"hmc-crowd.db{ending}").unlink(missing_ok=True)
        (folder / "hmc-crowd.db").write_bytes((folder / "before").read_bytes())
        child = start(step, before=QUICK)
        time.sleep(rng.uniform(0.3, 1.0) * whole)
        child.kill()
        child.communicate()
        struck += child.returncode == -signal.SIGKILL
        finish(start, step)
        assert kept() == expected
    assert struck >= 5
