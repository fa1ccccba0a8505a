"""Attacks on a worker's pages, one named case each: none gets in, and nothing of the honest work is lost.

Each case attacks a house in which Ann is half way through her work and Bob has work of his own. Afterwards nothing that
is stored may have changed (but for what the case says), nothing foreign may have been shown, and Ann must still be able
to finish. `test_the_table_is_complete` counts the cases by kind.
"""

from __future__ import annotations

import contextlib
import re
import socket
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import pytest
import sqlalchemy as sa
from hmc_crowd_local import sign_token
from hmc_crowd_local._tables import METADATA
from hmc_crowd_local.pages import Invites
from pages_house import SECRET, PagesHouse, Plain, dialogue, every_kind, full_study, question, served

from hmc_crowd.platform import Hit

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}${7*7}"
FOREIGN = "FOREIGN TEXT"
MOST = 20_000


@dataclass
class Scene:
    """A house under attack."""

    house: PagesHouse
    ann: str
    link: str
    bob: str
    foreign: str

    @property
    def client(self) -> Any:
        return self.house.client()

    @property
    def token(self) -> str:
        return self.link.rpartition("/")[2]

    def post(self, path: str, *, link: str = "", **fields: str) -> Any:
        """Send a form as a program would: with a right mark, and whatever else it likes."""
        plain = Plain(self.client)
        plain.get(f"{link or self.link}/{path}")
        mark = next((value for form in plain.forms() for name, value in form.fields if name == "form"), "")
        return self.client.post(f"{link or self.link}/{path}", data={"form": mark, **fields}, follow_redirects=False)

    def stored(self) -> list[Any]:
        with self.house.local._database.read() as connection:
            return [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]


ATTACKS: dict[str, tuple[str, Callable[[Scene], Any]]] = {}
KEEPS = set()


def attack(kind: str, name: str, *, is_kept: bool = False) -> Any:
    """Put a case into the table; ``is_kept``: what was sent is stored, as text."""

    def put(case: Callable[[Scene], Any]) -> Any:
        ATTACKS[name] = (kind, case)
        if is_kept:
            KEEPS.add(name)
        return case

    return put


def refused(*answers: Any) -> None:
    for each in answers:
        assert each.status_code in {400, 403, 404, 405, 408, 409, 413, 422, 429}, each.text[:300]
        assert FOREIGN not in each.text


def shown_everywhere(scene: Scene) -> None:
    """No page of Ann's turns what was written into markup."""
    for path in ("q/1", "q/2", "q/3", "q/4", "q/6", "review", "ask/1", "guide", "done", "survey", "preferences"):
        text = scene.client.get(f"{scene.link}/{path}", follow_redirects=True).text
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
        assert "49" not in re.sub(r'(?:value|action|data-[a-z-]+|href)="[^"]*"', "", text), path


# Script in every text field.


@attack("script", "script in an answer of text", is_kept=True)
def _(scene: Scene) -> None:
    assert scene.post("q/4", a0=SCRIPT, do="next").status_code == 303
    assert SCRIPT in {each.label for each in scene.house.local.saved_answers([scene.ann])[scene.ann]}
    shown_everywhere(scene)


@attack("script", "script in the reason of a skip", is_kept=True)
def _(scene: Scene) -> None:
    assert scene.post("q/4", do="skip", reason="other", reason_text=SCRIPT).status_code == 303
    shown_everywhere(scene)


@attack("script", "script in a question to the owner", is_kept=True)
def _(scene: Scene) -> None:
    assert scene.post("ask/1", text=SCRIPT).status_code == 303
    assert "&lt;script&gt;" in scene.client.get(f"{scene.link}/ask/1").text
    shown_everywhere(scene)


@attack("script", "script as a chosen answer")
def _(scene: Scene) -> None:
    refused(scene.post("q/1", a0=SCRIPT, do="next"))


