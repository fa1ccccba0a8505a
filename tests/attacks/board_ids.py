"""Attacks on the board and the machine API with ids, keys and cookies that are another's, or nobody's."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from tests.attacks import attack, refused
from tests.attacks._board import NAME, BoardScene, board

from hmc_crowd.board._render import slug  # isort: skip

on_board = partial(attack, "board", scene=board)
at_api = partial(attack, "machine API", scene=board)
CAMPAIGN = f"/board/c/{quote(slug(NAME), safe='')}"


@at_api("an item that the machine kept, answered by a worker", defence="who answers holds the item")
def _(scene: BoardScene) -> None:
    for item in scene.kept:
        refused(scene.program("worker").post("/api/answers", json=scene.body(answers=[{"item": item, "label": "bad"}])))


@on_board("a page without a sign-in", defence="everybody signs in first")
def _(scene: BoardScene) -> None:
    for path in ("", "/item?id=i00", "/webhooks", "/experts", "/sample", f"/submission?id={scene.submission}"):
        reply = scene.browser().get(CAMPAIGN + path)
        assert reply.status_code == 303
        assert reply.headers["location"].startswith("/board/sign-in")
