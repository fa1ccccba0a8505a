"""Installed from its wheel, away from the source tree, everything works: migrations, templates, demo.

The environment is new and empty, and the wheel is installed into it by pip without its dependencies, because fetching
some hundred megabytes for each run would make this the slowest and least reliable test. The dependencies come from the
environment that runs the tests, by one line in a ``.pth`` file (a path to append; `.pth` files of that folder, the
editable install of this very project among them, are not followed). What could go wrong unseen, importing the source
tree in place of the wheel, is asserted against. That the dependencies themselves install is what `make test` shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = [ROOT / each for each in PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
INFO = f"hmc_crowd-{PYPROJECT['project']['version']}.dist-info"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built once, without isolation where the build backend is installed."""
    folder = tmp_path_factory.mktemp("dist")
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def names(wheel: Path) -> set[str]:
    """The files inside the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


class Elsewhere:
    """A new environment with the wheel in it, and a folder of its own to work in."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.home = folder / "environment"
        self.desk = folder / "desk"
        self.desk.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.home], check=True)
        self.bin = self.home / ("Scripts" if os.name == "nt" else "bin")
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(self.home), "platbase": str(self.home)}))
        install = ["-m", "pip", "--python", self.bin / "python", "install", "--quiet", "--no-deps", "--no-index", wheel]
        subprocess.run([sys.executable, *install], check=True)
        (self.site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        hidden = {"PYTHONPATH", "HMC_CROWD_DATABASE_URL", "HMC_CROWD_WORKPLACE_URL"}
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        program = [self.bin / command[0], *command[1:]]
        return subprocess.run(program, cwd=self.desk, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="session")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """The wheel, installed where nothing else of the project is."""
    return Elsewhere(tmp_path_factory.mktemp("elsewhere"), wheel)


def test_the_packages_are_in_the_wheel(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names} == {INFO, *(package.name for package in PACKAGES)}
    assert {"hmc_crowd", "hmc_crowd_local"} <= {package.name for package in PACKAGES}
    assert {"hmc_crowd/py.typed", "hmc_crowd/demo/dialogues.jsonl"} <= names
    assert f"{INFO}/licenses/LICENSE" in names


@pytest.mark.parametrize(
    ("source", "inside"), [("store", "hmc_crowd/_migrations"), ("workplace", "hmc_crowd_local/_migrations")]
)
def test_migrations_are_in_the_wheel(source: str, inside: str, names: set[str]) -> None:
    folder = ROOT / "migrations" / source
    wanted = {
        f"{inside}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert any("/versions/" in name for name in wanted)
    assert sorted(wanted - names) == []


def test_every_file_of_the_packages_is_in_the_wheel(names: set[str]) -> None:
    wanted = set()
    for base in PACKAGES:
        wanted |= {
            path.relative_to(base.parent).as_posix()
            for path in base.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    assert sorted(wanted - names) == []


def test_nothing_else_is_in_the_wheel(names: set[str]) -> None:
    strange = [name for name in names if name.endswith((".pyc", ".db")) or "/tests/" in name]
    strange += [name for name in names if fnmatch(Path(name).name, "test_*.py") or Path(name).name == "conftest.py"]
    assert strange == []


def test_the_installed_package_is_the_wheels(elsewhere: Elsewhere) -> None:
    code = "import hmc_crowd, hmc_crowd_local, json; print(json.dumps([hmc_crowd.__file__, hmc_crowd_local.__file__]))"
    done = elsewhere.run("python", "-c", code)
    assert done.returncode == 0, done.stderr
    assert all(Path(file).is_relative_to(elsewhere.site) for file in json.loads(done.stdout))


def test_the_doctor_is_content(elsewhere: Elsewhere) -> None:
    done = elsewhere.run("hmc-crowd", "doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    checks: Any = json.loads(done.stdout)
    assert all(each["ok"] for each in checks)
    assert "local" in {each["check"]: each["found"] for each in checks}["platforms"].split(", ")


def test_the_demo_runs_from_another_folder(elsewhere: Elsewhere) -> None:
    done = elsewhere.run("hmc-crowd", "demo", "--out", "show", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert 0.5 < result["agreement_at_least"] <= 1
    assert {path.name for path in (elsewhere.desk / "show").iterdir()} >= {"campaign.db", "workplace.db", "report.html"}
    assert "table" in (elsewhere.desk / "show" / "report.html").read_text(encoding="utf-8")


def test_types_reach_the_user(elsewhere: Elsewhere) -> None:
    assert (elsewhere.site / "hmc_crowd" / "py.typed").exists()
