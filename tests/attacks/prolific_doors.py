"""Attacks on the addresses that Prolific's people and machines reach."""

from __future__ import annotations

from functools import partial

import httpx

from tests.attacks import attack, refused
from tests.attacks._prolific import SECRET, ProlificScene, prolific, sign

at = partial(attack, "Prolific", scene=prolific)


@at("another's session under one's own name", defence="Prolific itself says whose a submission is")
def _(scene: ProlificScene) -> None:
    refused(scene.arrive(PROLIFIC_PID="eve"))


@at("a delivery that is not signed", defence="a signature over the bytes that came")
def _(scene: ProlificScene) -> None:
    refused(scene.client.post("/hook", content=scene.event()))


@at("one signed delivery sent again under forty other ids", defence="known by its signature", stores="the first one")
def _(scene: ProlificScene) -> None:
    body = scene.event()
    for number in range(40):
        assert scene.deliver(
            body, at=str(int(scene.clock.now().timestamp())), **{"X-Event-ID": f"e{number}"}
        ).is_success
    assert len(scene.workplace.inbox("prolific").pending()) == 1


@at("a delivery of two days ago", defence="a window of 24 hours, signed")
def _(scene: ProlificScene) -> None:
    for days in (2, -2, 9_999):
        refused(scene.deliver(scene.event(), at=str(int(scene.clock.now().timestamp() - days * 86_400))))


@at("a signed delivery with another timestamp", defence="the timestamp is signed")
def _(scene: ProlificScene) -> None:
    stamp = str(int(scene.clock.now().timestamp()) + 1)
    refused(scene.deliver(scene.event(), **{"X-Prolific-Request-Timestamp": stamp}))


@at("sixty arrivals of one forged session", defence="one question to Prolific, and no work")
def _(scene: ProlificScene) -> None:
    before = len(scene.lab.world.calls)
    for number in range(60):
        refused(scene.arrive(SESSION_ID="nobody", PROLIFIC_PID=f"mallory{number}"))
    assert len(scene.lab.world.calls) - before <= 1


@at("a delivery signed with another secret", defence="a signature over the bytes that came")
def _(scene: ProlificScene) -> None:
    for secret in ("another secret", SECRET[:-1], SECRET.upper(), "x"):
        refused(scene.deliver(scene.event(), secret=secret))


@at("a delivery whose body was changed after it was signed", defence="a signature over the bytes that came")
def _(scene: ProlificScene) -> None:
    stamp = str(int(scene.clock.now().timestamp()))
    right = sign(SECRET, stamp, scene.event())
    for body in (scene.event(resource_id="x"), b"{}", b""):
        headers = {"X-Prolific-Request-Timestamp": stamp, "X-Prolific-Request-Signature": right}
        refused(scene.client.post("/hook", content=body, headers=headers))


for _stamp in ("", "now", "²", "9" * 400, "nan", "-1", "0", "9999-12-31T23:59:59+00:00", "2026-01-05T09:00:00"):

    @at(f"a delivery whose time is {_stamp[:30]!r}", defence="times are read strictly, within a day")
    def _(scene: ProlificScene, stamp: str = _stamp) -> None:
        mark = sign(SECRET, stamp, b"{}")
        headers = {"X-Prolific-Request-Timestamp": stamp.encode(), "X-Prolific-Request-Signature": mark.encode()}
        refused(scene.client.post("/hook", content=b"{}", headers=headers))


for _what, _body in {
    "no object": b"[]", "no JSON": b"{", "bytes": b"\xff", "nothing": b"", "no names": b"{}",
    "half a character": b'{"event_type": "\\ud800", "resource_id": "x"}',
    "numbers in place of names": b'{"event_type": 5, "resource_id": 6}',
    "NUL": b'{"event_type": "a\\u0000", "resource_id": "x"}',
    "nested without end": b"[" * 50_000, "more than a megabyte": b" " * 1_100_000,
}.items():  # fmt: skip

    @at(f"a signed delivery that is {_what}", defence="an event has a form")
    def _(scene: ProlificScene, body: bytes = _body) -> None:
        refused(scene.deliver(body))


for _what, _value in {
    "nobody's": "nobody", "nothing": "", "a path": "../studies", "an address": "http://127.0.0.1:9",
    "markup": "<script>alert(1)</script>",
    "5,000 letters": "a" * 5000, "digits of another script": "٣٣", "a line break": "a\r\nX: y",
    "an expression": "' OR 1=1 --",
}.items():  # fmt: skip

    @at(f"an arrival whose ids are {_what}", defence="ids have a form, and Prolific itself confirms them")
    def _(scene: ProlificScene, value: str = _value) -> None:
        for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"):
            reply = scene.arrive(**{name: value})
            refused(reply)
            assert "location" not in reply.headers
            assert "<script>alert(1)" not in reply.text


@at("the API of the stand-in without its token", defence="a token, whole")
def _(scene: ProlificScene) -> None:
    client = scene.recording(httpx.Client(base_url=scene.lab.standin.api, trust_env=False))
    token = scene.lab.world.token
    for header in (None, "", "Token", "Token x", f"Bearer {token}", f"Token {token}x", f"token {token[:-1]}"):
        headers = {} if header is None else {"Authorization": header}
        for path in ("studies/", f"submissions/{scene.submission}/", "workspaces/", "hooks/secrets/", "messages/"):
            refused(client.get(path, headers=headers))
        sent = {"action": "APPROVE"}
        refused(client.post(f"submissions/{scene.submission}/transition/", headers=headers, json=sent))
    client.close()
