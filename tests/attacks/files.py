"""Attacks by another user of the machine, or by who gets a copy of the database: to read, and to forge with it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import zipfile
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import sqlalchemy as sa
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.keys import is_sealed, unseal
from hmc_crowd.backup import back_up
from hmc_crowd.board import BoardHouse, BoardSettings, make_board_app, make_door_app
from hmc_crowd.board._deliver import hook_secret
from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import StateError
from hmc_crowd.io import write_frame
from hmc_crowd.store import open_store
from tests.attacks import _houses, attack, refused  # noqa: F401  finds the other tests' houses
from tests.attacks._table import Scene, prepared

from hmc_crowd_local import connect  # isort: skip
from hmc_crowd_local._tables import METADATA  # isort: skip
from hmc_crowd_local._tables_mturk import KEY, SECRET  # isort: skip
from hmc_crowd_local._tokens import sign_token  # isort: skip
from hmc_crowd_local._vault import Vault  # isort: skip
from hmc_crowd_local.mturk_api import build_app  # isort: skip
from hmc_crowd_local.pages import PagesSettings, make_pages_app  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
OLD = "0" * 24 + "5ec2e7" * 6 + "0000"
FILES = (
    "campaign.db",
    "workplace.db",
    "campaign.db.key",
    "workplace.db.key",
    "labels.csv",
    "payroll.jsonl",
    "batch.csv",
    "kept.zip",
)
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def build(folder: Path) -> None:
    """A campaign and a workplace of somebody whose umask hides nothing."""
    before = os.umask(0)
    try:
        _build(folder)
    finally:
        os.umask(before)


def _build(folder: Path) -> None:
    clock = VirtualClock(NOW)
    with Campaign.create(folder / "campaign.db", "tone", labels=["a", "b"], seed=1, clock=clock) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["i1"], "text": ["Hello."]}))
    write_frame(pd.DataFrame({"worker": ["A1"]}), folder / "labels.csv")
    write_frame(pd.DataFrame({"worker": ["A1"], "minor": [5]}), folder / "payroll.jsonl")
    with ExitStack() as stack:
        place = stack.enter_context(connect(str(folder / "workplace.db"), clock=clock))
        with place._database.write() as connection:
            # As an earlier version left it, readable.
            connection.execute(sa.insert(SECRET).values(name="notify", value=OLD))
    with ExitStack() as stack:
        place = stack.enter_context(connect(str(folder / "workplace.db"), clock=clock))
        door = place.front_door()
        key = door.issue_key("main")
        invite = place.invites().issue("ann")
        place.secret("board")
        door.write_batch_file(folder / "batch.csv")
        store = stack.enter_context(open_store(folder / "campaign.db", clock=clock))
        with store.begin() as tx:
            owner = tx.keys.issue("owner")[1]
        keepers = [store.keeper(), place.keeper()]
        back_up(keepers, folder / "kept.zip", artefacts=store.artefacts, now=NOW)
    known = {"key": key.access_key_id, "secret": key.secret_access_key, "invite": invite.token, "owner": owner}
    (folder / "known.json").write_text(json.dumps(known))


class DiskScene(Scene):
    """Servers over the files, and somebody who has read the databases, but not the keys."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__()
        self.folder, self.known = folder, json.loads((folder / "known.json").read_text())
        clock = VirtualClock(NOW)
        self.place: Any = stack.enter_context(connect(str(folder / "workplace.db"), clock=clock))
        self.store = stack.enter_context(open_store(folder / "campaign.db", clock=clock))
        self.board = BoardHouse(
            self.store, secret=self.place.secret("board"), clock=clock, settings=BoardSettings(is_secure=False)
        )
        stack.callback(self.board.group.close)
        pages = make_pages_app(self.place, secret=self.place.secret("pages"), settings=PagesSettings())
        self.door = self.place.front_door()
        self.apps = {
            "board": make_board_app(self.board),
            "api": make_door_app(self.board),
            "pages": pages,
            "mturk": build_app(self.door),
        }

    def client(self, app: str) -> TestClient:
        made: TestClient = self.recording(TestClient(self.apps[app], follow_redirects=False))
        return made

    def bytes_of(self, database: str) -> bytes:
        """What lies on the disk of a database and its log, read by another process: ours would drop SQLite's locks."""
        files = [str(each) for each in self.folder.glob(f"{database}*") if each.suffix != ".key"]
        return subprocess.run(["cat", *files], check=True, capture_output=True).stdout

    def read(self) -> list[str]:
        """Everything that looks like a secret in the databases: each text, and what follows from it at once."""
        with self.place._database.read() as connection:
            found = [str(each) for each in connection.execute(sa.select(SECRET.c.value)).scalars()]
            found += [str(each) for each in connection.execute(sa.select(KEY.c.secret)).scalars()]
        with self.store.read() as tx:
            found += [str(row[0]) for row in tx._session.rows(sa.text("SELECT hash FROM api_key"))]
        return found

    def guesses(self) -> list[bytes]:
        """What could be taken for a secret by who has read them."""
        return [each.encode() for each in self.read()] + [b"\0" * 32, b"hmc-crowd", b"secret"]

    def stored(self) -> Any:
        with self.place._database.read() as connection:
            rows = [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]
        with self.store.read() as tx:
            return rows, tx.keys.all(), tx.sign_ins.all()

    def goes_on(self) -> None:
        home = TestClient(self.apps["pages"], follow_redirects=True).get(f"/i/{self.known['invite']}")
        assert home.status_code == 200
        held = {"Authorization": f"Bearer {self.known['owner']}"}
        assert TestClient(self.apps["api"]).get("/queue", headers=held).status_code == 200


