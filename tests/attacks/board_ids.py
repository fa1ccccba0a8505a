"""Attacks on the board: pages, forms and streams by those who may not, with what belongs to others, or is made up."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from hmc_crowd.board._app import _PAGES
from hmc_crowd.board._render import slug
from hmc_crowd.board._roles import may
from tests.attacks import attack, refused
from tests.attacks._board import KEPT, NAME, OTHER, QUEUED, BoardScene, board

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}${7*7}"
SIGNED_IN = ("expert", "auditor", "reviewer", "owner")
EXPERTS = ("experts/case", "experts/judge", "experts/decide", "experts")
at = partial(attack, "board", scene=board)
at_experts = partial(attack, "experts", scene=board)
CAMPAIGN = f"/board/c/{quote(slug(NAME), safe='')}"
#: What each form needs to do something.
FORMS: dict[str, dict[str, str]] = {
    "webhooks/end": {"id": "HOOK"},
    "webhooks/again": {"id": "HOOK"},
    "submission/approve": {"id": "SUBMISSION", "platform": "local", "do": "go", "budget": "99.00"},
    "submission/reject": {
        "id": "SUBMISSION", "platform": "local", "do": "go", "rule1": "gold", "evidence1": "x", "count1": "9",
        "rule2": "speed", "evidence2": "y", "count2": "9", "message": "Your answers are wrong.",
    },
    "submission/bonus": {"id": "SUBMISSION", "platform": "local", "do": "go", "amount": "9.00", "budget": "99.00"},
    "experts/judge": {"id": "e-item", "item": "e-item", "label": "bad"},
    "experts/decide": {"id": "e-item", "item": "e-item", "label": "bad", "reason": "x"},
    "sample/draw": {"size": "5", "n": "5"},
}  # fmt: skip


def filled(scene: BoardScene, path: str) -> dict[str, str]:
    given = FORMS.get(path.removeprefix("c/{campaign}/"), {})
    known = {"HOOK": scene.hook, "SUBMISSION": scene.submission}
    return {name: known.get(value, value) for name, value in given.items()}


def _as_nobody(path: str, method: str) -> Any:
    def act(scene: BoardScene) -> None:
        where = f"/board/{path}".replace("{campaign}", quote(slug(NAME), safe=""))
        for cookie in (
            "",
            "hmc_crowd_board=",
            "hmc_crowd_board=" + "A" * 43,
            f"hmc_crowd_board={scene.keys['owner'][:43]}",
        ):
            browser = scene.browser(**({"Cookie": cookie} if cookie else {}))
            sent = filled(scene, path)
            reply = browser.post(where, data=sent | {"mark": "0" * 64}) if method == "POST" else browser.get(where)
            assert reply.status_code in {303, 403}, reply.status_code
            assert NAME not in reply.text
            assert QUEUED not in reply.text
            if reply.status_code == 303:
                assert reply.headers["location"].startswith("/board/sign-in")

    return act


def _without_right(path: str, method: str, right: str) -> Any:
    def act(scene: BoardScene) -> None:
        filled_path = path.replace("{campaign}", NAME)
        for role in SIGNED_IN:
            if may(role, right):
                continue
            if method == "POST":
                refused(scene.send(role, filled_path, **filled(scene, path)))
            else:
                where = f"/board/{path}".replace("{campaign}", quote(slug(NAME), safe=""))
                refused(scene.browser(role).get(where, params={"id": "i00", "platform": "local"}))

    return act


def _with_mark(path: str, right: str, kind: str) -> Any:
    def act(scene: BoardScene) -> None:
        role = next(each for each in reversed(SIGNED_IN) if may(each, right))
        target, sent = path.replace("{campaign}", NAME), filled(scene, path)
        if kind == "none":
            refused(
                *(scene.send(role, target, mark=mark, **sent) for mark in ("", "0" * 64, "é", "1.2", "0." + "0" * 64))
            )
        elif kind == "another page's":
            refused(
                *(scene.send(role, target, mark=scene.mark(role, f"c/{NAME}/{other}"), **sent) for other in ("x", ""))
            )
        else:
            others = [each for each in SIGNED_IN if each != role]
            refused(*(scene.send(role, target, mark=scene.mark(other, target), **sent) for other in others))

    return act


for _path, _, _right, _method in _PAGES:
    _at = at_experts if "expert" in _path or "sample" in _path else at
    _shown = f"{_method} {_path or 'the list'}"
    _at(f"without a sign-in: {_shown}", defence="everybody signs in first")(_as_nobody(_path, _method))
    if any(not may(role, _right) for role in SIGNED_IN):
        _at(f"by roles without the right: {_shown}", defence="one table of roles and rights")(
            _without_right(_path, _method, _right)
        )
    if _method == "POST":
        for _kind in ("none", "another page's", "another session's"):
            _at(f"a form with a mark that is {_kind}: {_path}", defence="a form's mark fits session, page and time")(
                _with_mark(_path, _right, _kind)
            )


@at("a form whose mark was kept past the sign-in's time", defence="marks end with the time of a sign-in")
def _(scene: BoardScene) -> None:
    path = f"c/{NAME}/submission/approve"
    mark = scene.mark("reviewer", path)
    kept = scene.board.clock._now
    scene.board.clock.advance(13 * 3600)
    try:
        reply = scene.send("reviewer", path, mark=mark, **filled(scene, "submission/approve"))
        assert reply.status_code in {303, 403}
    finally:
        scene.board.clock._now = kept


@at("a session after its time", defence="a sign-in ends")
def _(scene: BoardScene) -> None:
    kept = scene.board.clock._now
    scene.board.clock.advance(13 * 3600)
    try:
        assert scene.browser("owner").get("/board/").status_code == 303
    finally:
        scene.board.clock._now = kept


@at("a copied cookie after sign-out", defence="sign-ins are rows that end", stores="the sign-in that is over")
def _(scene: BoardScene) -> None:
    assert scene.send("auditor", "sign-out").status_code == 303
    assert scene.browser("auditor").get("/board/").status_code == 303


@at("a session of a key that was revoked", defence="the key is looked at with every request", stores="the revocation")
def _(scene: BoardScene) -> None:
    with scene.board.house.store.begin() as tx:
        tx.keys.revoke(scene.key_ids["reviewer"])
    assert scene.browser("reviewer").get("/board/").status_code == 303
    refused(scene.program(key=scene.keys["reviewer"]).get("/api/metrics"))


@at("a sign-in from another site", defence="the browser's own word on where a form comes from")
def _(scene: BoardScene) -> None:
    for headers in (
        {"Origin": "https://evil.example.org"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://evil.testserver"},
    ):
        reply = scene.browser(**headers).post("/board/sign-in", data={"key": scene.keys["owner"]})
        assert reply.status_code == 403, headers
        assert "set-cookie" not in reply.headers


for _role in ("worker", "holder worker"):

    @at(f"a sign-in with a key of a {_role}", defence="workers have no board")
    def _(scene: BoardScene, role: str = _role) -> None:
        reply = scene.browser().post("/board/sign-in", data={"key": scene.keys[role]})
        assert reply.status_code == 403
        assert "set-cookie" not in reply.headers


@at("a sign-in with what is almost a key", defence="keys are found by their whole digest")
def _(scene: BoardScene) -> None:
    key = scene.keys["owner"]
    for wrong in (
        key[:-1],
        key + "x",
        key.upper(),
        key.replace("hmck_", ""),
        "%",
        "_",
        "' OR 1=1 --",
        "*",
        key[:20],
        "é",
        "\x00",
    ):
        reply = scene.browser().post("/board/sign-in", data={"key": wrong})
        assert reply.status_code == 403, wrong
        assert "set-cookie" not in reply.headers


@at("an address outside as the place to go after the sign-in", defence="paths of ours only", stores="the sign-in")
def _(scene: BoardScene) -> None:
    for to in (
        "https://evil.example.org",
        "//evil.example.org",
        "c//evil",
        "c/../../evil",
        "\\\\evil",
        "c/x\r\nX: y",
        "javascript:1",
    ):
        reply = scene.browser().post("/board/sign-in", data={"key": scene.keys["owner"], "to": to})
        assert reply.status_code == 303
        assert reply.headers["location"] == "/board/"
        page = scene.browser().get("/board/sign-in", params={"to": to}).text
        assert "evil" not in page


for _what, _text in {"markup": SCRIPT, "a template": "{{7*7}}{%if 1%}", "a line break": "x\r\nSet-Cookie: a=b"}.items():

    @at(f"{_what} in every part of an address", defence="what was asked for is shown as text, and headers as one line")
    def _(scene: BoardScene, text: str = _text) -> None:
        for path in ("item", "worker", "submission", "part", "confusion", "expert-work", "experts/case"):
            for role in ("owner", "expert"):
                reply = scene.browser(role).get(
                    f"{CAMPAIGN}/{path}", params={"id": text, "platform": text, "name": text}
                )
                assert "<script>alert" not in reply.text
                assert "<img src=x" not in reply.text
                assert "set-cookie" not in reply.headers
        reply = scene.browser("owner").get(f"/board/c/{quote(text, safe='')}")
        refused(reply)
        assert "<script>alert" not in reply.text


@at("markup as a key, shown again at the sign-in", defence="what was typed is not shown again")
def _(scene: BoardScene) -> None:
    reply = scene.browser().post("/board/sign-in", data={"key": SCRIPT, "to": SCRIPT})
    assert "<script>alert" not in reply.text


@at("an item's hostile text on its page", defence="items are text")
def _(scene: BoardScene) -> None:
    reply = scene.browser("owner").get(f"{CAMPAIGN}/item", params={"id": "i00"})
    assert reply.status_code == 200
    assert "<script>alert(1)" not in reply.text
    assert "&lt;script&gt;" in reply.text


for _id in ("another campaign's", "nobody's", "an expression"):

    @at(f"a submission that is {_id}, approved", defence="a campaign's own submissions only")
    def _(scene: BoardScene, kind: str = _id) -> None:
        path = f"c/{OTHER if kind == 'another campaign' + chr(39) + 's' else NAME}/submission/approve"
        name = {"nobody's": "01AAAAAAAAAAAAAAAAAAAAAAAA", "an expression": "' OR '1'='1"}.get(kind, scene.submission)
        reply = scene.browser("owner").post(
            "/board/" + path.replace(NAME, quote(slug(NAME), safe="")).replace(OTHER, quote(slug(OTHER), safe="")),
            data={"mark": scene.mark("owner", path), "id": name, "platform": "local", "do": "go", "budget": "99"},
        )
        refused(reply)


@at("pages of one campaign under the name of another", defence="ids belong to a campaign")
def _(scene: BoardScene) -> None:
    other = f"/board/c/{quote(slug(OTHER), safe='')}"
    for path, asked in (
        ("item", {"id": "i00"}),
        ("submission", {"id": scene.submission, "platform": "local"}),
        ("webhooks", {}),
        ("item", {"id": "e-item"}),
        ("part", {"name": "work"}),
    ):
        reply = scene.browser("owner").get(f"{other}/{path}", params=asked)
        assert "So it goes" not in reply.text
        assert scene.hook not in reply.text
        assert QUEUED not in reply.text


@at_experts("an auditor reads what people and the machine said", defence="an auditor sees figures")
def _(scene: BoardScene) -> None:
    for path, asked in (("item", {"id": "i00"}), ("submission", {"id": scene.submission, "platform": "local"})):
        reply = scene.browser("auditor").get(f"{CAMPAIGN}/{path}", params=asked)
        refused(reply)
        assert "So it goes" not in reply.text


@at_experts("an expert reads another expert's item", defence="an item that somebody has in hand is his")
def _(scene: BoardScene) -> None:
    for path in ("experts", "experts/case"):
        reply = scene.browser("expert").get(f"{CAMPAIGN}/{path}", params={"id": "e-item", "item": "e-item"})
        assert QUEUED not in reply.text
        assert KEPT not in reply.text


@at("a live stream without a sign-in or right", defence="streams ask as pages do")
def _(scene: BoardScene) -> None:
    for role in (None, "expert"):
        reply = scene.browser(role).get(f"{CAMPAIGN}/live")
        assert reply.status_code in {303, 403}
        assert "data:" not in reply.text


@at("a page in a frame, or kept by a cache", defence="headers of every page")
def _(scene: BoardScene) -> None:
    for role, path in (
        (None, "/board/sign-in"),
        ("owner", "/board/"),
        ("owner", CAMPAIGN),
        ("owner", "/board/nowhere"),
    ):
        headers = scene.browser(role).get(path).headers
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "no-store" in headers["cache-control"]


@at("files outside the folder of ours", defence="files by their exact names")
def _(scene: BoardScene) -> None:
    for name in (
        "..%2f_app.py",
        "../board.css",
        "%2e%2e/%2e%2e/_desk.py",
        "..%5c_desk.py",
        "board.css%00",
        "%2fetc%2fpasswd",
    ):
        refused(scene.browser().get(f"/board/static/{name}"))


@at("a change by GET", defence="forms are posted")
def _(scene: BoardScene) -> None:
    for path in FORMS:
        mark = scene.mark("owner", f"c/{NAME}/{path}")
        reply = scene.browser("owner").get(f"{CAMPAIGN}/{path}", params={**filled(scene, path), "mark": mark})
        assert reply.status_code in {404, 405}


@at("a form of 70 kB, of 101 fields, and one that lies about its size", defence="limits before anything is read")
def _(scene: BoardScene) -> None:
    many = "&".join(f"f{n}=x" for n in range(101))
    for where in ("/board/sign-in", f"{CAMPAIGN}/submission/approve"):
        browser = scene.browser("owner")
        refused(browser.post(where, content=b"key=" + b"x" * 70_000), browser.post(where, content=many))
        for length in ("-1", "9" * 30, "1e3"):
            refused(browser.post(where, content=b"key=x", headers={"Content-Length": length}))


@at("a name in a proxy's header where no proxy is named", defence="headers sign nobody in by themselves")
def _(scene: BoardScene) -> None:
    for headers in (
        {"X-Forwarded-User": "owner", "X-Forwarded-Groups": "owner"},
        {"X-Forwarded-User": scene.key_ids["owner"]},
        {"Authorization": f"Bearer {scene.keys['owner']}"},
        {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
    ):
        assert scene.browser(**headers).get("/board/").status_code == 303


@at(
    "an owner's page shown to one who signs in after him",
    defence="a new sign-in ends the browser's old one",
    stores="sign-ins",
)
def _(scene: BoardScene) -> None:
    browser = scene.browser()
    browser.post("/board/sign-in", data={"key": scene.keys["owner"]})
    first = browser.cookies["hmc_crowd_board"]
    browser.post("/board/sign-in", data={"key": scene.keys["auditor"]})
    assert browser.cookies["hmc_crowd_board"] != first
    assert scene.browser(Cookie=f"hmc_crowd_board={first}").get("/board/").status_code == 303
