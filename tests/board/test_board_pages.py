"""What the board shows, and to whom."""

from __future__ import annotations

import hmac
import re
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd
import pytest
import sqlalchemy as sa
from board_house import LABELS, NAME, START, forms, send

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.board._session import new_token
from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import RemoteAnswer, find_platform

if TYPE_CHECKING:
    from pathlib import Path

    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"


def test_the_campaign_shows_its_figures(board: Board) -> None:
    told = board.status()
    page = board.browser("auditor").get(HOME).text
    for shown in (f"{told.items:,} items in all", "Right on gold", "Reliability against people", "Nothing to look at"):
        assert shown in page


def test_a_page_without_a_session_leads_to_the_sign_in(board: Board) -> None:
    for path in ("/board/", HOME, f"{HOME}/item?id=i00", f"{HOME}/part"):
        reply = board.browser().get(path)
        assert (reply.status_code, reply.headers["location"].partition("?")[0]) == (303, "/board/sign-in")


def test_a_worker_s_key_does_not_open_the_board(board: Board) -> None:
    reply = board.browser().post("/board/sign-in", data={"key": board.key("worker")})
    assert reply.status_code == 403
    assert "set-cookie" not in reply.headers


def test_a_revoked_key_is_out_at_once(board: Board) -> None:
    browser = board.browser("owner")
    with board.house.store.begin() as tx:
        tx.keys.revoke(tx.keys.all()[0].id)
    assert browser.get(HOME).status_code == 303


def test_a_session_ends(board: Board) -> None:
    browser = board.browser("owner")
    board.clock.advance(13 * 3600)
    assert browser.get(HOME).status_code == 303


def test_a_forged_session_is_refused(board: Board) -> None:
    board.key("owner")
    with board.house.store.read() as tx:
        key = tx.keys.all()[0].id
    body = f"{key}.{int(board.clock.now().replace(year=2030).timestamp())}"
    # As cookies were signed before there was a row for each, and with the right secret.
    mac = hmac.digest(board.house.secret, f"hmc-crowd board session\n{body}".encode(), "sha256").hex()
    for forged in (f"{body}.{mac}", new_token(), key, ""):
        browser = board.browser()
        browser.cookies.set("hmc_crowd_board", forged)
        assert browser.get(HOME).status_code == 303


def test_too_many_tries_are_put_off(board: Board) -> None:
    browser = board.browser()
    codes = [browser.post("/board/sign-in", data={"key": f"hmck_x_{n}"}).status_code for n in range(12)]
    assert codes == [403] * 10 + [429] * 2


def test_who_follows_a_link_comes_there_after_signing_in(board: Board) -> None:
    browser = board.browser()
    asked = browser.get(f"{HOME}/item", params={"id": "i 20/&", "aspect": "label"}, follow_redirects=False)
    assert asked.status_code == 303
    page = browser.get(asked.headers["location"])
    to = unescape(re.search(r'name="to" value="([^"]*)"', page.text)[1])  # type: ignore[index]
    signed = browser.post("/board/sign-in", data={"key": board.key("auditor"), "to": to})
    assert signed.headers["location"] == f"{HOME}/item?id=i+20%2F%26&aspect=label"


def test_text_of_items_is_never_markup(board: Board) -> None:
    page = board.browser("reviewer").get(f"{HOME}/item", params={"id": "i00"})
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert "<script>alert" not in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_an_item_says_why_it_went_where(board: Board) -> None:
    told = board.house.campaign(NAME).explain("i20")
    page = board.browser("reviewer").get(f"{HOME}/item", params={"id": "i20"}).text
    assert told.destination in page
    assert told.why_final in page


def test_what_is_not_there_is_said(board: Board) -> None:
    browser = board.browser("reviewer")
    found = [f"{HOME}/item?id=nowhere", f"{HOME}/worker?id=nobody", f"{HOME}/submission?platform=local&id=x"]
    assert [browser.get(path).status_code for path in (*found, "/board/c/other", "/board/x")] == [404] * 5


