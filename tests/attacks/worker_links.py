"""Attacks on task pages and invitations by their links and forms, route by route; and with what workers may write."""

from __future__ import annotations

import re
from datetime import timedelta
from functools import partial
from typing import Any

from tests.attacks import attack, refused
from tests.attacks._pages import FOREIGN, PagesScene, pages

from hmc_crowd_local import sign_token  # isort: skip
from hmc_crowd_local.pages import Invites  # isort: skip
from hmc_crowd_local.pages._app import INVITE_ROUTES, WORK_ROUTES  # isort: skip
from pages_house import SECRET  # isort: skip

at = partial(attack, "worker pages", scene=pages)
at_invites = partial(attack, "invitations", scene=pages)
#: What each form needs to do something.
FORMS: dict[str, dict[str, str]] = {
    "q/{number:int}": {"a0": "0", "do": "save"},
    "review": {"do": "submit"},
    "return": {"do": "return"},
    "withdraw": {"do": "withdraw", "erase": "yes"},
    "ask/{number:int}": {"text": "hello"},
    "feedback": {"text": "hello", "fair": "1"},
    "preferences": {"category": "violence"},
    "consent": {"agree": "0", "do": "agree"},
    "survey": {"s0": "0"},
    "me/shifts": {"begins": "2026-01-06T09:00", "ends": "2026-01-06T12:00", "zone": "UTC"},
}


def below(path: str, hit_id: str = "h") -> str:
    return path.replace("{number:int}", "1").replace("{hit_id}", hit_id)


def _by_bad_links(door: str, path: str, methods: tuple[str, ...]) -> Any:
    def act(scene: PagesScene) -> None:
        later = scene.house.clock.now() + timedelta(days=1)
        invite = Invites(scene.house.local, secret=SECRET)
        other = scene.token if door == "i" else "bob"
        bad = [
            "x", scene.token[:-1], scene.token + "A", scene.token.partition(".")[0] + ".", other,
            scene.house.token(scene.ann, expires_s=-1), scene.house.token("nobody"),
            sign_token(b"another secret!!", scene.ann, expires_at=later), "é", "%00", "A" * 5000,
        ]  # fmt: skip
        assert invite is not None
        for token in bad:
            for method in methods:
                where = f"/work/{door}/{token}/{below(path)}".rstrip("/")
                refused(scene.client.request(method, where, data=FORMS.get(path) if method == "POST" else None))

    return act


def _by_bad_marks(path: str) -> Any:
    def act(scene: PagesScene) -> None:
        other = scene.house.client().get(f"{scene.bobs}/q/1").text
        bobs = re.search(r'name="form" value="([^"]+)"', other)
        own = re.search(r'name="form" value="([^"]+)"', scene.house.client().get(f"{scene.link}/preferences").text)
        assert bobs is not None
        assert own is not None
        marks = ["", "x", "0.x", "é", "0." + "0" * 64, bobs[1]] + ([] if path == "preferences" else [own[1]])
        for mark in marks:
            sent = {"form": mark, **FORMS.get(path, {})}
            refused(scene.client.post(f"{scene.link}/{below(path)}", data=sent, follow_redirects=False))
        refused(scene.client.post(f"{scene.link}/{below(path)}", data=FORMS.get(path, {}), follow_redirects=False))

    return act


for _path, (_get, _post) in WORK_ROUTES.items():
    _methods = tuple(name for name, handler in (("GET", _get), ("POST", _post)) if handler is not None)
    at(f"a link that is not good at {_path or 'the entrance'}", defence="links are signed, and end")(
        _by_bad_links("s", _path, _methods)
    )
    if _post is not None:
        at(f"a form whose mark is another's at {_path}", defence="a mark fits one link and one page")(
            _by_bad_marks(_path)
        )

for _path, (_get, _post) in INVITE_ROUTES.items():
    _methods = tuple(name for name, handler in (("GET", _get), ("POST", _post)) if handler is not None)
    at_invites(
        f"a link that is not good at {_path or 'the home'}", defence="invitations are signed, and can be taken back"
    )(_by_bad_links("i", _path, _methods))


for _kind in ("taken back", "of another workplace", "with another's name"):

    @at_invites(
        f"an invitation that is {_kind}, at every page", defence="invitations are signed rows", stores="the invitation"
    )
    def _(scene: PagesScene, kind: str = _kind) -> None:
        invites = Invites(scene.house.local, secret=SECRET)
        made = invites.issue("eve")
        token = made.token
        if kind == "taken back":
            invites.revoke(made.invite_id)
        elif kind == "of another workplace":
            token = Invites(scene.house.local, secret=b"another secret of 16").issue("eve").token
        else:
            theirs = invites.issue("bob").token
            token = f"{theirs.partition('.')[0]}.{made.token.partition('.')[2]}"
        before = scene.stored()
        for path, (get, post) in INVITE_ROUTES.items():
            where = f"/work/i/{token}/{below(path, scene.house.local.find('other').hit_id)}".rstrip("/")
            if get is not None:
                refused(scene.client.get(where))
            if post is not None:
                refused(scene.client.post(where, data={"form": "0.x", **FORMS.get(path, {})}))
        assert scene.stored() == before


