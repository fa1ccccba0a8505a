"""What stands at the endpoint may be anybody: an answer without end, or nested without end, is an error of ours."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_mturk import _size

from hmc_crowd.errors import NeedsHumanError, PlatformUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def answering() -> Iterator[Any]:
    """``serve(body)`` starts an endpoint that answers everything with it; returns the address and the bytes it sent."""
    servers = []

    def serve(body: bytes, times: int = 1) -> tuple[str, list[int]]:
        sent: list[int] = []

        class Answers(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the server looks for this name
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(body) * times))
                self.end_headers()
                sent.append(0)
                for _ in range(times):
                    try:
                        self.wfile.write(body)
                    except OSError:
                        return
                    sent[-1] += len(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}", sent

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_an_answer_without_end_is_let_go(connect_to: Any, answering: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_size.limit_answers, "__kwdefaults__", {"largest": 1_000_000})
    url, sent = answering(b" " * 1_000_000, times=200)
    platform = connect_to(url)
    with pytest.raises(PlatformUnavailableError, match="TooLargeError"):
        platform.account()
    with pytest.raises(NeedsHumanError, match="look before sending it again"):
        platform._api.write("NotifyWorkers", is_repeatable=False, WorkerIds=["A1ANN"], Subject="s", MessageText="t")
    assert len(sent) == 2  # it is not asked for again
    assert max(sent) < 100_000_000


def test_nesting_without_end_is_an_answer_that_cannot_be_read(connect_to: Any, answering: Any) -> None:
    url, _ = answering(b'{"AvailableBalance": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    with pytest.raises(PlatformUnavailableError):
        connect_to(url).account()


def test_a_usual_answer_is_read(connect_to: Any, answering: Any) -> None:
    url, _ = answering(b'{"AvailableBalance": "12.50"}')
    assert connect_to(url).account().balance.minor == 1250
