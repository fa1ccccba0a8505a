"""The table of exit codes in `hmc_crowd.cli._main`, one row after the other, and what each of them says."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd import platform
from hmc_crowd.campaign import Campaign

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path


def test_0_is_done(hmc: Any) -> None:
    assert hmc("init").code == 0


def test_0_when_the_reader_went_away(start: Callable[..., subprocess.Popen[str]], at: Callable[[str], Path]) -> None:
    at("files")
    child = start("sweep", "routable.csv", "--json")
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    child.stdout = None
    said = child.communicate(timeout=60)[1]
    assert (child.returncode, said) == (0, "")


def test_certify_leaves_with_0_held_1_failed_3_not_decided(hmc: Any, at: Callable[[str], Path]) -> None:
    at("certified")
    assert hmc("certify", "--at-least", "0.01").code == 0
    counts = ("certify", "--items", "5673", "--human", "2836", "--audited", "200")
    assert hmc(*counts, "--wrong", "6", "--at-least", "0.97").code == 0
    undecided = hmc(*counts, "--wrong", "10", "--at-least", "0.97")
    assert undecided.code == 3
    assert "is below the 0.97 asked for, but not ruled out" in undecided.err
    failed = hmc(*counts, "--wrong", "60", "--at-least", "0.97")
    assert failed.code == 1
    assert "it failed: the audit shows at most" in failed.err


def test_1_when_the_doctor_finds_a_fault(hmc: Any, tmp_path: Path) -> None:
    (tmp_path / "hmc-crowd.db").write_text("this is a letter, no database")
    told = hmc("doctor")
    assert told.code == 1
    assert "not in order: database" in told.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("nope",), "'nope' is no command of hmc-crowd"),
        (("plan", "--nope"), "no such option: --nope"),
        (("quote",), "missing argument 'ITEMS'"),
        (("publish",), "give --pay, or --pool"),
        (("certify", "--items", "many"), "'many'"),
        (("publish", "--pay", "12/h", "--redundancy", "0"), "--redundancy"),
        (("publish", "--pay", "12/h", "--yes"), "--yes needs --budget AMOUNT"),
        (("items",), "nothing to add"),
    ],
)
def test_2_is_wrong_usage(hmc: Any, command: tuple[str, ...], said: str) -> None:
    told = hmc(*command)
    assert told.code == 2
    assert told.err.startswith("hmc-crowd: ")
    assert said in told.err


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (("plan",), "`hmc-crowd items FILE`"),
        (("effort", "estimate"), "`hmc-crowd items FILE`"),
        (("publish", "--pay", "12/h"), "`hmc-crowd plan`"),
        (("collect",), "`hmc-crowd publish --yes --budget AMOUNT`"),
        (("check",), "`hmc-crowd items --gold FILE`"),
        (("aggregate",), "`hmc-crowd collect`"),
        (("certify",), "`hmc-crowd plan`"),
        (("report",), "`hmc-crowd plan`"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_2_when_a_step_comes_too_early_naming_the_command_that_must_come_first(
    hmc: Any, command: tuple[str, ...], first: str
) -> None:
    hmc("init")
    told = hmc(*command)
    assert told.code == 2
    assert first in told.err


def test_2_when_it_costs_more_than_the_budget(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    told = hmc("publish", "--pay", "12/h", "--yes", "--budget", "1USD")
    assert told.code == 2
    assert "nothing was sent" in told.err
    assert hmc("status", "--json").json["hits"] == 0


def test_2_when_it_is_our_own_fault_without_a_traceback(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hmc("init")
    monkeypatch.setattr(Campaign, "status", lambda self: 1 / 0)
    told = hmc("status")
    assert told.code == 2
    assert "unexpected ZeroDivisionError" in told.err
    assert "HMC_CROWD_DEBUG=1" in told.err
    assert "Traceback" not in told.err


def test_our_own_fault_shows_its_traceback_to_whoever_asks(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hmc("init")
    monkeypatch.setenv("HMC_CROWD_DEBUG", "1")
    monkeypatch.setattr(Campaign, "status", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        hmc("status")


def test_3_when_the_platform_refuses(hmc: Any, at: Callable[[str], Path]) -> None:
    # Another workplace does not know the HITs that this campaign published.
    at("published")
    told = hmc("collect", "--workplace", "another.db", "--json")
    assert told.code == 3
    assert told.json["error"]["exit_code"] == 3
    assert "unknown here" in told.err


def test_3_when_a_person_is_needed(hmc: Any, at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.errors import NeedsHumanError

    at("published")

    def refuse(*_: Any, **__: Any) -> None:
        raise NeedsHumanError("the payment of submission s1 is disputed; look at it on the platform")

    monkeypatch.setattr(platform, "find_platform", refuse)
    told = hmc("collect")
    assert told.code == 3
    assert told.err == "hmc-crowd: the payment of submission s1 is disputed; look at it on the platform\n"


def test_simulated_people_need_a_platform_that_takes_them(
    hmc: Any, at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere:
        name = "elsewhere"

    at("published")
    monkeypatch.setattr(platform, "find_platform", lambda *_: Elsewhere())
    told = hmc("collect", "--platform", "elsewhere", "--crowd", "truth.csv")
    assert told.code == 2
    assert "takes no simulated people" in told.err


def test_130_is_an_interrupt_wherever_it_comes(hmc: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hmc("init")

    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaign, "status", interrupt)
    told = hmc("status")
    assert told.code == 130
    assert told.err == "hmc-crowd: interrupted; nothing is half done: call the same command again to go on\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_130_while_python_still_loads(start: Callable[..., subprocess.Popen[str]]) -> None:
    # The interrupt arrives when the first heavy module is imported.
    early = (
        "import os, signal, sys\n"
        "class Hook:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Hook())"
    )
    child = start("init", before=early)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert said.startswith("hmc-crowd: interrupted")
    assert signal.SIGINT.name not in said
