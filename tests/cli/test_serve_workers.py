"""`hmc-crowd serve --workers N`: several processes on one port, watched by one that replaces and ends them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

MAIN = "from hmc_crowd.cli import main; main()"


def children(pid: int) -> set[int]:
    path = f"/proc/{pid}/task/{pid}/children"
    try:
        return {int(each) for each in Path(path).read_text(encoding="ascii").split()}
    except FileNotFoundError:
        return set()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(what: Any, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


class Several:
    """A watched group of servers."""

    def __init__(self, folder: Path, url: str) -> None:
        command = [sys.executable, "-c", MAIN, "serve", "--port", "0", "--workers", "2", "--workplace", url, "--json"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        self.said = json.loads(self.process.stdout.readline())
        self.url = next(each["url"] for each in self.said["serving"] if each["what"].startswith("MTurk API"))
        assert until(lambda: len(self.pids()) == 2)

    def pids(self) -> set[int]:
        return children(self.process.pid)

    def answers(self) -> bool:
        return httpx.get(f"{self.url}healthz").json() == {"status": "ok"}


@pytest.fixture
def several(tmp_path: Path, postgres_url: str) -> Iterator[Several]:
    group = Several(tmp_path, postgres_url)
    yield group
    if group.process.poll() is None:
        group.process.kill()
    group.process.communicate()


def test_several_processes_answer_and_end_together(several: Several) -> None:
    before = several.pids()
    assert all(several.answers() for _ in range(20))
    several.process.send_signal(signal.SIGTERM)
    out, err = several.process.communicate(timeout=60)
    assert (several.process.returncode, out, err) == (0, "", "")
    assert not any(is_running(each) for each in before)


def test_ctrl_c_of_the_terminal_ends_all_of_them_with_130(several: Several) -> None:
    # A terminal sends it to the whole group.
    os.killpg(several.process.pid, signal.SIGINT)
    _, err = several.process.communicate(timeout=60)
    assert (several.process.returncode, err.count("\n")) == (130, 1)


def test_one_that_dies_is_replaced(several: Several) -> None:
    before = several.pids()
    gone = min(before)
    os.kill(gone, signal.SIGKILL)
    assert until(lambda: len(several.pids() - {gone}) == 2 and several.pids() != before)
    assert all(several.answers() for _ in range(20))


def test_none_outlives_the_one_that_watches(several: Several) -> None:
    before = several.pids()
    several.process.kill()
    assert until(lambda: not any(is_running(each) for each in before))


def test_several_processes_need_a_database_server(hmc: Any) -> None:
    told = hmc("serve", "--port", "0", "--workers", "2")
    assert (told.code, told.out) == (2, "")
    assert "--workers needs PostgreSQL, and the workplace is sqlite" in told.err


def test_what_keeps_them_from_serving_is_said_once(hmc: Any, postgres_url: str) -> None:
    told = hmc("serve", "--port", "0", "--workers", "2", "--workplace", postgres_url, "--study", "none.toml")
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert "none.toml" in told.err
