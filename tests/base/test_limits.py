"""One reader takes the bodies of every door, and it has an end."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local.mturk_api import Settings, build_app, open_front_door
from hmc_crowd_prolific import SqliteInbox, WebhookReceiver, make_app

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.limits import RateLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
DOORS = ["/", "/mturk/externalSubmit", "/mturk/return", "/mturk/test", "/mturk/draft", "/mturk/events", "/hook"]


@pytest.fixture
def apps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The application of every door that reads bodies of strangers, each in a hurry."""
    monkeypatch.setattr("hmc_crowd_prolific._app._BODY_S", 0.05)
    door = open_front_door(str(tmp_path / "w.db"), settings=Settings(body_s=0.05))
    inbox = SqliteInbox(tmp_path / "inbox.db")
    hook = make_app(None, WebhookReceiver(["secret"], inbox, clock=SystemClock()))  # type: ignore[arg-type]
    yield {path: hook if path == "/hook" else build_app(door) for path in DOORS}
    door.close()
    inbox.close()


def post(app: Any, path: str, headers: dict[str, str], parts: list[bytes] | None) -> int:
    """Send a body in parts that never ends, or none at all; return the status that is answered."""

    async def go() -> int:
        waiting = list(parts or [])
        told: list[int] = []

        async def receive() -> Any:
            if parts is None:
                return {"type": "http.disconnect"}
            if waiting:
                return {"type": "http.request", "body": waiting.pop(0), "more_body": True}
            return await asyncio.Event().wait()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                told.append(message["status"])

        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
            "headers": [(b"host", b"testserver"), *raw], "client": ("192.0.2.1", 1), "server": ("testserver", 80),
            "scheme": "http", "root_path": "", "http_version": "1.1", "asgi": {"version": "3.0"},
        }  # fmt: skip
        await asyncio.wait_for(app(scope, receive, send), 20)
        return told[0]

    return asyncio.run(go())


@pytest.mark.parametrize("path", DOORS)
def test_a_body_that_never_ends_is_answered_with_408(apps: dict[str, Any], path: str) -> None:
    assert post(apps[path], path, {}, [b"a=1"]) == 408


@pytest.mark.parametrize("path", DOORS)
def test_a_body_that_is_too_large_is_answered_with_413_before_it_is_read(apps: dict[str, Any], path: str) -> None:
    assert post(apps[path], path, {"content-length": "2000000"}, [b""]) == 413
    assert post(apps[path], path, {}, [b"x" * 500_000] * 3) == 413


@pytest.mark.parametrize("path", DOORS)
def test_a_sender_who_goes_away_is_no_failure(apps: dict[str, Any], path: str) -> None:
    assert post(apps[path], path, {}, None) == 400


def test_nobody_reads_a_body_by_themselves() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in ("hmc_crowd", "adapters")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if any(each in line for each in ("request.stream()", "await request.body()", "await request.json()"))
        and file.name != "limits.py"
        and "standin" not in file.parts
    ]
    assert found == []


def test_a_sender_who_asks_at_the_same_moment_forgets_nobody_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmc_crowd._base.limits._MOST_SENDERS", 1)
    limit = RateLimit(5, clock=lambda: 0.0)
    other = threading.Thread(target=limit.allows, args=("bob",))

    class Seen(OrderedDict[str, Any]):
        def move_to_end(self, key: str, last: bool = True) -> None:
            if key == "ann":
                other.start()
                other.join(0.5)  # time enough, if nothing held it up
            super().move_to_end(key, last)

    limit._seen = Seen()
    assert limit.allows("ann")
    other.join(5)
    assert list(limit._seen) == ["bob"]
