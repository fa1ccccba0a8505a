"""A campaign may have any name: its pages are found all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from board_house import HOSTILE, forms
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.board._render import name_of, slug
from hmc_crowd.store import AspectRecord

if TYPE_CHECKING:
    from board_house import Board


def make(board: Board, name: str) -> None:
    with board.house.store.begin() as tx:
        made = tx.campaigns.create(name, {"currency": "USD", "seed": 1, "uid": "u"}, created_at=board.clock.now())
        tx.campaigns.add_aspect(made.id, AspectRecord("label", "nominal", ("a", "b")))


@given(st.text(min_size=1))
def test_a_name_written_into_a_path_is_read_back(name: str) -> None:
    written = slug(name)
    assert name_of(written) == name
    assert "/" not in written
    assert written not in {".", ".."}


@pytest.mark.parametrize("name", ["tone/2026", "a~1b", "..", ".", "100%", "a/b/item", "ü ?#&", HOSTILE, "c/x"])
def test_every_page_opens_whatever_the_name(board: Board, name: str) -> None:
    make(board, name)
    browser = board.browser("owner")
    home = f"/board/c/{quote(slug(name), safe='')}"
    assert f'href="{home}"' in browser.get("/board/").text
    for page in ("", "/part", "/webhooks"):
        assert browser.get(home + page).status_code == 200, page
    assert browser.get(f"{home}/item?id=x").status_code == 404
    hidden = forms(browser.get(home).text)
    assert "sign-out" in hidden
    # The mark of a form of this campaign is one of this campaign: the webhook it names is unknown, and that is said.
    reply = browser.post(f"{home}/webhooks/end", data={"id": "x", "mark": "0" * 64})
    assert reply.status_code == 403


def test_the_door_takes_any_name(board: Board) -> None:
    make(board, "tone/2026")
    owner = board.program("owner")
    assert owner.get("/api/queue", params={"campaign": "tone/2026"}).json() == {"campaign": "tone/2026", "items": []}
    # With several campaigns none is meant by default.
    assert owner.get("/api/queue").status_code == 409
