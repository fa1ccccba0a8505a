"""Where the next item goes, who may ask, and that the same request is answered once."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from board_house import NAME
from prometheus_client.parser import text_string_to_metric_families

from hmc_crowd.campaign._policy import live_policy

if TYPE_CHECKING:
    from board_house import Board

ITEMS = [
    {"item": "new1", "confidence": 0.51, "effort": 0.001, "text": "Is this kind?", "risk": "low"},
    {"item": "new2", "confidence": 0.999, "effort": 0.9, "risk": "low"},
]


def allocate(board: Board, key: str = "k1", items: Any = None, role: str = "owner", **more: Any) -> Any:
    body = {"key": key, "items": ITEMS if items is None else items, **more}
    return board.program(role).post("/api/allocate", json=body)


def test_a_doubtful_item_goes_to_people_and_a_sure_one_does_not(board: Board) -> None:
    reply = allocate(board)
    assert reply.status_code == 200
    first, second = reply.json()["decisions"]
    assert (first["item"], first["destination"], first["inclusion_probability"]) == ("new1", "people", 1.0)
    assert second["destination"] in {"machine", "audit"}
    assert 0 < second["inclusion_probability"] < 1
    assert "threshold" in first["reason"]


def test_the_rule_read_back_decides_as_the_plan_did(board: Board) -> None:
    context = board.house.context(NAME)
    with context.store.read() as tx:
        rule = live_policy(context, tx)
        rows = tx.plans.read(tx.plans.latest(context.campaign_id).id)
    # gain = (1 - confidence) - trade_off * effort, so the effort that the plan priced can be read back.
    effort = (1 - rows["confidence"] - rows["gain"]) / rule.policy.trade_off
    found = rule.policy.decide_batch(rows["item"].tolist(), rows["confidence"], effort.clip(lower=0))
    near = np.isclose(found.gain, rule.policy.threshold, atol=1e-12, rtol=0)
    to_people = (rows["destination"].astype(str) == "people").to_numpy()
    assert (found.to_human[~near] == to_people[~near]).all()
    assert near.sum() <= 2
    kept = rows[~to_people]
    assert math.isclose(rule.policy.audit_probability, (kept["destination"].astype(str) == "audit").mean())


@pytest.mark.parametrize("unit", ["share", "seconds"])
def test_the_reply_names_the_unit_of_the_effort(board: Board, unit: str) -> None:
    board.house.campaign(NAME).plan(trade_off=0.01, max_human=0.55, audit=1, effort=unit)
    assert allocate(board).json()["effort_unit"] == unit


def test_the_same_request_again_gets_the_same_reply(board: Board) -> None:
    first, again = allocate(board), allocate(board)
    assert first.json() == again.json()
    with board.house.store.read() as tx:
        assert sum(tx.door.totals(1).values()) == 2


def test_another_request_under_a_used_key_is_refused(board: Board) -> None:
    allocate(board)
    assert allocate(board, items=ITEMS[:1]).status_code == 409


def test_an_item_is_allocated_once(board: Board) -> None:
    allocate(board)
    reply = allocate(board, key="k2")
    assert reply.status_code == 409
    assert "new1" in reply.json()["problem"]


def test_the_queue_goes_by_deadline_and_says_nothing_of_the_machine(board: Board) -> None:
    now = board.clock.now()
    doubtful = {"confidence": 0.5, "effort": 0.0, "risk": "low"}
    items = [
        {"item": "whenever", **doubtful},
        {"item": "later", "due_at": (now + timedelta(hours=2)).isoformat(), **doubtful},
        {"item": "soon", "due_at": (now + timedelta(hours=1)).isoformat(), **doubtful},
    ]
    allocate(board, items=items)
    found = board.program("worker").get("/api/queue").json()["items"]
    assert [row["item"] for row in found] == ["soon", "later", "whenever"]
    assert {name for row in found for name in row} == {"item", "text", "due_at"}


def answer(board: Board, role: str, label: str = "good", key: str = "a1", **more: Any) -> Any:
    body = {"key": key, "answers": [{"item": "new1", "label": label, **more}]}
    if role != "owner":
        board.program(role).post("/api/claim", json={"key": f"claim {key}"})
    return board.program(role).post("/api/answers", json=body)


def test_an_item_leaves_the_queue_with_enough_answers(board: Board) -> None:
    allocate(board, items=ITEMS[:1])
    assert answer(board, "worker").json()["new"] == 1
    # The campaign asks two people an item.
    assert board.program("expert").get("/api/queue").json()["items"] != []
    assert answer(board, "expert").json()["new"] == 1
    assert board.program("owner").get("/api/queue").json()["items"] == []


def test_who_has_answered_is_not_asked_again(board: Board) -> None:
    allocate(board, items=ITEMS[:1])
    answer(board, "worker")
    assert board.program("worker").get("/api/queue").json()["items"] == []


def test_an_answer_is_given_once(board: Board) -> None:
    allocate(board, items=ITEMS[:1])
    assert answer(board, "worker").json() == answer(board, "worker").json()
    assert answer(board, "worker", key="a2").json()["new"] == 0
    assert answer(board, "worker", label="bad", key="a3").status_code == 409


def test_a_worker_cannot_answer_as_somebody_else(board: Board) -> None:
    allocate(board, items=ITEMS[:1])
    assert answer(board, "worker", worker="ann").status_code == 403
    assert answer(board, "owner", worker="ann").status_code == 200


def test_raw_ids_stay_in_one_table(board: Board) -> None:
    allocate(board, items=ITEMS[:1])
    answer(board, "owner", worker="ann.smith@example.org")
    with board.house.store.read() as tx:
        name = tx.workers.known("door")["ann.smith@example.org"]
    assert name.startswith("w")
    assert "ann" not in name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"confidence": 1.5}, "confidence of item"),
        ({"confidence": "0.5"}, "give a number"),
        ({"confidence": True}, "give a number"),
        ({"effort": -1}, "effort"),
        ({"item": ""}, "item of items[0]"),
        ({"item": 7}, "item of items[0]"),
        ({"item": "a\x00b"}, "NUL"),
        ({"item": "\ud800"}, "surrogate"),
        ({"due_at": "tomorrow"}, "due_at"),
        ({"due_at": "2026-01-05T12:00:00"}, "zone"),
        ({"gold": True}, "unknown field"),
    ],
)
def test_a_wrong_item_is_refused_whole(board: Board, change: dict[str, Any], said: str) -> None:
    items = [{"item": "x", "confidence": 0.5, "effort": 0.1} | change, ITEMS[0]]
    reply = board.program("owner").post("/api/allocate", content=json.dumps({"key": "k1", "items": items}))
    assert reply.status_code == 400
    assert said in reply.json()["problem"]
    with board.house.store.read() as tx:
        assert tx.door.totals(1) == {}


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"key": NaN}', b"\xff", b"[" * 100_000, b'{"key": "k"}'])
def test_a_body_that_is_no_request_is_refused(board: Board, body: bytes) -> None:
    assert board.program("owner").post("/api/allocate", content=body).status_code == 400


def test_health_is_said_to_anybody_and_nothing_else(board: Board) -> None:
    for path in ("/healthz", "/api/healthz"):
        assert board.program(None).get(path).json() == {"status": "ok"}


def test_metrics_are_prometheus_s_text(board: Board) -> None:
    allocate(board)
    page = board.program("auditor").get("/metrics")
    found = {each.name: each for each in text_string_to_metric_families(page.text)}
    told = board.status()
    assert found["hmc_crowd_answers"].samples[0].value == told.answers
    assert found["hmc_crowd_answers"].samples[0].labels == {"campaign": NAME}
    assert found["hmc_crowd_queue_items"].samples[0].value >= 1
    counted = [each for each in found["hmc_crowd_submission_seconds"].samples if each.name.endswith("_count")]
    assert counted[0].value == told.submissions
    assert any(each.labels.get("call") == "allocate" for each in found["hmc_crowd_door_seconds"].samples)
