"""A hostile or broken model server: no text goes elsewhere, nothing large is swallowed, every pair has a reason."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hmc_crowd.judges import JudgeCache, LLMJudge
from hmc_crowd.judges._endpoint_reply import retry_after
from hmc_crowd.judges.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def proxy() -> Iterator[Any]:
    """A proxy that keeps whatever it is sent."""
    told: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(self.path)
            self.send_response(502)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", told
    server.shutdown()
    server.server_close()


def replying(body: bytes, **headers: str) -> httpx.MockTransport:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.MockTransport(lambda _request: httpx.Response(200, headers=named, stream=httpx.ByteStream(body)))


def answer(text: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, **more}], "model": "tiny"}).encode()


def judged(pairs: Any, network: httpx.BaseTransport, **more: Any) -> Any:
    client = Endpoint("http://model.example/v1", "tiny", attempts=2, pause_s=0.001, transport=network)
    return LLMJudge(client, **more).judge(pairs)


@pytest.mark.parametrize("asked", [False, True])
def test_an_endpoint_on_this_machine_is_asked_directly(
    chat: Any, proxy: Any, some_pairs: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    url, told = proxy
    for name in PROXIES:
        monkeypatch.setenv(name, url)
    monkeypatch.setenv("HMC_CROWD_JUDGE_KEY", "secret")
    found = LLMJudge(Endpoint(chat.url, "tiny", attempts=1, trust_env=asked)).judge(some_pairs(2))
    assert found["label"].notna().all()
    assert told == []


@pytest.mark.parametrize("asked", [False, True])
def test_a_proxy_of_the_environment_is_used_only_where_that_is_asked_for(
    proxy: Any, some_pairs: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    url, told = proxy
    for name in PROXIES:
        monkeypatch.setenv(name, url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    # A name that no resolver knows: without the proxy nobody is asked.
    client = Endpoint("http://model.invalid/v1", "tiny", attempts=1, pause_s=0.001, trust_env=asked)
    LLMJudge(client).judge(some_pairs(1))
    assert bool(told) is asked


def test_an_answer_that_grows_when_unpacked_is_refused_unread(some_pairs: Callable[[int], Any]) -> None:
    bomb = gzip.compress(answer("A" * 50_000_000))
    found = judged(some_pairs(1), replying(bomb, content_encoding="gzip"))
    assert found["reason"].tolist() == ["an answer compressed by 'gzip', which was not asked for"]


def test_no_compressed_answer_is_asked_for(chat: Any, some_pairs: Callable[[int], Any]) -> None:
    LLMJudge(Endpoint(chat.url, "tiny")).judge(some_pairs(1))
    assert {name.lower(): value for name, value in chat.headers[0].items()}["accept-encoding"] == "identity"


def test_no_more_than_the_limit_is_read(some_pairs: Callable[[int], Any]) -> None:
    taken = []

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                taken.append(1)
                yield b" " * 2**20

    network = httpx.MockTransport(lambda _request: httpx.Response(200, stream=Endless()))
    assert judged(some_pairs(1), network)["reason"].tolist() == ["an answer of more than 8,388,608 bytes"]
    assert len(taken) == 9


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"choices":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"choices": [{"message": {"content": ' + b"9" * 5_000 + b"}}]}",
        b'{"choices": {"0": 1}}',
        b'["choices"]',
        b"3",
        b"\xff\xfe\x00",
        answer(["A"]),
        answer({"text": "A"}),
    ],
    ids=["deep", "deep inside", "5,000 digits", "object", "list", "number", "no text", "text in a list", "an object"],
)
def test_what_is_not_of_the_protocol_is_a_reason_not_a_crash(body: bytes, some_pairs: Callable[[int], Any]) -> None:
    found = judged(some_pairs(2), replying(body))
    assert set(found["reason"]) == {"an answer that is not of the chat protocol"}


@pytest.mark.parametrize(
    "body",
    [
        answer("A", logprobs={"content": [{"top_logprobs": [{"token": ["A"], "logprob": -1}]}]}),
        answer("A", logprobs={"content": [{"top_logprobs": [{"token": "A", "logprob": 10**400}]}]}),
        answer("A", logprobs={"content": [{"token": "A\ud800", "logprob": float("nan")}]}),
        answer("A")[:-1] + b', "usage": {"prompt_tokens": 1' + b"0" * 400 + b', "completion_tokens": "x"}}',
        answer("A").replace(b'"tiny"', b'{"a": {"b": 1}}'),
    ],
    ids=["token of a list", "log of 400 digits", "not a number", "usage of 400 digits", "model an object"],
)
def test_odd_parts_of_an_answer_are_left_out_and_the_answer_is_kept(
    body: bytes, some_pairs: Callable[[int], Any], tmp_path: Path
) -> None:
    with JudgeCache(tmp_path / "answers.db") as cache:
        assert judged(some_pairs(1), replying(body), cache=cache, swap="none", price_in=1.0)["label"].tolist() == ["a"]


def test_text_that_no_database_takes_ends_as_a_reason(some_pairs: Callable[[int], Any], tmp_path: Path) -> None:
    body = answer("A").replace(b'"A"', b'"A\\ud800\\u0000"')
    with JudgeCache(tmp_path / "answers.db") as cache:
        found = judged(some_pairs(1), replying(body), cache=cache)
    assert found["label"].tolist() == [None]
    assert found["reason"].notna().all()


def test_a_server_does_not_decide_how_long_we_wait() -> None:
    # 30 years, for ever, and what is no time at all.
    asked = ("946080000", "inf", "1e300", "nan", "-5", "Fri, 31 Dec 2055 23:59:59 GMT")
    assert [retry_after({"retry-after": each}) for each in asked] == [60.0, 60.0, 60.0, None, 0.0, None]


def test_an_answer_that_drips_is_given_up(some_pairs: Callable[[int], Any]) -> None:
    class Drip(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b" "

    network = httpx.MockTransport(lambda _request: httpx.Response(200, stream=Drip()))
    client = Endpoint("http://model.example/v1", "tiny", attempts=1, timeout_s=0.05, transport=network)
    assert set(LLMJudge(client).judge(some_pairs(1))["reason"]) == {"an answer that was not whole in time"}
