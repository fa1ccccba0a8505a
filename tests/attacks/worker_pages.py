"""Attacks on a worker's pages: nothing gets in, nothing foreign is shown, and nothing of the honest work is lost."""

from __future__ import annotations

import contextlib
import socket
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from tests.attacks import attack, refused
from tests.attacks._pages import FOREIGN, MOST, PagesScene, pages, without_markup

from hmc_crowd_local import sign_token  # isort: skip
from hmc_crowd_local.pages import Invites  # isort: skip
from pages_house import SECRET, Plain, served  # isort: skip

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}${7*7}"


def shown_everywhere(scene: PagesScene) -> None:
    """No page of Ann's turns what was written into markup."""
    for path in ("q/1", "q/2", "q/3", "q/4", "q/6", "review", "ask/1", "guide", "done", "survey", "preferences"):
        text = scene.client.get(f"{scene.link}/{path}", follow_redirects=True).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "49" not in without_markup(text), path


# Script in every text field.


@attack(
    "worker pages",
    "script in an answer of text",
    pages,
    defence="shown as text, or no answer that is offered",
    stores="what was sent, as text",
)
def _(scene: PagesScene) -> None:
    assert scene.post("q/4", a0=SCRIPT, do="next").status_code == 303
    assert SCRIPT in scene.saved()
    shown_everywhere(scene)


@attack(
    "worker pages",
    "script in the reason of a skip",
    pages,
    defence="shown as text, or no answer that is offered",
    stores="what was sent, as text",
)
def _(scene: PagesScene) -> None:
    assert scene.post("q/4", do="skip", reason="other", reason_text=SCRIPT).status_code == 303
    shown_everywhere(scene)


@attack(
    "worker pages",
    "script in a question to the owner",
    pages,
    defence="shown as text, or no answer that is offered",
    stores="what was sent, as text",
)
def _(scene: PagesScene) -> None:
    assert scene.post("ask/1", text=SCRIPT).status_code == 303
    assert "&lt;script&gt;" in scene.client.get(f"{scene.link}/ask/1").text
    shown_everywhere(scene)


@attack(
    "worker pages",
    "script as a chosen answer",
    pages,
    defence="shown as text, or no answer that is offered",
)
def _(scene: PagesScene) -> None:
    refused(scene.post("q/1", a0=SCRIPT, do="next"))


