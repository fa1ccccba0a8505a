"""Every address as every role: the OpenAPI document is walked, and nobody gets more than the table of roles says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jsonschema
import pytest
from board_house import LABELS, NAME

from hmc_crowd.board._app import _PAGES
from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.store import ROLES

if TYPE_CHECKING:
    from board_house import Board

#: path -> roles that get an answer; what is not here is for nobody.
ALLOWED = {
    "/allocate": {"owner"},
    "/answers": {"worker", "expert", "owner"},
    "/claim": {"worker", "expert"},
    "/give-back": {"worker", "expert"},
    "/webhooks": {"owner"},
    "/webhooks/end": {"owner"},
    "/queue": {"worker", "expert", "owner"},
    "/metrics": {"auditor", "reviewer", "owner"},
    "/healthz": {None, *ROLES},
}
BODIES: dict[str, Any] = {
    "/allocate": {"key": "k", "items": [{"item": "r1", "confidence": 0.5, "effort": 0.0, "risk": "low"}]},
    "/answers": {"key": "k", "answers": [{"item": "r1", "label": LABELS[0]}]},
}
BODIES["/claim"] = {"key": "k"}
BODIES["/give-back"] = {"key": "k", "items": ["r1"]}
BODIES["/webhooks"] = {"key": "k", "url": "http://127.0.0.1:9/x", "events": ["answer"]}
CALLS = [(path, method) for path, calls in openapi_document()["paths"].items() for method in calls]


def schema(name: str) -> dict[str, Any]:
    document = openapi_document()
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


def body_of(board: Board, path: str, method: str, key: str) -> Any:
    """A request that the path takes; each one has a key of its own."""
    if method == "get":
        return None
    if path == "/allocate":
        return {"key": key, "items": [{"item": f"item {key}", "confidence": 0.5, "effort": 0.0}]}
    if path == "/webhooks/end":
        made = board.program("owner").post("/api/webhooks", json=BODIES["/webhooks"] | {"key": f"hook {key}"})
        return {"key": key, "webhook": made.json()["webhook"]}
    return BODIES[path] | {"key": key}


@pytest.mark.parametrize(("path", "method"), CALLS)
def test_the_door_opens_for_these_roles_alone(board: Board, path: str, method: str) -> None:
    board.program("owner").post("/api/allocate", json=BODIES["/allocate"] | {"key": "first"})
    for role in (None, *ROLES):
        body = body_of(board, path, method, f"k {role}")
        if path == "/answers" and role in {"worker", "expert"}:
            board.program(role).post("/api/claim", json={"key": "before"})
        status = board.program(role).request(method.upper(), f"/api{path}", json=body).status_code
        assert status == (200 if role in ALLOWED[path] else 401 if role is None else 403), (path, role)


@pytest.mark.parametrize(("path", "method"), CALLS)
def test_every_reply_is_as_the_document_says(board: Board, path: str, method: str) -> None:
    owner = board.program("owner")
    owner.post("/api/allocate", json=BODIES["/allocate"] | {"key": "first"})
    asked = owner if "owner" in ALLOWED[path] else board.program("worker")
    reply = asked.request(method.upper(), f"/api{path}", json=body_of(board, path, method, "k"))
    content = openapi_document()["paths"][path][method]["responses"]["200"]["content"]
    if "application/json" in content:
        name = content["application/json"]["schema"]["$ref"].rsplit("/", 1)[-1]
        jsonschema.validate(reply.json(), schema(name))
    refused = board.program("auditor" if path != "/metrics" else "worker").request(method.upper(), f"/api{path}")
    if refused.status_code != 200:
        jsonschema.validate(refused.json(), schema("Problem"))


@pytest.mark.parametrize("page", _PAGES, ids=[f"{method} /{path}" for path, _, _, method in _PAGES])
def test_a_page_opens_for_these_roles_alone(board: Board, page: Any) -> None:
    path, _, right, method = page
    see = {"auditor", "reviewer", "owner"}
    allowed = {
        "enter": {"expert", *see},
        "see": see,
        "review": {"reviewer", "owner"},
        "pay": {"owner"},
        "hooks": {"owner"},
        "links": {"owner"},
        "labels": {"reviewer", "owner"},
        "adjudicate": {"expert"},
        "audit": {"auditor"},
    }[right]
    where = f"/board/{path}".replace("{campaign}", quote(NAME))
    with board.house.store.read() as tx:
        before = tx.work.submissions(1)
    for role in ("expert", "auditor", "reviewer", "owner"):
        reply = board.browser(role).request(method, where)
        if role not in allowed or method == "POST":
            # Without the mark of a form, a POST changes nothing for anybody.
            assert reply.status_code == 403
        else:
            assert reply.status_code in {200, 404}
    assert board.browser().request(method, where).status_code == 303
    with board.house.store.read() as tx:
        assert tx.work.submissions(1).equals(before)


@pytest.mark.parametrize(
    "key", ["", "x", "hmck_", "hmck__", "hmck_000000000000_x", "hmck_é_x", "hmck_a\x7f_x", "x" * 5000]
)
def test_a_wrong_key_is_refused(board: Board, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}".encode()}
    assert board.program(None).get("/api/queue", headers=headers).status_code == 401


def test_a_key_is_stored_as_its_hash_alone(board: Board) -> None:
    secret = board.key("owner").split("_", 2)[2]
    with board.house.store.begin() as tx:
        url = tx.keys.all()[0]
    assert secret not in repr(url)
    board.house.store.flush_log()
    path = board.house.store.url.removeprefix("sqlite:///")
    assert secret.encode() not in Path(path).read_bytes()
