"""Targets of the pools: each of the source's figures is one that a campaign has, and alerts when it is missed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from board_house import NAME

from hmc_crowd.board._metrics import Timings
from hmc_crowd.board._pulse import Pulse
from hmc_crowd.campaign._pool_figures import POOL_FIGURES, pool_figures
from hmc_crowd.quality import ALERT_RULES

if TYPE_CHECKING:
    from board_house import Board

TARGETS = tuple(rule for rule in ALERT_RULES if rule.figure in POOL_FIGURES)


def figures(board: Board) -> dict[str, Any]:
    context = board.house.context(NAME)
    with context.store.read() as tx:
        return pool_figures(context, tx, POOL_FIGURES)


def expert_answers(board: Board, n: int, seconds: float) -> None:
    """Let an expert take items of high risk and answer each that much later."""
    expert = board.program("expert")
    items = [{"item": f"e{at}", "confidence": 0.5, "effort": 0.0, "risk": "high"} for at in range(n)]
    assert board.program("owner").post("/api/allocate", json={"key": "e", "items": items}).status_code == 200
    expert.post("/api/claim", json={"key": "c", "limit": n})
    board.clock.advance(seconds)
    answers = [{"item": each["item"], "label": "good"} for each in items]
    assert expert.post("/api/answers", json={"key": "a", "answers": answers}).json()["new"] == n


def test_the_source_has_six_targets_of_pools() -> None:
    assert {rule.figure for rule in TARGETS} == set(POOL_FIGURES)


def test_what_nobody_knows_is_none(board: Board) -> None:
    known = figures(board)
    assert known["workers"] == 2  # who has played the round
    assert known["experts"] == 0
    assert {known[name] for name in ("countries", "response_s", "expert_s", "expert_accuracy")} == {None}


def test_every_target_alerts_when_it_is_missed(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    assert [rule.name for rule in campaign.set_alert_rules(replace(rule, in_a_row=1) for rule in TARGETS)]
    expert_answers(board, 5, 20.0)
    told = pd.DataFrame({"worker": ["a", "b", "c"], "country": ["DE", "de", "Peru"]})
    campaign.add_worker_traits(told, platform="local", attributes=["country"])
    timings = Timings()
    for seconds in (1.0, 4.0):
        timings.observe("allocate", 200, seconds)
    Pulse(board.house.store, timings=timings).beat()
    campaign.gate("consensus", agreement=1.0)
    labelled = campaign.decisions()["item"].tolist()[:5]
    for item in labelled:
        campaign.judge(item, "good", expert="eva")
    # Known later, and other than the expert said.
    campaign.add_gold(pd.DataFrame({"item": labelled, "label": "bad"}))
    assert figures(board) == {
        "workers": 2.0,
        "countries": 2.0,
        "response_s": 2.5,
        "experts": 1.0,
        "expert_s": 20.0,
        "expert_accuracy": 0.0,
    }
    assert {each.rule for each in campaign.check_alerts().lasting} == {rule.name for rule in TARGETS}
    # Limits that are met: all of it is over.
    met = {"above": 1000.0, "below": -1.0}
    campaign.set_alert_rules(replace(rule, limit=met[rule.wrong], in_a_row=1) for rule in TARGETS)
    look = campaign.check_alerts()
    assert look.lasting == ()
    assert {each.kind for each in look.notices} == {"recovery"}


def test_times_are_of_the_last_minutes_and_add_up_over_processes(board: Board) -> None:
    one, other = Timings(), Timings()
    one.observe("claim", 200, 3.0)
    other.observe("claim", 200, 1.0)
    for timings in (one, other, one):
        Pulse(board.house.store, timings=timings).beat()
    with board.house.store.read() as tx:
        assert tx.uptime.response_s() == 2.0
    board.clock.advance(16 * 60)
    with board.house.store.read() as tx:
        assert tx.uptime.response_s() is None
        assert tx.uptime.response_s(minutes=60) == 2.0


@pytest.mark.parametrize("name", [rule.name for rule in TARGETS])
def test_a_target_is_set_by_its_name(board: Board, name: str) -> None:
    campaign = board.house.campaign(NAME)
    rule = next(rule for rule in TARGETS if rule.name == name)
    assert rule in campaign.set_alert_rules([*campaign.alert_rules(), rule])
