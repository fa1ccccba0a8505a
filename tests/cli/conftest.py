"""The command line as a function, and a campaign at each of its stages, prepared once and copied for every test."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

# First, because the commands register in the order of their import, which is that of the help.
import hmc_crowd.cli._app  # noqa: F401
from hmc_crowd.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20")
PUBLISH = ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2")
# What may not leak from whoever runs the tests into them.
VARIABLES = ("HMC_CROWD_DATABASE_URL", "HMC_CROWD_WORKPLACE_URL", "HMC_CROWD_WORKER_KEY", "HMC_CROWD_DEBUG")


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, read as strict JSON: NaN and Infinity are none."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


Hmc = Callable[..., Outcome]


def call(*arguments: str) -> int:
    """Run a command in this process; return its exit code."""
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A terminal of 80 columns in an empty folder, without settings from outside."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def quick_learning(small_forests: None) -> None:
    """Learn in a fifth of the time."""


@pytest.fixture
def hmc(capsys: pytest.CaptureFixture[str]) -> Hmc:
    """Run a command in this process: ``hmc("status", "--json").json``."""

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = call(*(str(each) for each in arguments))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run


def write_batch(folder: Path, n: int = 160, gold: int = 24) -> None:
    """Write what a user brings: items, predictions, gold, and the truth that only simulated people know."""
    rng = np.random.default_rng(5)
    truth = rng.choice(["good", "bad"], n, p=[0.6, 0.4])
    confidence = (0.5 + 0.5 * rng.beta(4, 2, n)).round(4)
    other = np.where(truth == "good", "bad", "good")
    predicted = np.where(rng.random(n) < confidence, truth, other)
    items = pd.DataFrame(
        {
            "item": [f"i{index:04d}" for index in range(n)],
            "group": [f"g{index // 4:03d}" for index in range(n)],
            "text": ["so it goes " * int(length) for length in rng.integers(1, 8, n)],
        }
    )
    known = pd.DataFrame({"item": items["item"], "label": truth})
    tables = {
        "items": items,
        "predictions": pd.DataFrame({"item": items["item"], "label": predicted, "confidence": confidence}),
        "gold": known.head(gold),
        "truth": known,
        "routable": pd.DataFrame(
            {"item": items["item"], "confidence": confidence, "effort": rng.random(n).round(4), "target": truth}
        ).assign(predicted=predicted),
        "times": pd.DataFrame(
            {"turns": np.arange(60) % 10 + 1, "worker": [f"w{index % 6}" for index in range(60)]}
        ).assign(seconds=lambda frame: 20 + 8 * frame["turns"] + rng.normal(0, 3, 60).round(2)),
        "answers": pd.DataFrame(
            [(item, f"w{worker}", label) for item, label in zip("abcd", "xxyy", strict=True) for worker in range(3)],
            columns=["task", "worker", "label"],
        ),
    }
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


STAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "files": (),
    "planned": (
        ("init", "--labels", "good,bad", "--seed", "7"),
        ("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv"),
        ("effort", "estimate"),
        PLAN,
    ),
    "published": (PUBLISH,),
    "collected": (("collect", "--crowd", "truth.csv", "--accuracy", "0.9"),),
    "certified": (("check",), ("aggregate",), ("certify",), ("learn",)),
}


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a campaign at a stage; each is made once, from the one before."""
    made: dict[str, Path] = {}

    def make(stage: str) -> Path:
        if stage not in made:
            names = list(STAGES)
            folder = tmp_path_factory.mktemp(stage)
            if stage == names[0]:
                write_batch(folder)
            else:
                shutil.copytree(make(names[names.index(stage) - 1]), folder, dirs_exist_ok=True)
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                for command in STAGES[stage]:
                    assert call(*command) == 0, command
            made[stage] = folder
        return made[stage]

    return make


@pytest.fixture
def at(stages: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Put a copy of a stage into the test's own folder, which is the current one."""

    def bring(stage: str) -> Path:
        shutil.copytree(stages(stage), tmp_path, dirs_exist_ok=True)
        return tmp_path

    return bring


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start commands as processes of their own in the test's folder; kill at the end what a failed test left running.

    ``before`` is Python that runs in the process first.
    """
    started: list[subprocess.Popen[str]] = []

    def begin(
        *arguments: str, before: str = "", env: dict[str, str] | None = None, stderr: int = subprocess.PIPE
    ) -> subprocess.Popen[str]:
        code = f"{before}\nimport sys\nfrom hmc_crowd.cli import main\nmain(sys.argv[1:])"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        child = subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
        started.append(child)
        return child

    yield begin
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()
