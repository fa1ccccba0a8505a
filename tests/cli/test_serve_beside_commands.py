"""A server under load beside every other command: what it answered is there, whoever opens the databases meanwhile.

Half of the requests allocate items (the campaigns' database), half make HITs by the MTurk API (the workplace's). Beside
them ordinary commands run, each a process of its own. The server is killed or stopped again and again; after each time
every write that it acknowledged is looked for, and both databases are checked. `figures.json` in the test's folder says
how much there was of everything.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from itertools import count, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import pytest
import sqlalchemy as sa
from botocore.config import Config

from hmc_crowd.platform import find_platform
from hmc_crowd.store import open_store
from hmc_crowd.store._tables import Allocation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc of Linux")

A_SECOND = 20
SENDERS = 8
# Loads the commands once and then becomes two for each line on its input: a real process, without the wait for imports.
EACH_ITS_OWN_PROCESS = """
import json, os, sys
import pandas, sqlalchemy, alembic.command
import hmc_crowd.backup, hmc_crowd.campaign, hmc_crowd.store
import hmc_crowd_local
from hmc_crowd.cli import main
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        out = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = 70
        try:
            main(json.loads(line))
        except SystemExit as left:
            code = left.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
OF_CAMPAIGN: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("backup", "--to", "kept.zip", "--yes", "WORKPLACE"),
    ("check",),
    ("hits",),
    ("keys", "issue", "--role", "auditor"),
    ("collect", "WORKPLACE"),
    ("keys", "issue", "--label", "beside", "PLACE"),
    ("aggregate",),
    ("submissions",),
    ("alerts", "look"),
    ("keys", "list", "--board"),
    ("quality", "workers"),
    ("reconcile", "WORKPLACE"),
    ("certify",),
    ("keys", "list", "PLACE"),
    ("pools", "list"),
    ("quality", "gold"),
    ("invites", "list", "PLACE"),
    ("alerts", "list"),
    ("doctor",),
    ("layouts", "list", "PLACE"),
    ("quality", "drift"),
    ("gate", "decisions"),
    ("doctor", "--platform", "local", "PLACE"),
)


