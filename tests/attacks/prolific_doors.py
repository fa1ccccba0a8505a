"""Attacks on the addresses that Prolific's people and machines reach."""

from __future__ import annotations

from functools import partial

from tests.attacks import attack, refused
from tests.attacks._prolific import ProlificScene, prolific

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
