"""What the board's tests share: a played campaign, keys of each role, browsers and programs."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.serving import Mount, make_app
from hmc_crowd.board import BoardHouse, BoardSettings, HookSettings, make_board_app, make_door_app
from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = ["good", "bad"]
HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too'"
SECRET = b"a secret of the tests of the board"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NAME = "tone: spring"


def build_played(folder: Path) -> None:
    """Play one round of a campaign of 40 items, the first of which has a hostile text."""
    rng = np.random.default_rng(3)
    truth = rng.choice(LABELS, 40)
    items = pd.DataFrame({"item": [f"i{n:02d}" for n in range(40)], "text": [f"So it goes {n}." for n in range(40)]})
    items.loc[0, "text"] = HOSTILE
    confidence = 0.5 + 0.5 * rng.random(40)
    wrong = np.where(truth == "good", "bad", "good")
    said = np.where(rng.random(40) < confidence, truth, wrong)
    clock = VirtualClock(START)
    workers = draw_workers(6, LABELS, rng=np.random.default_rng(1), accuracy=0.95, spread=0.02)
    crowd = SimulatedCrowd(workers, dict(zip(items["item"], truth, strict=True)), rng=np.random.default_rng(2))
    place: Any = find_platform("local", str(folder / "workplace.db"), clock=clock)
    with Campaign.create(folder / "campaign.db", NAME, labels=LABELS, seed=7, clock=clock) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(pd.DataFrame({"item": items["item"], "label": said, "confidence": confidence}))
        campaign.add_gold(pd.DataFrame({"item": items["item"][1:9], "label": truth[1:9]}))
        campaign.estimate_effort()
        spend = {"redundancy": 2, "pay_per_hour_minor": 1200, "budget_minor": 50_000}
        campaign.run(
            place, crowd=crowd, max_rounds=1, plan={"trade_off": 0.5, "max_human": 0.5, "audit": 5}, publish=spend
        )
    place.close()


@dataclass
class Board:
    """An open board, its clock, and keys by role."""

    house: BoardHouse
    place: Any
    app: Any
    clock: VirtualClock
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, role: str) -> str:
        if role not in self.keys:
            with self.house.store.begin() as tx:
                self.keys[role] = tx.keys.issue(role, label=f"{role} of the tests")[1]
        return self.keys[role]

    def browser(self, role: str | None = None) -> TestClient:
        client = TestClient(self.app, follow_redirects=False)
        if role is not None:
            assert client.post("/board/sign-in", data={"key": self.key(role)}).status_code == 303
        return client

    def program(self, role: str | None) -> TestClient:
        headers = {} if role is None else {"Authorization": f"Bearer {self.key(role)}"}
        return TestClient(self.app, headers=headers, follow_redirects=False)

    def waiting(self) -> tuple[str, str]:
        """A submission that waits for its review: platform and id."""
        with self.house.store.read() as tx:
            rows = tx.work.submissions(self.house.context(None).campaign_id)
        row = rows[rows["state"] == "submitted"].iloc[0]
        return str(row["platform"]), str(row["submission_id"])

    def status(self) -> Any:
        return self.house.campaign(NAME).status()


@contextmanager
def open_board(folder: Path, *, clock: Any = None, **settings: Any) -> Iterator[Board]:
    time = clock or VirtualClock(datetime(2026, 1, 6, 9, 0, tzinfo=UTC))
    place: Any = find_platform("local", str(folder / "workplace.db"), clock=time)
    with open_store(folder / "campaign.db", clock=time) as store:
        hooks = HookSettings(inner_hosts=frozenset({"127.0.0.1"}), attempts=3)
        limits = BoardSettings(**{"is_secure": False, "watch_every_s": 0.2, "hooks": hooks} | settings)
        house = BoardHouse(store, secret=SECRET, clock=time, settings=limits, workplace=place)
        mounts = [
            Mount("/board", make_board_app(house)),
            Mount("/api", make_door_app(house), also=("/healthz", "/metrics")),
        ]
        yield Board(house, place, make_app(mounts), time)
    place.close()


def forms(page: str) -> dict[str, dict[str, str]]:
    """The forms of a page by the end of their action: hidden fields by name."""
    found = {}
    for action, body in re.findall(r'<form method="post" action="([^"]+)".*?>(.*?)</form>', page, re.S):
        hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', body)
        found[action.rsplit("/", 1)[-1]] = {name: unescape(value) for name, value in hidden} | {"": unescape(action)}
    return found


def send(browser: TestClient, page: str, form: str, **fields: str) -> Any:
    """Fill in a form of a page and send it."""
    hidden = forms(page)[form]
    return browser.post(hidden.pop(""), data=hidden | fields)


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on a free port until the block ends."""
    import socket
    import threading
    import time

    import uvicorn

    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    listening.close()


def enter(chromium: Any, url: str, key: str, **options: Any) -> Any:
    """A page of a browser that is signed in."""
    page = chromium.new_context(reduced_motion="reduce", bypass_csp=True, **options).new_page()
    page.set_default_timeout(10_000)
    page.goto(f"{url}/board/")
    page.get_by_label("Key").fill(key)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Campaigns").wait_for()
    return page
