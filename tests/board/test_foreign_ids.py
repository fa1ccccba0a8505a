"""No id opens what is somebody else's: every call and every page, as each role, over the ids of others.

Two campaigns, two workers, two experts, webhooks, dead messages. Whoever is not the owner sends requests that name what
belongs to others; whatever comes back, nothing of theirs is shown and nothing of theirs has changed.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, Board, open_board
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from hmc_crowd.board._app import _PAGES
from hmc_crowd.board._openapi import openapi_document
from hmc_crowd.board._render import slug
from hmc_crowd.store import ROLES, AspectRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OTHER = "other/campaign"
SECRET_TEXT = "text that only its own people read"
CALLS = [(path, method) for path, calls in openapi_document()["paths"].items() for method in calls]


class World:
    """The board with what belongs to whom."""

    def __init__(self, board: Board) -> None:
        self.board, self.number = board, 0
        platform, self.submission = board.waiting()
        # First the people who hold what others must not reach, so that the expert's item is theirs.
        self.others: dict[str, TestClient] = {}
        for role in ("worker", "expert"):
            with board.house.store.begin() as tx:
                _, key = tx.keys.issue(role, per_hour=100)
            self.others[role] = TestClient(board.app, headers={"Authorization": f"Bearer {key}"})
        self.hook = self._fill()
        self.programs: dict[str | None, TestClient] = {None: board.program(None)}
        for role in ROLES:
            self.programs[role] = board.program(role)
        self.pages = {role: board.browser(role) for role in ("auditor", "reviewer", "owner")}
        self.pages[""] = board.browser()
        self.ids = ["e-item", "w-item", self.kept[0], "i00", "i20", "nowhere", self.hook, self.submission, platform]

    def _fill(self) -> str:
        board, owner = self.board, self.board.program("owner")
        with board.house.store.begin() as tx:
            made = tx.campaigns.create(OTHER, {"currency": "USD", "seed": 1, "uid": "u"}, created_at=board.clock.now())
            tx.campaigns.add_aspect(made.id, AspectRecord("label", "nominal", ("good", "bad")))
        doubtful = {"confidence": 0.5, "effort": 0.0, "text": SECRET_TEXT, "risk": "low"}
        sure = {"confidence": 1.0, "effort": 9.0, "text": SECRET_TEXT, "risk": "low"}
        items = [{"item": "e-item", "risk": "high", **doubtful}, {"item": "w-item", **doubtful}]
        items += [{"item": f"kept{n}", **sure} for n in range(9)]
        reply = owner.post("/api/allocate", json={"key": "fill", "campaign": NAME, "items": items})
        # Some of them the audit draws; what the machine kept is nobody's to see.
        self.kept = [row["item"] for row in reply.json()["decisions"] if row["destination"] == "machine"]
        for role, item in (("worker", "w-item"), ("expert", "e-item")):
            body = {"key": "fill", "campaign": NAME, "lease_s": 86_400, "limit": 50}
            reply = self.others[role].post("/api/claim", json=body)
            assert item in [row["item"] for row in reply.json()["items"]], reply.text
        hook = {"key": "h", "campaign": NAME, "url": "http://127.0.0.1:9/x", "events": ["alert"]}
        return str(owner.post("/api/webhooks", json=hook).json()["webhook"])

    def state(self) -> Any:
        """What no stranger may change: who holds what, answers, webhooks, reviews, money."""
        with self.board.house.store.read() as tx:
            held = {
                (item, place.slot): (place.holder, place.expert)
                for item, places in tx.queue.places(1, ["e-item", "w-item"]).items()
                for place in places
                if place.holder in self.holders(tx)
            }
            answers, work = tx.work.answers(1), tx.work.submissions(1)
            theirs, work = answers[answers["platform"] != "door"], work[work["platform"] != "door"]
            return (
                held, len(theirs), tx.hooks.webhooks(), work.to_csv(), tx.budget.totals(1),
                tx.door.totals(2), len(tx.payments.read(1)),
            )  # fmt: skip

    def holders(self, tx: Any) -> set[str]:
        if not hasattr(self, "_holders"):
            places = tx.queue.places(1, ["e-item", "w-item"])
            self._holders = {place.holder for held in places.values() for place in held if place.holder}
        return self._holders


@pytest.fixture(scope="module")
def world(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = shutil.copytree(played, tmp_path_factory.mktemp("ids") / "board")
    limits = {"sign_ins_per_minute": 10**6, "door_per_minute": 10**6, "per_minute": 10**6}
    with open_board(folder, **limits) as opened:
        yield World(opened)


ids = st.integers(0, 8)
strangers = st.sampled_from([None, "worker", "expert", "auditor", "reviewer"])


def body(world: World, path: str, campaign: str | None, name: str) -> dict[str, Any]:
    world.number += 1
    fields: dict[str, Any] = {
        "/allocate": {"items": [{"item": name, "confidence": 0.5, "effort": 0.0}]},
        "/claim": {"limit": 100},
        "/give-back": {"items": [name]},
        "/answers": {"answers": [{"item": name, "label": "good"}]},
        "/webhooks": {"url": "http://127.0.0.1:9/x", "events": ["answer"]},
        "/webhooks/end": {"webhook": name},
    }[path]
    return {"key": f"n{world.number}", "campaign": campaign} | fields


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(call=st.sampled_from(CALLS), role=strangers, at=ids, campaign=st.sampled_from([NAME, OTHER, None, "none"]))
def test_no_call_reaches_what_is_another_s(
    world: World, call: tuple[str, str], role: str | None, at: int, campaign: str | None
) -> None:
    path, method = call
    before, program = world.state(), world.programs[role]
    if method == "post":
        reply = program.post(f"/api{path}", json=body(world, path, campaign, world.ids[at]))
    else:
        reply = program.get(f"/api{path}", params={} if campaign is None else {"campaign": campaign})
    assert world.state() == before
    told = reply.text
    if role in {None, "auditor", "reviewer"}:
        assert SECRET_TEXT not in told
    if role == "worker":
        assert "e-item" not in told.replace(world.ids[at], "")
    assert not any(f'"{name}"' in told for name in world.kept if name != world.ids[at])
    assert "whsec_" not in told
    if role is None and path != "/healthz":
        assert reply.status_code == 401


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    page=st.sampled_from([page for page in _PAGES if page[3] in {"GET", "POST"}]),
    role=st.sampled_from(["", "auditor", "reviewer", "owner"]),
    at=ids,
    campaign=st.sampled_from([NAME, OTHER, "none"]),
)
def test_no_page_reaches_another_campaign_s(world: World, page: Any, role: str, at: int, campaign: str) -> None:
    path, _, _, method = page
    name, browser = world.ids[at], world.pages[role]
    where = f"/board/{path}".replace("{campaign}", quote(slug(campaign), safe=""))
    before = world.state()
    if method == "POST":
        data = {"id": name, "platform": "local", "do": "go", "amount": "9.00", "budget": "99", "mark": "0" * 64}
        reply = browser.post(where, data=data)
        assert reply.status_code in {303, 403, 404}
    else:
        reply = browser.get(where, params={"id": name, "platform": "local"})
        if campaign != NAME:
            # Nothing of the first campaign is on a page of another one.
            assert SECRET_TEXT not in reply.text
            assert "So it goes" not in reply.text
        if role == "":
            assert reply.status_code == 303
    if path != "sign-out":
        assert world.state() == before


def test_the_state_that_is_watched_does_change(world: World) -> None:
    # Else the properties above would hold of anything: the holder's own request changes what they look at.
    before = world.state()
    reply = world.others["worker"].post("/api/give-back", json={"key": "own", "campaign": NAME, "items": ["w-item"]})
    assert reply.json()["given_back"] == 1
    assert json.dumps(str(world.state())) != json.dumps(str(before))
