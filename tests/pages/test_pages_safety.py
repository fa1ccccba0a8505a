"""Attacks on the pages: forged and foreign links, forms from elsewhere, bodies too large or slow, hostile fields."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pages_house import SECRET, Plain, dialogue, every_kind, full_study, question, served
from starlette.routing import Mount, Route

from hmc_crowd._base.limits import RateLimit
from hmc_crowd.platform import Hit

from hmc_crowd_local import sign_token  # isort: skip
from hmc_crowd_local._tables import METADATA  # isort: skip
from hmc_crowd_local.pages import Invites  # isort: skip

POSTED = ("q/1", "q/2", "q/3", "q/4", "review", "feedback", "ask/1", "preferences", "consent", "survey")
FIELDS = ("a0", "a1", "do", "reason", "reason_text", "text", "clear", "category", "was_a0", "place", "s0")


def routes(house: Any) -> list[tuple[str, str]]:
    """Every method and path of the pages, from the application itself."""
    (mount,) = house.app.routes
    assert isinstance(mount, Mount)
    return [
        (method, each.path)
        for each in mount.routes
        if isinstance(each, Route)
        for method in sorted(each.methods or ())
        if method != "HEAD"
    ]


def call(client: Any, method: str, path: str, **fields: str) -> Any:
    return client.request(method, "/work" + path, data=fields or None, follow_redirects=False)


def everything(house: Any) -> list[Any]:
    """All that is stored, to see that nothing changed."""
    with house.local._database.read() as connection:
        return [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]


def filled(path: str, *, token: str, hit_id: str = "h", number: int = 1) -> str:
    return (
        path.replace("{token}", token).replace("{number:int}", str(number)).replace("{hit_id}", hit_id)
        .replace("{name}", "page.css")
    )  # fmt: skip


def behind_links(house: Any) -> list[tuple[str, str]]:
    return [each for each in routes(house) if "{token}" in each[1]]


def test_no_route_opens_with_a_link_that_is_not_good(house, clock) -> None:
    name, link = house.work(dialogue())
    invites = Invites(house.local, secret=SECRET)
    invite = invites.issue("bob")
    good = link.rpartition("/")[2]
    over = house.token(name, expires_s=1)
    revoked = invites.issue("eve")
    invites.revoke(revoked.invite_id)
    clock.advance(2)
    body, _, mark = good.partition(".")
    bad = [
        "x", ".", "a.b", good[:-1], body + ".", body + "." + "A" * len(mark), good + "A", over, revoked.token,
        house.token("unknown"), sign_token(b"another secret!!", name, expires_at=clock.now().replace(year=2030)),
        "é.ü", "%2e%2e", "A" * 5000,
    ]  # fmt: skip
    before, client = everything(house), house.client()
    for method, path in behind_links(house):
        wrong_kind = [invite.token] if path.startswith("/s/") else [good]
        for token in [*bad, *wrong_kind]:
            answer = call(client, method, filled(path, token=token))
            assert answer.status_code in {403, 404}, (method, path, token)
            assert "polite" not in answer.text
    assert everything(house) == before


def test_no_route_shows_or_changes_another_workers_work(house) -> None:
    # Ann's link with every id of Bob's that a route takes: what she sees is hers, what changes is hers.
    mine = Hit("mine", "Mine", "", (question("m1", text="My text"),), 1, 5, "USD")
    other = Hit("other", "Other", "", (question("o1", text="FOREIGN TEXT"),), 1, 5, "USD")
    _, link = house.work(mine, "ann")
    bob, _ = house.work(other, "bob")
    house.local.save_answer(bob, "bob", item="o1", aspect="label", label="rude")
    other_id = house.local.find("other").hit_id
    invite = Invites(house.local, secret=SECRET).issue("ann")
    client = house.client()
    for method, path in behind_links(house):
        token = invite.token if path.startswith("/i/") else link.rpartition("/")[2]
        for number in (0, 1, 2, 99):
            answer = call(client, method, filled(path, token=token, hit_id=other_id, number=number))
            assert "FOREIGN" not in answer.text
            assert answer.status_code != 500
    assert [each.label for each in house.local.saved_answers([bob])[bob]] == ["rude"]
    assert house.local.submission(bob).state.value == "accepted"


def test_every_form_is_refused_without_its_own_mark(new_house) -> None:
    house = new_house(study=full_study())
    _, link = house.work(dialogue())
    token = link.rpartition("/")[2]
    invite = Invites(house.local, secret=SECRET).issue("ann")
    _, foreign = house.work(dialogue(), "bob")
    plain = Plain(house.client())
    plain.get(foreign + "/withdraw")
    foreign_mark = dict(plain.form().fields)["form"]
    plain.get(link + "/withdraw")
    own_mark = dict(plain.form().fields)["form"]
    before, client = everything(house), house.client()
    for method, path in behind_links(house):
        if method != "POST":
            continue
        used = invite.token if path.startswith("/i/") else token
        for mark in (None, "", "0.", "zz.00", foreign_mark, own_mark):
            if mark == own_mark and path.endswith("/withdraw"):
                continue
            fields = {} if mark is None else {"form": mark}
            answer = call(client, method, filled(path, token=used), **fields)
            assert answer.status_code in {400, 403}, (path, mark)
    assert everything(house) == before


def test_every_page_has_its_headers_and_none_may_be_framed(house) -> None:
    _, link = house.work(dialogue())
    invite = Invites(house.local, secret=SECRET).issue("ann")
    client = house.client()
    for method, path in routes(house):
        used = invite.token if path.startswith("/i/") else link.rpartition("/")[2]
        headers = call(client, method, filled(path, token=used)).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        if "static" in path:
            continue
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "set-cookie" not in headers


def test_c13_only_the_work_may_stand_in_a_named_frame(new_house) -> None:
    house = new_house(frame_ancestors=("https://*.mturk.com",), study=full_study(checks=(), training=(), test=()))
    _, link = house.work(dialogue())
    plain = Plain(house.client())
    plain.get(link)
    assert plain.path == "consent"
    assert plain.page.headers["X-Frame-Options"] == "DENY"
    plain.send('name="agree"', agree=["0", "1"], do="agree")
    assert "X-Frame-Options" not in plain.page.headers
    assert "frame-ancestors https://*.mturk.com" in plain.page.headers["Content-Security-Policy"]
    plain.get("/work/s/forged")
    assert plain.page.headers["X-Frame-Options"] == "DENY"


def test_nothing_on_a_page_is_inline(house, plain) -> None:
    import re

    _, link = house.work(every_kind())
    for path in ("/q/1", "/q/3", "/review", "/withdraw"):
        plain.get(link + path)
        assert re.findall(r"<[^>]+\s(?:on\w+|style)=", plain.text) == []
        assert re.findall(r"<script(?![^>]*\ssrc=)", plain.text) == []


def test_a_body_that_is_too_large_changes_nothing(new_house) -> None:
    house = new_house(most_body_bytes=2_000)
    name, link = house.work(every_kind())
    plain = Plain(house.client())
    plain.get(link + "/q/4")
    assert plain.answer(a0="x" * 5_000, do="next").status_code == 413
    assert "too large" in plain.text

    def parts() -> Any:
        yield b"a0=" + b"x" * 5_000  # without saying how long it is

    assert plain.client.post(link + "/q/4", content=parts()).status_code == 413
    assert plain.client.post(link + "/events", content=b"x" * 5_000).status_code == 413
    assert name not in house.local.saved_answers([name])


def test_a_text_that_is_too_long_is_refused_politely(house, plain) -> None:
    name, link = house.work(every_kind())
    plain.get(link + "/q/4")
    assert plain.answer(a0="x" * 20_001, do="next").status_code == 400
    assert name not in house.local.saved_answers([name])


def test_a_body_that_never_ends_is_given_up(new_house) -> None:
    house = new_house(body_s=0.3)
    _, link = house.work(dialogue())
    path = link.removeprefix(house.url) + "/review"
    with served(house.app) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nform="
            line.sendall(head.encode())
            time.sleep(0.05)
            assert b" 408 " in line.recv(1000)


@pytest.mark.parametrize("name", ["..%2f_app.py", "../page.css", "%2e%2e/%2e%2e/en.json", "page.css%00", "nothing"])
def test_only_our_files_are_sent(house, name) -> None:
    assert house.client().get(f"/work/static/{name}").status_code == 404


def test_a_sender_may_not_ask_without_end(new_house) -> None:
    house = new_house(per_minute=3, strangers_per_minute=2)
    _, link = house.work(dialogue())
    client = house.client()
    assert [client.get(link + "/q/1").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [client.get("/work/s/forged").status_code for _ in range(3)] == [404, 404, 429]
    _, other = house.work(dialogue(), "bob")
    assert client.get(other + "/q/1").status_code == 200  # nobody else is kept out


def test_the_limit_forgets_after_a_minute_and_keeps_few_senders(monkeypatch) -> None:
    now = [0.0]
    limit = RateLimit(1, clock=lambda: now[0])
    assert [limit.allows("a"), limit.allows("a")] == [True, False]
    now[0] = 60.0
    assert limit.allows("a")
    monkeypatch.setattr("hmc_crowd._base.limits._MOST_SENDERS", 5)
    for i in range(50):
        limit.allows(str(i))
    assert len(limit._seen) <= 6


@pytest.mark.parametrize("lang", ["de%0d%0aSet-Cookie:%20x=1", "../../en", "<script>", "xx%00", "e" * 3000])
def test_a_strange_language_is_no_language(house, lang) -> None:
    _, link = house.work(dialogue())
    answer = house.client().get(f"{link}/q/1?lang={lang}")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert '<html lang="en"' in answer.text


def test_a_completion_link_that_is_a_script_is_none(new_house) -> None:
    house = new_house(completion=lambda _platform, _id: "javascript:alert(1)")
    house.local.open_order("order", [dialogue()])
    address = house.local.order_door("prolific").claim("order", worker="p1", submission_id="s1")
    from hmc_crowd_local import read_token, work_url

    name = read_token(house.local.secret("pages"), address.rpartition("/")[2], now=house.clock.now())
    plain = Plain(house.client())
    plain.get(work_url(house.url, house.token(name)))
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    assert "javascript:" not in plain.text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(POSTED),
    fields=st.dictionaries(
        st.sampled_from(FIELDS),
        st.text(max_size=60) | st.sampled_from(["0", "-1", "99999", "none", "<script>", "=cmd()", "\x00", "\ud800"]),
    ),
)  # fmt: skip
def test_no_field_breaks_a_page(fuzzed, path, fields) -> None:
    house, link = fuzzed
    from urllib.parse import quote, urlencode

    from hmc_crowd_local.pages._stamps import make_stamp

    token = link.rpartition("/")[2]
    mark = make_stamp(SECRET, token, path, at=house.clock.now())
    body = urlencode({"form": mark, **fields}, errors="surrogatepass", quote_via=quote)
    answer = house.client().post(f"{link}/{path}", content=body, follow_redirects=True)
    assert answer.status_code in {200, 400, 403, 404, 405, 409, 422}
    assert "<script>" not in answer.text


@pytest.fixture
def fuzzed(new_house):
    house = new_house(study=full_study(information="", consent=(), checks=(), training=(), test=()))
    _, link = house.work(every_kind())
    return house, link


def test_what_a_worker_writes_is_shown_as_text(house, plain) -> None:
    evil = "<script>alert(1)</script>=cmd|' /C calc'!A0"
    name, link = house.work(every_kind())
    plain.get(link + "/q/4")
    plain.answer(a0=evil, do="save")
    plain.get(link + "/q/4")
    assert "<script>alert" not in plain.text
    assert ("a0", evil) in plain.form('name="was_').fields
    assert house.local.saved_answers([name])[name][0].label == evil


def test_nothing_on_a_page_tells_which_items_they_are(house, plain) -> None:
    # An id may say that an item is gold, which model wrote it, or what another worker answered.
    items = tuple(question(f"gold-{i}-id", text="Same text", group="group-id") for i in range(2))
    _, link = house.work(Hit("hit-key", "Judge", "", items, 2, 5, "USD", scope="campaign-uid"), "worker-name")
    hit_id = house.local.find("hit-key").hit_id
    for path in ("/q/1", "/q/2", "/review", "/guide", "/ask/1", "/withdraw", "/return"):
        plain.get(link + path)
        for secret in ("gold", "group-id", "hit-key", "campaign-uid", "worker-name", hit_id):
            assert secret not in plain.text
