"""No request breaks a server: whatever is sent to whatever route by whomever, the answer is never a 500.

Every route of every application that `hmc-crowd serve` mounts, every operation of the MTurk API, and the stand-in for
Prolific, with odd paths, queries, forms, documents and headers, as every role. The seeds are the routes' own names.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route as Served

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.serving import ServeSettings, load_mounts, make_app
from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.board._render import STATIC, slug
from tests.attacks import _fuzz
from tests.attacks._board import NAME, board
from tests.attacks._fuzz import Route, Sender, Sent, broken, drawn, field_names, walk
from tests.attacks._mturk import ANN, EVE, FORM, HERE, TARGET, mturk
from tests.attacks._pages import empty_workplace, pages
from tests.attacks._prolific import SECRET as HOOK_SECRET
from tests.attacks._prolific import prolific
from tests.attacks._table import prepared
from tests.conftest import START

from hmc_crowd_local import connect  # isort: skip
from hmc_crowd_local.mturk_api._shapes import operation_names, service_model  # isort: skip
from hmc_crowd_local.pages import Invites  # isort: skip
from hmc_crowd_prolific.standin._app import make_app as make_standin  # isort: skip
from hmc_crowd_prolific.standin._hooks import sign as sign_hook  # isort: skip
from pages_house import SECRET, PagesHouse, Plain, dialogue, every_kind, full_study, make_house  # isort: skip
from mturk_house import EXTERNAL, NAMESPACES  # isort: skip

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

MOST_SHOWN = 10
ORIGIN = "https://workers.example.org"
ANSWER_KEY = (
    f'<AnswerKey xmlns="{NAMESPACES}2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q1</QuestionIdentifier>'
    "<AnswerOption><SelectionIdentifier>yes</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption>"
    "</Question><QualificationValueMapping><PercentageMapping><MaximumSummedScore>10</MaximumSummedScore>"
    "</PercentageMapping></QualificationValueMapping></AnswerKey>"
)
MANY = [pytest.param(4, id="some"), pytest.param(80, id="many", marks=pytest.mark.slow)]


def keeper(*files: Path) -> Callable[[], None]:
    """Return what puts SQLite files back as they are now: what one route does must not shut the next one's door."""
    kept = []
    for file in files:
        memory = sqlite3.connect(":memory:", check_same_thread=False)
        with closing(sqlite3.connect(file)) as source:
            source.backup(memory)
        kept.append((memory, file))

    def put_back() -> None:
        for memory, file in kept:
            with closing(sqlite3.connect(file, timeout=30)) as target:
                memory.backup(target)

    return put_back


def known_in(ids: dict[str, list[str]], dice: random.Random) -> Callable[[str], Any]:
    return lambda name: dice.choice(ids[name]) if name in ids else None


@contextmanager
def board_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    # Forms carry our marks: what is behind them is what may break.
    monkeypatch.setattr("hmc_crowd.board._desk.is_form_mark", lambda *_, **__: True)
    with board() as scene:
        ids = {
            "campaign": [slug(NAME)],
            "id": ["i00", "i01", "e-item", scene.submission, scene.hook],
            "platform": ["local"],
            "name": sorted(STATIC),
            "key": [scene.keys["owner"]],
            "answer": ["good"],
            "label": ["good"],
            "n": ["5"],
            "size": ["5"],
        }
        roles = {role: [(b"cookie", cookie.encode())] for role, cookie in scene.signed_in.items()}
        sender = Sender(scene.board.app, {"": [], **roles}, ids, field_names("hmc_crowd/board"))
        routes = [each for each in walk(scene.board.app.routes) if each.path.startswith("/board")]
        yield sender, routes, keeper(scene.folder / "campaign.db", scene.folder / "workplace.db")


