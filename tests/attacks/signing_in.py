"""Attacks on signing in: copied and forged cookies, other sites' forms, a proxy's headers, guesses at keys."""

from __future__ import annotations

import hmac
import json
import shutil
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.board import TrustedProxy
from hmc_crowd.board._render import slug
from hmc_crowd.board._session import form_mark, new_token
from tests.attacks import attack, refused
from tests.attacks._board import NAME, NOW, BoardScene, board, build
from tests.attacks._mturk import ANN, MTurkScene, mturk
from tests.attacks._table import prepared

from board_house import forms, open_board  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

on_board = partial(attack, "board", scene=board)
at_api = partial(attack, "machine API", scene=board)
CAMPAIGN = f"/board/c/{quote(slug(NAME), safe='')}"
SIGN_IN = "/board/sign-in"
PROXY = "10.0.0.2"
SIGNED_IN = "an honest sign-in is a row of its own"


def closed(reply: Any) -> None:
    """Assert that a page is not shown: the way leads to the sign-in."""
    assert reply.status_code == 303, reply.text[:200]
    assert reply.headers["location"].startswith(SIGN_IN)


def signed_in(scene: BoardScene, role: str = "owner") -> TestClient:
    browser = TestClient(scene.board.app, follow_redirects=False)
    assert browser.post(SIGN_IN, data={"key": scene.keys[role]}).status_code == 303
    return browser


def thief(scene: BoardScene, browser: TestClient) -> TestClient:
    copied = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    return scene.browser(**{"Cookie": copied})


# Cookies.