class House:
    """A campaign with its server, those who ask it, and what it acknowledged."""

    def __init__(self, folder: Path, db: str, workplace: str) -> None:
        self.folder, self.db, self.workplace = folder, db, workplace
        self.server: subprocess.Popen[str] | None = None
        self.url: str | None = None
        self.items: list[str] = []
        self.hits: list[str] = []
        self.codes: Counter[int] = Counter()
        self.refused: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.sent, self.served_s, self._since = 0, 0.0, 0.0
        self._names, self._over, self._mine = count(), threading.Event(), threading.local()
        self._forker = subprocess.Popen(
            [sys.executable, "-c", EACH_ITS_OWN_PROCESS],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with open_store(db) as store, store.begin() as tx:
            self.key = tx.keys.issue("owner", label="load")[1]
        place: Any = find_platform("local", workplace)
        with place:
            self.signer = place.front_door().issue_key("main", label="load")
            place.front_door().add_funds(100_000_000)
        self._senders = [
            threading.Thread(target=self._send, args=(self._allocate if number % 2 else self._make_hit,), daemon=True)
            for number in range(SENDERS)
        ]

    def begin(self) -> None:
        command = [sys.executable, "-c", "from hmc_crowd.cli import main; main()", "serve", "--port", "0", "--json"]
        with (self.folder / "server.txt").open("a") as log:
            self.server = subprocess.Popen(
                [*command, "--db", self.db, "--workplace", self.workplace],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.server.stdout is not None
        line = self.server.stdout.readline()
        assert line, (self.folder / "server.txt").read_text()
        said = json.loads(line)["serving"]
        self.url = next(each["url"] for each in said if each["what"] == "the board").removesuffix("/board/")
        self.mturk = next(each["url"] for each in said if each["what"].startswith("MTurk API"))
        self._since = time.monotonic()
        for each in self._senders:
            if each.ident is None:
                each.start()

    def strike(self, how: signal.Signals) -> None:
        """End the server and wait for it; before that, look whether it holds files that are no more."""
        self.served_s += time.monotonic() - self._since
        assert self.server is not None
        assert self.server.poll() is None, (self.folder / "server.txt").read_text()
        held = [str(each.readlink()) for each in Path(f"/proc/{self.server.pid}/fd").iterdir()]
        gone = [each for each in held if each.endswith("(deleted)") and ".db" in each]
        assert gone == []
        self.server.send_signal(how)
        assert self.server.wait(timeout=60) == (-signal.SIGKILL if how == signal.SIGKILL else 0)
        self.url = None
        assert self.server.stdout is not None
        self.server.stdout.close()
        self.ends[how.name] += 1

    def run(self, command: tuple[str, ...]) -> None:
        words: list[str] = []
        places = {
            "WORKPLACE": ["--db", self.db, "--workplace", self.workplace],
            "PLACE": ["--workplace", self.workplace],
        }
        for word in command:
            words += places.get(word, [word])
        if not {"WORKPLACE", "PLACE"} & set(command):
            words += ["--db", self.db]
        assert self._forker.stdin is not None
        assert self._forker.stdout is not None
        self._forker.stdin.write(json.dumps([*words, "--json"]) + "\n")
        self._forker.stdin.flush()
        code = int(self._forker.stdout.readline())
        said = (self.folder / "said.txt").read_text()
        self.codes[code] += 1
        assert code in {0, 1, 3}, (words, code, said)
        assert "malformed" not in said

    def verify(self) -> None:
        """Find every acknowledged write, and both databases sound."""
        items, hits = list(self.items), list(self.hits)
        with open_store(self.db) as store, store.read() as tx:
            known = {row.item for row in tx.door._session.rows(sa.select(Allocation.item))}
        assert [each for each in items if each not in known] == []
        place: Any = find_platform("local", self.workplace)
        with place:
            lost = [each for each in hits if not has_hit(place, each)]
        assert lost == []
        for file in (self.db, self.workplace):
            if "://" not in file:
                with closing(sqlite3.connect(file)) as connection:
                    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def end(self) -> None:
        self._over.set()
        for each in self._senders:
            if each.ident is not None:
                each.join(timeout=30)
        assert self._forker.stdin is not None
        assert self._forker.stdout is not None
        self._forker.stdin.close()
        self._forker.wait(timeout=60)
        self._forker.stdout.close()
        if self.server is not None and self.server.poll() is None:
            self.server.kill()
            self.server.wait()

    def figures(self) -> dict[str, Any]:
        return {
            "requests": self.sent,
            "requests a second while served": round(self.sent / max(self.served_s, 1e-9), 1),
            "acknowledged items": len(self.items),
            "acknowledged hits": len(self.hits),
            "refused or cut off": dict(self.refused),
            "commands": sum(self.codes.values()),
            "exit codes": dict(self.codes),
            "ends": dict(self.ends),
        }

    def _send(self, ask: Callable[[str, str], None]) -> None:
        due = time.monotonic()
        while not self._over.is_set():
            due = max(due + SENDERS / A_SECOND, time.monotonic() - 1.0)
            self._over.wait(max(0.0, due - time.monotonic()))
            url = self.url
            if url is None:
                continue
            self.sent += 1
            try:
                ask(url, f"beside{next(self._names):06d}")
            except Exception as error:  # noqa: BLE001 because a server that is killed ends a request in many ways
                self.refused[type(error).__name__] += 1
        self._leave()

    def _meet(self, url: str, make: Callable[[], Any]) -> None:
        """Let this thread have a client of the server that runs now."""
        if getattr(self._mine, "url", None) != url:
            self._leave()
            self._mine.url, self._mine.client = url, make()

    def _leave(self) -> None:
        client = getattr(self._mine, "client", None)
        if client is not None:
            client.close()

    def _allocate(self, url: str, name: str) -> None:
        self._meet(url, lambda: httpx.Client(timeout=60))
        body = {"key": name, "campaign": "campaign", "items": [{"item": name, "confidence": 0.6, "effort": 0.1}]}
        headers = {"Authorization": f"Bearer {self.key}"}
        reply = self._mine.client.post(f"{url}/api/allocate", json=body, headers=headers)
        if reply.status_code == 200:
            self.items.append(name)
        else:
            self.refused[f"{reply.status_code} {reply.text[:80]}"] += 1

    def _make_hit(self, url: str, name: str) -> None:
        self._meet(url, self._scripts)
        made = self._mine.client.create_hit(
            Title=name,
            Description="Say whether it is kind",
            Reward="0.05",
            LifetimeInSeconds=3600,
            AssignmentDurationInSeconds=600,
            UniqueRequestToken=name,
            Question=QUESTION,
        )
        self.hits.append(made["HIT"]["HITId"])

    def _scripts(self) -> Any:
        return boto3.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=self.mturk,
            aws_access_key_id=self.signer.access_key_id,
            aws_secret_access_key=self.signer.secret_access_key,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=60),
        )


