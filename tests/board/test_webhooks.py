"""Who subscribed is told, signed and tried again; never at an inner address; dead messages are on the board."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, forms, send

from hmc_crowd.board import HookSettings, is_signed
from hmc_crowd.board._deliver import Deliverer, check_address
from hmc_crowd.board._watch_hooks import look
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from board_house import Board

PAGE = f"/board/c/{quote(NAME)}/webhooks"


class Receiver:
    """A small server that keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                status = outer.statuses.pop(0) if outer.statuses else 204
                self.send_response(status)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words: Any) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def deliverer(board: Board) -> Iterator[Deliverer]:
    made = Deliverer(board.house)
    yield made
    made.close()


def subscribe(board: Board, url: str, *events: str) -> dict[str, Any]:
    body = {"key": f"hook {url} {events}", "url": url, "events": list(events)}
    reply = board.program("owner").post("/api/webhooks", json=body)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def allocate(board: Board, item: str = "a") -> None:
    doubtful = {"confidence": 0.5, "effort": 0.0, "text": "secret text", "risk": "low"}
    body = {"key": f"k {item}", "items": [{"item": item, **doubtful}]}
    assert board.program("owner").post("/api/allocate", json=body).status_code == 200


def test_a_decision_and_an_answer_are_told_signed(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    secret = subscribe(board, receiver.url, "decision", "answer")["secret"]
    allocate(board)
    board.program("worker").post("/api/claim", json={"key": "c"})
    board.program("worker").post("/api/answers", json={"key": "a", "answers": [{"item": "a", "label": "good"}]})
    assert deliverer.step() == 2
    told = [json.loads(body) for _, body in receiver.got]
    assert sorted(each["event"] for each in told) == ["answer", "decision"]
    decision = next(each["data"] for each in told if each["event"] == "decision")
    assert [row["item"] for row in decision["decisions"]] == ["a"]
    assert "secret text" not in json.dumps(told)
    for headers, body in receiver.got:
        assert is_signed(secret, headers["X-Hmc-Timestamp"], body, headers["X-Hmc-Signature"])
        assert not is_signed(secret, headers["X-Hmc-Timestamp"], body + b" ", headers["X-Hmc-Signature"])
        assert headers["Host"] == receiver.url.split("/")[2]
    assert deliverer.step() == 0


def test_a_repeated_request_is_told_once(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    subscribe(board, receiver.url, "decision")
    allocate(board)
    allocate(board)
    assert deliverer.step() == 1


def test_a_failure_is_tried_again_and_later_each_time(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    subscribe(board, receiver.url, "decision")
    receiver.statuses = [503, 302]
    allocate(board)
    assert deliverer.step() == 1
    board.clock.advance(29)
    assert deliverer.step() == 0
    board.clock.advance(2)
    assert deliverer.step() == 1  # the redirect is no arrival, and is not followed
    board.clock.advance(59)
    assert deliverer.step() == 0
    board.clock.advance(2)
    assert deliverer.step() == 1
    assert len({json.loads(body)["id"] for _, body in receiver.got}) == 1
    with board.house.store.read() as tx:
        assert tx.hooks.counts(1) == {"sent": 1}


def test_a_dead_message_is_shown_and_sent_again(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    subscribe(board, receiver.url, "decision")
    receiver.statuses = [500] * 3
    allocate(board)
    for _ in range(3):
        deliverer.step()
        board.clock.advance(7200)
    assert deliverer.step() == 0
    listed = board.program("owner").get("/api/webhooks").json()
    assert (listed["messages"]["dead"], listed["dead"][0]["problem"]) == (1, "the receiver answered 500")
    browser = board.browser("owner")
    page = browser.get(PAGE).text
    assert "the receiver answered 500" in page
    assert "It is sent again" in send(browser, page, "again").text
    assert (deliverer.step(), receiver.got[-1][0]["X-Hmc-Event"]) == (1, "decision")


def test_nobody_there_is_a_failure_with_a_reason(board: Board, deliverer: Deliverer) -> None:
    subscribe(board, "http://127.0.0.1:9/hook", "decision")
    allocate(board)
    assert deliverer.step() == 1
    with board.house.store.read() as tx:
        assert "ConnectError" in str(tx.hooks.deliveries(1)[0].problem)


def test_a_webhook_ends_on_the_board_and_by_a_program(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    made = [subscribe(board, receiver.url, event) for event in ("decision", "answer")]
    browser = board.browser("owner")
    hidden = forms(browser.get(PAGE).text)["end"]
    assert "is ended" in browser.post(hidden.pop(""), data=hidden).text
    # Ended twice: it is said, nothing breaks.
    assert browser.post(f"{PAGE}/end", data=hidden).status_code == 422
    reply = board.program("owner").post("/api/webhooks/end", json={"key": "e", "webhook": made[0]["webhook"]})
    other = board.program("owner").post("/api/webhooks/end", json={"key": "f", "webhook": made[1]["webhook"]})
    assert sorted([reply.status_code, other.status_code]) == [200, 409]
    allocate(board)
    assert deliverer.step() == 0


def test_alerts_and_steps_are_told_once(board: Board, receiver: Receiver, deliverer: Deliverer) -> None:
    subscribe(board, receiver.url, "alert", "campaign")
    assert look(board.house) >= 1
    board.clock.advance(40)
    assert look(board.house) == 0
    body = {"key": "k", "items": [{"item": "late", "confidence": 0.5, "effort": 0.0, "due_at": "2026-01-06T09:00:41Z"}]}
    board.program("owner").post("/api/allocate", json=body)
    board.clock.advance(40)
    assert look(board.house) == 1
    while deliverer.step():
        pass
    told = [json.loads(body) for _, body in receiver.got]
    assert [each["data"]["what"] for each in told if each["event"] == "alert"][-1] == "overdue"
    assert {each["data"]["next_step"] for each in told if each["event"] == "campaign"} == {board.status().next_step}


def test_of_two_servers_one_looks(board: Board, receiver: Receiver) -> None:
    from hmc_crowd.board import BoardHouse

    subscribe(board, receiver.url, "campaign")
    other = BoardHouse(board.house.store, secret=b"x" * 16, clock=board.clock, workplace=board.place)
    assert (look(board.house), look(other)) == (1, 0)


def at(address: str) -> Any:
    return lambda *_given, **_more: [(0, 0, 0, "", (address, 443))]


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "::1", "fe80::1%eth0", "fd00::1", "0.0.0.0",
     "::ffff:10.0.0.1", "100.64.0.1", "224.0.0.1"],
)  # fmt: skip
def test_inner_addresses_are_refused_whatever_their_name(address: str) -> None:
    with pytest.raises(InputError, match="private network"):
        check_address("https://innocent.example/x", HookSettings(), resolve=at(address))


def test_an_outer_address_and_a_named_inner_host_are_taken() -> None:
    assert check_address("https://example.org/x", HookSettings(), resolve=at("93.184.215.14")) == "93.184.215.14"
    inner = HookSettings(inner_hosts=frozenset({"hooks.lan:8080"}))
    assert check_address("http://hooks.lan:8080/x", inner, resolve=at("10.0.0.9")) == "10.0.0.9"


@pytest.mark.parametrize(
    "url",
    ["http://example.org", "ftp://example.org", "https://ann:pw@example.org", "https://[::1", "example.org", "https://",
     "https://example.org:99999", "https://example.org/#x", "file:///etc/passwd"],
)  # fmt: skip
def test_other_addresses_are_refused(board: Board, url: str) -> None:
    body = {"key": "k", "url": url, "events": ["answer"]}
    assert board.program("owner").post("/api/webhooks", json=body).status_code == 409


def test_the_name_is_looked_at_again_when_it_is_sent_to(
    board: Board, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Harmless when it was subscribed, an inner address by now: nothing is sent there.
    from hmc_crowd.board import _deliver

    with board.house.store.begin() as tx:
        url = receiver.url.replace("http://127.0.0.1", "https://rebound.example")
        tx.hooks.subscribe(1, url, ["answer"], by="k")
        tx.hooks.tell(1, "answer", {})
    monkeypatch.setattr(_deliver.check_address, "__kwdefaults__", {"resolve": at("127.0.0.1")})
    Deliverer(board.house).step()
    with board.house.store.read() as tx:
        assert "private network" in str(tx.hooks.deliveries(1)[0].problem)
    assert receiver.got == []


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("::ffff:10.0.0.1", False),  # IPv4-mapped
        ("64:ff9b::7f00:1", False),  # NAT64
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::808:808", False),  # NAT64 of a network's own
        ("2002:7f00:1::", False),  # 6to4
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", False),  # Teredo
        ("2606:4700::5efe:7f00:1", False),  # ISATAP
        ("2606:4700::200:5efe:a00:1", False),
        ("::127.0.0.1", False),  # IPv4-compatible
        ("::ffff:0:127.0.0.1", False),  # IPv4-translated
        ("fec0::1", False),
        ("8.8.8.8", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("2002:808:808::1", True),
        ("2606:4700:4700::1111", True),
    ],
)
def test_the_ipv4_address_in_an_ipv6_address_is_judged(address: str, is_taken: bool) -> None:
    def resolve(*_asked: Any, **_more: Any) -> Any:
        return [(10, 1, 6, "", (address, 443, 0, 0))]

    if is_taken:
        assert check_address("https://host.example/hook", HookSettings(), resolve=resolve) == address
    else:
        with pytest.raises(InputError, match="inside a private network"):
            check_address("https://host.example/hook", HookSettings(), resolve=resolve)


def test_what_a_receiver_writes_is_not_read(board: Board, deliverer: Deliverer) -> None:
    import httpx

    read: list[bytes] = []

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            read.append(b"")
            yield b"x" * 1024

    network = httpx.MockTransport(lambda _request: httpx.Response(200, stream=Endless()))
    deliverer._client = httpx.Client(transport=network)
    subscribe(board, "http://127.0.0.1:9/hook", "decision")
    allocate(board)
    assert deliverer.step() == 1
    assert not read


@pytest.mark.parametrize(
    "url",
    [
        "https://1.1.1.1/\x7f",
        "https://1.1.1.1/ä ö",
        "https://１.1.1.1/",
        "https://:password@1.1.1.1/",
        "https://@1.1.1.1/",
        "https://example.org\\@1.1.1.1/",
        "https://1.1.1.1:0/",
        "https://1.1.1.1:/",
        "https://1.1.1.1:99999/",
        "https://1.1.1.1#",
        "https://[::1",
        "https://a..b/",
        "https://" + "a" * 300 + ".com/",
        "https://xn--/",
        "https://",
        "javascript:1",
        "//1.1.1.1/",
    ],
)
def test_an_odd_address_is_refused_when_it_is_given(board: Board, url: str) -> None:
    body = {"key": "k", "url": url, "events": ["answer"]}
    assert board.program("owner").post("/api/webhooks", json=body).status_code == 409


@pytest.mark.parametrize(
    "given",
    [
        *({"url": url} for url in (None, 5, [], {}, True, "", "x" * 2001)),
        *({"events": each} for each in (None, 5, "answer", [], [[]], [{}], [None], ["answer"] * 11, ["odd"], {"a": 1})),
        *({"campaign": each} for each in ([], {}, 5, "", True)),
        *({"key": each} for each in ([], {}, 5, "", True, None, "x" * 201)),
        {"more": 1},
    ],
)
def test_an_odd_body_is_refused(board: Board, given: dict[str, Any]) -> None:
    body = {"key": "k", "url": "https://1.1.1.1/", "events": ["answer"]} | given
    assert board.program("owner").post("/api/webhooks", json=body).status_code == 400
    with board.house.store.read() as tx:
        assert tx.hooks.webhooks() == []


@pytest.mark.parametrize("name", [None, 5, [], {}, "", "x" * 201])
def test_ending_what_is_no_webhook_is_refused(board: Board, name: Any) -> None:
    assert board.program("owner").post("/api/webhooks/end", json={"key": "k", "webhook": name}).status_code == 400


def test_an_address_that_nothing_can_be_sent_to_holds_up_no_other(
    board: Board, deliverer: Deliverer, receiver: Receiver
) -> None:
    # As an earlier version took it.
    with board.house.store.begin() as tx:
        odd = tx.hooks.subscribe(1, "https://1.1.1.1/\x7f", ["answer"], by="owner")
        good = tx.hooks.subscribe(1, receiver.url, ["answer"], by="owner")
        tx.hooks.tell(1, "answer", {"n": 1}, hooks=[odd, good])
    assert deliverer.step() == 2
    assert len(receiver.got) == 1
    with board.house.store.read() as tx:
        problems = {each.webhook_id: each.problem for each in tx.hooks.deliveries(1)}
    assert "give an https address" in str(problems[odd.id])
