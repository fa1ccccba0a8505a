"""Attacks on the pages of the MTurk door's workers."""

from __future__ import annotations

from functools import partial

from tests.attacks import attack, refused
from tests.attacks._mturk import ANN, BOB, EVE, MTurkScene, mturk

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
