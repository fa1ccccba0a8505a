"""The scene of the MTurk doors: two requesters, Ann and Bob at work, a guarded and a deleted HIT; Eve attacks.

Eve has a worker's link and a requester's key of her own. What is Ann's, Bob's or the first requester's is not hers.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from tests.attacks import _houses  # noqa: F401  finds mturk_house
from tests.attacks._table import Scene, prepared
from tests.conftest import START

from hmc_crowd_local._tables import METADATA  # isort: skip
from hmc_crowd_local.mturk_api import FrontDoor, Key, Settings, WorkersDoor, build_app, open_front_door  # isort: skip
from mturk_house import AMAZON_FEES, EXTERNAL, NAMESPACES, html_question  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

ANN, BOB, EVE = "AANN", "ABOB", "AEVE"
GUARDED, DELETED, DRAFT, REMARK = "THE GUARDED TEXT", "THE DELETED TEXT", "BOBS DRAFT", "A REMARK TO THE FIRST ONES"
PAGE = "<form><input name='assignmentId' type='hidden'><p>Is it polite?</p><input name='q'></form>"
FORM = (
    f'<QuestionForm xmlns="{NAMESPACES}2005-10-01/QuestionForm.xsd"><Question><QuestionIdentifier>q1'
    "</QuestionIdentifier><QuestionContent><Text>Is it so?</Text></QuestionContent><AnswerSpecification>"
    "<FreeTextAnswer/></AnswerSpecification></Question></QuestionForm>"
)
#: The host that calls are signed for.
HERE = "http://127.0.0.1:8000"
TARGET = "MTurkRequesterServiceV20170117."


@dataclass
class Ids:
    """What there is, by its ids."""

    hit: str
    form: str
    external: str
    guarded: str
    deleted: str
    bobs_hit: str
    ann: str
    bob: str
    done: str
    qualification: str
    test: str
    key: tuple[str, str]
    eves: tuple[str, str]


def hit(door: FrontDoor, account: str = "main", **options: Any) -> str:
    values = {
        "Title": "Judge", "Description": "Read and judge.", "Reward": "0.05", "Question": html_question(PAGE),
        "AssignmentDurationInSeconds": 86_400, "LifetimeInSeconds": 86_400, "MaxAssignments": 3, **options,
    }  # fmt: skip
    return str(door.call(account, "CreateHIT", values)["HIT"]["HITId"])


def build(folder: Path) -> None:
    """Fill a workplace, once."""
    door = open_front_door(str(folder / "workplace.db"), clock=VirtualClock(START), settings=settings())
    workers = WorkersDoor(door)
    main, eves = door.issue_key("main"), door.issue_key("eve")
    made = door.call(
        "main",
        "CreateQualificationType",
        {"Name": "Guard", "Description": "Only some.", "QualificationTypeStatus": "Active"},
    )
    guard = made["QualificationType"]["QualificationTypeId"]
    exam = {"Name": "Exam", "Description": "A test.", "QualificationTypeStatus": "Active", "Test": FORM}
    made = door.call("main", "CreateQualificationType", exam | {"TestDurationInSeconds": 600})
    tested = made["QualificationType"]["QualificationTypeId"]
    needs = {"QualificationTypeId": guard, "Comparator": "Exists", "ActionsGuarded": "DiscoverPreviewAndAccept"}
    first = hit(door, RequesterAnnotation="batch 1")
    second = hit(door, Title="Judge more")
    guarded = hit(
        door, Title="Guarded", Question=html_question(f"<form>{GUARDED}</form>"), QualificationRequirements=[needs]
    )
    deleted = hit(door, Title="Deleted", Question=html_question(f"<form>{DELETED}</form>"), RequesterAnnotation="gone")
    door.call("main", "UpdateExpirationForHIT", {"HITId": deleted, "ExpireAt": 0})
    door.call("main", "DeleteHIT", {"HITId": deleted})
    ids = Ids(
        hit=first,
        form=hit(door, Title="Form", Question=FORM),
        external=hit(door, Title="External", Question=EXTERNAL),
        guarded=guarded,
        deleted=deleted,
        bobs_hit=second,
        ann=workers.accept(first, ANN).assignment_id,
        bob=workers.accept(second, BOB).assignment_id,
        done=workers.accept(second, ANN).assignment_id,
        qualification=guard,
        test=tested,
        key=(main.access_key_id, main.secret_access_key),
        eves=(eves.access_key_id, eves.secret_access_key),
    )
    workers.save_draft(ids.bob, BOB, [("q", DRAFT)])
    workers.submit(ids.done, [("q", "yes")], ANN)
    door.call("main", "ApproveAssignment", {"AssignmentId": ids.done, "RequesterFeedback": REMARK})
    # What a first visit stores is there before the attack.
    workers.open_page(ids.ann, ANN)
    workers.open_page(ids.bob, BOB)
    door.set_worker(EVE, country="DE")
    door.close()
    (folder / "ids.json").write_text(json.dumps(ids.__dict__))


def settings() -> Settings:
    return Settings(fees=AMAZON_FEES, allow_http=True, hosts=["testserver"])


class MTurkScene(Scene):
    """A front door under attack."""

    foreign = (GUARDED, DELETED, DRAFT, REMARK)

    def __init__(self, door: FrontDoor, clock: VirtualClock, ids: Ids) -> None:
        super().__init__()
        self.door, self.clock, self.ids = door, clock, ids
        self.app, self.workers = build_app(door), WorkersDoor(door)
        self.foreign = (*self.foreign, ids.key[1], door.worker_key(ANN), door.worker_key(BOB))

    @property
    def client(self) -> TestClient:
        """An attacker's browser."""
        return self.recording(self.honest)

    @property
    def honest(self) -> TestClient:
        """A browser whose pages nobody listens to."""
        return TestClient(self.app, base_url=HERE, follow_redirects=False)

    def who(self, worker: str = EVE) -> dict[str, str]:
        """The link's parts of a worker; Eve has hers only."""
        return {"workerId": worker, "key": self.door.worker_key(worker)}

    @property
    def key(self) -> Key:
        """The key of the first requester, for whom an attack is a mistake of his own."""
        return Key(*self.ids.key)

    @property
    def eves(self) -> Key:
        return Key(*self.ids.eves)

    def call(self, operation: str, body: Any, *, key: Key | None = None, **changes: Any) -> Any:
        """Send an operation over the wire, signed as an SDK would; changed after the signature by ``changes``."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        used = key or self.eves
        headers = {"X-Amz-Target": TARGET + operation, "Content-Type": "application/x-amz-json-1.1"}
        asked = AWSRequest("POST", f"{HERE}/", headers=headers, data=content)
        SigV4Auth(Credentials(used.access_key_id, used.secret_access_key), "mturk-requester", "us-east-1").add_auth(
            asked
        )
        signed = dict(asked.headers.items()) | changes.get("headers", {})
        client = self.honest if changes.get("is_honest") else self.client
        return client.post(changes.get("path", "/"), content=changes.get("content", content), headers=signed)

    def stored(self) -> list[Any]:
        with self.door.database.read() as connection:
            return [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]

    def goes_on(self) -> None:
        bobs = self.honest.get("/mturk/draft", params={**self.who(BOB), "assignmentId": self.ids.bob})
        assert DRAFT in bobs.text
        view = self.call("GetHIT", {"HITId": self.ids.hit}, key=self.key, is_honest=True)
        assert view.json()["HIT"]["HITStatus"] == "Assignable"
        assert self.call("GetAccountBalance", {}, is_honest=True).status_code == 200

    def ends(self) -> None:
        sent = {**self.who(ANN), "assignmentId": self.ids.ann, "q": "yes"}
        assert self.honest.post("/mturk/externalSubmit", data=sent).status_code == 200
        found = self.door.call("main", "GetAssignment", {"AssignmentId": self.ids.ann})["Assignment"]
        assert (found["WorkerId"], found["AssignmentStatus"]) == (ANN, "Submitted")


@contextmanager
def mturk() -> Iterator[MTurkScene]:
    """Ann and Bob have accepted work, Bob has a draft; keys of two accounts; worker ids need their keys."""
    source = prepared(build)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = shutil.copytree(source, folder, dirs_exist_ok=True) / "workplace.db"
        clock = VirtualClock(START)
        door = open_front_door(str(path), clock=clock, settings=settings())
        held = json.loads((source / "ids.json").read_text())
        try:
            yield MTurkScene(door, clock, Ids(**{n: tuple(v) if isinstance(v, list) else v for n, v in held.items()}))
        finally:
            door.close()