def test_a_worker_s_page_counts_his_work(board: Board) -> None:
    with board.house.store.read() as tx:
        rows = tx.work.submissions(1)
    name = rows["worker"].iloc[0]
    page = board.browser("auditor").get(f"{HOME}/worker", params={"id": name}).text
    assert f"<dt>Submissions</dt><dd>{(rows['worker'] == name).sum()}</dd>" in page


def open_submission(board: Board, browser: Any) -> tuple[str, str]:
    platform, name = board.waiting()
    reply = browser.get(f"{HOME}/submission", params={"platform": platform, "id": name})
    assert reply.status_code == 200
    return name, reply.text


def state(board: Board, name: str) -> str:
    with board.house.store.read() as tx:
        rows = tx.work.submissions(1).set_index("submission_id")
    return str(rows.loc[name, "state"])


def test_a_preview_changes_nothing(board: Board) -> None:
    browser = board.browser("reviewer")
    name, page = open_submission(board, browser)
    reply = send(browser, page, "approve", do="preview", budget="")
    assert "would approve 1 submissions" in reply.text
    assert state(board, name) == "submitted"


def test_approving_pays_and_keeps_who_did_it(board: Board) -> None:
    browser = board.browser("reviewer")
    name, page = open_submission(board, browser)
    reply = send(browser, page, "approve", do="go", budget="500.00")
    assert "1 approved" in reply.text
    assert state(board, name) == "approved"
    assert "reviewer of the tests" in browser.get(f"{HOME}/submission", params={"platform": "local", "id": name}).text


def test_a_rejection_needs_two_signals(board: Board) -> None:
    browser = board.browser("reviewer")
    name, page = open_submission(board, browser)
    one = {
        "rule1": "too_fast",
        "evidence1": "2 s an item",
        "rule2": "too_fast",
        "evidence2": "again",
        "message": "x" * 120,
    }
    reply = send(browser, page, "reject", do="go", **one)
    assert reply.status_code == 422
    assert "needs two" in reply.text
    assert state(board, name) == "submitted"


def test_a_rejection_under_the_rules_is_carried_out(board: Board) -> None:
    browser = board.browser("reviewer")
    name, page = open_submission(board, browser)
    two = {
        "rule1": "too_fast",
        "evidence1": "2 s an item",
        "rule2": "same_label",
        "evidence2": "all bad",
        "message": "x" * 120,
    }
    assert "1 rejected" in send(browser, page, "reject", do="go", **two).text
    assert state(board, name) == "rejected"


def test_a_bonus_is_paid_once(board: Board) -> None:
    browser = board.browser("owner")
    name, page = open_submission(board, browser)
    for expected in ("1 paid", "1 were paid or under way before"):
        reply = send(browser, page, "bonus", do="go", amount="1.50", code="care", reason="Thanks.", budget="500.00")
        assert expected in reply.text
    with board.house.store.read() as tx:
        assert [(each.submission_id, each.amount_minor) for each in tx.payments.read(1, reason_code="care")] == [
            (name, 150)
        ]
    assert "care: 1.50 USD, paid" in reply.text


def test_a_reviewer_pays_no_bonus(board: Board) -> None:
    browser = board.browser("reviewer")
    _, page = open_submission(board, browser)
    assert "bonus" not in forms(page)
    assert browser.post(f"{HOME}/submission/bonus", data={"amount": "1"}).status_code == 403


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_form_without_its_mark_is_refused(board: Board, action: str) -> None:
    browser = board.browser("owner")
    name, page = open_submission(board, browser)
    hidden = forms(page)
    other = "reject" if action == "approve" else "approve"
    for mark in ("", "0" * 64, "é", hidden[other]["mark"], hidden["sign-out"]["mark"]):
        data = {"platform": "local", "id": name, "do": "go", "mark": mark}
        assert browser.post(f"{HOME}/submission/{action}", data=data).status_code == 403
    assert state(board, name) == "submitted"