for _what, _fields in {
    "an end before its begin": {"begins": "2026-01-06T12:00", "ends": "2026-01-06T09:00", "zone": "UTC"},
    "a zone that climbs folders": {
        "begins": "2026-01-06T09:00",
        "ends": "2026-01-06T12:00",
        "zone": "../../../etc/passwd",
    },
    "a zone that is none": {"begins": "2026-01-06T09:00", "ends": "2026-01-06T12:00", "zone": "--5"},
    "a time of 5,000 digits": {"begins": "9" * 5000, "ends": "2026-01-06T12:00", "zone": "UTC"},
    "times at the end of all days": {"begins": "9999-12-31T23:59", "ends": "9999-12-31T23:59", "zone": "Pacific/Apia"},
    "times at the begin of all days": {"begins": "0001-01-01T00:00", "ends": "0001-01-01T00:01", "zone": "Asia/Tokyo"},
    "digits of another script": {"begins": "２０２６-01-06T09:00", "ends": "2026-01-06T12:00", "zone": "UTC"},
}.items():

    @at_invites(
        f"a shift with {_what}", defence="times and zones are read before they are kept", stores="the invitation"
    )
    def _(scene: PagesScene, fields: dict[str, str] = _fields) -> None:
        token = Invites(scene.house.local, secret=SECRET).issue("eve").token
        scene.house.client().get(f"/work/i/{token}/me")
        before = scene.stored()
        reply = scene.post("me/shifts", link=f"/work/i/{token}", **fields)
        refused(reply)
        assert scene.stored() == before


for _number in ("9" * 20, "9" * 5000, "0", "-1", "1.0", "²", "٣", "1%00", "1%2f..%2f2", "one"):

    @at(f"a question whose number is {_number[:21]!r}", defence="numbers of this HIT's own questions")
    def _(scene: PagesScene, number: str = _number) -> None:
        for path in ("q", "ask"):
            refused(
                scene.client.get(f"{scene.link}/{path}/{number}"), scene.client.post(f"{scene.link}/{path}/{number}")
            )


for _what, _events in {
    "a time in another century": [{"seq": 1, "kind": "shown", "t": 1e18, "epoch": 1e18, "n": 1}],
    "a number that is none": [{"seq": "1", "kind": "shown", "t": 1.0, "epoch": 1e12, "n": 1}],
    "a number too large": [{"seq": 2**31, "kind": "shown", "t": 1.0, "epoch": 1e12, "n": 1}],
    "a kind that there is not": [{"seq": 1, "kind": "paid", "t": 1.0, "epoch": 1e12, "n": 1}],
    "a question that there is not": [{"seq": 1, "kind": "shown", "t": 1.0, "epoch": 1e12, "n": 99}],
    "no object": ["shown"],
    "too many of them": [{"seq": n, "kind": "shown", "t": 1.0, "epoch": 1e12, "n": 1} for n in range(501)],
}.items():

    @at(f"events with {_what}", defence="events have a form, and a form's mark", stores="what of it can be dated")
    def _(scene: PagesScene, events: list[Any] = _events) -> None:
        page = scene.house.client().get(f"{scene.link}/q/1").text
        mark = re.search(r'data-events-form="([^"]+)"', page)
        assert mark is not None
        sent = {"form": mark[1], "page": "tab1", "now": 10.0, "events": events}
        reply = scene.client.post(f"{scene.link}/events", json=sent)
        assert reply.status_code in {204, 400, 413, 422}
        # Whatever came, no time of work lies outside what the server's clock saw.
        held = scene.house.local.submission(scene.ann)
        assert held.state.value == "accepted"
        refused(scene.client.post(f"{scene.bobs}/events", json=sent))


for _place in ("turkSubmitTo", "assignmentId", "hitId", "workerId", "hit"):

    @at(f"an arrival in a frame that nobody set up, with a hostile {_place}", defence="no frame where none is named")
    def _(scene: PagesScene, place: str = _place) -> None:
        right = {
            "hit": "other",
            "hitId": "H1",
            "assignmentId": "A1",
            "workerId": "AEVE",
            "turkSubmitTo": "https://x.example",
        }
        for odd in (
            "http://[::1",
            "https://evil.example.org",
            "<script>alert(1)</script>",
            "\\g<0>",
            "A" * 5000,
            "A\x00",
        ):
            reply = scene.client.get("/work/mturk", params={**right, place: odd}, follow_redirects=False)
            assert reply.status_code in {200, 403, 404}
            assert "<script>alert(1)" not in reply.text
            assert FOREIGN not in reply.text
            assert "location" not in reply.headers
