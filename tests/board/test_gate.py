"""When the fixed thresholds speak, and when they keep quiet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hmc_crowd.board import Figures, FixedGate

QUIET = Figures(0.9, 50, {"w1": (18, 20)}, 0.5, 3600.0, 60.0, 0, 1500.0, 0)
GATE = FixedGate(hourly_minor=1200.0)


def test_figures_within_the_limits_raise_no_alert() -> None:
    assert GATE.judge(QUIET) == []


@pytest.mark.parametrize(
    ("change", "what", "state"),
    [
        ({"gold_accuracy": 0.69}, "gold_accuracy", "act"),
        ({"workers": {"w1": (3, 5)}}, "worker_accuracy", "watch"),
        ({"budget_share": 0.9}, "budget", "watch"),
        ({"oldest_review_s": 49 * 3600.0}, "review", "act"),
        ({"overdue": 1}, "overdue", "act"),
        ({"hourly_minor": 1199.0}, "fair_pay", "act"),
        ({"questions": 1}, "questions", "act"),
    ],
)
def test_each_threshold_speaks(change: dict[str, Any], what: str, state: str) -> None:
    assert [(alert.what, alert.state) for alert in GATE.judge(replace(QUIET, **change))] == [(what, state)]


def test_few_gold_answers_say_nothing() -> None:
    assert GATE.judge(replace(QUIET, gold_accuracy=0.0, gold_n=4, workers={"w1": (0, 4)})) == []


def test_what_cannot_wait_comes_first() -> None:
    found = GATE.judge(replace(QUIET, budget_share=1.0, questions=2))
    assert [alert.what for alert in found] == ["questions", "budget"]