@contextmanager
def machine_api(_patch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    document = openapi_document()
    with board() as scene:
        ids = {
            "campaign": [NAME],
            "item": ["e-item", "w-item", "i01", "new"],
            "webhook": [scene.hook],
            "label": ["good", "bad"],
            "url": ["http://127.0.0.1:9/x"],
            "due_at": ["2026-01-07T09:00:00+00:00"],
        }

        def body(route: Route, dice: random.Random) -> Any:
            asked = document["paths"].get(route.path.removeprefix("/api"), {}).get(route.method.lower(), {})
            if "requestBody" not in asked:
                return {}
            schema = asked["requestBody"]["content"]["application/json"]["schema"]
            made = drawn(schema, document["components"]["schemas"], dice, known_in(ids, dice))
            return made | {"key": str(dice.random())}

        roles = {role: [(b"authorization", f"Bearer {key}".encode())] for role, key in scene.keys.items()}
        sender = Sender(scene.board.app, {"": [], **roles}, ids, ["campaign", "limit", "item", "after"], body)
        routes = [each for each in walk(scene.board.app.routes) if not each.path.startswith("/board")]
        yield sender, routes, keeper(scene.folder / "campaign.db")


def page_sender(house: PagesHouse, tokens: list[str], invite: str) -> tuple[Sender, list[Route], Any]:
    names = field_names("adapters/hmc_crowd_local/pages")
    numbered = [f"{name}{n}" for name in ("a", "s", "was_a", "c") for n in range(3)]
    ids = {
        "token": tokens,
        "number": ["1", "2", "3", "4", "5", "6"],
        "hit_id": [house.local.find(name).hit_id for name in ("kinds", "dialogue")],
        "name": ["page.css"],
        "do": ["next", "save", "submit", "skip", "review", "return", "withdraw", "agree", "yes"],
        "a0": ["0", "1"],
        "agree": ["0"],
        "lang": ["en", "de", "ar"],
        "invite": [invite],
    }
    arrival = {
        "hit": ["dialogue"], "hitId": ["H1"], "assignmentId": ["A1", "A2"], "workerId": ["AANN"],
        "turkSubmitTo": [ORIGIN],
    }  # fmt: skip
    shift = {"begins": ["2026-01-06T09:00"], "ends": ["2026-01-06T12:00"], "zone": ["Europe/Berlin"]}
    own = {"/work/i/": {"token": [invite], **shift}, "/work/mturk": arrival}

    def body(route: Route, dice: random.Random) -> Any:
        if not route.path.endswith("/events"):
            return None
        event = {"seq": 1, "kind": dice.choice(("shown", "input", "hidden")), "t": 5.0, "epoch": 1e12, "n": 1}
        return {"form": "x", "page": "tab1", "now": 10.0, "events": [event, event | {"seq": 2, "t": 7.0}]}

    sender = Sender(house.app, {"": []}, ids, sorted({*names, *numbered, *shift, *arrival}), body, own)
    return sender, list(walk(house.app.routes)), keeper(house.local._database.engine.url.database)


@contextmanager
def worker_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    monkeypatch.setattr("hmc_crowd_local.pages._visit.Visit.check_stamp", lambda visit, *_: visit.house.now())
    with pages() as scene:
        invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
        yield page_sender(scene.house, [scene.token], invite)


@contextmanager
def pages_before_the_work(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    """Five people, each one step further: consent, check, training, test, work; and the frame of a platform."""
    monkeypatch.setattr("hmc_crowd_local.pages._visit.Visit.check_stamp", lambda visit, *_: visit.house.now())
    with TemporaryDirectory() as folder:
        path = Path(shutil.copy(prepared(empty_workplace) / "empty.db", folder))
        house = make_house(path, VirtualClock(START), study=full_study(), submit_origin=ORIGIN)
        steps = [
            ("Your consent", {"agree": ["0", "1"], "do": "agree"}),
            ("What do you judge?", {"c0": "0", "c1": "1"}),
            ('name="place"', {"a0": "1"}),
            ('name="place"', {"a0": "0"}),
            ('name="place"', {"a0": "0"}),
        ]
        tokens = []
        for number in range(6):
            _, link = house.work(every_kind(redundancy=9), f"worker{number}")
            tokens.append(link.rpartition("/")[2])
            plain = Plain(house.client())
            plain.get(link)
            for form, fields in steps[:number]:
                plain.get(link)
                plain.send(form, **fields)
        house.local.open_order("dialogue", [dialogue(redundancy=1)])
        invite = Invites(house.local, secret=SECRET).issue("eve").token
        yield page_sender(house, tokens, invite)
        house.local.close()


@contextmanager
def mturk_workers(_patch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    with mturk() as scene:
        at = scene.ids
        request, _, _ = scene.workers.ask_qualification(at.test, ANN)
        ids = {
            "workerId": [ANN],
            "key": [scene.door.worker_key(ANN)],
            "assignmentId": [at.ann, at.bob, "ASSIGNMENT_ID_NOT_AVAILABLE"],
            "hitId": [at.hit, at.form, at.external, at.guarded, at.deleted, at.bobs_hit],
            "qualificationTypeId": [at.qualification, at.test],
            "requestId": [request],
            "q1": ["yes"],
            "name": ["page.css"],
        }

        def body(route: Route, dice: random.Random) -> Any:
            known = {name: dice.choice(values) for name, values in ids.items()}
            if route.path.endswith("/draft"):
                return known | {"fields": [["q", "x"], ["r", "y"]]}
            if route.path.endswith("/events"):
                return known | {
                    "events": [{"seq": 1, "kind": "shown", "t": 1.0, "item": "q"}, {"seq": 2, "kind": "input"}]
                }
            return None

        sender = Sender(scene.app, {"": []}, ids, field_names("adapters/hmc_crowd_local/mturk_api"), body)
        routes = [each for each in walk(scene.app.routes) if each.path != "/"]
        yield sender, routes, keeper(scene.door.database.engine.url.database)


@contextmanager
def mturk_api(_patch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    with mturk() as scene:
        at = scene.ids
        view = scene.door.call("main", "GetHIT", {"HITId": at.hit})["HIT"]
        ids: dict[str, list[Any]] = {
            "HITId": [at.hit, at.form, at.external, at.guarded, at.deleted],
            "AssignmentId": [at.ann, at.done],
            "WorkerId": [ANN, EVE],
            "WorkerIds": [ANN, EVE],
            "QualificationTypeId": [at.qualification, at.test, "00000000000000000071"],
            "HITTypeId": [view["HITTypeId"]],
            "Reward": ["0.05"],
            "BonusAmount": ["0.05"],
            "Question": [view["Question"], FORM, EXTERNAL],
            "Test": [FORM],
            "AnswerKey": [ANSWER_KEY],
            "Country": ["DE"],
            "Title": ["Judge"],
            "Name": [f"Name {n}" for n in range(100)],
            "UniqueRequestToken": [f"token {n}" for n in range(1000)],
            "PolicyName": ["ScoreMyKnownAnswers/2011-09-01", "SimplePlurality/2011-09-01"],
            "Destination": ["arn:aws:sns:us-east-1:123456789012:x", "https://sqs.us-east-1.amazonaws.com/1/x"],
        }
        numbers = {
            "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 86_400, "MaxAssignments": 2,
            "AutoApprovalDelayInSeconds": 600, "TestDurationInSeconds": 600, "MaxResults": 10, "IntegerValue": 50,
            "NumberOfAdditionalAssignments": 1, "AutoGrantedValue": 1, "RetryDelayInSeconds": 60, "IntegerValues": 2,
        }  # fmt: skip

        def body(route: Route, dice: random.Random) -> Any:
            shape = service_model().operation_model(route.operation).input_shape
            return shaped(shape, dice, lambda name: numbers.get(name) or known_in(ids, dice)(name))

        def sign(sent: Sent, route: Route) -> None:
            sent.headers = signed(scene.ids.key, route.operation, sent.body)

        routes = [Route("POST", "/", name) for name in sorted(operation_names())]
        yield (
            Sender(scene.app, {"": []}, ids, [], body, sign=sign),
            routes,
            keeper(scene.door.database.engine.url.database),
        )


def signed(key: tuple[str, str], operation: str, body: bytes) -> list[tuple[bytes, bytes]]:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    headers = {"X-Amz-Target": TARGET + operation, "Content-Type": "application/x-amz-json-1.1"}
    asked = AWSRequest("POST", f"{HERE}/", headers=headers, data=body)
    SigV4Auth(Credentials(*key), "mturk-requester", "us-east-1").add_auth(asked)
    found = [(name.lower().encode(), value.encode()) for name, value in asked.headers.items()]
    return [*found, (b"host", urlsplit(HERE).netloc.encode())]


def shaped(shape: Any, dice: random.Random, known: Callable[[str], Any], name: str = "") -> Any:
    """Return a value of a shape of the service model."""
    kind = shape.type_name
    if kind == "structure":
        needed = set(shape.required_members)
        return {
            key: shaped(each, dice, known, key)
            for key, each in shape.members.items()
            if key in needed or (dice.random() < 0.5 and key not in {"HITLayoutId", "HITLayoutParameters", "NextToken"})
        }
    if kind == "list":
        return [shaped(shape.member, dice, known, name) for _ in range(dice.choice((0, 1, 1, 2)))]
    if kind in {"integer", "long"}:
        return known(name) or dice.choice((0, 1, 2, 100, 3600, 86_400))
    if kind == "boolean":
        return dice.random() < 0.5
    if kind == "timestamp":
        return dice.choice((0, 1.8e9, 1.5e9))
    return known(name) or (dice.choice(shape.enum) if getattr(shape, "enum", None) else "x")


@contextmanager
def prolific_doors(_patch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    with prolific() as scene:
        ids = {name: [value] for name, value in scene.params.items()}
        event = json.loads(scene.event())

        def sign(sent: Sent, _route: Route) -> None:
            stamp = str(int(scene.clock.now().timestamp()))
            mark = sign_hook(HOOK_SECRET, stamp, sent.body)
            sent.headers += [
                (b"x-prolific-request-timestamp", stamp.encode()),
                (b"x-prolific-request-signature", mark.encode()),
            ]

        yield (
            Sender(scene.app, {"": []}, ids, sorted(ids), lambda *_: event, sign=sign),
            list(walk(scene.app.routes)),
            None,
        )


@contextmanager
def stand_in(_patch: pytest.MonkeyPatch) -> Iterator[tuple[Sender, list[Route], Any]]:
    with prolific() as scene:
        world = scene.lab.world
        app = make_standin(world, control=False)
        document = app.openapi()
        asks = httpx.Client(base_url=scene.lab.standin.api, headers={"Authorization": f"Token {world.token}"})
        made = asks.post(
            "submissions/bonus-payments/", json={"study_id": scene.study, "csv_bonuses": f"{scene.submission},1.00"}
        )
        bonus = made.json()["id"]
        group = asks.post("participant-groups/", json={"name": "g", "workspace_id": world.workspace}).json()["id"]
        asks.post("hooks/secrets/", json={"workspace_id": world.workspace})
        asked_hook = {
            "workspace_id": world.workspace,
            "event_type": "study.status.change",
            "target_url": "https://a.example",
        }
        hook = asks.post("hooks/subscriptions/", json=asked_hook).json()["results"][0]["id"]
        asks.close()
        ids = {
            **{name: [scene.study] for name in ("study", "study_id", "study_ids")},
            **{name: [scene.submission] for name in ("submission", "submission_id", "submission_ids")},
            **{name: [world.workspace] for name in ("workspace", "workspace_id")},
            **{name: [next(iter(world.projects))] for name in ("project", "project_id")},
            "participant_id": ["ann", "eve"],
            "action": ["PUBLISH", "STOP", "APPROVE", "REJECT"],
        }
        calls = {
            (path, method.upper()): call for path, calls in document["paths"].items() for method, call in calls.items()
        }

        def body(route: Route, dice: random.Random) -> Any:
            asked = calls[route.path, route.method].get("requestBody")
            if route.path == "/api/v1/studies/":
                return study | {"project": next(iter(world.projects))}
            if asked is None:
                return {}
            schema = asked["content"]["application/json"]["schema"]
            return drawn(schema, document.get("components", {}).get("schemas", {}), dice, known_in(ids, dice))

        study = world.study(scene.study).body.model_dump(mode="json", exclude_none=True)
        own = {
            f"/api/v1/{name}/": {"identity": [value]}
            for name, value in {
                "studies": scene.study,
                "submissions": scene.submission,
                "workspaces": world.workspace,
                "bulk-bonus-payments": bonus,
                "participant-groups": group,
                "hooks/subscriptions": hook,
            }.items()
        }
        names = sorted({each["name"] for call in calls.values() for each in call.get("parameters", ())})
        roles = {"requester": [(b"authorization", f"Token {world.token}".encode())], "": []}
        yield Sender(app, roles, ids, names, body, own), [Route(method, path) for path, method in calls], None


APPS = [
    board_pages,
    machine_api,
    worker_pages,
    pages_before_the_work,
    mturk_workers,
    mturk_api,
    prolific_doors,
    stand_in,
]


@pytest.mark.parametrize("n", MANY)
@pytest.mark.parametrize("opened", APPS)
def test_no_request_breaks_a_server(opened: Any, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(monkeypatch) as (sender, routes, put_back):
        assert routes
        found = broken(sender, routes, n=n, is_swept=True, between=put_back or (lambda: None))
    assert found[:MOST_SHOWN] == []


def test_every_route_that_is_served_is_among_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with board() as scene, connect(str(tmp_path / "w.db"), clock=VirtualClock(START)) as workplace:
        environment = {
            "HMC_CROWD_PROLIFIC_TOKEN": "t",
            "HMC_CROWD_PROLIFIC_URL": "http://127.0.0.1:9/api/v1/",
            "HMC_CROWD_PROLIFIC_WEBHOOK_SECRET": "s",
        }
        settings = ServeSettings(
            workplace, "http://127.0.0.1:8000", VirtualClock(START),
            database=str(scene.folder / "campaign.db"), environment=environment,
        )  # fmt: skip
        mounts = load_mounts(settings)
        served = {(each.method, each.path) for each in walk(make_app(mounts).routes)}
        for each in mounts:
            (each.close or (lambda: None))()
    walked = set()
    for opened in APPS:
        if opened is not stand_in:
            prefix = "/prolific" if opened is prolific_doors else ""
            with opened(monkeypatch) as (_, routes, _):
                walked |= {(each.method, prefix + each.path) for each in routes}
    assert served - walked == set()


def test_the_fuzz_finds_what_breaks() -> None:
    # Else the tests above would hold of anything: a server that trusts a number, and one that trusts a body.
    async def trusts(request: Any) -> Any:
        if request.method == "GET":
            return PlainTextResponse(str(int(request.query_params.get("id", "1"))))
        return PlainTextResponse(json.loads(await request.body())["name"])

    app = Starlette(routes=[Served("/x/{name}", trusts, methods=["GET", "POST"])])
    sender = Sender(app, {"": []}, {"id": ["1"], "name": ["a"]}, ["id"], lambda *_: {"name": "a"})
    routes = list(walk(app.routes))
    assert {each.method for each in routes} == {"GET", "POST"}
    for route in routes:
        assert broken(sender, [route], n=30)
    assert len(_fuzz.TEXTS) > 50
