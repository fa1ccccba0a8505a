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