@on_board("a copied cookie after its browser signed out", defence="a sign-in is a row that ends", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    browser = signed_in(scene)
    copy = thief(scene, browser)
    hidden = forms(browser.get("/board/").text)["sign-out"]
    browser.post(hidden.pop(""), data=hidden)
    closed(copy.get(CAMPAIGN))
    refused(copy.get(f"{CAMPAIGN}/live"))


@on_board("a copied cookie after somebody ended the sign-in", defence="rows can be ended", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    copy = thief(scene, signed_in(scene, "reviewer"))
    with scene.board.house.store.begin() as tx:
        tx.sign_ins.end_all(key_id=scene.key_ids["reviewer"])
    closed(copy.get(CAMPAIGN))


@on_board("a copied cookie after its key was revoked", defence="sign-ins end with their key", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    copy = thief(scene, signed_in(scene, "auditor"))
    with scene.board.house.store.begin() as tx:
        tx.keys.revoke(scene.key_ids["auditor"])
    closed(copy.get(CAMPAIGN))


def _forged(scene: BoardScene) -> dict[str, str]:
    """Cookies that somebody could make who knows ids, hashes, or even the board's secret."""
    with scene.board.house.store.read() as tx:
        hashes = [row[0] for row in tx._session.rows(_text("SELECT hash FROM board_sign_in"))]
        names = [row[0] for row in tx._session.rows(_text("SELECT id FROM board_sign_in"))]
    key, secret = scene.key_ids["owner"], scene.board.house.secret
    body = f"{key}.{int(NOW.replace(year=2030).timestamp())}"
    mac = hmac.digest(secret, f"hmc-crowd board session\n{body}".encode(), "sha256").hex()
    return {
        "signed with the board's own secret, as cookies once were": f"{body}.{mac}",
        "the hash of a sign-in as the database holds it": hashes[0],
        "the id of a sign-in": names[0],
        "the id of the owner's key": key,
        "the hash of a sign-in, cut to the form of a token": hashes[0][:43],
        "a token of the right form": new_token(),
        "nothing at all": "",
        "a wildcard of SQL": "%" * 43,
        "letters of another script": quote("ключ" * 11),
        "ten thousand letters": "a" * 10_000,
        "a form mark": form_mark(secret, new_token(), "sign-out", at=NOW),
    }


def _text(statement: str) -> Any:
    import sqlalchemy as sa

    return sa.text(statement)


for _name in (
    "signed with the board's own secret, as cookies once were",
    "the hash of a sign-in as the database holds it",
    "the id of a sign-in",
    "the id of the owner's key",
    "the hash of a sign-in, cut to the form of a token",
    "a token of the right form",
    "nothing at all",
    "a wildcard of SQL",
    "letters of another script",
    "ten thousand letters",
    "a form mark",
):

    @on_board(f"a cookie that is forged: {_name}", defence="only a row lets anybody in")
    def _(scene: BoardScene, name: str = _name) -> None:
        browser = scene.browser(**{"Cookie": f"hmc_crowd_board={_forged(scene)[name]}"})
        closed(browser.get(CAMPAIGN))
        refused(browser.get(f"{CAMPAIGN}/live"))


# Other sites.

SITES = {
    "says cross-site": {"Sec-Fetch-Site": "cross-site"},
    "is on another name of the same site": {"Sec-Fetch-Site": "same-site"},
    "lies about its origin": {"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"},
    "has another origin": {"Origin": "https://evil.example"},
    "is a frame without an origin": {"Origin": "null"},
    "has a name that begins as ours": {"Origin": "http://testserver.evil.example"},
    "has another port": {"Origin": "http://testserver:8080"},
    "has an origin that nobody can read": {"Origin": "http://[x"},
}
for _name, _headers in SITES.items():

    @on_board(f"signing a browser in from a site that {_name}", defence="Sec-Fetch-Site or Origin must be ours")
    def _(scene: BoardScene, headers: dict[str, str] = _headers) -> None:
        reply = scene.browser().post(SIGN_IN, data={"key": scene.keys["reviewer"]}, headers=headers)
        refused(reply)
        assert "set-cookie" not in reply.headers

    @on_board(f"a form of ours sent from a site that {_name}", defence="Sec-Fetch-Site or Origin must be ours")
    def _(scene: BoardScene, headers: dict[str, str] = _headers) -> None:
        owner = scene.browser("owner")
        where = f"{CAMPAIGN}/submission?platform={scene.platform}&id={scene.submission}"
        hidden = scene.forms(owner, where)["approve"]
        refused(owner.post(hidden.pop(""), data=hidden | {"do": "go", "budget": "9.00"}, headers=headers))


@on_board("a form whose page is thirteen hours old", defence="marks carry their time", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    browser = signed_in(scene)
    where = f"{CAMPAIGN}/submission?platform={scene.platform}&id={scene.submission}"
    hidden = scene.forms(browser, where)["approve"]
    scene.board.clock.advance(11.9 * 3600)
    browser.get("/board/")
    scene.board.clock.advance(1.1 * 3600)
    again = browser.post(SIGN_IN, data={"key": scene.keys["owner"]})
    assert again.status_code == 303
    refused(browser.post(hidden.pop(""), data=hidden | {"do": "go", "budget": "9.00"}))
    scene.signed_in = {role: scene._signed_in(role) for role in scene.signed_in}


# A proxy that signs people in.


@contextmanager
def proxied() -> Iterator[BoardScene]:
    """The same board behind a proxy that signs people in."""
    source = prepared(build)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(source, Path(name) / "board"))
        known = json.loads((folder / "known.json").read_text())
        roles = {"ann": "owner", "group:staff": "auditor", "rob": "reviewer"}
        limits = {"per_minute": 10**6, "sign_ins_per_minute": 10**6, "body_s": 0.4}
        with open_board(folder, clock=VirtualClock(NOW), proxy=TrustedProxy((PROXY,), roles), **limits) as opened:
            yield BoardScene(opened, folder, known)


by_proxy = partial(attack, "board", scene=proxied)


def through(scene: BoardScene, *headers: tuple[str | bytes, str | bytes], peer: str = PROXY) -> Any:
    client = scene.recording(TestClient(scene.board.app, client=(peer, 5000), follow_redirects=False))
    return client.get(CAMPAIGN, headers=list(headers))


LOOKS = {
    "a person called as a group": [("X-Forwarded-User", "group:staff")],
    "a person called as everybody": [("X-Forwarded-User", "*")],
    "a group in capitals": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "STAFF")],
    "a group that begins so": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "staff2, staffx, staff/x")],
    "a group that ends so": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "xstaff, no-staff")],
    "a group with the word of our settings": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "group:staff")],
    "a group with commas in its name": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", '"a,staff,b"')],
    "a group behind a quote that never ends": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", '"a,staff')],
    "a name of a directory": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "cn=staff,ou=people")],
    "groups parted by semicolons": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "a;staff")],
    "a header of almost that name": [("X-Forwarded-User", "eve"), ("X-Forwarded-Group", "staff")],
    "a header with lines below": [("X-Forwarded-User", "eve"), ("X_Forwarded_Groups", "staff")],
    "groups twice": [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "a"), ("X-Forwarded-Groups", "staff")],
    "users twice": [("X-Forwarded-User", "eve"), ("X-Forwarded-User", "ann")],
    "users in one header": [("X-Forwarded-User", "eve, ann")],
    "a group without a person": [("X-Forwarded-Groups", "staff")],
    "a person in capitals": [("X-Forwarded-User", "ANN")],
    "a blank of another kind around a group": [
        (b"X-Forwarded-User", b"eve"),
        (b"X-Forwarded-Groups", b"\xa0staff\xa0"),
    ],
    "a blank of another kind behind a person": [(b"X-Forwarded-User", b"ann\xc2\xa0")],
    "a name in bytes that are no text": [(b"X-Forwarded-User", b"ann\xff")],
}
for _name, _sent in LOOKS.items():

    @by_proxy(f"by the proxy, {_name}", defence="names and groups are the same to the letter")
    def _(scene: BoardScene, sent: Any = _sent) -> None:
        refused(through(scene, *sent))


