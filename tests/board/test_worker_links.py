"""Links of the MTurk door's workers: taken back by board and command at once, made anew, shown once."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from board_house import forms

from hmc_crowd.store import ROLES

if TYPE_CHECKING:
    from board_house import Board

ANN = "A1ANN"


def change(browser: Any, what: str, worker: str) -> Any:
    found = forms(browser.get("/board/links").text)["new"]
    # The mark is that of the form: one that makes links cannot take one back.
    if what == "end":
        found = forms(browser.get("/board/links").text)["end"]
    return browser.post(found.pop(""), data=found | {"worker": worker})


def made(page: str) -> str:
    found = re.search(r"<code>(.*?)</code>", page)
    assert found is not None, page
    return html.unescape(found[1])


def key_of(link: str) -> str:
    query = parse_qs(urlsplit(link).query)
    assert query["workerId"] == [ANN]
    return query["key"][0]


def test_a_link_is_made_shown_once_and_taken_back(board: Board) -> None:
    door, owner = board.place.front_door(), board.browser("owner")
    first = door.issue_worker_key(ANN)
    page = change(owner, "new", ANN).text
    second = key_of(made(page))
    assert (door.is_worker_key(ANN, first), door.is_worker_key(ANN, second)) == (False, True)
    assert second not in owner.get("/board/links").text
    assert "taken back" in change(owner, "end", ANN).text
    assert not door.is_worker_key(ANN, second)
    third = key_of(made(change(owner, "new", ANN).text))
    assert [door.is_worker_key(ANN, each) for each in (first, second, third)] == [False, False, True]


@pytest.mark.parametrize("worker", ["", "ann", "A1'; --", "<b>"])
def test_what_is_no_worker_s_id_is_refused(board: Board, worker: str) -> None:
    reply = change(board.browser("owner"), "new", worker)
    assert (reply.status_code, "worker is" in reply.text, "<b>" in reply.text) == (422, True, False)
    assert board.place.front_door().worker_links() == []


@pytest.mark.parametrize("role", [each for each in ROLES if each != "owner"])
def test_links_are_the_owner_s(board: Board, role: str) -> None:
    board.place.front_door().issue_worker_key(ANN)
    if role == "worker":
        reply = board.browser().get("/board/links")
        assert reply.status_code == 303
        return
    browser = board.browser(role)
    for reply in (
        browser.get("/board/links"),
        browser.post("/board/links/end", data={"worker": ANN}),
        browser.post("/board/links/new", data={"worker": ANN}),
    ):
        assert reply.status_code == 403
        assert ANN not in reply.text


def test_a_form_of_another_site_takes_no_link(board: Board) -> None:
    owner, door = board.browser("owner"), board.place.front_door()
    key = door.issue_worker_key(ANN)
    assert owner.post("/board/links/end", data={"worker": ANN, "mark": "0" * 64}).status_code == 403
    assert door.is_worker_key(ANN, key)
