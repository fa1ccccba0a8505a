"""The machine door over PostgreSQL: the whole way of an item, and two servers over one line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from hmc_crowd._base.clock import SystemClock
from hmc_crowd.board import BoardHouse, BoardSettings, HookSettings, _group, make_door_app
from hmc_crowd.campaign import Campaign
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def doors(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[TestClient]]:
    """Two servers over one database."""
    monkeypatch.setenv("HMC_CROWD_WORKER_KEY", "a key of sixteen characters or more")
    rng = np.random.default_rng(1)
    names = [f"i{n}" for n in range(60)]
    with Campaign.create(postgres_url, labels=["a", "b"], seed=1) as campaign:
        campaign.add_items(pd.DataFrame({"item": names, "text": "so it goes"}))
        campaign.add_predictions(pd.DataFrame({"item": names, "label": "a", "confidence": 0.5 + rng.random(60) / 2}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.5, max_human=0.5, audit=5)
    stores = [open_store(postgres_url, artefacts=tmp_path) for _ in range(2)]
    limits = BoardSettings(hooks=HookSettings(inner_hosts=frozenset({"127.0.0.1"})), sign_ins_per_minute=10**6)
    houses = [BoardHouse(each, secret=b"x" * 16, clock=SystemClock(), settings=limits) for each in stores]
    yield [TestClient(make_door_app(each)) for each in houses]
    for house in houses:
        house.group.close()
        house.store.close()


def key(url: str, role: str) -> dict[str, str]:
    with open_store(url) as store, store.begin() as tx:
        return {"Authorization": f"Bearer {tx.keys.issue(role)[1]}"}


def test_an_item_goes_its_whole_way(doors: list[TestClient], postgres_url: str) -> None:
    owner, worker = (key(postgres_url, role) for role in ("owner", "worker"))
    items = [{"item": f"n{n}", "confidence": 0.5, "effort": 0.0, "risk": "low"} for n in range(20)]
    hook = {"key": "h", "url": "http://127.0.0.1:9/x", "events": ["decision"]}
    assert doors[0].post("/webhooks", json=hook, headers=owner).status_code == 200

    def ask(number: int) -> Any:
        return doors[number % 2].post("/allocate", json={"key": "k", "items": items}, headers=owner)

    # The same request at two servers at once: one decides, all get its reply.
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(8)))
    assert {each.status_code for each in replies} == {200}
    assert len({each.text for each in replies}) == 1
    claimed = [
        each.post("/claim", json={"key": f"c{n}", "limit": 12}, headers=worker).json()["items"]
        for n, each in enumerate(doors)
    ]
    names = [row["item"] for rows in claimed for row in rows]
    assert sorted(names) == sorted(row["item"] for row in items)
    answers = {"key": "a", "answers": [{"item": name, "label": "a"} for name in names]}
    assert doors[1].post("/answers", json=answers, headers=worker).json() == {
        "campaign": "campaign", "received": 20, "new": 20
    }  # fmt: skip
    assert doors[0].get("/queue", headers=owner).json()["items"] == []
    assert doors[0].get("/webhooks", headers=owner).json()["messages"]["waiting"] == 1
    with Campaign.open(postgres_url) as campaign:
        assert len(campaign.aggregate().labels) == 20


def test_a_revoked_key_is_out_when_it_is_looked_at_again(
    doors: list[TestClient], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A second, else.
    monkeypatch.setattr(_group, "_LASTS_S", 0.0)
    worker = key(postgres_url, "worker")
    assert doors[0].post("/claim", json={"key": "1"}, headers=worker).status_code == 200
    with open_store(postgres_url) as store, store.begin() as tx:
        tx.keys.revoke(tx.keys.all()[-1].id)
    assert doors[0].post("/claim", json={"key": "2"}, headers=worker).status_code == 401
