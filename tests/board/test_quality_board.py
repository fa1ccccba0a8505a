"""Quality on the board: intervals and drift of people, alerts of the campaign's rules, the gate that they replace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd
import pytest
from board_house import NAME

from hmc_crowd.board._campaign_gate import alerts_of, to_tell
from hmc_crowd.board._gate import FixedGate
from hmc_crowd.board._pulse import AlertLog
from hmc_crowd.board._watch_hooks import look
from hmc_crowd.quality import AlertRule

if TYPE_CHECKING:
    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"
# A line without anybody in it is 0 s old.
IDLE = AlertRule("idle line", "queue_age_s", 1.0, "below", hint="invite people")


@pytest.fixture
def worker(board: Board) -> str:
    with board.house.store.read() as tx:
        return str(tx.work.submissions(1)["worker"].iloc[0])


def test_people_are_shown_with_an_interval_and_who_is_worse_is_marked(board: Board, worker: str) -> None:
    page = board.browser("auditor").get(HOME).text
    assert "Quality, 95% interval" in page
    assert "worse since" not in page
    row = {"worker": worker, "at": pd.Timestamp(board.clock.now()), "answers": 30}
    with board.house.store.begin() as tx:
        tx.standing.add_alarms(1, pd.DataFrame([row | {"statistic": 9.0, "threshold": 8.0, "reason": "a fall"}]))
    assert f"worse since {board.clock.now():%Y-%m-%d}" in board.browser("auditor").get(HOME).text


def test_a_rule_of_the_campaign_is_an_alert_of_its_board_and_its_end_is_said(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.set_alert_rules([IDLE])
    page = board.browser("auditor").get(HOME).text
    assert "Idle line below 1, since" in page
    assert "invite people" in page
    campaign.set_alert_rules([AlertRule("idle line", "queue_age_s", -1.0, "below")])
    campaign.check_alerts()
    page = board.browser("auditor").get(HOME).text
    assert "Idle line below 1, since" not in page
    assert "recovery" in page


def test_rules_of_its_own_replace_the_house_s_gate_on_quality_and_pay(board: Board) -> None:
    from hmc_crowd.board._figures import read_live

    campaign, context = board.house.campaign(NAME), board.house.context(NAME)
    campaign.set_fair_pay(10**6)
    figures = read_live(context).figures
    assert "fair_pay" in {each.what for each in alerts_of(context, FixedGate(), figures, AlertLog())}
    # Both speak of the pay: it is told once.
    assert "fair_pay" not in {each.what for each in to_tell(context, FixedGate(), figures)}
    campaign.set_alert_rules([IDLE])
    whats = {each.what for each in alerts_of(context, FixedGate(), figures, AlertLog())}
    assert "fair_pay" not in whats
    assert "idle line" in whats


def test_rules_are_looked_at_from_time_to_time(board: Board) -> None:
    log = AlertLog()
    assert [log.is_due(NAME), log.is_due(NAME), log.is_due("another")] == [True, False, True]


def test_webhooks_are_told_of_a_rule_once(board: Board) -> None:
    board.house.campaign(NAME).set_alert_rules([IDLE])
    with board.house.store.begin() as tx:
        tx.hooks.subscribe(1, "https://example.org/x", ["alert"], by="k")
    for _ in range(2):
        look(board.house)
        board.clock.advance(40)
    with board.house.store.read() as tx:
        told = [json.loads(each.body)["what"] for each in tx.hooks.deliveries(1)]
    assert told.count("idle line") == 1
