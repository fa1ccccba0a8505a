"""How it runs, on the board: load of the pools, fair pay, what was left open, alerts and the minutes of the server."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from board_house import NAME

from hmc_crowd.board._gate import Alert, Figures, FixedGate
from hmc_crowd.board._pulse import AlertLog, Pulse

if TYPE_CHECKING:
    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"


@pytest.mark.parametrize(
    "tile",
    [
        "Right on gold",
        "Cost of an answer",
        "Time of an answer",
        "People at work",
        "Answers an hour",
        "Expert load",
        "Alerts active",
        "the last came up",
        "Server up",
    ],
)
def test_every_figure_of_the_sample_dashboard_is_there(board: Board, tile: str) -> None:
    board.house.campaign(NAME).set_fair_pay(10**6)  # so that there is an alert
    assert tile in board.browser("auditor").get(HOME).text


def test_the_cost_of_an_answer_is_rewards_by_answers(board: Board) -> None:
    from hmc_crowd.board._figures import read_live

    live = read_live(board.house.context(NAME))
    with board.house.store.read() as tx:
        cid = tx.campaigns.get(NAME).id
        pay = {each.key: each.pay_minor for each in tx.work.hits(cid)}
        done = tx.work.submissions(cid)
        answers = len(tx.work.answers(cid))
    done = done[done["state"].isin(["submitted", "approved"])]
    assert live.cost_minor == pytest.approx(sum(pay[key] for key in done["hit_key"]) / answers)


def test_the_load_of_a_pool_is_shown_and_more_than_it_can_do_is_an_alert(board: Board) -> None:
    campaign, now = board.house.campaign(NAME), board.clock.now()
    page = board.browser("auditor").get(HOME).text
    assert "no shift is planned" not in page
    campaign.add_pool("experts", kind="tier2", pay_form="per_hour", price_minor=6000)
    assert "no shift is planned" in board.browser("auditor").get(HOME).text
    campaign.plan(trade_off=0.0, max_human=None, audit=0)
    campaign.publish(board.place, pool="experts", redundancy=2, budget_minor=10**6, gold_share=0.0, dry_run=False)
    campaign.add_shift("experts", now, now + timedelta(seconds=1))
    page = board.browser("auditor").get(HOME).text
    assert "of the work that its shifts of the next 24 hours can take" in page
    campaign.add_shift("experts", now + timedelta(hours=1), now + timedelta(hours=20), people=9)
    page = board.browser("auditor").get(HOME).text
    assert "of the work that its shifts of the next 24 hours can take" not in page
    assert "Expert load" in page


def test_pay_below_the_floor_is_an_alert_with_the_top_up(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.set_fair_pay(100_000)
    told = campaign.fair_pay()
    page = board.browser("auditor").get(HOME).text
    assert told.is_below
    assert f"{told.top_up_minor / 100:,.2f} USD as a bonus would bring" in page
    assert "the floor is 1,000.00 USD" in page
    campaign.set_fair_pay(1)
    assert "as a bonus would bring" not in board.browser("auditor").get(HOME).text


def test_a_gate_s_own_floor_goes_before_the_campaign_s() -> None:
    figures = Figures(None, 0, {}, None, None, None, 0, 900.0, 0, floor_minor=1000, pay_text="people earn 9.00 USD")
    assert [each.text for each in FixedGate().judge(figures)] == ["People earn 9.00 USD."]
    assert FixedGate(hourly_minor=800).judge(figures) == []


def test_what_people_left_open_is_counted_with_the_reasons(board: Board) -> None:
    import pandas as pd

    with board.house.store.begin() as tx:
        cid = tx.campaigns.get(NAME).id
        first = tx.work.submissions(cid).iloc[0]
        row = {"submission_id": first.submission_id, "platform": first.platform, "item": "i20", "aspect": "label"}
        frame = pd.DataFrame([{**row, "worker": first.worker, "kind": "flag", "reason": "broken", "note": "<b>"}])
        tx.work.add_missing(cid, 1, frame)
    page = board.browser("auditor").get(HOME).text
    assert "Questions without an answer" in page
    assert "1 reported: broken text" in page


def test_the_last_alert_is_when_the_newest_came_up(board: Board) -> None:
    log, now = AlertLog(), board.clock.now()
    minute = timedelta(minutes=1)
    one, two = Alert("act", "review", "8 hours"), Alert("watch", "worker_accuracy", "w1", "w1")
    assert log.note("a", [], now) is None
    assert log.note("a", [one], now) == now
    # Its text changes with the figures; it is the same alert.
    assert log.note("a", [Alert("act", "review", "9 hours")], now + minute) == now
    assert log.note("a", [one, two], now + 2 * minute) == now + 2 * minute
    assert log.note("a", [], now + 3 * minute) == now + 2 * minute
    assert log.note("a", [one], now + 4 * minute) == now + 4 * minute
    assert log.note("b", [], now) is None


def test_the_pulse_notes_minutes_until_it_is_stopped(board: Board) -> None:
    pulse = Pulse(board.house.store, every_s=0.01).start()
    pulse.stop()
    with board.house.store.read() as tx:
        assert tx.uptime.share() == 1.0
    assert "100.0%" in board.browser("auditor").get(HOME).text


def test_a_busy_database_does_not_stop_the_pulse(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.errors import DatabaseBusyError

    def busy(_self: object) -> None:
        raise DatabaseBusyError("busy")

    monkeypatch.setattr(type(board.house.store), "begin", busy)
    Pulse(board.house.store).beat()
