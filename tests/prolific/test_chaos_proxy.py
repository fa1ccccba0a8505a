"""The proxy breaks what it is told to, as a client sees it, and nothing else."""

from __future__ import annotations

import gc
import http.server
import threading
import time
from typing import ClassVar

import httpx
import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.testing import ChaosProxy


class Echo(http.server.BaseHTTPRequestHandler):
    """Counts requests and says what it got."""

    bodies: ClassVar[list[bytes]] = []
    may_answer = threading.Event()

    def do_POST(self) -> None:
        self.may_answer.wait(60)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.bodies.append(body)
        answer = b"got " + body + b" " + (self.headers.get("X-Amz-Target") or "").encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def upstream():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(upstream):
    Echo.bodies.clear()
    Echo.may_answer.set()
    with ChaosProxy(upstream) as running:
        yield running


@pytest.fixture
def client(proxy):
    with httpx.Client(base_url=proxy.url, trust_env=False, timeout=1.5, verify=False) as opened:
        yield opened


def test_without_a_fault_everything_passes(client, proxy) -> None:
    assert client.post("/a?x=1", content=b"one").text == "got one "
    assert client.post("/b", content=iter([b"two ", b"parts"])).text == "got two parts "
    assert [(call.method, call.target, call.body, call.status) for call in proxy.calls] == [
        ("POST", "/a?x=1", b"one", 200),
        ("POST", "/b", b"two parts", 200),
    ]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("what", "error"),
    [("reset", httpx.ReadError), ("hang", httpx.ReadTimeout), ("status", None), ("html", None)],
)
def test_a_fault_before_or_after_the_work(client, proxy, what, error, when) -> None:
    proxy.inject(f"{what}_{when}", status=503)
    if error:
        with pytest.raises(error):
            client.post("/a", content=b"x")
    else:
        assert client.post("/a", content=b"x").status_code == (503 if what == "status" else 502)
    assert Echo.bodies == ([b"x"] if when == "after" else [])
    assert client.post("/a", content=b"y").text == "got y "


def test_a_reset_is_a_real_one(client, proxy) -> None:
    proxy.inject("reset_after")
    with pytest.raises(httpx.ReadError, match="reset by peer"):
        client.post("/a", content=b"x")


def test_half_an_answer_is_noticed(client, proxy) -> None:
    proxy.inject("truncate_after")
    with pytest.raises(httpx.RemoteProtocolError):
        client.post("/a", content=b"x")
    assert Echo.bodies == [b"x"]


@pytest.mark.parametrize("kind", ["slow_after", "drip_after"])
def test_a_slow_answer_is_whole(client, proxy, kind) -> None:
    proxy.inject(kind, seconds=0.0005)
    assert client.post("/a", content=b"x").text == "got x "


def test_the_work_is_done_though_the_client_has_left(proxy) -> None:
    Echo.may_answer.clear()
    with (
        httpx.Client(base_url=proxy.url, trust_env=False, timeout=0.3, verify=False) as hasty,
        pytest.raises(httpx.ReadTimeout),
    ):
        hasty.post("/a", content=b"x")
    until = time.monotonic() + 60
    for _ in range(5):
        # Nothing but the proxy holds what it does for a client that has left.
        gc.collect()
        time.sleep(0.05)
    Echo.may_answer.set()
    while not proxy.calls and time.monotonic() < until:
        time.sleep(0.01)
    assert [(call.body, call.status) for call in proxy.calls] == [(b"x", 200)]


def test_a_careless_gateway_sends_twice(client, proxy) -> None:
    proxy.inject("twice")
    assert client.post("/a", content=b"x").text == "got x "
    assert Echo.bodies == [b"x", b"x"]


def test_faults_wait_for_their_turn(client, proxy) -> None:
    proxy.inject("status_before", match="POST /pay", nth=2, times=2)
    codes = [client.post(path).status_code for path in ("/pay", "/other", "/pay", "/pay", "/pay")]
    assert codes == [200, 200, 500, 500, 200]
    assert (proxy.count("/pay"), proxy.pending) == (2, 0)


def test_operations_in_a_header_can_be_named(client, proxy) -> None:
    proxy.inject("status_before", match=r"Service\.CreateHIT$")
    codes = [
        client.post("/", headers={"X-Amz-Target": f"Service.{name}"}).status_code for name in ("GetHIT", "CreateHIT")
    ]
    assert codes == [200, 500]


def test_wrong_use_is_said_so(upstream) -> None:
    proxy = ChaosProxy(upstream)
    with pytest.raises(InputError, match="kind is 'meteor'"):
        proxy.inject("meteor")
    with pytest.raises(InputError, match="both count from 1"):
        proxy.inject("reset_after", nth=0)
    with pytest.raises(InputError, match="give a plain address with a port"):
        ChaosProxy("https://example.org")
    with pytest.raises(StateError, match="is not running"):
        _ = proxy.url