@attack(
    "worker pages",
    "script in the language of the page",
    pages,
    defence="shown as text, or no answer that is offered",
)
def _(scene: PagesScene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1?lang={quote(SCRIPT)}")
    assert "<script>alert" not in answer.text
    assert '<html lang="en"' in answer.text


@attack(
    "worker pages",
    "script in the address",
    pages,
    defence="shown as text, or no answer that is offered",
)
def _(scene: PagesScene) -> None:
    answer = scene.client.get(f"/work/s/{quote(SCRIPT, safe='')}")
    refused(answer)
    assert "<script>alert" not in answer.text


@attack(
    "worker pages",
    "script in a header that is read",
    pages,
    defence="shown as text, or no answer that is offered",
)
def _(scene: PagesScene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1", headers={"Accept-Language": SCRIPT, "User-Agent": SCRIPT})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


@attack(
    "worker pages",
    "script in the events of a page",
    pages,
    defence="shown as text, or no answer that is offered",
)
def _(scene: PagesScene) -> None:
    body = {"form": SCRIPT, "page": SCRIPT, "now": 1, "events": [{"kind": SCRIPT}]}
    refused(scene.client.post(f"{scene.link}/events", json=body))


# Forged ids.


@attack(
    "worker pages",
    "a link signed with another secret",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    later = scene.house.clock.now() + timedelta(days=1)
    refused(scene.client.get(f"/work/s/{sign_token(b'another secret of 16', scene.bob, expires_at=later)}/q/1"))


@attack(
    "worker pages",
    "a link with another's id and one's own signature",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    own, other = scene.token.partition("."), scene.bobs.rpartition("/")[2].partition(".")
    refused(scene.client.get(f"/work/s/{other[0]}.{own[2]}/q/1"))


@attack(
    "worker pages",
    "a link whose signature lacks a letter",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    refused(scene.client.get(f"/work/s/{scene.token[:-1]}/q/1"), scene.client.get(f"/work/s/{scene.token}A/q/1"))


@attack(
    "worker pages",
    "a link without signature",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    body = scene.token.partition(".")[0]
    refused(*(scene.client.get(f"/work/s/{each}/q/1") for each in (body, f"{body}.", f".{body}", "a.b")))


@attack(
    "invitations",
    "an invitation's link where a work's is asked for, and the other way",
    pages,
    defence="the link's signature, and the HIT's own questions",
    stores="the invitation that the attack is about",
)
def _(scene: PagesScene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    before = scene.stored()
    refused(scene.client.get(f"/work/s/{invite}/q/1"), scene.client.get(f"/work/i/{scene.token}"))
    assert scene.stored() == before


@attack(
    "worker pages",
    "a HIT's id in place of a submission's",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    refused(scene.client.get(f"/work/s/{scene.house.token(scene.house.local.find('other').hit_id)}/q/1"))


@attack(
    "worker pages",
    "a question's number outside the HIT",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    for number in (0, 7, 99, 2**63, 10**40):
        refused(scene.client.get(f"{scene.link}/q/{number}"), scene.client.post(f"{scene.link}/q/{number}"))


@attack(
    "worker pages",
    "an answer that is none of those offered",
    pages,
    defence="the link's signature, and the HIT's own questions",
)
def _(scene: PagesScene) -> None:
    for number in ("7", "-1", "1e9", "0x0", "", "٣"):
        answer = scene.post("q/1", a0=number, do="save")
        assert answer.status_code in {200, 303, 400, 422}
    assert scene.saved() == ["rude"]


# Replays.


@attack(
    "worker pages",
    "the same answer sent again and again",
    pages,
    defence="the form's mark: one page, one person, for a while; the same again changes nothing",
)
def _(scene: PagesScene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/q/1")
    form = dict(plain.form('name="was_').fields)
    for _ in range(3):
        scene.client.post(f"{scene.link}/q/1", data=form | {"do": "save"})


@attack(
    "worker pages",
    "another's form sent to one's own link",
    pages,
    defence="the form's mark: one page, one person, for a while; the same again changes nothing",
)
def _(scene: PagesScene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.bobs}/withdraw")
    mark = dict(plain.form().fields)["form"]
    refused(scene.client.post(f"{scene.link}/withdraw", data={"form": mark}))


@attack(
    "worker pages",
    "a form of one page sent to another",
    pages,
    defence="the form's mark: one page, one person, for a while; the same again changes nothing",
)
def _(scene: PagesScene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/q/1")
    mark = dict(plain.form('name="was_').fields)["form"]
    refused(*(scene.client.post(f"{scene.link}/{path}", data={"form": mark}) for path in ("withdraw", "return", "q/2")))


@attack(
    "worker pages",
    "a form that was kept for weeks",
    pages,
    defence="the form's mark: one page, one person, for a while; the same again changes nothing",
)
def _(scene: PagesScene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/return")
    mark = dict(plain.form().fields)["form"]
    kept = scene.house.clock._now
    scene.house.clock.advance(40 * 24 * 3600)
    refused(scene.client.post(f"{scene.link}/return", data={"form": mark}))
    scene.house.clock._now = kept


# Links that are over.


@attack(
    "worker pages",
    "a link after its time",
    pages,
    defence="the time and the state of a link",
)
def _(scene: PagesScene) -> None:
    link = f"/work/s/{scene.house.token(scene.ann, expires_s=-1)}"
    refused(scene.client.get(f"{link}/q/1"), scene.client.post(f"{link}/review"))


@attack(
    "worker pages",
    "a link whose time was written anew",
    pages,
    defence="the time and the state of a link",
)
def _(scene: PagesScene) -> None:
    import base64
    import json

    body, _, mark = scene.token.partition(".")
    held = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    held[-1] = int(held[-1]) + 10**6
    longer = base64.urlsafe_b64encode(json.dumps(held).encode()).decode().rstrip("=")
    refused(scene.client.get(f"/work/s/{longer}.{mark}/q/1"))


@attack(
    "invitations",
    "an invitation that was taken back",
    pages,
    defence="the time and the state of a link",
    stores="the invitation that the attack is about",
)
def _(scene: PagesScene) -> None:
    invites = Invites(scene.house.local, secret=SECRET)
    invite = invites.issue("eve")
    invites.revoke(invite.invite_id)
    before = scene.stored()
    other = scene.house.local.find("other").hit_id
    refused(scene.client.get(f"/work/i/{invite.token}"), scene.client.post(f"/work/i/{invite.token}/hit/{other}"))
    assert scene.stored() == before


# Somebody else's session.


@attack(
    "invitations",
    "another's HIT through one's own invitation",
    pages,
    defence="nothing but the signed link says who comes",
    stores="the invitation that the attack is about",
)
def _(scene: PagesScene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    before = scene.stored()
    other = scene.house.local.find("other").hit_id  # full: Bob has its only place
    plain = Plain(scene.client)
    plain.get(f"/work/i/{invite}/hit/{other}")
    refused(scene.client.post(f"/work/i/{invite}/hit/{other}", data={"form": "0.x"}))
    assert scene.stored() == before


@attack(
    "worker pages",
    "cookies and headers that name another",
    pages,
    defence="nothing but the signed link says who comes",
)
def _(scene: PagesScene) -> None:
    headers = {
        "Cookie": f"session={scene.bob}",
        "X-Worker": "bob",
        "X-Forwarded-User": "bob",
        "Authorization": "Bearer x",
    }
    answer = scene.client.get(f"{scene.link}/q/1", headers=headers)
    assert FOREIGN not in answer.text
    assert "set-cookie" not in answer.headers


@attack(
    "worker pages",
    "ids of another in the query",
    pages,
    defence="nothing but the signed link says who comes",
)
def _(scene: PagesScene) -> None:
    for words in (
        f"worker=bob&submission={scene.bob}",
        f"token={scene.bobs.rpartition('/')[2]}",
        "invite=x&hit=other",
    ):
        assert FOREIGN not in scene.client.get(f"{scene.link}/q/1?{words}").text


# Paths.


@attack(
    "worker pages",
    "out of the folder of our files",
    pages,
    defence="files by their exact names only",
)
def _(scene: PagesScene) -> None:
    for name in ("..%2f_app.py", "../page.css", "%2e%2e/%2e%2e/en.json", "..%5c..%5cen.json", "page.css%00.html"):
        refused(scene.client.get(f"/work/static/{name}"))
    refused(scene.client.get("/work/static//etc/passwd"), scene.client.get("/work/static/%2fetc%2fpasswd"))


@attack(
    "worker pages",
    "out of one's own link",
    pages,
    defence="files by their exact names only",
)
def _(scene: PagesScene) -> None:
    other = scene.bobs.rpartition("/")[2]
    for path in (f"..%2f{other}%2fq%2f1", f"%2e%2e/{other}", "q/1/../../../i", "q/1%2f..%2f..", "q/-1", "q/1.0", "q/"):
        assert FOREIGN not in scene.client.get(f"{scene.link}/{path}", follow_redirects=False).text


# Bodies.


@attack(
    "worker pages",
    "a body larger than its limit",
    pages,
    defence="limits before anything is read",
)
def _(scene: PagesScene) -> None:
    refused(scene.client.post(f"{scene.link}/q/4", content=b"a0=" + b"x" * (MOST + 1)))


@attack(
    "worker pages",
    "a body that does not say how large it is",
    pages,
    defence="limits before anything is read",
)
def _(scene: PagesScene) -> None:
    def parts() -> Any:
        for _ in range(40):
            yield b"x" * 1000

    refused(
        scene.client.post(f"{scene.link}/q/4", content=parts()),
        scene.client.post(f"{scene.link}/events", content=parts()),
    )


@attack(
    "worker pages",
    "a body that lies about its size",
    pages,
    defence="limits before anything is read",
)
def _(scene: PagesScene) -> None:
    for length in ("-1", "1e3", "9" * 30, "0x10"):
        answer = scene.client.post(f"{scene.link}/q/4", content=b"a0=x", headers={"Content-Length": length})
        assert answer.status_code in {400, 403, 413}


@attack(
    "worker pages",
    "a thousand fields",
    pages,
    defence="limits before anything is read",
)
def _(scene: PagesScene) -> None:
    body = "&".join(f"f{index}=x" for index in range(1000))
    refused(scene.client.post(f"{scene.link}/q/4", content=body))


@attack(
    "worker pages",
    "events without end",
    pages,
    defence="limits before anything is read",
)
def _(scene: PagesScene) -> None:
    deep = "[" * 5000 + "]" * 5000
    refused(scene.client.post(f"{scene.link}/events", content=deep))


@attack(
    "worker pages",
    "a body that never ends",
    pages,
    defence="a time limit of its own for each body",
)
def _(scene: PagesScene) -> None:
    path = urlsplit(scene.link).path
    with scene.line() as made:
        made.sendall(f"POST {path}/review HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nform=".encode())
        assert b" 408 " in made.recv(1000)


@attack(
    "worker pages",
    "many that wait leave the others their answers",
    pages,
    defence="a time limit of its own for each body",
)
def _(scene: PagesScene) -> None:
    import httpx

    path = urlsplit(scene.link).path
    with served(scene.house.app) as url, contextlib.ExitStack() as stack:
        where = urlsplit(url)
        for _ in range(40):
            made = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=20))
            made.sendall(f"POST {path}/review HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n".encode())
        assert httpx.get(f"{url}{path}/q/1", timeout=10).status_code == 200


# Requests from elsewhere.


@attack(
    "worker pages",
    "a form of another site",
    pages,
    defence="the form's mark; reading changes nothing; no page in a frame",
)
def _(scene: PagesScene) -> None:
    headers = {"Origin": "https://evil.example.org", "Referer": "https://evil.example.org/"}
    refused(
        *(
            scene.client.post(f"{scene.link}/{path}", data=fields, headers=headers)
            for path in ("q/1", "review", "return", "withdraw", "consent", "ask/1", "feedback", "survey", "preferences")
            for fields in ({"a0": "0"}, {"form": ""}, {"form": "0.0"}, {"form": "é"})
        )
    )


@attack(
    "worker pages",
    "a change by GET",
    pages,
    defence="the form's mark; reading changes nothing; no page in a frame",
)
def _(scene: PagesScene) -> None:
    for path in ("q/1?a0=0&do=save", "review?do=submit", "return?do=return", "withdraw?do=withdraw"):
        assert scene.client.get(f"{scene.link}/{path}").status_code == 200


@attack(
    "worker pages",
    "a page in a frame",
    pages,
    defence="the form's mark; reading changes nothing; no page in a frame",
)
def _(scene: PagesScene) -> None:
    for path in ("q/1", "return", "withdraw"):
        headers = scene.client.get(f"{scene.link}/{path}").headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


# Headers.


@attack(
    "worker pages",
    "line breaks in the language",
    pages,
    defence="line breaks never reach a header; nothing is built from the Host",
)
def _(scene: PagesScene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1?lang=de%0d%0aSet-Cookie:%20x=1")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


@attack(
    "invitations",
    "line breaks in the address that one is sent to",
    pages,
    defence="line breaks never reach a header; nothing is built from the Host",
    stores="the invitation that the attack is about",
)
def _(scene: PagesScene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    answer = scene.client.get(f"/work/hit/x%0d%0aSet-Cookie:%20y=1?invite={invite}", follow_redirects=False)
    assert "set-cookie" not in answer.headers
    assert "\n" not in answer.headers.get("location", "")


@attack(
    "worker pages",
    "a host that is not ours",
    pages,
    defence="line breaks never reach a header; nothing is built from the Host",
)
def _(scene: PagesScene) -> None:
    answer = scene.client.get(scene.link, headers={"Host": "evil.example.org"}, follow_redirects=False)
    assert "evil" not in answer.headers.get("location", "") + answer.text


@attack(
    "worker pages",
    "two requests in one",
    pages,
    defence="line breaks never reach a header; nothing is built from the Host",
)
def _(scene: PagesScene) -> None:
    path, other = urlsplit(scene.link).path, urlsplit(scene.bobs).path
    inner = f"GET {other}-x/q/1 HTTP/1.1\r\nHost: x\r\n\r\n"
    head = f"POST {path}/q/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with scene.line() as made:
        made.sendall(f"{head}0\r\n\r\n{inner}".encode())
        made.settimeout(1)
        got = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while part := made.recv(65_536):
                got += part
    assert FOREIGN.encode() not in got
    assert got.startswith(b"HTTP/1.1 4")