@contextmanager
def disk() -> Iterator[DiskScene]:
    """Files as the product made them, and servers over them."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(shutil.copytree(prepared(build), Path(name) / "lab"))
        yield DiskScene(folder, stack)


on_disk = partial(attack, "files and local users", scene=disk)

for _file in FILES:

    @on_disk(f"another user reads {_file}", defence="made with mode 600 whatever the umask")
    def _(scene: DiskScene, file: str = _file) -> None:
        assert (scene.folder / file).stat().st_mode & 0o077 == 0


@on_disk("another user reads SQLite's log", defence="it has the mode of its database")
def _(scene: DiskScene) -> None:
    logs = [each for each in scene.folder.iterdir() if each.name.endswith(("-wal", "-shm"))]
    assert [each.name for each in logs if each.stat().st_mode & 0o077] == []


@on_disk("a sign-in from a board's secret that was read", defence="a sign-in is a row, and nothing that is signed")
def _(scene: DiskScene) -> None:
    for each in scene.read():
        reply = scene.client("board").get("/", headers={"Cookie": f"hmc_crowd_board={each[:400]}"})
        assert reply.status_code == 303


@on_disk("an owner's key from its hash", defence="keys are hashed")
def _(scene: DiskScene) -> None:
    with scene.store.read() as tx:
        name = tx.keys.all()[0].id
    for each in scene.read():
        for key in (each, f"hmck_{name}_{each}"):
            refused(scene.client("api").get("/queue", headers={"Authorization": f"Bearer {key[:190]}"}))


def _opens(scene: DiskScene, purpose: str, subject: str, door: str) -> None:
    for secret in scene.guesses():
        token = sign_token(secret, subject, expires_at=NOW + timedelta(days=1), purpose=purpose)
        reply = scene.client("pages").get(f"/{door}/{token}")
        assert reply.status_code in {404, 429}, reply.status_code


@on_disk("an invitation that is forged with what was read", defence="secrets are sealed under a key elsewhere")
def _(scene: DiskScene) -> None:
    (invite,) = scene.place.invites().of("ann")
    _opens(scene, "invite", invite.invite_id, "i")


@on_disk("a link to work that is forged with what was read", defence="secrets are sealed under a key elsewhere")
def _(scene: DiskScene) -> None:
    _opens(scene, "work", "s1", "s")


@on_disk("a call that is signed with what was read", defence="secrets are sealed under a key elsewhere")
def _(scene: DiskScene) -> None:
    headers = {"X-Amz-Target": TARGET, "Content-Type": "application/x-amz-json-1.1"}
    for secret in scene.read():
        asked = AWSRequest("POST", "http://127.0.0.1/", headers=headers, data=b"{}")
        SigV4Auth(Credentials(scene.known["key"], secret), "mturk-requester", "us-east-1").add_auth(asked)
        sent = dict(asked.headers.items()) | {"Host": "127.0.0.1"}
        refused(scene.client("mturk").post("/", content=b"{}", headers=sent))


@on_disk("a worker's link that is forged with what was read", defence="secrets are sealed under a key elsewhere")
def _(scene: DiskScene) -> None:
    import hashlib
    import hmac

    for secret in scene.guesses():
        key = hmac.new(secret, b"worker:A1", hashlib.sha256).hexdigest()[:32]
        refused(scene.client("mturk").get("/mturk/hits", params={"workerId": "A1", "key": key}))


@on_disk("a webhook's secret from what was read", defence="secrets are sealed under a key elsewhere")
def _(scene: DiskScene) -> None:
    real = hook_secret(scene.board.secret, "hook_1")
    assert real not in {hook_secret(secret, "hook_1") for secret in scene.guesses()}


@on_disk("secrets in the file of a database", defence="nothing readable is in it")
def _(scene: DiskScene) -> None:
    content = scene.bytes_of("workplace.db")
    held = [scene.known["secret"], *(scene.place.secret(name).hex() for name in ("board", "pages"))]
    assert [each for each in held if each.encode() in content] == []


@on_disk("an earlier version's secret that was overwritten", defence="the old value is zeroed when it is moved")
def _(scene: DiskScene) -> None:
    content = scene.bytes_of("workplace.db")
    assert OLD.encode() not in content


@on_disk("keys or secrets in a backup", defence="keys are not in it, secrets are sealed")
def _(scene: DiskScene) -> None:
    keys = [(scene.folder / name).read_bytes() for name in ("campaign.db.key", "workplace.db.key")]
    held = [*keys, scene.known["secret"].encode(), OLD.encode()]
    with zipfile.ZipFile(scene.folder / "kept.zip") as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert [each for each in held if each in content] == []


@on_disk(
    "a sealed secret put into another's place", defence="a seal fits its place alone", stores="the attacker writes"
)
def _(scene: DiskScene) -> None:
    database = scene.place._database
    with database.write() as connection:
        held = dict(connection.execute(sa.select(SECRET.c.name, SECRET.c.value)).all())
        old = held["board"]
        connection.execute(sa.update(SECRET).where(SECRET.c.name == "board").values(value=held["notify"]))
    try:
        scene.place.secret("board")
    except StateError:
        pass
    else:
        raise AssertionError("the other secret was taken")
    finally:
        with database.write() as connection:
            connection.execute(sa.update(SECRET).where(SECRET.c.name == "board").values(value=old))


@on_disk("a seal that was changed by one letter", defence="seals are authenticated")
def _(scene: DiskScene) -> None:
    key = (scene.folder / "workplace.db.key").read_bytes()
    sealed = Vault(scene.place._database).seal("secret/x", "abc")
    assert is_sealed(sealed)
    taken = []
    for at in range(len("sealed:"), len(sealed) - 4):
        other = "A" if sealed[at] != "A" else "B"
        try:
            taken.append(unseal(key, "secret/x", sealed[:at] + other + sealed[at + 1 :]))
        except StateError:
            continue
    assert taken == []


@on_disk("a new key in the place of one that is gone", defence="nothing is made anew while something is sealed")
def _(scene: DiskScene) -> None:
    file = scene.folder / "workplace.db.key"
    kept = file.read_bytes()
    file.unlink()
    try:
        scene.place.secret(f"new {secrets.token_hex(4)}")
    except StateError:
        assert not file.exists()
    else:
        raise AssertionError("a new key was made")
    finally:
        file.write_bytes(kept)
        file.chmod(0o600)
