"""Attacks on the machine API: keys that may not, ids of others, bodies that are not what they say."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.board._roles import may
from hmc_crowd.store import ROLES
from tests.attacks import attack, refused
from tests.attacks._board import KEPT, NAME, OTHER, QUEUED, BoardScene, board

at = partial(attack, "machine API", scene=board)
RIGHTS = {
    "/allocate": "allocate", "/claim": "claim", "/give-back": "claim", "/answers": "answer", "/webhooks": "hooks",
    "/webhooks/end": "hooks", "/queue": "queue", "/metrics": "metrics",
}  # fmt: skip
CALLS = [
    (path, method)
    for path, calls in openapi_document()["paths"].items()
    for method in calls
    if path not in {"/healthz", "/openapi.json"}
]


def valid(scene: BoardScene, path: str) -> dict[str, Any]:
    """A body that does something, from whoever may."""
    fields: dict[str, Any] = {
        "/allocate": {"items": [{"item": "n1", "confidence": 0.5, "effort": 0.0, "risk": "low"}]},
        "/claim": {"limit": 100},
        "/give-back": {"items": ["w-item", "e-item"]},
        "/answers": {"answers": [{"item": "w-item", "label": "good"}]},
        "/webhooks": {"url": "http://127.0.0.1:9/x", "events": ["answer"]},
        "/webhooks/end": {"webhook": scene.hook},
    }.get(path, {})
    return scene.body(**fields)


def call(scene: BoardScene, program: Any, path: str, method: str, **options: Any) -> Any:
    if method == "post":
        return program.post(f"/api{path}", json=valid(scene, path), **options)
    return program.get(f"/api{path}", params={"campaign": NAME} if path == "/queue" else {}, **options)


def _with_no_key(path: str, method: str) -> Any:
    def act(scene: BoardScene) -> None:
        owner = scene.keys["owner"]
        for header in (
            None, "", "Bearer", "Bearer ", f"Basic {owner}", f"Token {owner}", owner, f"Bearer {owner[:-1]}",
            f"Bearer {owner}x", f"Bearer {owner} {owner}",
            "Bearer é", "Bearer %", "Bearer ' OR 1=1 --", f"Bearer {scene.key_ids['owner']}",
        ):  # fmt: skip
            headers = {} if header is None else {"Authorization": header.encode("utf-8")}
            reply = call(scene, scene.program(), path, method, headers=headers)
            assert reply.status_code == 401, (header, reply.status_code)

    return act


def _without_right(path: str, method: str) -> Any:
    def act(scene: BoardScene) -> None:
        for role in ROLES:
            if not may(role, RIGHTS[path]):
                assert call(scene, scene.program(role), path, method).status_code == 403, role

    return act


def _revoked(path: str, method: str) -> Any:
    def act(scene: BoardScene) -> None:
        role = next(each for each in ("worker", "reviewer", "owner") if may(each, RIGHTS[path]))
        with scene.board.house.store.begin() as tx:
            record, key = tx.keys.issue(role)
        program = scene.program(key=key)
        assert call(scene, program, "/metrics" if role == "reviewer" else "/queue", "get").status_code == 200
        with scene.board.house.store.begin() as tx:
            tx.keys.revoke(record.id)
        before = scene.stored()
        assert call(scene, program, path, method).status_code == 401
        assert scene.stored() == before

    return act


def _bad_body(path: str) -> Any:
    def act(scene: BoardScene) -> None:
        role = next(each for each in ("worker", "owner") if may(each, RIGHTS[path]))
        right = valid(scene, path)
        wrong = [b"", b"[]", b"null", b"{", b"\xff", b'{"key": NaN}', b"[" * 50_000, json.dumps([right]).encode()]
        wrong += [
            json.dumps({**right, **odd}).encode()
            for odd in (
                {"key": None}, {"key": ""}, {"key": 5}, {"key": "x" * 201}, {"key": "a\x00"}, {"campaign": 5},
                {"unknown": 1}, {"campaign": "none"}, {"campaign": ["x"]},
            )
        ]  # fmt: skip
        for body in wrong:
            refused(scene.program(role).post(f"/api{path}", content=body))

    return act


for _path, _method in CALLS:
    _name = f"{_method.upper()} {_path}"
    at(f"without a key: {_name}", defence="a key, whole")(_with_no_key(_path, _method))
    at(f"by roles without the right: {_name}", defence="one table of roles and rights")(_without_right(_path, _method))
    at(f"with a key that was revoked: {_name}", defence="keys are looked at with each job", stores="the revocation")(
        _revoked(_path, _method)
    )
    if _method == "post":
        at(f"a body that is not what it says: {_name}", defence="what the document says, and nothing else")(
            _bad_body(_path)
        )


@at("an item that the machine kept, answered by a worker", defence="who answers holds the item")
def _(scene: BoardScene) -> None:
    for item in scene.kept:
        refused(scene.program("worker").post("/api/answers", json=scene.body(answers=[{"item": item, "label": "bad"}])))


for _role in ("worker", "expert"):
    for _item, _holder in (
        ("w-item", "another worker"),
        ("e-item", "an expert"),
        ("i20", "the campaign's round"),
        ("nowhere", "nobody"),
    ):

        @at(f"an item of {_holder}, answered by a {_role} without a claim", defence="claim first")
        def _(scene: BoardScene, role: str = _role, item: str = _item) -> None:
            for label in ("good", "bad"):
                sent = scene.body(answers=[{"item": item, "label": label}])
                refused(scene.program(role).post("/api/answers", json=sent))

        @at(
            f"an item of {_holder}, given back by a {_role}",
            defence="one gives back what one holds",
            stores="the reply is kept",
        )
        def _(scene: BoardScene, role: str = _role, item: str = _item) -> None:
            before = scene.stored()["campaign.db", "queue_place"]
            reply = scene.program(role).post("/api/give-back", json=scene.body(items=[item]))
            assert reply.status_code >= 400 or reply.json()["given_back"] == 0
            assert scene.stored()["campaign.db", "queue_place"] == before


@at(
    "what others hold, or the machine kept, in the line and in claims",
    defence="held items are not handed out",
    stores="claims",
)
def _(scene: BoardScene) -> None:
    for role in ("worker", "expert"):
        for reply in (
            scene.program(role).get("/api/queue", params={"campaign": NAME, "limit": 1000}),
            scene.program(role).post("/api/claim", json=scene.body(limit=100, lease_s=86_400)),
        ):
            assert reply.status_code == 200
            assert not {"w-item", "e-item", *scene.kept} & {row["item"] for row in reply.json()["items"]}
            assert QUEUED not in reply.text


@at("an answer in another worker's name", defence="a worker's key answers as itself")
def _(scene: BoardScene) -> None:
    for role in ("worker", "expert"):
        for who in (scene.key_ids["holder worker"], "ann", ""):
            sent = scene.body(answers=[{"item": "w-item", "label": "bad", "worker": who}])
            refused(scene.program(role).post("/api/answers", json=sent))


@at("another's reply by his client key", defence="client keys are each holder's own", stores="the claim")
def _(scene: BoardScene) -> None:
    body = {"key": "fill", "campaign": NAME, "lease_s": 86_400, "limit": 50}
    for role in ("worker", "expert"):
        assert QUEUED not in scene.program(role).post("/api/claim", json=body).text


@at("another request under a key that was used", defence="a client key is one request")
def _(scene: BoardScene) -> None:
    held = scene.program("holder worker")
    sent = {"key": "fill", "campaign": NAME, "lease_s": 86_400, "limit": 49}
    refused(held.post("/api/claim", json=sent))


for _label in ("excellent", "", " good", "GOOD", "good\x00", "<b>good</b>", "=1+1", 1, None, ["good"], {"good": 1}):

    @at(f"a label that nobody asked for: {str(_label)!r}", defence="the campaign's labels only")
    def _(scene: BoardScene, label: Any = _label) -> None:
        sent = scene.body(answers=[{"item": "w-item", "label": label}])
        refused(scene.program("holder worker").post("/api/answers", json=sent))


@at("one item answered twice in one request", defence="an answer once")
def _(scene: BoardScene) -> None:
    sent = scene.body(answers=[{"item": "w-item", "label": "good"}, {"item": "w-item", "label": "bad"}])
    refused(scene.program("holder worker").post("/api/answers", json=sent))


for _number in (-1, 0, 101, 10**9, 1.5, "5", True, [5], float("1e308")):

    @at(f"a claim of {_number!r} items, or for as many seconds", defence="whole numbers in a range")
    def _(scene: BoardScene, number: Any = _number) -> None:
        refused(scene.program("worker").post("/api/claim", json=scene.body(limit=number)))
        refused(scene.program("worker").post("/api/claim", json=scene.body(lease_s=29 if number == 101 else number)))


for _field, _values in {
    "confidence": (-0.1, 1.1, "0.5", True, [0.5], 10**400), "effort": (-1, 1e13, "1", 10**400),
    "risk": ("extreme", 1, ""), "urgency": (0, 6, 1.5, "1"), "skills": ("x", [1], ["x"] * 21),
    "due_at": ("tomorrow", "2026-01-07T09:00:00", 5, "9999-99-99"),
    "item": ("", "a\x00", 5, "x" * 501), "text": (5, "a\x00", ["x"]), "complexity": (-1, 2, "1"), "owner": ("me",),
}.items():  # fmt: skip

    @at(f"an item for allocation whose {_field} is odd", defence="what the document says, before anything is decided")
    def _(scene: BoardScene, field: str = _field, values: Any = _values) -> None:
        for value in values:
            item = {"item": "n1", "confidence": 0.5, "effort": 0.0, "risk": "low", field: value}
            refused(scene.program("owner").post("/api/allocate", json=scene.body(items=[item])))


@at("one item twice in an allocation, and ten thousand and one", defence="limits of a request")
def _(scene: BoardScene) -> None:
    item = {"item": "n1", "confidence": 0.5, "effort": 0.0, "risk": "low"}
    many = [{**item, "item": f"n{n}"} for n in range(10_001)]
    for items in ([item, item | {"confidence": 0.9}], many, [], {"item": "x"}):
        refused(scene.program("owner").post("/api/allocate", json=scene.body(items=items)))


@at("an allocation into a campaign without a plan", defence="state is asked before anything is stored")
def _(scene: BoardScene) -> None:
    item = {"item": "n1", "confidence": 0.5, "effort": 0.0}
    refused(scene.program("owner").post("/api/allocate", json=scene.body(items=[item], campaign=OTHER)))


@at("a webhook that is another's ended, or nobody's", defence="the owner's only, by its id")
def _(scene: BoardScene) -> None:
    for name in ("hook_0", "", "%", "' OR 1=1 --", scene.hook + "x", scene.hook.upper()):
        refused(scene.program("owner").post("/api/webhooks/end", json=scene.body(webhook=name)))
    refused(scene.program("owner").post("/api/webhooks/end", json=scene.body(webhook=scene.hook, campaign=OTHER)))


@at("a webhook's secret, asked for again", defence="secrets are told once")
def _(scene: BoardScene) -> None:
    assert "whsec_" not in scene.program("owner").get("/api/webhooks", params={"campaign": NAME}).text


for _url in (
    "ftp://example.org/x", "javascript:alert(1)", "file:///etc/passwd", "http://", "https://user:pass@example.org/x",
    "http://example.org/x", "//example.org/x", "https://exa mple.org", "https://example.org:99999/x",
    "gopher://x", "", "x" * 3000,
):  # fmt: skip

    @at(f"a webhook to {_url[:40]!r}", defence="https addresses without names and passwords")
    def _(scene: BoardScene, url: str = _url) -> None:
        refused(scene.program("owner").post("/api/webhooks", json=scene.body(url=url, events=["alert"])))


@at("a webhook for events that there are not", defence="known events only")
def _(scene: BoardScene) -> None:
    for events in ([], ["*"], ["alert", "x"], "alert", [1], {"alert": 1}, None):
        refused(
            scene.program("owner").post("/api/webhooks", json=scene.body(url="https://example.org/x", events=events))
        )


@at("figures of campaigns for a worker or an expert", defence="metrics are a right of their own")
def _(scene: BoardScene) -> None:
    for path in ("/metrics", "/api/metrics"):
        for role in (None, "worker", "expert"):
            reply = scene.program(role, key=None).get(path)
            refused(reply)
            assert NAME not in reply.text


@at("a body of nine megabytes, and one that lies about its size", defence="limits before anything is read")
def _(scene: BoardScene) -> None:
    owner = scene.program("owner")
    refused(owner.post("/api/allocate", content=b'{"key":"' + b"x" * (9 << 20) + b'"}'))
    for length in ("-1", "9" * 30, "1e3", "0x10"):
        refused(owner.post("/api/allocate", content=b"{}", headers={"Content-Length": length}))


@at("the health of the server tells nothing", defence="one word to anybody")
def _(scene: BoardScene) -> None:
    for path in ("/healthz", "/api/healthz"):
        assert scene.program().get(path).json() == {"status": "ok"}


@at("a cookie of the board in place of a key", defence="programs show keys")
def _(scene: BoardScene) -> None:
    reply = scene.browser("owner").post("/api/allocate", json=valid(scene, "/allocate"))
    assert reply.status_code == 401
    assert KEPT not in reply.text