def test_a_mark_of_another_session_is_refused(board: Board) -> None:
    name, page = open_submission(board, board.browser("owner"))
    data = forms(page)["approve"] | {"do": "go"}
    assert board.browser("reviewer").post(data.pop(""), data=data).status_code == 403
    assert state(board, name) == "submitted"


def test_a_large_form_is_refused(board: Board) -> None:
    assert board.browser("owner").post(f"{HOME}/submission/approve", data={"x": "y" * 70_000}).status_code == 413


def test_the_cookie_is_kept_from_scripts_and_other_sites(board: Board) -> None:
    cookie = board.browser().post("/board/sign-in", data={"key": board.key("owner")}).headers["set-cookie"].lower()
    for rule in ("httponly", "samesite=strict", "path=/board"):
        assert rule in cookie


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "c/../../x", "c//x", "\r\nx: y"])
def test_the_sign_in_leads_nowhere_else(board: Board, to: str) -> None:
    reply = board.browser().post("/board/sign-in", data={"key": board.key("owner"), "to": to})
    assert reply.headers["location"] == "/board/"


def test_signing_out_ends_the_session(board: Board) -> None:
    browser = board.browser("owner")
    send(browser, browser.get("/board/").text, "sign-out")
    assert browser.get("/board/").status_code == 303


def test_an_item_is_answered_when_people_have_answered_it(tmp_path: Path) -> None:
    from hmc_crowd.board._figures import read_live

    place: Any = find_platform("local", str(tmp_path / "workplace.db"), clock=VirtualClock(START))
    with Campaign.create(tmp_path / "c.db", "c", labels=LABELS, clock=VirtualClock(START)) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["a", "b"], "text": ["One.", "Two."]}))
        campaign.add_predictions(pd.DataFrame({"item": ["a", "b"], "label": "good", "confidence": 0.6}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0, max_human=1.0, audit=0)
        campaign.publish(place, redundancy=1, pay_minor=10, budget_minor=100, dry_run=False)
        assert read_live(campaign._context).item_share == 0.0
        assert "until people have answered" in campaign.explain("a").why_final
        hit = next(iter(place.find_all().values()))
        work = place.accept(hit.hit_id, "ann")
        answers = [RemoteAnswer(q.item, q.aspect, "bad", START, START) for q in place.hit(hit.hit_id).items]
        place.hand_in(work.submission_id, "ann", answers)
        campaign.collect(place)
        assert read_live(campaign._context).item_share == 1.0
    place.close()


@pytest.mark.parametrize("state", ["accepted", "returned"])
def test_what_was_never_handed_in_cannot_be_reviewed(board: Board, state: str) -> None:
    browser = board.browser("owner")
    platform, name = board.waiting()
    with board.house.store.begin() as tx:
        tx.work._session.run(sa.text(f"UPDATE submission SET state = '{state}' WHERE submission_id = '{name}'"))
    page = browser.get(f"{HOME}/submission", params={"platform": platform, "id": name}).text
    assert "Nothing was handed in" in page
    assert not {"approve", "reject", "bonus"} & set(forms(page))


def test_workers_who_wait_for_a_word_are_counted(board: Board) -> None:
    from hmc_crowd_local.pages._threads import Threads

    browser = board.browser("auditor")
    assert "<dt>Questions of workers</dt><dd>0</dd>" in browser.get(HOME).text
    _, name = board.waiting()
    item = board.place.hit(board.place.submission(name).hit_id).items[0].item
    threads = Threads(board.place._database, board.place._ids)
    threads.ask(name, item, "What is meant?", at=board.clock.now())
    assert "<dt>Questions of workers</dt><dd>1 " in browser.get(f"{HOME}/part").text
    board.clock.advance(60)
    threads.reply(name, item, "The tone.", at=board.clock.now())
    assert "<dt>Questions of workers</dt><dd>0</dd>" in browser.get(f"{HOME}/part").text
