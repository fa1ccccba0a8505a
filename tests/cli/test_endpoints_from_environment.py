"""Every command that reaches a platform goes to the address that the environment names, and to no other."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine that refuses everything and remembers what it was asked; its address."""
    asked: list[str] = []

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b'{"__type": "AccessDeniedException", "Message": "no", "error": {"title": "no"}}'
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # because the server looks for this name

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()
    thread.join()


COMMANDS = [("doctor",), ("publish", "--pay", "12/h")]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_prolific_is_where_the_environment_says(
    hmc: Callable[..., Any],
    at: Callable[[str], Any],
    listener: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    url, asked = listener
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", "secret")
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_URL", f"{url}/api/v1/")
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_PROJECT", "p")
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_STUDY_URL", "http://127.0.0.1:9/prolific/arrive")
    forbid_other_networks(monkeypatch)
    at("planned")
    told = hmc(*command, "--platform", "prolific")
    assert "api.prolific.com" not in told.out + told.err
    assert asked, told
    assert all(path.startswith("/api/v1/") for path in asked)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_mturk_is_where_the_environment_says(
    hmc: Callable[..., Any],
    at: Callable[[str], Any],
    listener: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    url, asked = listener
    monkeypatch.setenv("HMC_CROWD_MTURK_ENDPOINT", url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    # Nor by a proxy that the environment names: what is on this machine is asked directly.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    forbid_other_networks(monkeypatch)
    at("planned")
    told = hmc(*command, "--platform", "mturk")
    assert asked, told


def forbid_other_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no name be looked up but this machine's."""
    import socket

    real = socket.getaddrinfo

    def only_here(host: Any, *rest: Any, **more: Any) -> Any:
        assert host in {"127.0.0.1", "localhost", b"127.0.0.1"}, f"asked for {host}"
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", only_here)
