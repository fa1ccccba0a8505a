"""An endpoint that answers slowly for ever: bounded time, a typed error."""

from __future__ import annotations

import socket
import threading

import pytest

from hmc_crowd.errors import NeedsHumanError, PlatformUnavailableError


@pytest.fixture
def dripping():
    """An endpoint that begins an answer and then sends a byte now and then until it is told to stop."""
    stop = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def drip(line: socket.socket) -> None:
        with line:
            line.recv(65_536)
            line.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.1\r\nContent-Length: 999999\r\n\r\n{"
            )
            while not stop.wait(0.02):
                try:
                    line.sendall(b" ")
                except OSError:
                    return

    def accept() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=drip, args=(line,), daemon=True))
            threads[-1].start()

    threads.append(threading.Thread(target=accept, daemon=True))
    threads[0].start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    stop.set()
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for each in threads:
        each.join(timeout=10)


def test_a_read_that_never_ends_may_be_tried_again(connect_to, dripping) -> None:
    platform = connect_to(dripping, deadline_s=0.3, read_timeout_s=5)
    with pytest.raises(PlatformUnavailableError, match="DeadlineError"):
        platform.account()


def test_a_write_that_never_ends_is_a_question_for_a_person(connect_to, dripping) -> None:
    platform = connect_to(dripping, deadline_s=0.3, read_timeout_s=5)
    with pytest.raises(NeedsHumanError, match="look before sending it again"):
        platform._api.write("NotifyWorkers", is_repeatable=False, WorkerIds=["A1ANN"], Subject="s", MessageText="t")
