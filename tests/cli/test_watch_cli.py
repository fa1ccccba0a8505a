"""watch: a line for each look, the end when nothing is open, a person called, a silent platform tried again."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd._base.clock import SystemClock
from hmc_crowd.campaign import Campaign
from hmc_crowd.cli import _watch
from hmc_crowd.errors import DatabaseBusyError, PlatformUnavailableError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

SPEND = ("--yes", "--budget", "300")


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it would have waited each time."""
    found: list[float] = []
    monkeypatch.setattr(_watch.time, "sleep", found.append)
    return found


def states(told: Any) -> list[str]:
    return [json.loads(line)["state"] for line in told.out.splitlines()]


def test_it_ends_with_0_when_nothing_is_open(hmc: Any, at: Callable[[str], Path], slept: list[float]) -> None:
    at("collected")
    told = hmc("watch")
    assert told.code == 0
    assert len(told.out.splitlines()) == 1
    assert "satisfied" in told.out
    assert "30 submissions to approve" in told.out
    assert slept == []


def test_it_says_how_long_the_oldest_work_has_waited(
    hmc: Any, at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    at("collected")
    later = datetime.now(UTC) + timedelta(days=20, hours=1)
    monkeypatch.setattr(SystemClock, "now", lambda self: later)
    assert "30 submissions to approve, the oldest for 20 days" in hmc("watch").out


def test_it_looks_again_until_people_are_done(
    hmc: Any, at: Callable[[str], Path], slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmc_crowd.cli._crowd import read_crowd
    from hmc_crowd.platform import find_platform

    folder = at("published")

    def people(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            place: Any = find_platform("local", "workplace.db")
            place.rehearse(read_crowd(folder / "truth.csv", workers=20, accuracy=0.9, seed=0))
            place.close()

    monkeypatch.setattr(_watch.time, "sleep", people)
    told = hmc("watch", "--every", "30s", "--json")
    assert (told.code, states(told)) == (0, ["open", "open", "satisfied"])
    assert slept == [30, 30]
    assert json.loads(told.out.splitlines()[-1])["reconciled"]["collected"]["submissions"] == 30


def test_it_ends_when_the_time_is_up(hmc: Any, at: Callable[[str], Path], slept: list[float]) -> None:
    at("published")
    told = hmc("watch", "--for", "0s", "--json")
    assert (told.code, states(told), slept) == (0, ["open"], [])


def test_it_approves_where_that_is_wanted(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    told = hmc("watch", "--approve", *SPEND, "--by", "kim")
    assert told.code == 0
    assert "30 approved for 10.74 USD" in told.out
    assert hmc("status", "--json").json["not_reviewed"] == 0


@pytest.mark.parametrize("words", [("--approve",), ("--approve", "--yes"), SPEND, ("--every", "0.5s"), ("--for", "1")])
def test_other_wishes_are_refused(hmc: Any, at: Callable[[str], Path], words: tuple[str, ...]) -> None:
    at("published")
    assert hmc("watch", *words).code == 2


def test_there_must_be_something_to_watch(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("watch")
    assert told.code == 2
    assert "has nothing out to watch" in told.err


@pytest.mark.parametrize("error", [PlatformUnavailableError("no answer in 30 s"), DatabaseBusyError("locked")])
def test_what_is_down_is_told_and_tried_again(
    hmc: Any, at: Callable[[str], Path], slept: list[float], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    at("collected")
    real, failures = Campaign.reconcile, [error, error]

    def reconcile(self: Campaign, *arguments: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(self, *arguments, **options)

    monkeypatch.setattr(Campaign, "reconcile", reconcile)
    told = hmc("watch", "--json")
    assert (told.code, states(told)) == (0, ["unavailable", "unavailable", "satisfied"])
    assert json.loads(told.out.splitlines()[0])["why"] == str(error)
    assert slept == [120, 120]


def test_it_ends_with_3_when_a_person_is_needed(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    orphan(folder)
    told = hmc("watch", "--approve", *SPEND)
    assert told.code == 3
    assert "needs human" in told.out
    assert "hmc-crowd answer " in told.out
    assert "a person must decide" in told.err
    assert hmc("status", "--json").json["not_reviewed"] == 30
    said = hmc("watch", "--json")
    assert (said.code, states(said)) == (3, ["needs_human"])
    assert len(json.loads(said.out)["questions"]) == 1


def orphan(folder: Path) -> None:
    from dataclasses import replace

    from hmc_crowd.campaign._keys import campaign_key
    from hmc_crowd.platform import find_platform

    with Campaign.open(folder / "hmc-crowd.db") as campaign:
        uid = str(campaign._context.settings()["uid"])
    place: Any = find_platform("local", str(folder / "workplace.db"))
    hit = place.hit(next(iter(place.find_all().values())).hit_id)
    place.publish(replace(hit, key=campaign_key(uid, "lost"), scope=""))
    place.close()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_130_on_ctrl_c(start: Callable[..., subprocess.Popen[str]], at: Callable[[str], Path], hmc: Any) -> None:
    at("published")
    child = start("watch", "--json")
    assert child.stdout is not None
    first = json.loads(child.stdout.readline())
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)
    assert first["state"] == "open"
    assert child.returncode == 130
    assert said[1] == "hmc-crowd: interrupted; nothing is half done: call the same command again to go on\n"
    assert json.loads(said[0])["error"]["exit_code"] == 130
    assert hmc("reconcile", "--json").json["is_settled"] is True
