"""Attacks by where our own requests go, and by what comes back: webhooks to inner addresses, hostile model servers."""

from __future__ import annotations

import gzip
import json
import os
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpx

from hmc_crowd.judges import LLMJudge
from hmc_crowd.judges.endpoint import Endpoint
from tests.attacks import Scene, attack, refused
from tests.attacks._board import BoardScene, board

if TYPE_CHECKING:
    from collections.abc import Iterator

INNER = {
    "this machine": "127.0.0.2",  # the scene allows its own 127.0.0.1
    "this machine by a number": "2130706433",
    "this machine by a short form": "127.1",
    "any address of this machine": "0.0.0.0",
    "this machine, IPv6": "[::1]",
    "this machine, IPv4-mapped": "[::ffff:7f00:1]",
    "this machine, IPv4-compatible": "[::127.0.0.1]",
    "this machine, IPv4-translated": "[::ffff:0:127.0.0.1]",
    "this machine by NAT64": "[64:ff9b::7f00:1]",
    "a private net by NAT64": "[64:ff9b::a00:1]",
    "a NAT64 prefix of a network's own": "[64:ff9b:1::808:808]",
    "this machine by 6to4": "[2002:7f00:1::]",
    "a private net by 6to4": "[2002:c0a8:101::1]",
    "this machine by Teredo": "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "this machine by ISATAP": "[2606:4700::5efe:7f00:1]",
    "a cloud's metadata": "169.254.169.254",
    "a cloud's metadata by NAT64": "[64:ff9b::a9fe:a9fe]",
    "a private net": "10.0.0.1",
    "a carrier's net": "100.64.0.1",
    "a unique local address": "[fd00:ec2::254]",
    "a link-local address": "[fe80::1]",
    "a site-local address": "[fec0::1]",
    "a multicast address": "224.0.0.1",
}

at_hooks = partial(attack, "outgoing calls", scene=board)


def _subscribe(host: str) -> Any:
    def act(scene: BoardScene) -> None:
        for url in (f"https://{host}/x", f"https://{host}:8443/x", f"http://{host}/x"):
            refused(scene.program("owner").post("/api/webhooks", json=scene.body(url=url, events=["alert"])))

    return act


for name, host in INNER.items():
    at_hooks(f"a webhook to {name}", defence="the address that is meant is judged")(_subscribe(host))


@at_hooks("webhooks by odd schemes, with names and passwords in them", defence="https without a name in it")
def _(scene: BoardScene) -> None:
    for url in ("file:///etc/passwd", "gopher://127.0.0.1/x", "https://user:pw@example.com/x", "https://", "//x", "x"):
        refused(scene.program("owner").post("/api/webhooks", json=scene.body(url=url, events=["alert"])))


class ModelScene(Scene):
    """Private texts judged by a model server; a proxy in the environment listens."""

    def __init__(self, proxy: str, told: list[str]) -> None:
        super().__init__()
        self.proxy, self.told = proxy, told

    def stored(self) -> Any:
        return list(self.told)

    def judged(self, status: int, body: bytes | httpx.SyncByteStream = b"", **headers: str) -> str:
        """Judge one pair by a server that replies so; return the reason for which there is no label."""
        stream = httpx.ByteStream(body) if isinstance(body, bytes) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        network = httpx.MockTransport(lambda _request: httpx.Response(status, headers=named, stream=stream))
        return self.reason(Endpoint("http://model.example/v1", "m", attempts=1, timeout_s=1.0, transport=network))

    def reason(self, endpoint: Endpoint) -> str:
        pair = {"item": ["1"], "instruction": ["PRIVATE"], "response_a": ["x"], "response_b": ["y"]}
        found = LLMJudge(endpoint).judge(pair)
        assert found["label"].tolist() == [None]
        return str(found["reason"].iloc[0])


@contextmanager
def model() -> Iterator[ModelScene]:
    told: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(502)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield ModelScene(f"http://127.0.0.1:{server.server_port}", told)
    server.shutdown()
    server.server_close()


at_model = partial(attack, "outgoing calls", scene=model)


def _proxied(variable: str, address: str) -> Any:
    def act(scene: ModelScene) -> None:
        with patch.dict(os.environ, {variable: scene.proxy, "HMC_CROWD_JUDGE_KEY": "secret", "NO_PROXY": ""}):
            scene.reason(Endpoint(address, "m", attempts=1, timeout_s=2.0, pause_s=0.01))

    return act


for variable in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
    at_model(f"{variable} set, the model on this machine", defence="no proxy unless asked")(
        _proxied(variable, "http://127.0.0.1:9/v1")
    )
    at_model(f"{variable} set, the model elsewhere", defence="no proxy unless asked")(
        _proxied(variable, "http://model.invalid/v1")
    )


@at_model("a proxy asked for, the model on this machine", defence="this machine is asked directly")
def _(scene: ModelScene) -> None:
    with patch.dict(os.environ, {"ALL_PROXY": scene.proxy, "HTTP_PROXY": scene.proxy, "NO_PROXY": ""}):
        for host in ("127.0.0.1", "localhost", "[::1]"):
            scene.reason(Endpoint(f"http://{host}:9/v1", "m", attempts=1, pause_s=0.01, trust_env=True))


@at_model("a reply of 50 MB in 50 kB of gzip", defence="compressed replies are refused unread")
def _(scene: ModelScene) -> None:
    body = gzip.compress(b'{"choices": [{"message": {"content": "' + b"A" * 50_000_000 + b'"}}]}')
    for packed in ("gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP"):
        assert "compressed" in scene.judged(200, body, content_encoding=packed)


@at_model("a reply without end", defence="8 MB")
def _(scene: ModelScene) -> None:
    taken = [0]

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while taken[0] < 100:
                taken[0] += 1
                yield b" " * 2**20

    assert "more than" in scene.judged(200, Endless())
    assert taken[0] < 12


@at_model("a reply that nests 100,000 deep", defence="a reason in place of a crash")
def _(scene: ModelScene) -> None:
    for body in (b"[" * 100_000, b'{"a":' * 100_000, b'{"choices":' + b"[" * 90_000 + b"]" * 90_000 + b"}"):
        for status in (200, 500, 400):
            scene.judged(status, body)


@at_model("numbers of 5,000 digits where text and counts are due", defence="a reason in place of a crash")
def _(scene: ModelScene) -> None:
    digits = b"9" * 5_000
    for body in (digits, b'{"choices": ' + digits + b"}", b'{"choices": [{"message": {"content": ' + digits + b"}}]}"):
        scene.judged(200, body)


@at_model("a Retry-After of 30 years, of no number, in the past", defence="a minute at most")
def _(scene: ModelScene) -> None:
    from hmc_crowd.judges._endpoint_reply import retry_after

    for said in ("946080000", "1e308", "inf", "-inf", "nan", "1_000_000", "٣٠٠٠٠٠", "Fri, 31 Dec 2055 23:59:59 GMT"):
        waits = retry_after({"retry-after": said})
        assert waits is None or 0.0 <= waits <= 60.0


@at_model("a redirect to an inner address", defence="redirects are not followed")
def _(scene: ModelScene) -> None:
    for status in (301, 302, 307, 308):
        assert str(status) in scene.judged(status, location=f"{scene.proxy}/v1/chat/completions")


@at_model("an error page that holds a terminal's commands and 10 MB", defence="one short line")
def _(scene: ModelScene) -> None:
    page = json.dumps({"error": {"message": "x\n\r" * 900_000}}).encode()
    assert len(scene.judged(400, page)) < 200
