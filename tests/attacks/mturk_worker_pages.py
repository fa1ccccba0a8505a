"""Attacks on the pages of the MTurk door's workers."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.attacks import attack, refused
from tests.attacks._mturk import ANN, BOB, DRAFT, EVE, MTurkScene, mturk

at = partial(attack, "MTurk worker pages", scene=mturk)


@at("another's link without its key", defence="a worker's link carries a key")
def _(scene: MTurkScene) -> None:
    for path in ("hits", "accept", "preview", "draft", "qualification"):
        for key in ("", "x", scene.who(EVE)["key"]):
            asked = {"workerId": ANN, "key": key, "hitId": scene.ids.hit, "assignmentId": scene.ids.ann}
            refused(scene.client.get(f"/mturk/{path}", params=asked))


@at("another's draft read under one's own link", defence="a draft is its worker's")
def _(scene: MTurkScene) -> None:
    refused(scene.client.get("/mturk/draft", params={**scene.who(), "assignmentId": scene.ids.bob}))


@at("another's draft overwritten under one's own link", defence="a draft is its worker's")
def _(scene: MTurkScene) -> None:
    sent = {**scene.who(), "assignmentId": scene.ids.bob, "fields": [["q", "mine"]]}
    refused(scene.client.post("/mturk/draft", json=sent))


@at("another's assignment given back", defence="an assignment is its worker's")
def _(scene: MTurkScene) -> None:
    refused(scene.client.post("/mturk/return", data={**scene.who(), "assignmentId": scene.ids.bob}))
    refused(scene.client.post("/mturk/return", data={"workerId": BOB, "assignmentId": scene.ids.bob}))


ESCAPES = {
    "a group of a regular expression": "\\g<0>",
    "an octal escape": "\\074script\\076alert(1)\\074/script\\076",
    "a hexadecimal one": "\\x3cscript\\x3e",
    "a back-reference": "\\1",
    "a lone backslash": "\\",
    "markup": '"><script>alert(1)</script>',
    "an event": '" onload="alert(1)',
    "a line break": "A\r\nSet-Cookie: x=1",
    "NUL": "A\x00",
    "5,000 letters": "A" * 5000,
    "a template": "{{7*7}}",
    "letters of other scripts": "Ａ１",
    "half a form": "<form action=https://evil.example.org>",
    "an entity": "&lt;script&gt;",
    "a path": "../../etc/passwd",
}
for _name, _text in ESCAPES.items():

    @at(
        f"an assignmentId that is {_name}, in frame and submission",
        defence="ids have a form; pages are built of pieces",
    )
    def _(scene: MTurkScene, text: str = _text) -> None:
        for hit_id in (scene.ids.hit, scene.ids.form, scene.ids.external):
            reply = scene.client.get("/mturk/content", params={"hitId": hit_id, "assignmentId": text})
            refused(reply)
            for bad in ("<script>alert(1)", 'onload="alert', "<form action=https"):
                assert bad not in reply.text
            assert "set-cookie" not in reply.headers
        refused(scene.client.post("/mturk/externalSubmit", data={"assignmentId": text, "q": "x"}))

    @at(f"a workerId or key that is {_name}", defence="ids have a form, keys are compared as bytes")
    def _(scene: MTurkScene, text: str = _text) -> None:
        for path in ("hits", "preview", "accept", "draft", "qualification"):
            for who in (
                {"workerId": text, "key": text},
                {"workerId": EVE, "key": text},
                {"workerId": text, "key": scene.who()["key"]},
            ):
                reply = scene.client.get(
                    f"/mturk/{path}", params={**who, "hitId": scene.ids.hit, "assignmentId": scene.ids.ann}
                )
                refused(reply)
                assert "<script>alert(1)" not in reply.text
        refused(scene.client.post("/mturk/return", data={"workerId": EVE, "key": text, "assignmentId": scene.ids.ann}))

    @at(
        f"a HIT, group or qualification whose id is {_name}",
        defence="what is not there is refused, and not shown again as markup",
    )
    def _(scene: MTurkScene, text: str = _text) -> None:
        for path, name in (
            ("preview", "hitId"),
            ("preview", "groupId"),
            ("accept", "hitId"),
            ("accept", "groupId"),
            ("content", "hitId"),
            ("qualification", "qualificationTypeId"),
        ):
            reply = scene.client.get(f"/mturk/{path}", params={**scene.who(), name: text})
            refused(reply)
            assert "<script>alert(1)" not in reply.text
            assert 'onload="alert' not in reply.text


for _what, _params in {
    "an annotation": {"annotation": "batch 1"},
    "an annotation of a deleted HIT": {"annotation": "gone"},
    "a title": {"title": "Judge"},
    "nothing": {},
    "an empty group": {"groupId": ""},
}.items():

    @at(f"HITs found by {_what}", defence="groups and HITs are found by id")
    def _(scene: MTurkScene, params: dict[str, str] = _params) -> None:
        for who in ({}, scene.who()):
            refused(scene.client.get("/mturk/preview", params={**who, **params}))
            refused(scene.client.get("/mturk/accept", params={**who, **params}))


for _which in ("guarded", "deleted"):
    for _path in ("preview", "content", "accept"):

        @at(f"a {_which} HIT at /{_path}, with and without a link", defence="guarded or deleted means not shown")
        def _(scene: MTurkScene, which: str = _which, path: str = _path) -> None:
            hit_id = getattr(scene.ids, which)
            for who in ({}, scene.who(), {"workerId": EVE}):
                for assignment in (
                    {},
                    {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"},
                    {"assignmentId": scene.ids.ann},
                ):
                    refused(scene.client.get(f"/mturk/{path}", params={**who, **assignment, "hitId": hit_id}))


@at("a guarded HIT in the list of work", defence="guarded HITs are not discovered")
def _(scene: MTurkScene) -> None:
    reply = scene.client.get("/mturk/hits", params=scene.who())
    assert reply.status_code == 200
    assert scene.ids.guarded not in reply.text
    assert scene.ids.deleted not in reply.text


@at("another's work handed in under one's own link", defence="an assignment is its worker's")
def _(scene: MTurkScene) -> None:
    for name in (scene.ids.ann, scene.ids.bob):
        refused(scene.client.post("/mturk/externalSubmit", data={**scene.who(), "assignmentId": name, "q": "x"}))


@at("another's content by one's own HIT's frame", defence="a frame shows an assignment of its HIT")
def _(scene: MTurkScene) -> None:
    reply = scene.client.get("/mturk/content", params={"hitId": scene.ids.hit, "assignmentId": scene.ids.bob})
    refused(reply)
    assert DRAFT not in reply.text


@at("another's events", defence="events are of the work's own page")
def _(scene: MTurkScene) -> None:
    for who in (scene.who(), {"workerId": ANN, "key": ""}, {}):
        sent = {**who, "assignmentId": scene.ids.ann, "events": [{"seq": 1, "kind": "shown", "t": 1.0}]}
        refused(scene.client.post("/mturk/events", json=sent))


@at("another's test", defence="a request for a qualification is its worker's", stores="the request that the test is of")
def _(scene: MTurkScene) -> None:
    request, _, _ = scene.workers.ask_qualification(scene.ids.test, BOB)
    before = scene.stored()
    sent = {**scene.who(), "qualificationTypeId": scene.ids.test, "requestId": request, "q1": "yes"}
    refused(scene.client.post("/mturk/test", data=sent))
    assert scene.stored() == before


for _name, _body in {
    "no object": b"[]",
    "a number": b"5",
    "no fields": b'{"fields": 5}',
    "fields of numbers": b'{"fields": [5, [1, 2]]}',
    "bytes": b"\xff",
    "nested without end": b"[" * 60_000,
    "NaN": b'{"fields": NaN}',
    "a pair too long": b'{"fields": [["a", "b", "c"]]}',
    "a million of fields": b'{"fields": [' + b'["a","b"],' * 20_000 + b'["a","b"]]}',
}.items():

    @at(f"a draft that is {_name}", defence="a draft is pairs of text, so many at most")
    def _(scene: MTurkScene, body: bytes = _body) -> None:
        refused(scene.client.post("/mturk/draft", content=body))
        if body.startswith(b'{"fields"'):
            who = json.dumps({**scene.who(ANN), "assignmentId": scene.ids.ann})[1:-1].encode()
            reply = scene.client.post("/mturk/draft", content=b"{" + who + b", " + body[1:])
            refused(reply)


for _name, _event in {
    "a kind that there is not": {"kind": "x"}, "no number": {"seq": "1"}, "a number below 0": {"seq": -1},
    "a number too large": {"seq": 2**31},
    "half a number": {"seq": 1.5}, "a truth": {"seq": True},
}.items():  # fmt: skip

    @at(f"an event with {_name}", defence="events have a form")
    def _(scene: MTurkScene, event: dict[str, Any] = _event) -> None:
        sent = {
            **scene.who(ANN),
            "assignmentId": scene.ids.ann,
            "events": [{"seq": 1, "kind": "shown", "t": 1.0, **event}],
        }
        refused(scene.client.post("/mturk/events", json=sent))


@at("a thousand and one events, and no list of them", defence="so many at most")
def _(scene: MTurkScene) -> None:
    many = [{"seq": n, "kind": "shown", "t": 1.0} for n in range(1001)]
    for events in (many, {}, "x", 5, None):
        refused(
            scene.client.post("/mturk/events", json={**scene.who(ANN), "assignmentId": scene.ids.ann, "events": events})
        )


@at("a frame that hands in elsewhere", defence="the frame's target is this workplace")
def _(scene: MTurkScene) -> None:
    for to in (
        "https://evil.example.org",
        "http://127.0.0.1:9",
        "//evil.example.org",
        "http://127.0.0.1:8000.evil.example.org",
        "http://[",
    ):
        reply = scene.client.get(
            "/mturk/content", params={"hitId": scene.ids.hit, "assignmentId": scene.ids.ann, "turkSubmitTo": to}
        )
        refused(reply)
        assert "evil" not in reply.text


@at("a requester's page with the power of ours", defence="a requester's page is sandboxed")
def _(scene: MTurkScene) -> None:
    for hit_id in (scene.ids.hit, scene.ids.form):
        policy = scene.client.get("/mturk/content", params={"hitId": hit_id}).headers["content-security-policy"]
        assert "sandbox" in policy
        assert "allow-same-origin" not in policy
        assert "frame-ancestors" in policy


@at("our pages in another's frame", defence="headers of every page")
def _(scene: MTurkScene) -> None:
    for path in (f"preview?hitId={scene.ids.hit}", "hits?workerId=x", "nowhere"):
        headers = scene.client.get(f"/mturk/{path}").headers
        assert path == "nowhere" or headers["x-frame-options"] == "DENY"


@at("files outside the folder of ours", defence="files by their exact names")
def _(scene: MTurkScene) -> None:
    for name in (
        "..%2f_app.py",
        "../page.css",
        "%2e%2e/%2e%2e/_front.py",
        "..%5c_front.py",
        "page.css%00",
        "%2fetc%2fpasswd",
    ):
        refused(scene.client.get(f"/mturk/static/{name}"))


@at("a form of a megabyte and more, and of too many fields", defence="limits before anything is read")
def _(scene: MTurkScene) -> None:
    for path in ("externalSubmit", "return", "test"):
        refused(scene.client.post(f"/mturk/{path}", content=b"q=" + b"x" * 1_100_000))
        refused(scene.client.post(f"/mturk/{path}", content=b"&".join(b"f%d=x" % n for n in range(20_000))))


@at("a preview that is handed in", defence="a preview claims nothing")
def _(scene: MTurkScene) -> None:
    for name in ("ASSIGNMENT_ID_NOT_AVAILABLE", "", scene.ids.hit, scene.ids.qualification):
        refused(scene.client.post("/mturk/externalSubmit", data={"assignmentId": name, "q": "x"}))


@at("paid work handed in again, with other answers", defence="states go one way")
def _(scene: MTurkScene) -> None:
    scene.client.post("/mturk/externalSubmit", data={**scene.who(ANN), "assignmentId": scene.ids.done, "q": "no"})


@at("another's link that was revoked", defence="links are revoked by command and board", stores="the revocation")
def _(scene: MTurkScene) -> None:
    key = scene.who(EVE)
    assert scene.client.get("/mturk/hits", params=key).status_code == 200
    scene.door.revoke_worker_key(EVE)
    refused(scene.client.get("/mturk/hits", params=key))
