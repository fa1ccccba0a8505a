"""Alerts: once, with a gap before they end, reminders where wanted, and nothing from what is unknown."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.quality import ALERT_RULES, AlertRule, check_alerts

START = datetime(2026, 1, 5, 12, tzinfo=UTC)
QUALITY = AlertRule("quality", "quality", 0.3, "below", recovers_at=0.4, severity="high", hint="look")


def said(rule: AlertRule, values: list[float | None], *, every_s: float = 60.0) -> list[str]:
    state, found = None, []
    for look, value in enumerate(values):
        moment = START + timedelta(seconds=look * every_s)
        notices, state = check_alerts([rule], {rule.figure: value}, state, at=moment)
        found.append(notices[0].kind if notices else "")
    return found


def test_said_once_while_it_lasts_and_its_end() -> None:
    assert said(QUALITY, [0.5, 0.29, 0.1, 0.2, 0.4, 0.5]) == ["", "alert", "", "", "recovery", ""]


def test_a_figure_that_trembles_at_its_limit_rings_once() -> None:
    assert said(QUALITY, [0.29, 0.31, 0.29, 0.31, 0.29, 0.41]) == ["alert", "", "", "", "", "recovery"]


def test_the_limit_itself_is_right() -> None:
    assert said(QUALITY, [0.3]) == [""]
    assert said(AlertRule("q", "q", 10, "above"), [10, 10.1, 10]) == ["", "alert", "recovery"]


def test_several_looks_must_agree() -> None:
    rule = replace(QUALITY, in_a_row=3)
    assert said(rule, [0.2, 0.2, 0.5, 0.2, 0.2, 0.2]) == ["", "", "", "", "", "alert"]


def test_reminders_come_as_often_as_asked() -> None:
    rule = replace(QUALITY, remind_s=120.0)
    assert said(rule, [0.2] * 6) == ["alert", "", "reminder", "", "reminder", ""]


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_not_knowing_changes_nothing(unknown: float | None) -> None:
    assert said(QUALITY, [unknown, 0.2, unknown, unknown, 0.2, 0.5]) == ["", "alert", "", "", "", "recovery"]
    assert check_alerts([QUALITY], {}, at=START) == ((), {})


def test_subjects_are_apart() -> None:
    first, state = check_alerts([QUALITY], {"quality": {"ann": 0.1, "bob": 0.9}}, at=START)
    second, _ = check_alerts([QUALITY], {"quality": {"ann": 0.1, "bob": 0.1}}, state, at=START)
    assert [each.subject for each in first + second] == ["ann", "bob"]


def test_words_of_alert_and_recovery() -> None:
    first, state = check_alerts([QUALITY], {"quality": {"ann": 0.1}}, at=START)
    assert str(first[0]) == "ALERT (high): quality of ann is 0.1, below 0.3; look"
    second, left = check_alerts([QUALITY], {"quality": {"ann": 0.6}}, state, at=START + timedelta(hours=3))
    assert str(second[0]) == "RECOVERY (high): quality of ann is 0.6, right again after 3.0 hours"
    assert second[0].since == START
    assert left == {}


def test_the_gravest_first() -> None:
    low = AlertRule("a", "x", 1, "above", severity="low")
    high = AlertRule("b", "x", 1, "above", severity="high")
    notices, _ = check_alerts([low, high], {"x": 2}, at=START)
    assert [each.rule for each in notices] == ["b", "a"]


def test_the_state_is_plain() -> None:
    _, state = check_alerts([QUALITY], {"quality": 0.1}, at=START)
    text = json.dumps([[*key, asdict(each)] for key, each in state.items()], default=str)
    assert "2026-01-05" in text


def test_the_given_state_is_left_alone() -> None:
    _, state = check_alerts([QUALITY], {"quality": 0.1}, at=START)
    copy = dict(state)
    check_alerts([QUALITY], {"quality": 0.9}, state, at=START)
    assert state == copy


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=40), st.integers(1, 4))
def test_alerts_and_recoveries_take_turns(values: list[float], in_a_row: int) -> None:
    kinds = [kind for kind in said(replace(QUALITY, in_a_row=in_a_row), list(values)) if kind]
    assert kinds == ["alert", "recovery"] * (len(kinds) // 2) + ["alert"] * (len(kinds) % 2)


def test_d3_the_sources_figures_are_settings() -> None:
    limits = {rule.name: rule.limit for rule in ALERT_RULES}
    assert limits["worker quality"] == 0.3
    wanted = {
        "workers": 5000,
        "countries": 20,
        "uptime": 0.995,
        "response time": 2,
        "experts": 50,
        "expert time": 15,
        "expert accuracy": 0.95,
    }
    assert {name: limits[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"recovers_at": 0.2}, "recovers at 0.2, which is still below 0.3"),
        ({"wrong": "under"}, "wrong='under'"),
        ({"severity": "dire"}, "severity='dire'"),
        ({"in_a_row": 0}, "in_a_row of at least 1"),
        ({"remind_s": 0.0}, "remind_s above 0"),
        ({"limit": float("nan")}, "finite limit"),
        ({"name": ""}, "name is ''"),
    ],
)
def test_wrong_rules_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replace(QUALITY, **change)  # type: ignore[arg-type]


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="'quality' twice"):
        check_alerts([QUALITY, QUALITY], {}, at=START)


def test_naive_times_are_refused() -> None:
    with pytest.raises(InputError, match="without a time zone"):
        check_alerts([QUALITY], {}, at=datetime(2026, 1, 5))  # because that is the mistake


def test_a_clock_that_was_set_back_makes_no_span_negative() -> None:
    rule = AlertRule("quality", "quality", 0.3, "below", remind_s=60.0)
    late = datetime(2026, 1, 5, 12, tzinfo=UTC)
    _, state = check_alerts([rule], {"quality": 0.2}, at=late)
    notices, _ = check_alerts([rule], {"quality": 0.9}, state, at=late - timedelta(hours=3))
    assert notices[0].message.endswith("right again after 0 seconds")
