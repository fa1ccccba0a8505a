"""What stands at Prolific's address may be anybody: sizes, packing and nesting have limits, and waits are our own."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest
from hmc_crowd_prolific import Pace, ProlificClient, _http
from hmc_crowd_prolific._replies import error_text

from hmc_crowd.errors import PlatformError, PlatformUnavailableError

DEEP = b"[" * 100_000 + b"]" * 100_000


def client(reply: httpx.Response, waited: list[float] | None = None) -> ProlificClient:
    ticks = iter(range(10_000))
    sleep = (lambda _: None) if waited is None else waited.append
    pace = Pace(sleep=sleep, monotonic=lambda: float(next(ticks)), give_up_after_s=5.0)
    return ProlificClient(token="secret-token", transport=httpx.MockTransport(lambda _: reply), pace=pace)


@pytest.mark.parametrize("packing", ["gzip, gzip", "deflate", "br", "zstd", "gzip, deflate"])
def test_what_is_packed_as_nobody_asked_for_is_not_unpacked(packing: str) -> None:
    body = gzip.compress(gzip.compress(b"0" * 10_000_000))
    reply = httpx.Response(200, headers={"content-encoding": packing}, stream=httpx.ByteStream(body))
    with pytest.raises(PlatformError, match="packed as nobody asked for"):
        client(reply).workspaces.all()


def test_a_packed_answer_is_counted_as_it_unpacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_http, "_LARGEST", 100_000)
    body = gzip.compress(b'"' + b"0" * 1_000_000 + b'"')
    assert len(body) < 2_000
    reply = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(body))
    with pytest.raises(PlatformError, match="larger than 100,000 bytes"):
        client(reply).workspaces.all()


def test_what_is_packed_by_gzip_is_read() -> None:
    body = gzip.compress(json.dumps({"results": [{"id": "w1", "title": "Ours"}]}).encode())
    reply = httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(body))
    assert [each.id for each in client(reply).workspaces.all()] == ["w1"]


def test_nesting_without_end_is_an_answer_that_cannot_be_read() -> None:
    with pytest.raises(PlatformUnavailableError, match="something that is no JSON"):
        client(httpx.Response(200, content=DEEP)).workspaces.all()
    with pytest.raises(PlatformError, match="answered 400"):
        client(httpx.Response(400, content=DEEP)).workspaces.all()


@pytest.mark.parametrize("depth", [10, 500, 900, 990, 5_000])
def test_an_error_is_told_however_deep_it_is(depth: int) -> None:
    body = b'{"error": {"title": "No", "detail": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}}"
    assert len(error_text(body)) <= 300


def test_a_wait_of_thirty_years_is_not_waited() -> None:
    waited: list[float] = []
    later = httpx.Response(429, headers={"retry-after": "946080000"}, json={})
    with pytest.raises(PlatformUnavailableError, match="gave up after"):
        client(later, waited).workspaces.all()
    assert max(waited) <= Pace.longest_s
