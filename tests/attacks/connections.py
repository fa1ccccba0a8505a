"""Attacks on the server itself: what does not ask, does not end, does not read, or fills the log."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from tests.attacks import attack
from tests.attacks._served import ServedScene, served

api = partial(attack, "MTurk API", scene=served)
pages = partial(attack, "MTurk worker pages", scene=served)

HALF = b"GET /mturk/hits HTTP/1.1\r\nHost: x\r\nX-Half: "
TIMES, PLACES = "a head has its time", "the oldest that asks nothing makes room"


def post(path: str, *, length: str = "Content-Length: 900") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n".encode()


@api("ninety connections that say nothing", defence=PLACES)
def _(scene: ServedScene) -> None:
    scene.ends_of([scene.line() for _ in range(90)])


@api("ninety half heads", defence=PLACES)
def _(scene: ServedScene) -> None:
    scene.ends_of([scene.line(HALF) for _ in range(90)])


@api("a head that drips", defence=TIMES)
def _(scene: ServedScene) -> None:
    scene.drip(scene.line(HALF), b"x")


@api("a first line that drips", defence=TIMES)
def _(scene: ServedScene) -> None:
    scene.drip(scene.line(b"GET /"), b"a")


@api("headers that drip, each whole", defence=TIMES)
def _(scene: ServedScene) -> None:
    scene.drip(scene.line(b"GET / HTTP/1.1\r\nHost: x\r\n"), b"X-A: 1\r\n")


@pages("a second head that drips, after an honest request", defence=TIMES)
def _(scene: ServedScene) -> None:
    line = scene.line(b"GET /mturk/hits HTTP/1.1\r\nHost: x\r\n\r\n")
    assert line.recv(1_000).startswith(b"HTTP/1.1 4")
    scene.drip(line, b"G")


@pages("ninety connections that are kept after an answer", defence=PLACES)
def _(scene: ServedScene) -> None:
    lines = []
    for _ in range(90):
        lines.append(scene.line(b"GET /mturk/static/none HTTP/1.1\r\nHost: x\r\n\r\n"))
        lines[-1].recv(1_000)
    scene.ends_of(lines[:60])


def _bodies(path: str, length: str) -> None:
    name = "a body in parts" if "chunked" in length else "a body"

    @(api if path == "/" else pages)(f"{name} that never comes, at {path}", defence="a body has its time")
    def _(scene: ServedScene) -> None:
        scene.ends_of([scene.line(post(path, length=length)) for _ in range(10)])

    late = path not in {"/", "/mturk/externalSubmit"}

    @(api if path == "/" else pages)(f"{name} that drips, at {path}", defence="a body has its time", is_slow=late)
    def _(scene: ServedScene) -> None:
        part = b"1\r\na\r\n" if "chunked" in length else b"a"
        scene.drip(scene.line(post(path, length=length)), part)


for _path in (
    "/",
    "/mturk/externalSubmit",
    "/mturk/draft",
    "/mturk/events",
    "/mturk/return",
    "/mturk/test",
    "/nothing",
):
    for _length in ("Content-Length: 900", "Transfer-Encoding: chunked"):
        _bodies(_path, _length)


@pages("an answer that nobody reads", defence="an answer waits for its reader for a while")
def _(scene: ServedScene) -> None:
    line = scene.line()
    line.settimeout(0.2)
    # Answers pile up until neither side has room for more.
    asked = b"GET /mturk/static/crowd.js HTTP/1.1\r\nHost: x\r\n\r\n"
    with suppress(OSError):
        for _ in range(20_000):
            line.sendall(asked)
    scene.is_ended(line)


def _broken(name: str, sent: bytes) -> None:
    @api(f"ninety broken requests: {name}", defence="a line of code writes a few lines of log in a minute")
    def _(scene: ServedScene) -> None:
        for _ in range(90):
            scene.ends_of([scene.line(sent)])
            scene.lines.pop().close()


for _name, _sent in {
    "no HTTP": b"\x1b[2J nonsense\r\n\r\n",
    "a header's name with a space": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "a length that is none": post("/", length="Content-Length: -1"),
    "a protocol that is not spoken": b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: a\r\n\r\n",
}.items():
    _broken(_name, _sent)
