"""Signing in at the board: nobody else's cookie, form, address or guesses let anybody in, or keep the owner out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, forms, send
from starlette.testclient import TestClient

from hmc_crowd._base.serving import keep_peer

if TYPE_CHECKING:
    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"
SIGN_IN = "/board/sign-in"


def at(board: Board, address: str, **headers: str) -> TestClient:
    return TestClient(board.app, client=(address, 5000), follow_redirects=False, headers=headers)


def sign_in(browser: TestClient, key: str, **headers: str) -> int:
    return int(browser.post(SIGN_IN, data={"key": key}, headers=headers).status_code)


def copied(board: Board, browser: TestClient) -> TestClient:
    """Another browser with a copy of the cookies."""
    thief = board.browser()
    for name, value in browser.cookies.items():
        thief.cookies.set(name, value, path="/board")
    return thief


def test_a_copied_cookie_is_worth_nothing_after_signing_out(board: Board) -> None:
    browser = board.browser("owner")
    thief = copied(board, browser)
    assert thief.get(HOME).status_code == 200
    send(browser, browser.get("/board/").text, "sign-out")
    assert (thief.get(HOME).status_code, thief.get(f"{HOME}/live").status_code) == (303, 403)


def test_signing_in_again_ends_the_sign_in_before(board: Board) -> None:
    browser = board.browser("owner")
    thief = copied(board, browser)
    assert sign_in(browser, board.key("owner")) == 303
    assert (browser.get(HOME).status_code, thief.get(HOME).status_code) == (200, 303)


def test_a_form_of_a_sign_in_that_is_over_does_nothing(board: Board) -> None:
    browser = board.browser("owner")
    platform, name = board.waiting()
    page = browser.get(f"{HOME}/submission?platform={platform}&id={name}").text
    with board.house.store.begin() as tx:
        assert tx.sign_ins.end_all() == 1
    assert send(browser, page, "approve", do="go").status_code == 303
    with board.house.store.read() as tx:
        rows = tx.work.submissions(1).set_index("submission_id")
    assert rows.loc[name, "state"] == "submitted"


def test_a_form_that_is_too_old_is_refused(board: Board) -> None:
    browser = board.browser("owner")
    page = browser.get("/board/").text
    board.clock.advance(11 * 3600)
    assert sign_in(browser, board.key("owner")) == 303
    assert send(browser, page, "sign-out").status_code == 403
    page = browser.get("/board/").text
    hidden = forms(page)["sign-out"]
    late = {"mark": f"{int(hidden['mark'].partition('.')[0], 16) + 60:x}.{hidden['mark'].partition('.')[2]}"}
    assert browser.post(hidden[""], data=late).status_code == 403
    assert send(browser, page, "sign-out").status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "http://testserver:8080"},
        {"Origin": "http://[x"},
    ],
)
def test_another_site_can_neither_sign_in_nor_send_a_form(board: Board, headers: dict[str, str]) -> None:
    reply = board.browser().post(SIGN_IN, data={"key": board.key("owner")}, headers=headers)
    assert (reply.status_code, "set-cookie" in reply.headers) == (403, False)
    browser = board.browser("owner")
    hidden = forms(browser.get("/board/").text)["sign-out"]
    where = hidden.pop("")
    assert browser.post(where, data=hidden, headers=headers).status_code == 403
    assert browser.get("/board/").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://TESTSERVER"},
    ],
)
def test_our_own_page_signs_in(board: Board, headers: dict[str, str]) -> None:
    assert sign_in(board.browser(), board.key("owner"), **headers) == 303


def test_older_browsers_name_our_origin_when_a_form_of_ours_is_sent(board: Board) -> None:
    # With no-referrer they would send "Origin: null", as a form of somebody else's frame does, and be refused.
    assert board.browser().get(SIGN_IN).headers["referrer-policy"] == "same-origin"
    page = board.browser("owner").get("/board/")
    assert forms(page.text)["sign-out"]
    assert page.headers["referrer-policy"] == "same-origin"


def test_the_owner_gets_in_while_somebody_at_the_same_address_guesses(board: Board) -> None:
    key = board.key("owner")
    guesser, owner = at(board, "203.0.113.5"), at(board, "203.0.113.5")
    wrong = f"{key[:-5]}AAAAA"
    assert [sign_in(guesser, wrong) for _ in range(12)] == [403] * 10 + [429] * 2
    assert (sign_in(owner, key), owner.get(HOME).status_code) == (303, 200)
    program = at(board, "203.0.113.5", Authorization=f"Bearer {key}")
    guesses = at(board, "203.0.113.5", Authorization=f"Bearer {wrong}")
    assert [guesses.get("/api/queue").status_code for _ in range(12)] == [401] * 10 + [429] * 2
    assert program.get("/api/queue").status_code == 200


def test_guesses_under_one_name_are_put_off_from_wherever_they_come(board: Board) -> None:
    key = board.key("owner")
    codes = [sign_in(at(board, f"198.51.100.{n}"), f"{key[:-5]}AAAAA") for n in range(110)]
    assert (codes[:100], set(codes[100:])) == ([403] * 100, {429})
    assert sign_in(at(board, "198.51.100.7"), key) == 303


def test_a_network_of_ipv6_counts_as_one_sender(board: Board) -> None:
    codes = [sign_in(at(board, f"2001:db8::{n}"), f"hmck_x{n}_y") for n in range(12)]
    assert codes == [403] * 10 + [429] * 2
    assert sign_in(at(board, "2001:db8:0:1::1"), "hmck_x_y") == 403


def test_forwarding_headers_of_strangers_do_not_change_who_sends(board: Board) -> None:
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    app: Any = keep_peer(ProxyHeadersMiddleware(board.app, "10.0.0.2"))
    codes = [
        TestClient(app, client=("203.0.113.9", 1), headers={"X-Forwarded-For": f"198.51.100.{n}"})
        .post(SIGN_IN, data={"key": "hmck_a_b"}, follow_redirects=False)
        .status_code
        for n in range(11)
    ]
    assert codes == [403] * 10 + [429]


@pytest.mark.parametrize("key", ["ключ", "hmck_é_é", "hmck_a_\x80", "\x00", "é" * 5000, "🔑", "hmck_a_b\ud83d"])
def test_a_key_of_other_letters_is_a_wrong_key(board: Board, key: str) -> None:
    given = quote(key, errors="surrogatepass")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert board.browser().post(SIGN_IN, content=f"key={given}", headers=form).status_code in {403, 413}
    sent = key.encode("utf-8", errors="replace").replace(b"\0", b"")[:900]
    reply = TestClient(board.app).get("/api/queue", headers={b"Authorization": b"Bearer " + sent})
    assert reply.status_code == 401
    browser = board.browser()
    browser.headers["Cookie"] = f"hmc_crowd_board={given}"
    assert browser.get(HOME).status_code == 303


def test_an_open_stream_ends_with_its_sign_in(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmc_crowd.board._watch._LOOK_S", 0.0)
    browser = board.browser("owner")
    headers = [(b"cookie", f"hmc_crowd_board={browser.cookies['hmc_crowd_board']}".encode())]
    told: list[bytes] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send_part(message: dict[str, Any]) -> None:
        told.append(message.get("body", b""))
        if b"event: figures" in message.get("body", b""):
            with board.house.store.begin() as tx:
                tx.sign_ins.end_all()

    scope = {"type": "http", "method": "GET", "path": f"/board/c/{NAME}/live", "raw_path": f"{HOME}/live".encode()}
    scope |= {"query_string": b"", "headers": headers, "root_path": "", "scheme": "http", "http_version": "1.1"}
    scope |= {"server": ("testserver", 80), "client": ("testclient", 1)}
    asyncio.run(asyncio.wait_for(board.app(scope, receive, send_part), 20))
    assert sum(b"event: figures" in part for part in told) == 1
