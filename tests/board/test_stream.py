"""A watched stream at the machine door: windows, their certificates, the alarm, and what it changes at the door."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from board_house import NAME

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import certify_batch

if TYPE_CHECKING:
    from board_house import Board

WATCH: dict[str, Any] = {
    "target": 0.8, "allowed_error": 0.05, "window_s": 600.0, "grace_s": 60.0, "audit_probability": 0.25,
    "alarm_probability": 0.5, "shift": False,
}  # fmt: skip


def send(board: Board, name: str, n: int = 200, *, label: str | None = "good") -> list[str]:
    """Let sure items come; return those that are audited."""
    board.house._kept.clear()
    items: list[dict[str, Any]] = [
        {"item": f"{name}{k}", "confidence": 0.99, "effort": 0.9, "risk": "low"} for k in range(n)
    ]
    if label is not None:
        items = [{**each, "label": label} for each in items]
    reply = board.program("owner").post("/api/allocate", json={"key": name, "items": items})
    assert reply.status_code == 200, reply.text
    return [each["item"] for each in reply.json()["decisions"] if each["destination"] == "audit"]


def answer(board: Board, items: list[str], label: str) -> None:
    """Let people answer, each item as often as it waits for."""
    with board.house.store.begin() as tx:
        for worker in ("ann", "bob"):
            said = [{"item": item, "aspect": "label", "worker": worker, "label": label} for item in items]
            tx.door.answer(1, said, aspects=["label"], needed=dict.fromkeys(items, 2))


def test_a_window_is_certified_from_its_own_audit(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH)
    audited = send(board, "a")
    assert 30 < len(audited) < 70
    answer(board, audited[1:], "good")
    answer(board, audited[:1], "bad")
    board.clock.advance(605)
    assert campaign.stream().windows == ()
    board.clock.advance(60)
    (window,) = campaign.stream().windows
    bound = certify_batch(200, 0, len(audited), 1).agreement_at_least
    assert window["agreement_at_least"] == pytest.approx(bound)
    assert (window["items"], window["wrong"], window["unanswered"], window["holds"]) == (200, 1, 0, True)


def test_an_alarm_audits_more_at_once_and_withdraws(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH)
    audited = send(board, "a")
    answer(board, audited, "bad")
    found = campaign.stream()
    assert (found.alarmed, found.audit_probability) == (True, 0.5)
    assert "ALARM" in str(found)
    more = send(board, "b")
    assert 75 < len(more) < 125
    board.clock.advance(700)
    (window,) = campaign.stream().windows
    assert window["agreement_at_least"] is None
    assert "above 0.05" in window["withdrawn"]
    # Two quiet windows, and the share falls back; the first of them holds what was sent before, at one rate.
    for name in ("c", "d"):
        answer(board, send(board, name), "good")
        board.clock.advance(1300)
        campaign.stream()
    assert campaign.stream().audit_probability == 0.25
    page = board.browser("owner").get("/board/c/tone%3A%20spring", follow_redirects=True).text
    assert "certificate withdrawn" in page
    metrics = board.program("owner").get("/metrics").text
    assert 'hmc_crowd_stream_audit_share{campaign="tone: spring"} 0.25' in metrics


def test_a_window_with_two_rates_is_certified_by_parts(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH)
    first = send(board, "a")
    answer(board, first, "bad")
    campaign.stream()
    board.clock.advance(661)
    campaign.stream()
    for name, wait in (("b", 600), ("c", 549)):
        answer(board, send(board, name), "good")
        board.clock.advance(wait)
    # The last of the two quiet windows closes while the next one runs: that one holds items at .5 and at .25.
    early = send(board, "d")
    answer(board, early, "good")
    board.clock.advance(100)
    late = send(board, "e")
    answer(board, late, "good")
    board.clock.advance(1300)
    windows = campaign.stream().windows
    mixed = windows[-1]
    assert mixed["items"] == 400
    assert not mixed["withdrawn"]
    assert mixed["agreement_at_least"] < certify_batch(400, 0, mixed["audited"], 0).agreement_at_least


def test_the_state_goes_on_in_another_process_and_over_idle_hours(board: Board) -> None:
    from hmc_crowd.campaign import Campaign

    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH)
    answer(board, send(board, "a"), "good")
    board.clock.advance(24 * 3600)
    answer(board, send(board, "b"), "good")
    url = campaign._context.store._address.file
    with Campaign.open(url, NAME, clock=board.clock) as other:
        found = other.stream()
    assert len(found.windows) == 1
    assert board.clock.now() - found.opened_at < timedelta(seconds=600)
    board.clock.advance(700)
    assert [each["items"] for each in campaign.stream().windows] == [200, 200]


def test_without_the_machines_label_an_audited_item_counts_as_wrong(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH)
    audited = send(board, "a", label=None)
    answer(board, audited, "good")
    board.clock.advance(700)
    (window,) = campaign.stream().windows
    assert (window["unanswered"], window["holds"]) == (len(audited), False)


def test_people_become_dearer_where_they_use_too_much_time(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**WATCH, human_s_per_hour=60.0)
    audited = send(board, "a")
    began = board.clock.now()
    board.clock.advance(100)
    with board.house.store.begin() as tx:
        said = [{"item": i, "aspect": "label", "worker": "ann", "label": "good", "started": began} for i in audited]
        tx.door.answer(1, said, aspects=["label"], needed={})
    board.clock.advance(600)
    found = campaign.stream()
    # 100 s for each answer, of the 10 s that ten minutes allow: exp(.2 * (spent / 60 - 1 / 6)).
    assert found.windows[0]["human_s"] == 100 * len(audited)
    assert found.price == pytest.approx(min(100.0, np.exp(0.2 * (100 * len(audited) / 60 - 1 / 6))))
    reply = board.program("owner").post(
        "/api/allocate", json={"key": "z", "items": [{"item": "z", "confidence": 0.5, "effort": 0.02, "label": "good"}]}
    )
    board.house._kept.clear()
    assert "~" in reply.json()["policy"]


def test_a_shift_of_the_scores_is_an_alarm(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    campaign.watch_stream(**{**WATCH, "shift": True})
    answer(board, send(board, "a"), "good")
    board.clock.advance(700)
    (window,) = campaign.stream().windows
    assert "the scores shifted" in window["withdrawn"]


def test_nothing_is_watched_unasked(board: Board) -> None:
    campaign = board.house.campaign(NAME)
    with pytest.raises(StateError, match="watch_stream"):
        campaign.stream()
    with pytest.raises(InputError, match="window_s"):
        campaign.watch_stream(**{**WATCH, "window_s": 0.0})