for _peer in ("10.0.0.3", "127.0.0.1", "203.0.113.5", "::1", "testclient"):

    @by_proxy(f"the proxy's header from {_peer}", defence="headers are believed from the named addresses alone")
    def _(scene: BoardScene, peer: str = _peer) -> None:
        refused(through(scene, ("X-Forwarded-User", "ann"), ("X-Forwarded-For", PROXY), peer=peer))


@by_proxy("a form of the proxy's person in another browser", defence="marks are bound to the browser")
def _(scene: BoardScene) -> None:
    headers = {"X-Forwarded-User": "ann"}
    where = f"{CAMPAIGN}/submission?platform={scene.platform}&id={scene.submission}"
    clients = [TestClient(scene.board.app, client=(PROXY, 1), headers=headers) for _ in range(2)]
    hidden = forms(clients[0].get(where).text)["approve"]
    clients[1].get(where)
    refused(clients[1].post(hidden.pop(""), data=hidden | {"do": "go", "budget": "9.00"}))


@by_proxy("a form of the proxy's person a day later", defence="marks carry their time", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    client = TestClient(scene.board.app, client=(PROXY, 1), headers={"X-Forwarded-User": "ann"})
    where = f"{CAMPAIGN}/submission?platform={scene.platform}&id={scene.submission}"
    hidden = forms(client.get(where).text)["approve"]
    scene.board.clock.advance(24 * 3600)
    refused(client.post(hidden.pop(""), data=hidden | {"do": "go", "budget": "9.00"}))
    scene.signed_in = {role: scene._signed_in(role) for role in scene.signed_in}


# Guesses.


@contextmanager
def limited() -> Iterator[BoardScene]:
    """The board with the usual limits."""
    source = prepared(build)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(source, Path(name) / "board"))
        known = json.loads((folder / "known.json").read_text())
        with open_board(folder, clock=VirtualClock(NOW), body_s=0.4) as opened:
            yield BoardScene(opened, folder, known)


