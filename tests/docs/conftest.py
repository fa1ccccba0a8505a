"""Documents that are executed: python blocks run, commands run and must print what stands below them.

The blocks of one document run in their order, in one folder and one Python namespace, as a reader would try them:

- ``python``: executed; a ``text`` block right after it shows what it prints.
- ``console``: lines with ``$ `` are commands (``hmc-crowd``, a here-document with ``cat >``, and a few that show
  files), the lines below a command are what it prints. A command without lines below may print anything. Three dots
  stand for any text. A command that fails must be followed by ``$ echo $?``.

After a change of the outputs, ``HMC_CROWD_REFRESH_DOCS=1 pytest tests/docs`` writes the new ones into the documents:
look at the difference before keeping it. Clock and pseudonym key are fixed, so that the same text comes out every time.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import textwrap
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REFRESH = bool(os.environ.get("HMC_CROWD_REFRESH_DOCS"))
START = datetime(2026, 1, 5, 9, tzinfo=UTC)

# Set-up, and what other tests run: packaging, the examples, the reproduction (half a minute, and data of its own).
NOT_RUN = ("pip ", "make ", "git ", "python ", "python3 ", ". ", "hmc-crowd reproduce ")
SHOWS_FILES = ("cat ", "head ", "ls")


@dataclass
class Block:
    """A fenced block; ``first`` is the number of its first line inside the document, from 0."""

    language: str
    first: int
    lines: list[str]


def blocks_of(text: str) -> list[Block]:
    found: list[Block] = []
    open_: Block | None = None
    for number, line in enumerate(text.splitlines()):
        if line.startswith("```"):
            if open_ is None:
                open_ = Block(line[3:].strip(), number + 1, [])
            else:
                found.append(open_)
                open_ = None
        elif open_ is not None:
            open_.lines.append(line)
    assert open_ is None, f"the block that starts at line {open_.first} is never closed"
    return found


@dataclass
class Step:
    """A command, what feeds it, and the lines that the document shows below it."""

    command: str
    here: list[str]
    shown: list[str]
    first: int


def steps_of(block: Block) -> list[Step]:
    steps: list[Step] = []
    lines = iter(enumerate(block.lines, block.first))
    for number, line in lines:
        if not line.startswith("$ "):
            assert steps, f"line {number + 1}: a console block starts with a command"
            steps[-1].shown.append(line)
            continue
        command, here = line[2:], []
        while command.endswith("\\"):
            number, line = next(lines)
            command = command[:-1] + line.strip()
        mark = re.search(r"<<'(\w+)'$", command)
        while mark and (found := next(lines))[1] != mark.group(1):
            number, text = found
            here.append(text)
        steps.append(Step(command, here, [], number + 1 + bool(mark)))
    return steps


@dataclass
class Reader:
    """Somebody who types in what a document says."""

    path: Path
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    code: int = 0
    said: str = ""
    replace: list[tuple[int, int, list[str]]] = field(default_factory=list)

    def read(self) -> int:
        """Do everything the document says; return how many blocks were executed."""
        text = self.path.read_text(encoding="utf-8")
        before: Block | None = None
        printed, count = "", 0
        for block in blocks_of(text):
            if block.language == "python":
                printed, count = self._python(block), count + 1
            elif block.language == "console":
                for step in steps_of(block):
                    self._console(step)
                count += 1
            elif block.language == "text" and before is not None and before.language == "python":
                self._compare(block.lines, printed, block.first, "the Python block above")
            before = block
        assert self.code == 0, f"{self.path.name}: the last command failed: {self.said}"
        if self.replace:
            lines = text.splitlines()
            for first, length, new in reversed(self.replace):
                lines[first : first + length] = new
            self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return count

    def _python(self, block: Block) -> str:
        source = "\n" * block.first + "\n".join(block.lines)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(source, str(self.path), "exec"), self.names)
        return out.getvalue()

    def _console(self, step: Step) -> None:
        if step.command.startswith(NOT_RUN):
            return
        if step.command.startswith("cat > "):
            name = step.command.removeprefix("cat > ").split()[0]
            (self.folder / name).write_text("\n".join(step.here) + "\n", encoding="utf-8")
            return
        if step.command == "echo $?":
            out, self.code = f"{self.code}\n", 0
        else:
            assert self.code == 0, f"{self.path.name}:{step.first}: the command before failed: {self.said}"
            out = self._run(step)
        if step.shown and step.shown != [""]:
            self._compare(step.shown, out, step.first, step.command)

    def _run(self, step: Step) -> str:
        if step.command.startswith(SHOWS_FILES):
            done = subprocess.run(step.command, shell=True, cwd=self.folder, capture_output=True, text=True, check=True)
            return done.stdout
        words = shlex.split(step.command)
        assert words[0] == "hmc-crowd", f"{self.path.name}:{step.first}: nothing tests the command {step.command!r}"
        self.code, self.said = run_command(words[1:])
        return self.said

    def _compare(self, shown: list[str], out: str, first: int, what: str) -> None:
        want = "\n".join(line.rstrip() for line in shown).rstrip() + "\n"
        got = "\n".join(line.rstrip() for line in out.splitlines()).rstrip() + "\n"
        if doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
            return
        if REFRESH and self.path.is_relative_to(ROOT):
            blank = [""] if shown and shown[-1] == "" else []
            self.replace.append((first, len(shown), got.rstrip("\n").splitlines() + blank))
            return
        pytest.fail(
            f"{self.path.name}:{first + 1}: {what}\n--- shown\n{textwrap.indent(want, '  ')}"
            f"--- printed\n{textwrap.indent(got, '  ')}",
            pytrace=False,
        )


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Run `hmc-crowd` in this process (a process of its own would load the libraries each time)."""
    from hmc_crowd.cli import main

    code = 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        try:
            main(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
    return code, out.getvalue()


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder to work in, on a machine that never changes."""
    from hmc_crowd._base.clock import SystemClock

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SystemClock, "now", lambda self: START)
    monkeypatch.setenv("HMC_CROWD_WORKER_KEY", "a key for documents")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("HMC_CROWD_DATABASE_URL", raising=False)
    monkeypatch.delenv("HMC_CROWD_WORKPLACE_URL", raising=False)
    return tmp_path


@pytest.fixture
def read_document(quiet_machine: Path) -> Any:
    """Return a function that does what a document says."""
    return lambda name: Reader(ROOT / name, quiet_machine).read()
