"""`make demo` and `make test` do all set-up on a machine with only python3, make and access to a package index.

What a fresh machine does cannot be tried here without downloading everything again; what would break it can.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(requirement: str) -> str:
    return re.split(r"[\s\[<>=!~;@]", requirement.strip(), maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


PINNED = {name_of(line) for line in CONSTRAINTS if line and not line.startswith("#")}


@pytest.mark.parametrize("target", ["demo", "test", "test-text", "test-all", "check", "bench", "format", "clean"])
def test_target_exists_and_is_phony(target: str) -> None:
    assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert target in phony.group(1).split()


@pytest.mark.parametrize("target", ["demo", "test", "check"])
def test_target_sets_up_by_itself(target: str) -> None:
    assert re.search(rf"^{target}: \$\(READY\)", MAKEFILE, re.MULTILINE)


def test_text_target_sets_up_by_itself() -> None:
    assert re.search(r"^test-text: \$\(READY_TEXT\)", MAKEFILE, re.MULTILINE)
    assert re.search(r"^\$\(READY_TEXT\): \$\(READY\)\n.*--editable '\.\[dev,text\]'$", MAKEFILE, re.MULTILINE)


def test_make_understands_the_file() -> None:
    done = subprocess.run(["make", "-n", "demo", "test", "check"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "hmc-crowd demo" in done.stdout


def test_every_constraint_is_one_exact_version() -> None:
    lines = [line for line in CONSTRAINTS if line and not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.+!-]+", line)] == []
    assert len(PINNED) == len(lines)


def test_no_index_is_named() -> None:
    for text in (MAKEFILE, "\n".join(CONSTRAINTS), (ROOT / ".ci" / "run").read_text(encoding="utf-8")):
        assert re.findall(r"://|--(?:extra-)?index-url|--find-links|--trusted-host|(?m:^-[irf] )", text) == []


def test_what_is_installed_by_default_is_pinned() -> None:
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *extras["dev"], *extras["bench"], *extras["text"]]
    for inside in re.findall(r"hmc-crowd\[([\w,]+)\]", " ".join(extras["dev"])):
        wanted += [each for name in inside.split(",") for each in extras[name]]
    names = {name_of(each) for each in wanted} - {"hmc-crowd"}
    assert sorted(names - PINNED) == []


def test_ci_runs_checks_and_tests() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert {"make check", "make test", "make test-text"} <= set(lines)
    assert "set -euo pipefail" in lines
    assert "export HMC_CROWD_REQUIRE_BROWSER=1" in lines