@attack("board", "keeping the owner out by guessing", limited, defence="right keys are not counted", stores=SIGNED_IN)
def _(scene: BoardScene) -> None:
    wrong = scene.keys["owner"][:-5] + "AAAAA"
    codes = [scene.browser().post(SIGN_IN, data={"key": wrong}).status_code for _ in range(15)]
    assert codes == [403] * 10 + [429] * 5
    assert TestClient(scene.board.app, follow_redirects=False).post(
        SIGN_IN, data={"key": scene.keys["owner"]}
    ).status_code == 303  # fmt: skip


@attack("machine API", "keeping the owner's program out by guessing", limited, defence="right keys are not counted")
def _(scene: BoardScene) -> None:
    wrong = scene.keys["owner"][:-5] + "AAAAA"
    codes = [scene.program(key=wrong).get("/api/queue").status_code for _ in range(15)]
    assert codes == [401] * 10 + [429] * 5
    honest = TestClient(scene.board.app, headers={"Authorization": f"Bearer {scene.keys['owner']}"})
    assert honest.get("/api/queue", params={"campaign": NAME}).status_code == 200


@attack("machine API", "guesses under one name from a hundred addresses", limited, defence="counted by name, too")
def _(scene: BoardScene) -> None:
    wrong = scene.keys["owner"][:-5] + "AAAAA"
    replies = [
        scene.recording(TestClient(scene.board.app, client=(f"198.51.100.{n}", 1))).get(
            "/api/queue", headers={"Authorization": f"Bearer {wrong}"}
        )
        for n in range(120)
    ]
    refused(*replies)
    assert {each.status_code for each in replies[100:]} == {429}


@attack("machine API", "guesses from one network of IPv6", limited, defence="a network counts as one sender")
def _(scene: BoardScene) -> None:
    replies = [
        scene.recording(TestClient(scene.board.app, client=(f"2001:db8::{n:x}", 1))).get(
            "/api/queue", headers={"Authorization": f"Bearer hmck_x{n}_y"}
        )
        for n in range(20)
    ]
    assert [each.status_code for each in replies] == [401] * 10 + [429] * 10


KEYS = {
    "in Cyrillic": "ключ",
    "of a key's form": "hmck_é_é",
    "with a byte that is no letter": "hmck_a_\x80",
    "🔑": "🔑",
}
for _name, _key in KEYS.items():

    @at_api(f"a key {_name}", defence="a wrong key, not a fault")
    def _(scene: BoardScene, key: str = _key) -> None:
        sent: Any = {b"Authorization": b"Bearer " + key.encode()}
        refused(scene.program().get("/api/queue", headers=sent))

    @on_board(f"signing in with a key {_name}", defence="a wrong key, not a fault")
    def _(scene: BoardScene, key: str = _key) -> None:
        refused(scene.browser().post(SIGN_IN, data={"key": key}))

    @attack("MTurk worker pages", f"a link with a key {_name}", mturk, defence="a wrong key, not a fault")
    def _(scene: MTurkScene, key: str = _key) -> None:
        refused(scene.client.get("/mturk/hits", params={"workerId": ANN, "key": key}))


@attack("MTurk worker pages", "guesses at a worker's key", mturk, defence="wrong keys are counted, right ones not")
def _(scene: MTurkScene) -> None:
    codes = [
        scene.client.get("/mturk/hits", params={"workerId": ANN, "key": f"{n:032x}"}).status_code for n in range(70)
    ]
    assert set(codes) == {403, 429}
    assert scene.honest.get("/mturk/hits", params=scene.who(ANN)).status_code == 200


@attack("MTurk API", "guesses at a script's secret", mturk, defence="wrong signatures are counted, right ones not")
def _(scene: MTurkScene) -> None:
    from hmc_crowd_local.mturk_api import Key

    wrong = Key(scene.key.access_key_id, "x" * 40)
    codes = [scene.call("GetAccountBalance", {}, key=wrong).status_code for _ in range(70)]
    assert set(codes) == {403, 429}
    assert scene.call("GetAccountBalance", {}, key=scene.key).status_code == 200
