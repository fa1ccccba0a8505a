"""A server of the OpenAI chat protocol on loopback, whose faults a test scripts."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def answer_of(question: str) -> str:
    """The scripted model: prefers whichever answer says 'good'; both or none is a tie."""
    first, second = question.partition("Answer A:")[2].split("Answer B:")
    good = ("good" in first, "good" in second)
    return {(True, False): "A", (False, True): "B"}.get(good, "tie")


class ChatServer:
    """Answers `POST /v1/chat/completions`; `faults` decides what goes wrong, by the number of the call."""

    def __init__(self) -> None:
        self.faults: Callable[[int], Any] = lambda _call: None
        self.questions: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.served = "tiny-1"
        self.gives_logprobs = True
        self.pause_s = "0"
        self.says_first_at = 0  # every so many questions are answered A, whatever they are
        self._lock = threading.Lock()
        self._calls = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                self.connection.setsockopt(6, 1, 1)  # TCP_NODELAY: headers and body are two writes

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with server._lock:
                    server._calls += 1
                    call = server._calls
                    question = body["messages"][-1]["content"]
                    server.questions[question] += 1
                    server.headers.append(dict(self.headers))
                    server.bodies.append(body)
                fault = server.faults(call)
                if fault == "slow":
                    time.sleep(3.0)
                elif fault == "hang up":
                    self.close_connection = True
                    return
                elif isinstance(fault, int):
                    more = {"retry-after": server.pause_s} if fault == 429 else {}
                    self.send(fault, json.dumps({"error": {"message": f"scripted {fault}"}}), **more)
                    return
                elif fault == "no logprobs" and "logprobs" in body:
                    self.send(400, json.dumps({"error": {"message": "logprobs are not supported"}}))
                    return
                text = server.reply(body)
                if fault == "cut":
                    text = text[: len(text) // 2]
                elif fault == "page":
                    text = "<html>a proxy's page</html>"
                else:
                    with server._lock:
                        server.answered[question] += 1
                self.send(200, text)

            def send(self, status: int, text: str, **headers: str) -> None:
                raw = text.encode()
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name.replace("_", "-"), value)
                    self.send_header("content-length", str(len(raw)))
                    self.end_headers()
                    self.wfile.write(raw)
                except OSError:
                    self.close_connection = True

        return Handler

    def reply(self, body: dict[str, Any]) -> str:
        said = answer_of(body["messages"][-1]["content"])
        if self.says_first_at and self._calls % self.says_first_at == 0:
            said = "A"
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": said}}
        if self.gives_logprobs and body.get("logprobs"):
            top = [{"token": said, "logprob": -0.105}, {"token": " b" if said == "A" else "A", "logprob": -2.303}]
            choice["logprobs"] = {"content": [{"token": said, "logprob": -0.105, "top_logprobs": top}]}
        usage = {"prompt_tokens": 200, "completion_tokens": 1}
        return json.dumps({"model": self.served, "choices": [choice], "usage": usage})


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def some_pairs() -> Callable[[int], dict[str, Any]]:
    """Pairs whose right answer is known: a is good in every third, b in every other third, none else."""

    def make(many: int) -> dict[str, Any]:
        rows = range(many)
        return {
            "item": [f"p{row}" for row in rows],
            "instruction": [f"Say something about {row}." for row in rows],
            "response_a": [f"a good word on {row}" if row % 3 == 0 else f"a word on {row}" for row in rows],
            "response_b": [f"some good on {row}" if row % 3 == 1 else f"something on {row}" for row in rows],
            "reference": [f"a good word about {row}" for row in rows],
            "category": [["Open QA", "Rewrite"][row % 2] for row in rows],
        }

    return make