@attack("script", "script in the language of the page")
def _(scene: Scene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1?lang={quote(SCRIPT)}")
    assert "<script>alert" not in answer.text
    assert '<html lang="en"' in answer.text


@attack("script", "script in the address")
def _(scene: Scene) -> None:
    answer = scene.client.get(f"/work/s/{quote(SCRIPT, safe='')}")
    refused(answer)
    assert "<script>alert" not in answer.text


@attack("script", "script in a header that is read")
def _(scene: Scene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1", headers={"Accept-Language": SCRIPT, "User-Agent": SCRIPT})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


@attack("script", "script in the events of a page")
def _(scene: Scene) -> None:
    body = {"form": SCRIPT, "page": SCRIPT, "now": 1, "events": [{"kind": SCRIPT}]}
    refused(scene.client.post(f"{scene.link}/events", json=body))


# Forged ids.


@attack("forged id", "a link signed with another secret")
def _(scene: Scene) -> None:
    later = scene.house.clock.now() + timedelta(days=1)
    refused(scene.client.get(f"/work/s/{sign_token(b'another secret of 16', scene.bob, expires_at=later)}/q/1"))


@attack("forged id", "a link with another's id and one's own signature")
def _(scene: Scene) -> None:
    own, other = scene.token.partition("."), scene.foreign.rpartition("/")[2].partition(".")
    refused(scene.client.get(f"/work/s/{other[0]}.{own[2]}/q/1"))


@attack("forged id", "a link whose signature lacks a letter")
def _(scene: Scene) -> None:
    refused(scene.client.get(f"/work/s/{scene.token[:-1]}/q/1"), scene.client.get(f"/work/s/{scene.token}A/q/1"))


@attack("forged id", "a link without signature")
def _(scene: Scene) -> None:
    body = scene.token.partition(".")[0]
    refused(*(scene.client.get(f"/work/s/{each}/q/1") for each in (body, f"{body}.", f".{body}", "a.b")))


@attack("forged id", "an invitation's link where a work's is asked for, and the other way")
def _(scene: Scene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    before = scene.stored()
    refused(scene.client.get(f"/work/s/{invite}/q/1"), scene.client.get(f"/work/i/{scene.token}"))
    assert scene.stored() == before


@attack("forged id", "a HIT's id in place of a submission's")
def _(scene: Scene) -> None:
    refused(scene.client.get(f"/work/s/{scene.house.token(scene.house.local.find('other').hit_id)}/q/1"))


@attack("forged id", "a question's number outside the HIT")
def _(scene: Scene) -> None:
    for number in (0, 7, 99, 2**63, 10**40):
        refused(scene.client.get(f"{scene.link}/q/{number}"), scene.client.post(f"{scene.link}/q/{number}"))


@attack("forged id", "an answer that is none of those offered")
def _(scene: Scene) -> None:
    for number in ("7", "-1", "1e9", "0x0", "", "٣"):
        answer = scene.post("q/1", a0=number, do="save")
        assert answer.status_code in {200, 303, 400, 422}
    assert [each.label for each in scene.house.local.saved_answers([scene.ann])[scene.ann]] == ["rude"]


# Replays.


@attack("replay", "the same answer sent again and again")
def _(scene: Scene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/q/1")
    form = dict(plain.form('name="was_').fields)
    for _ in range(3):
        scene.client.post(f"{scene.link}/q/1", data=form | {"do": "save"})


@attack("replay", "another's form sent to one's own link")
def _(scene: Scene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.foreign}/withdraw")
    mark = dict(plain.form().fields)["form"]
    refused(scene.client.post(f"{scene.link}/withdraw", data={"form": mark}))


@attack("replay", "a form of one page sent to another")
def _(scene: Scene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/q/1")
    mark = dict(plain.form('name="was_').fields)["form"]
    refused(*(scene.client.post(f"{scene.link}/{path}", data={"form": mark}) for path in ("withdraw", "return", "q/2")))


@attack("replay", "a form that was kept for weeks")
def _(scene: Scene) -> None:
    plain = Plain(scene.client)
    plain.get(f"{scene.link}/return")
    mark = dict(plain.form().fields)["form"]
    kept = scene.house.clock._now
    scene.house.clock.advance(40 * 24 * 3600)
    refused(scene.client.post(f"{scene.link}/return", data={"form": mark}))
    scene.house.clock._now = kept


# Links that are over.


@attack("expired link", "a link after its time")
def _(scene: Scene) -> None:
    link = f"/work/s/{scene.house.token(scene.ann, expires_s=-1)}"
    refused(scene.client.get(f"{link}/q/1"), scene.client.post(f"{link}/review"))


@attack("expired link", "a link whose time was written anew")
def _(scene: Scene) -> None:
    import base64
    import json

    body, _, mark = scene.token.partition(".")
    held = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    held[-1] = int(held[-1]) + 10**6
    longer = base64.urlsafe_b64encode(json.dumps(held).encode()).decode().rstrip("=")
    refused(scene.client.get(f"/work/s/{longer}.{mark}/q/1"))


@attack("expired link", "an invitation that was taken back")
def _(scene: Scene) -> None:
    invites = Invites(scene.house.local, secret=SECRET)
    invite = invites.issue("eve")
    invites.revoke(invite.invite_id)
    before = scene.stored()
    other = scene.house.local.find("other").hit_id
    refused(scene.client.get(f"/work/i/{invite.token}"), scene.client.post(f"/work/i/{invite.token}/hit/{other}"))
    assert scene.stored() == before


# Somebody else's session.


@attack("foreign session", "another's HIT through one's own invitation")
def _(scene: Scene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    before = scene.stored()
    other = scene.house.local.find("other").hit_id  # full: Bob has its only place
    plain = Plain(scene.client)
    plain.get(f"/work/i/{invite}/hit/{other}")
    refused(scene.client.post(f"/work/i/{invite}/hit/{other}", data={"form": "0.x"}))
    assert scene.stored() == before


@attack("foreign session", "cookies and headers that name another")
def _(scene: Scene) -> None:
    headers = {
        "Cookie": f"session={scene.bob}",
        "X-Worker": "bob",
        "X-Forwarded-User": "bob",
        "Authorization": "Bearer x",
    }
    answer = scene.client.get(f"{scene.link}/q/1", headers=headers)
    assert FOREIGN not in answer.text
    assert "set-cookie" not in answer.headers


@attack("foreign session", "ids of another in the query")
def _(scene: Scene) -> None:
    for words in (
        f"worker=bob&submission={scene.bob}",
        f"token={scene.foreign.rpartition('/')[2]}",
        "invite=x&hit=other",
    ):
        assert FOREIGN not in scene.client.get(f"{scene.link}/q/1?{words}").text


# Paths.


@attack("path traversal", "out of the folder of our files")
def _(scene: Scene) -> None:
    for name in ("..%2f_app.py", "../page.css", "%2e%2e/%2e%2e/en.json", "..%5c..%5cen.json", "page.css%00.html"):
        refused(scene.client.get(f"/work/static/{name}"))
    refused(scene.client.get("/work/static//etc/passwd"), scene.client.get("/work/static/%2fetc%2fpasswd"))


@attack("path traversal", "out of one's own link")
def _(scene: Scene) -> None:
    other = scene.foreign.rpartition("/")[2]
    for path in (f"..%2f{other}%2fq%2f1", f"%2e%2e/{other}", "q/1/../../../i", "q/1%2f..%2f..", "q/-1", "q/1.0", "q/"):
        assert FOREIGN not in scene.client.get(f"{scene.link}/{path}", follow_redirects=False).text


# Bodies.


@attack("oversized body", "a body larger than its limit")
def _(scene: Scene) -> None:
    refused(scene.client.post(f"{scene.link}/q/4", content=b"a0=" + b"x" * (MOST + 1)))


@attack("oversized body", "a body that does not say how large it is")
def _(scene: Scene) -> None:
    def parts() -> Any:
        for _ in range(40):
            yield b"x" * 1000

    refused(
        scene.client.post(f"{scene.link}/q/4", content=parts()),
        scene.client.post(f"{scene.link}/events", content=parts()),
    )


@attack("oversized body", "a body that lies about its size")
def _(scene: Scene) -> None:
    for length in ("-1", "1e3", "9" * 30, "0x10"):
        answer = scene.client.post(f"{scene.link}/q/4", content=b"a0=x", headers={"Content-Length": length})
        assert answer.status_code in {400, 403, 413}


@attack("oversized body", "a thousand fields")
def _(scene: Scene) -> None:
    body = "&".join(f"f{index}=x" for index in range(1000))
    refused(scene.client.post(f"{scene.link}/q/4", content=body))


@attack("oversized body", "events without end")
def _(scene: Scene) -> None:
    deep = "[" * 5000 + "]" * 5000
    refused(scene.client.post(f"{scene.link}/events", content=deep))


def line(scene: Scene) -> Any:
    """A line of bytes to a real server."""

    @contextlib.contextmanager
    def go() -> Any:
        with served(scene.house.app) as url:
            where = urlsplit(url)
            with socket.create_connection((where.hostname, where.port), timeout=20) as made:
                yield made

    return go()


@attack("slow body", "a body that never ends")
def _(scene: Scene) -> None:
    path = urlsplit(scene.link).path
    with line(scene) as made:
        made.sendall(f"POST {path}/review HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nform=".encode())
        assert b" 408 " in made.recv(1000)


@attack("slow body", "many that wait leave the others their answers")
def _(scene: Scene) -> None:
    import httpx

    path = urlsplit(scene.link).path
    with served(scene.house.app) as url, contextlib.ExitStack() as stack:
        where = urlsplit(url)
        for _ in range(40):
            made = stack.enter_context(socket.create_connection((where.hostname, where.port), timeout=20))
            made.sendall(f"POST {path}/review HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n".encode())
        assert httpx.get(f"{url}{path}/q/1", timeout=10).status_code == 200


# Requests from elsewhere.


@attack("CSRF", "a form of another site")
def _(scene: Scene) -> None:
    headers = {"Origin": "https://evil.example.org", "Referer": "https://evil.example.org/"}
    refused(
        *(
            scene.client.post(f"{scene.link}/{path}", data=fields, headers=headers)
            for path in ("q/1", "review", "return", "withdraw", "consent", "ask/1", "feedback", "survey", "preferences")
            for fields in ({"a0": "0"}, {"form": ""}, {"form": "0.0"}, {"form": "é"})
        )
    )


@attack("CSRF", "a change by GET")
def _(scene: Scene) -> None:
    for path in ("q/1?a0=0&do=save", "review?do=submit", "return?do=return", "withdraw?do=withdraw"):
        assert scene.client.get(f"{scene.link}/{path}").status_code == 200


@attack("CSRF", "a page in a frame")
def _(scene: Scene) -> None:
    for path in ("q/1", "return", "withdraw"):
        headers = scene.client.get(f"{scene.link}/{path}").headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


# Headers.


@attack("header injection", "line breaks in the language")
def _(scene: Scene) -> None:
    answer = scene.client.get(f"{scene.link}/q/1?lang=de%0d%0aSet-Cookie:%20x=1")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers


@attack("header injection", "line breaks in the address that one is sent to")
def _(scene: Scene) -> None:
    invite = Invites(scene.house.local, secret=SECRET).issue("eve").token
    answer = scene.client.get(f"/work/hit/x%0d%0aSet-Cookie:%20y=1?invite={invite}", follow_redirects=False)
    assert "set-cookie" not in answer.headers
    assert "\n" not in answer.headers.get("location", "")


@attack("header injection", "a host that is not ours")
def _(scene: Scene) -> None:
    answer = scene.client.get(scene.link, headers={"Host": "evil.example.org"}, follow_redirects=False)
    assert "evil" not in answer.headers.get("location", "") + answer.text


@attack("header injection", "two requests in one")
def _(scene: Scene) -> None:
    path, other = urlsplit(scene.link).path, urlsplit(scene.foreign).path
    inner = f"GET {other}-x/q/1 HTTP/1.1\r\nHost: x\r\n\r\n"
    head = f"POST {path}/q/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with line(scene) as made:
        made.sendall(f"{head}0\r\n\r\n{inner}".encode())
        made.settimeout(1)
        got = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while part := made.recv(65_536):
                got += part
    assert FOREIGN.encode() not in got
    assert got.startswith(b"HTTP/1.1 4")


@pytest.fixture
def scene(new_house: Callable[..., PagesHouse]) -> Scene:
    """Ann is half way through her work; Bob has work of his own."""
    study = full_study(information="", consent=(), checks=(), training=(), test=())
    house = new_house(most_body_bytes=MOST, body_s=0.4, study=study)
    ann, link = house.work(every_kind(), "ann")
    bob, foreign = house.work(Hit("other", "Other", "", (question("o1", text=FOREIGN),), 1, 5, "USD"), "bob")
    house.local.open_page(ann, "ann")
    house.local.save_answer(ann, "ann", item="nominal", aspect="label", label="rude")
    house.work(dialogue(), "cem")
    made = Scene(house, ann, link, bob, foreign)
    # What a first visit stores is there before the attack.
    for number in range(1, 7):
        made.client.get(f"{link}/q/{number}")
    made.client.get(f"{foreign}/q/1")
    return made


def finish(scene: Scene) -> None:
    """Ann goes on as if nothing had happened."""
    plain = Plain(scene.client)
    for number, answers in enumerate(
        ({"a0": "1", "a1": "3"}, {"a0": "0"}, {"a0": "2"}, {"a0": "Sure."}, {"a0": "0"}, {"a0": "1"})
    ):
        plain.get(f"{scene.link}/q/{number + 1}")
        plain.answer(**answers, do="next")
    plain.get(f"{scene.link}/review")
    plain.send("Hand in")
    assert scene.house.local.submission(scene.ann).state.value == "submitted"
    assert len(scene.house.local.answers([scene.ann])[scene.ann]) == 7


@pytest.mark.parametrize("name", ATTACKS)
def test_nobody_gets_in_and_nothing_is_lost(scene: Scene, name: str) -> None:
    before = scene.stored()
    ATTACKS[name][1](scene)
    if name not in KEEPS and "invitation" not in name and "address that one" not in name:
        assert scene.stored() == before
    assert scene.house.local.submission(scene.bob).state.value == "accepted"
    finish(scene)


def test_the_table_is_complete() -> None:
    counted = Counter(kind for kind, _ in ATTACKS.values())
    assert set(counted) == {
        *("script", "forged id", "replay", "expired link", "foreign session", "path traversal", "oversized body"),
        *("slow body", "CSRF", "header injection"),
    }
    assert sum(counted.values()) == 42