QUESTION = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
    "<HTMLContent><![CDATA[<!DOCTYPE html><html><body><form method='post'"
    " action='https://workersandbox.mturk.com/mturk/externalSubmit'><input name='assignmentId' type='hidden'>"
    "<input name='a'><input type='submit'></form></body></html>]]></HTMLContent>"
    "<FrameHeight>0</FrameHeight></HTMLQuestion>"
)


def has_hit(place: Any, hit_id: str) -> bool:
    answer = place.front_door().call("main", "GetHIT", {"HITId": hit_id})
    return bool(answer["HIT"]["HITId"] == hit_id)


@pytest.fixture(params=["sqlite", "postgresql"])
def house(request: pytest.FixtureRequest, at: Callable[[str], Path], hmc: Any) -> Iterator[House]:
    folder = at("collected" if request.param == "sqlite" else "files")
    db = workplace = "hmc-crowd.db"
    if request.param == "sqlite":
        db, workplace = str(folder / "hmc-crowd.db"), str(folder / "workplace.db")
    else:
        db = workplace = request.getfixturevalue("postgres_url")
        here = ("--db", db)
        for command in (
            ("init", "--labels", "good,bad", "--seed", "7"),
            ("items", "items.csv", "--predictions", "predictions.csv", "--gold", "gold.csv"),
            ("effort", "estimate"),
            ("plan", "--trade-off", "0.5", "--max-human", "0.4", "--audit", "20"),
        ):
            assert hmc(*command, *here).code == 0
        for command in (
            ("publish", "--pay", "12/h", "--yes", "--budget", "300", "--target-minutes", "2"),
            ("collect", "--crowd", "truth.csv", "--accuracy", "0.9"),
        ):
            assert hmc(*command, *here, "--workplace", workplace).code == 0
    made = House(folder, db, workplace)
    yield made
    made.end()


def live(house: House, *, cycles: int, commands: int) -> None:
    """Strike as often as said, with so many commands before each strike; look for everything after each."""
    ordinary = cycle(OF_CAMPAIGN)
    for number in range(cycles):
        house.begin()
        for _ in range(commands):
            house.run(next(ordinary))
        house.strike(signal.SIGKILL if number % 2 else signal.SIGTERM)
        house.verify()
    (house.folder / "figures.json").write_text(json.dumps(house.figures(), indent=1))
    assert len(house.items) > cycles
    assert len(house.hits) > cycles
    print(json.dumps(house.figures()))


def test_what_a_server_answered_outlives_commands_beside_it_and_its_own_end(house: House) -> None:
    live(house, cycles=2, commands=5)


@pytest.mark.slow
def test_what_a_server_answered_outlives_200_commands_and_20_ends(house: House) -> None:
    live(house, cycles=20, commands=10)
    assert house.ends == {"SIGKILL": 10, "SIGTERM": 10}
    assert sum(house.codes.values()) == 200
